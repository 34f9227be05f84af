"""Loops that go over one loader again and again, and what stands in them: epochs, as far as they can be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.loaders.prepared import prepared
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_class, loader_of
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import EPOCH_DEPTH, EPOCH_STEPS
from dataloader_lint.semantics.project.outline import that_use
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    ItemOf,
    Value,
    Values,
)
from dataloader_lint.semantics.values.values import Iterator as Iterated

Loop = cst.For | cst.While

_BY_NAME = (Kind.FUNCTION, Kind.CLASS, Kind.IMPORT)
_PASSING = frozenset({cst.For, cst.CompFor, cst.Call, cst.From})
_TRAINING = frozenset({"backward", "manual_backward", "optimizer_step"})


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """One place that goes over a loader; `path` holds the frames from that of the epoch loop to the one that does.

    `calls` holds the calls that lead from each of these frames to the next one. `is_renewed` is True if the loader is
    made again in each round, `is_prepared` if the place goes over what `accelerator.prepare(loader)` gave for it.
    """

    loader: Loader
    made: CallResult
    node: Node
    path: tuple[Frame, ...]
    calls: tuple[cst.Call, ...] = ()
    is_renewed: bool = False
    is_prepared: bool = False

    def loops_inside(self, outer: Loop) -> Iterator[tuple[Loop, Frame]]:
        """The loops around it that stand inside another one, which is around it too, from the inside out."""
        for node, frame in zip(reversed((*self.calls, self.node)), reversed(self.path), strict=False):
            child: Node = node
            for above in frame.scope.module.tree.ancestors(node):
                if above is outer or above is frame.scope.node:
                    break
                if isinstance(above, cst.For | cst.While) and child is above.body:
                    yield above, frame
                child = above

    def changes_with(self, loop: Loop) -> bool:
        """True if a loop around it goes over another loader in each round, as in `for phase in phases`.

        A loader that is made in each round is another one where any of its arguments changes.
        """
        node = self.node.iter if isinstance(self.node, cst.For | cst.CompFor) else self.node
        rest: list[tuple[Node, Frame]] = [(node, self.path[-1])] if isinstance(loop, cst.For) else []
        seen: set[int] = set()
        while rest:
            cause, where = rest.pop()
            if id(cause) in seen or len(seen) > EPOCH_STEPS:
                continue
            seen.add(id(cause))
            if isinstance(cause, cst.Call):  # enumerate(loader), tqdm(loader, desc=...)
                rest.extend((arg.value, where) for arg in (cause.args if self.is_renewed else cause.args[:1]))
                if isinstance(cause.func, cst.Attribute):
                    rest.append((cause.func.value, where))
            elif isinstance(cause, cst.Attribute):
                rest.append((cause.value, where))
            elif isinstance(cause, cst.Subscript):
                rest.append((cause.value, where))
                indices = [each.slice for each in cause.slice]
                rest.extend((each.value, where) for each in indices if isinstance(each, cst.Index))
            elif isinstance(cause, cst.Name) and cause in where.scope.module.tree:
                for binding in resolve(cause, where.scope.module.tree):
                    passed = where.args.get(binding.name) if where.args is not None else None
                    if binding.node is loop:
                        return True
                    if binding.kind is Kind.PARAMETER and passed is not None:
                        if passed.node is not None and passed.frame is not None:
                            rest.append((passed.node, passed.frame))
                    elif binding.value is not None and binding.scope is where.scope:
                        rest.append((binding.value, where))
            elif self.is_renewed and cause in where.scope.module.tree:  # seed=args.seed + epoch
                rest.extend((name, where) for name in where.scope.module.tree.find(cause, cst.Name))
        return False

    def trains(self, ev: Evaluator) -> bool:
        """True if what is done with the batches computes gradients, there or in a function that is called there.

        What a generator hands out is for those who run it.
        """
        frame = self.path[-1]
        if frame.scope.own(cst.Yield):
            return any(trains(ev, where.scope.node, where) for _, where, _ in ev.callers(frame.scope))
        return trains(ev, self.node if isinstance(self.node, cst.For) else frame.scope.node, frame)


def trains(ev: Evaluator, root: Node, frame: Frame) -> bool:
    """True if something below a node computes gradients, there or in a function that is called there."""
    tree = frame.scope.module.tree
    for call in tree.find(root, cst.Call):
        if last_name(call.func) in _TRAINING:
            return True
        if function_scope(tree.scope_of(call)) is not frame.scope:
            continue
        for callee in ev.values(call.func, frame):
            if inside := ev.entered(callee, call, frame):
                found = (inner for inner in inside.scope.within(cst.Call) if last_name(inner.func) in _TRAINING)
                # `self.step(batch, phase="val")` does not reach what is under `if phase == "train":`
                if any(is_reached(ev, inner, inside, with_options=True) for inner in found):
                    return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class EpochLoop:
    """A loop in whose body a loader is iterated over: in `passes` one made before it, in `renewed` one made in it.

    In `prepared` it is one made before that went through `accelerator.prepare(...)`, which sets the epoch of samplers.
    """

    loop: Loop
    frame: Frame
    passes: tuple[Pass, ...]
    renewed: tuple[Pass, ...]
    prepared: tuple[Pass, ...] = ()

    @property
    def counts_epochs(self) -> bool:
        """True for a `for` loop that is called so: `for epoch in range(10)`, `for _ in range(args.epochs)`."""
        words = self.frame.scope.module.tree.words
        return (
            isinstance(self.loop, cst.For) and "epoch" in f"{words(self.loop.target)} {words(self.loop.iter)}".lower()
        )


def loops_of(module: ModuleFacts) -> Iterator[Loop]:
    """The loops of the functions of a module and of its top, each function's in document order."""
    for scope in module.root.descend():
        if isinstance(scope.node, cst.FunctionDef | cst.Module):
            loops: list[Loop] = [*scope.own(cst.For), *scope.own(cst.While)]
            yield from sorted(loops, key=module.tree.order)


