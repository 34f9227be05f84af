"""Distributed samplers whose order never changes, because `set_epoch` is never called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.epoch_loops import loops_that_train
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders.epochs import EpochLoop, Pass, epoch_loop
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import excludes, path_conditions
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import SAMPLER_WRAPPERS
from dataloader_lint.semantics.project.imports import Imports
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.layout import code
from dataloader_lint.semantics.syntax.names import bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Evaluator, Frame, Library, Value

DISTRIBUTED = frozenset({"torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler"})
_BATCHED = frozenset({"torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler"})
SETTER = "set_epoch"


@dataclass(frozen=True, slots=True, eq=False)
class StuckSampler:
    """A loop over epochs, and a loader in it whose shuffling sampler gets no `set_epoch` call."""

    epochs: EpochLoop
    found: Pass
    sampler: CallResult

    @property
    def loader_name(self) -> str:
        """The name of the loader where it is iterated over, or the name it is bound to if that is another object."""
        node: cst.CSTNode = self.found.node
        node = node.iter if isinstance(node, cst.For | cst.CompFor) else node
        return self._name_in_expression(node, SAMPLER_WRAPPERS) or self.found.loader.bound_name

    def _name_in_expression(self, node: cst.CSTNode, depth: int) -> str:
        """The name of the loader in an expression; for `bar = wrapped(loader)`, the name of the argument."""
        frame = self.found.path[-1]
        call = node
        if isinstance(node, cst.Name) and node in frame.scope.module.tree:
            call = next((each.value for each in resolve(node, frame.scope.module.tree) if each.value), node)
        if isinstance(call, cst.Call) and call is not self.found.made.call and depth:
            for arg in call.args:
                if name := self._name_in_expression(arg.value, depth - 1):
                    return name
        if self.found.made not in self.found.loader.ev.values(node, frame):
            return ""
        if isinstance(node, cst.Subscript) and dotted(node.value):  # loaders[phase]
            return code(frame.scope.module.tree, node)
        return dotted(node)

    @property
    def setter(self) -> tuple[cst.BaseSuite, str] | None:
        """The loop body and a `set_epoch` statement for it, or None if that may not work."""
        loop, frame = self.loop, self.epochs.frame
        if not isinstance(loop, cst.For) or not isinstance(loop.target, cst.Name) or len(self.found.path) != 1:
            return None
        if self.found.is_renewed:
            return None
        is_counted = isinstance(loop.iter, cst.Call) and last_name(loop.iter.func) == "range"
        if not is_counted or self.found.loader.values("sampler") != (self.sampler,):
            return None
        scope = frame.scope
        if not self.loader_name.isidentifier() or scope is not self.found.loader.frame.scope:
            return None
        owner = self._sampler_name(scope) or f"{self.loader_name}.sampler"
        return loop.body, f"{owner}.{SETTER}({loop.target.value})"

    def _sampler_name(self, scope: Scope) -> str:
        """The name that a function binds to the sampler only."""
        tree = scope.module.tree
        assert self.sampler.call is not None
        assign = tree.parent(self.sampler.call) if self.sampler.call in tree else None
        if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or tree.scope_of(assign) is not scope:
            return ""
        name = dotted(assign.targets[0].target)
        return name if len(bindings_of(scope).get(name, ())) == 1 else ""

    @property
    def loop(self) -> cst.For | cst.While:
        return self.epochs.loop


def stuck_samplers(file: File) -> Iterator[StuckSampler]:
    """Yields the epoch loops of a file that train on the same order each time."""
    if file.module.calls_named(SETTER):  # on any object; then no loop of the file is reported
        return
    ev, imports = file.ev, file.session.imports
    # Changes to Datasets need all loops over loaders; a search for these finds the training loops too.
    only_training = not file.project.mentions_word(file.module, "persistent_workers")
    for epochs in loops_that_train(file, "DistributedSampler", only_training):
        module = epochs.frame.scope.module
        renewed = epochs.renewed if epochs.counts_epochs else ()  # made in each round, with a sampler of epoch 0
        for found in (*epochs.passes, *renewed):
            sampler = next(_shuffling(ev, found.loader), None)
            if sampler is None or not found.trains(ev) or not _repeats_data(ev, imports, epochs, found):
                continue
            if found.is_renewed and _names_epoch(sampler):
                continue
            if not _has_set_epoch_call(imports, module, found, sampler):
                yield StuckSampler(epochs, found, sampler)
                break


def _names_epoch(sampler: CallResult) -> bool:
    """True for `DistributedSampler(data, seed=self.epoch)`."""
    assert sampler.call is not None and sampler.frame is not None
    tree = sampler.frame.scope.module.tree
    return any("epoch" in tree.words(arg.value).lower() for arg in sampler.call.args)


def _repeats_data(ev: Evaluator, imports: Imports, epochs: EpochLoop, found: Pass) -> bool:
    """True if this loop repeats the data: it is the innermost loop that iterates over the same loader each time."""
    if found.changes_with(epochs.loop):
        return False
    for loop, frame in found.loops_inside(epochs.loop):
        inner = epoch_loop(ev, imports.project, frame.scope.module, loop, only_training=True)
        for each in inner.passes if inner is not None else ():
            if each.node is found.node and each.made.call is found.made.call and not found.changes_with(loop):
                return False
    return True


def _shuffling(ev: Evaluator, loader: Loader) -> Iterator[CallResult]:
    """The DistributedSamplers of a loader that are known to shuffle and that may be constructed."""
    for name in ("sampler", "batch_sampler"):
        for value in loader.values(name):
            yield from _unwrapped(ev, value)


def _unwrapped(ev: Evaluator, value: Value) -> Iterator[CallResult]:
    if not isinstance(value, CallResult) or value.call is None or value.frame is None:
        return
    if value.library in DISTRIBUTED:
        if _shuffles(ev, value.call, value.frame) and not _is_excluded_by_caller(ev, value.call, value.frame):
            yield value
    elif value.library in _BATCHED:
        given = next(
            (arg.value for arg in value.call.args if arg.keyword is None or arg.keyword.value == "sampler"), None
        )
        for inner in ev.values(given, value.frame) if given is not None else ():
            yield from _unwrapped(ev, inner)
    elif isinstance(value.by, Class) and _orders_by_epoch(ev, value, value.by):
        if not _is_excluded_by_caller(ev, value.call, value.frame):
            yield value


def _orders_by_epoch(ev: Evaluator, value: CallResult, klass: Class) -> bool:
    """True for a subclass of a DistributedSampler that shuffles, and whose order depends on the epoch that is set."""
    assert value.call is not None and value.frame is not None
    bases = ev.bases(klass)
    if DISTRIBUTED.isdisjoint(bases.libraries):
        return False
    iterate = classes.find_method(ev, bases.classes, "__iter__")
    if iterate is not None and not any(each.attr.value == "epoch" for each in iterate.scope.own(cst.Attribute)):
        return False
    function = classes.constructor(ev, klass)
    if function is None:
        return _shuffles(ev, value.call, value.frame)
    inside = ev.enter(function, value.call, value.frame, value)
    made = (
        call
        for call in function.scope.own(cst.Call)
        if last_name(call.func) == "__init__"
        and any(isinstance(each, Library) for each in ev.values(call.func, inside))
    )
    inherited = next(made, None)
    is_super = inherited is not None and "super" in inside.scope.module.tree.words(inherited.func)
    return inherited is not None and is_super and _shuffles(ev, inherited, inside)


def _is_excluded_by_caller(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if arguments or constants exclude the sampler: `make(data, distributed=False)`.

    Options do not count: a run with several processes sets them. Neither do attributes of objects, which may be set
    later.
    """
    tree = frame.scope.module.tree
    return any(
        excludes(ev, condition, frame, with_options=True)
        for condition in path_conditions(call, frame.scope)
        if not any(isinstance(each, cst.Attribute | cst.Subscript | cst.Call) for each in tree.walk(condition.test))
    )


def _shuffles(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if the sampler can shuffle: it does where the argument, the fourth one, is left out.

    What is not known counts: torch's own default is True.
    """
    positional = 0
    for arg in call.args:
        if arg.star:
            return False
        if arg.keyword is None:
            positional += 1
        if (arg.keyword is None and positional == 4) or (arg.keyword is not None and arg.keyword.value == "shuffle"):
            found = ev.values(arg.value, frame)
            return not any(isinstance(each, Const) and not each.value for each in found)
    return True


def _has_set_epoch_call(imports: Imports, module: ModuleFacts, found: Pass, sampler: CallResult) -> bool:
    """True if a module that is loaded with the loop calls `set_epoch`, on any object."""
    modules = [*(frame.scope.module for frame in found.path), module, found.loader.frame.scope.module]
    if sampler.frame is not None:
        modules.append(sampler.frame.scope.module)
    involved = list({each.path: each for each in modules}.values())
    if any(each.calls_named(SETTER) for each in involved):
        return True
    others = [each.path for each in imports.project.modules_with(module, SETTER) if each.calls_named(SETTER)]
    return bool(others) and imports.reaches(involved, set(others))