def training_loops(project: Project, module: ModuleFacts) -> Iterator[Loop]:
    """Those loops in which something may be trained: a cheap look at names before a search that is not cheap."""
    tree = module.tree
    leading: set[int] = tree.once(("training", id(module.root)), lambda: _around_training(project, module))
    for loop in loops_of(module):
        head = loop.target if isinstance(loop, cst.For) else loop.test
        if id(loop) in leading or "epoch" in tree.words(head).lower() or _hands_out(tree, loop):
            yield loop


def _hands_out(tree: Tree, loop: Loop) -> bool:
    """True if a loop hands batches out again and again: `while True: yield from loader`."""
    is_endless = isinstance(loop, cst.While) and bool(tree.scope_of(loop).own(cst.Yield))
    return is_endless and any(True for _ in tree.find(loop.body, cst.Yield))


def _around_training(project: Project, module: ModuleFacts) -> set[int]:
    """The loops around calls that train, or that lead to some by their names, by `id`."""
    found: set[int] = set()
    for name in module.called & _that_train(project, module):
        for call in module.calls_named(name):
            child: Node = call
            for above in module.tree.ancestors(call):
                if isinstance(above, cst.For | cst.While) and child is above.body:
                    found.add(id(above))
                child = above
    return found


def _that_train(project: Project, module: ModuleFacts) -> set[str]:
    """The names of functions that train or lead to one that does; those of the module may not be saved yet."""
    return module.tree.once(("names that train", id(module.root)), lambda: _find_that_train(project, module))


def _find_that_train(project: Project, module: ModuleFacts) -> set[str]:
    calls: dict[str, set[str]] = {}
    for scope in module.root.descend():
        if isinstance(scope.node, cst.FunctionDef):
            called = calls.setdefault(scope.node.name.value, set())
            called.update(last_name(call.func) for call in scope.within(cst.Call))
    named = module.called | calls.keys()
    training = _TRAINING | project.leading_to(module, _TRAINING, EPOCH_DEPTH + 1, named)
    return that_use(calls, training) | training


def epoch_loop(
    ev: Evaluator, project: Project, module: ModuleFacts, loop: Loop, only_training: bool = False
) -> EpochLoop | None:
    """A loop, if it surely or maybe runs more than once and iterates over loaders each time.

    With `only_training`, functions are left out that train nothing, as far as names say.
    """
    frame = ev.frame_of(module.tree.scope_of(loop))
    search = _Search(ev, project, loop, frame, only_training)
    passes: list[Pass] = []
    renewed: list[Pass] = []
    managed: list[Pass] = []
    for found in search.run():
        if found.is_prepared:
            managed.append(found)
        elif search.is_in_loop(found.made):
            renewed.append(replace(found, is_renewed=True))
        else:
            passes.append(found)
    if not (passes or renewed or managed) or (isinstance(loop, cst.For) and _runs_once(ev, loop, frame)):
        return None
    return EpochLoop(loop, frame, tuple(passes), tuple(renewed), tuple(managed))


def _runs_once(ev: Evaluator, loop: cst.For, frame: Frame) -> bool:
    """`for _ in range(1)`."""
    call = loop.iter
    if not isinstance(call, cst.Call) or last_name(call.func) != "range":
        return False
    if not call.args or any(arg.star or arg.keyword is not None for arg in call.args):
        return False  # Python's own takes no keywords
    ends = [ev.values(arg.value, frame) for arg in call.args[:2]]
    found = [end[0].value for end in ends if len(end) == 1 and isinstance(end[0], Const) and not end[0].default]
    numbers = [number for number in found if isinstance(number, int)]
    if len(numbers) < len(ends):
        return False
    start, end = (0, numbers[0]) if len(numbers) == 1 else numbers
    return end - start <= 1


class _Search:
    """Looks for the loaders that one loop iterates over, in its body and in the functions that it calls."""

    def __init__(self, ev: Evaluator, project: Project, loop: Loop, frame: Frame, only_training: bool) -> None:
        self.ev = ev
        self.project = project
        self.loop = loop
        self.frame = frame
        self.only_training = only_training
        self.last_step = ev.steps + EPOCH_STEPS
        self.seen: set[int] = set()

    def run(self) -> Iterator[Pass]:
        tree = self.frame.scope.module.tree
        inside: list[Node] = [
            node
            for node in tree.walk(self.loop.body)
            if type(node) in _PASSING and function_scope(tree.scope_of(node)) is self.frame.scope
        ]
        yield from self._nodes(inside, (self.frame,), ())

    def _nodes(self, nodes: list[Node], path: tuple[Frame, ...], calls: tuple[cst.Call, ...]) -> Iterator[Pass]:
        frame = path[-1]
        for node in nodes:
            if self.ev.steps > self.last_step:
                return
            if type(node) is cst.For or type(node) is cst.CompFor:
                for made, loader in loaders_behind(self.ev, self.ev.values(node.iter, frame), into_objects=True):
                    if is_reached(self.ev, node, frame, with_options=True):
                        yield Pass(loader, made, node, path, calls)
                for given, where in prepared(self.ev, node.iter, frame):
                    for made, loader in loaders_behind(self.ev, self.ev.values(given, where)):
                        if not self.is_in_loop(made) and is_reached(self.ev, node, frame, with_options=True):
                            yield Pass(loader, made, node, path, calls, is_prepared=True)
            elif isinstance(node, cst.From):  # yield from loader
                for made, loader in loaders_behind(self.ev, self.ev.values(node.item, frame), into_objects=True):
                    yield Pass(loader, made, node.item, path, calls)
            elif isinstance(node, cst.Call):
                yield from self._call(node, path, calls)

    def _call(self, call: cst.Call, path: tuple[Frame, ...], calls: tuple[cst.Call, ...]) -> Iterator[Pass]:
        frame = path[-1]
        name = last_name(call.func)
        if name == "iter" and len(call.args) == 1:
            for made, loader in loaders_behind(self.ev, self.ev.values(call.args[0].value, frame)):
                yield Pass(loader, made, call, path, calls)
            return
        if len(path) > EPOCH_DEPTH or not self._may_matter(call.func, name, frame):
            return
        for callee in self.ev.values(call.func, frame):
            inner = self.ev.entered(callee, call, frame)
            if inner is None or not isinstance(inner.scope.node, cst.FunctionDef):
                continue
            if any(each.scope is inner.scope for each in path):
                continue
            if id(inner) not in self.seen and is_reached(self.ev, call, frame, with_options=True):
                self.seen.add(id(inner))
                yield from self._nodes(_run_by(inner.scope), (*path, inner), (*calls, call))

    def _may_matter(self, callee: cst.BaseExpression, name: str, frame: Frame) -> bool:
        """True if a call may run a function that is looked for; a cheap look before the evaluation, as most do not."""
        module = frame.scope.module
        bindings = resolve(callee, module.tree) if isinstance(callee, cst.Name) else []
        if not bindings:  # a method, a function of a module, a name of `from x import *`
            return self._is_known(module, name)
        return any(
            binding.kind not in _BY_NAME or self._is_known(module, binding.member or name) for binding in bindings
        )

    def _is_known(self, module: ModuleFacts, name: str) -> bool:
        """True if a function of that name is defined in the project and may be one to look into."""
        if not self.project.defines(module, name):
            return False
        if not self.only_training or name in _that_train(self.project, module):
            return True
        # it may go by another name here
        return bool(self.project.leading_to(module, _TRAINING, EPOCH_DEPTH + 1, {name}))

    def is_in_loop(self, made: CallResult) -> bool:
        """True if a loader is made again in each round: the call, or one that leads to it, stands in the loop."""
        tree = self.frame.scope.module.tree
        call = made.call
        assert call is not None and made.frame is not None
        if call in tree and tree.is_inside(call, self.loop):
            return True
        # Made in a function: the loop is older only where it does not call that function.
        inside = made.frame.scope
        return inside is not self.frame.scope and self._calls_function(inside)

    def _calls_function(self, scope: Scope) -> bool:
        node = scope.node
        if not isinstance(node, cst.FunctionDef):
            return False
        name = node.name.value
        tree = self.frame.scope.module.tree
        return any(last_name(call.func) == name for call in tree.find(self.loop.body, cst.Call))


def loaders_behind(ev: Evaluator, values: Values, into_objects: bool = False) -> Iterator[tuple[CallResult, Loader]]:
    """The loaders that iterating over one of the values iterates over, also inside objects of the project if asked."""
    for value in values:
        for made in _behind(ev, value, into_objects):
            loader = loader_of(ev, made)
            if loader is not None and made.call is not None:
                yield made, loader


def _behind(ev: Evaluator, value: Value, into_objects: bool, depth: int = 0) -> Iterator[CallResult]:
    """What is iterated in the end: `enumerate(loader)`, `zip(loader, other)`."""
    while isinstance(value, Iterated):
        value = value.of
    if not isinstance(value, CallResult) or depth > EPOCH_DEPTH:
        return
    if row(value.library).iterates == "now" and value.call is not None and value.frame is not None:
        given = next((arg.value for arg in value.call.args if arg.keyword is None), None)
        for each in ev.values(given, value.frame) if given is not None else ():
            yield from _behind(ev, each, into_objects, depth + 1)
        return
    kept = _inside(ev, value, value.by) if into_objects and isinstance(value.by, Class) else []
    for each in kept:
        yield from _behind(ev, each, into_objects, depth + 1)
    if not kept:
        yield value


def _inside(ev: Evaluator, value: CallResult, klass: Class) -> list[Value]:
    """What an object of the project iterates over again whenever a loop iterates over it: `Progress(loader)`."""
    if loader_class(ev, klass) is not None:
        return []
    iterate = classes.find_method(ev, ev.bases(klass).classes, "__iter__")
    if iterate is None or not _starts_again(iterate.scope):
        return []
    return [each.of for each in ev.element(value) if isinstance(each, ItemOf) and each.of != value]


def _starts_again(scope: Scope) -> bool:
    """True if an `__iter__` iterates over something itself, or makes an iterator, and tells no sampler the epoch."""
    calls = {last_name(call.func) for call in scope.within(cst.Call)}
    return ("iter" in calls or bool(scope.own(cst.For))) and "set_epoch" not in calls


def _run_by(scope: Scope) -> list[Node]:
    """The loops and calls of a function, in document order; not those of inner functions."""
    found: list[Node] = [*scope.within(cst.For), *scope.within(cst.CompFor), *scope.within(cst.Call)]
    return sorted(found, key=scope.module.tree.order)
