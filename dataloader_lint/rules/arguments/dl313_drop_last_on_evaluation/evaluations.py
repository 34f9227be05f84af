"""Loaders that a program evaluates with: loops that compute no gradients, and the loader methods of Lightning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import libcst as cst

from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.epochs import loaders_behind, trains
from dataloader_lint.pipeline.loaders.prepared import prepared
from dataloader_lint.pipeline.project_facts import ProjectFacts
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.semantics.classes.classes import class_of
from dataloader_lint.semantics.control.reachability import is_reached, path_conditions
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of
from dataloader_lint.semantics.limits import EVALUATING_MODULES
from dataloader_lint.semantics.project.imports import Imports
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import Evaluator, Frame, is_default, merge

_WITHOUT_GRADIENTS = frozenset({"inference_mode", "no_grad"})
LOADER_METHODS = frozenset({"predict_dataloader", "test_dataloader", "val_dataloader"})
_EVALUATING = re.compile(
    r"(?:^|[^a-z])(?:dev|eval|evaluat(?:e|ion|or)|test|tester|testing|val|vali|valid|validat(?:e|ion|or))(?![a-z])"
)
_CAMEL_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")
TRAINING = re.compile("train|calib|warm")
BATCH_SIZE = re.compile(r"(?:\w*_)?(?:batch_?size|batchSize|BATCH(?:_?SIZE)?|bs|BS)")
_WITHIN_BATCH = re.compile(
    "r_precision|cdist|(?:distance|similarity|sim)_matrix|pairwise|contrastive|info_?nce|retriev"
)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """A loader that a loop evaluates with, or that a method returns for that."""

    loader: Loader
    node: Node  # the loader where it is made in the module, else the loop
    where: str  # the loop or the method, in words
    step: Step
    picked_from: tuple[Loader, ...] = ()  # the loaders of a dict or list, if the loop goes through one of them
    is_returned: bool = False  # by the method that `where` names
    others: tuple[Evaluation, ...] = ()  # what else evaluates with the same call

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made, and what evaluates with it."""
        return (*loader_steps.made(self.loader, "drop_last"), self.step)

    @property
    def counts_full_batches(self) -> bool:
        """True if the loop computes with the batch size that was asked for, not with that of the batch."""
        tree, loop = self.step.module.tree, self.step.node
        if not isinstance(loop, cst.For):
            return False
        bound = {name.value for each in tree.find(loop, cst.AssignTarget) for name in tree.find(each, cst.Name)}
        words = set(tree.words(loop.body).split()) - bound
        return any(BATCH_SIZE.fullmatch(word) for word in words)

    @property
    def alternatives(self) -> Iterator[Loader]:
        """What the loop goes through instead if a key, or an option that decides what is made, is something else."""
        loader = self.loader
        yield from (each for each in self.picked_from if each.frame is not loader.frame or each.call is not loader.call)
        scope = loader.frame.scope
        tests = [condition.test for condition in path_conditions(loader.call, scope)]
        if not any(is_default(value) for test in tests for value in loader.ev.values(test, loader.frame)):
            return
        for call in scope.own(cst.Call):
            if call is not loader.call and last_name(call.func) == last_name(loader.call.func):
                yield replace(loader, call=call, before=(), site=None)


class _Evaluations:
    """The evaluations of all modules of a session, each looked for once."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._found: dict[str, list[Evaluation]] = {}

    def of(self, module: ModuleFacts) -> list[Evaluation]:
        """What the loops and methods of a module evaluate with; a test loop comes before one that validates."""
        if module.path not in self._found:
            found = [
                *_of_loops(self._ev, module),
                *_of_comprehensions(self._ev, module),
                *_of_methods(self._ev, module),
            ]
            whole = {id(each.loader.call) for each in found if _needs_whole_batches(each.step.node, module.tree)}
            kept = [each for each in found if id(each.loader.call) not in whole]
            self._found[module.path] = sorted(kept, key=lambda each: "test" not in each.where.lower())
        return self._found[module.path]


def _evaluations(facts: ProjectFacts) -> _Evaluations:
    return _Evaluations(facts.evaluation)


def evaluations(file: File) -> Iterator[Evaluation]:
    """The loaders that a file makes and something surely evaluates with, each once.

    It is reported at the loop if the file that makes it does not say `drop_last`, or does not know of the loop. What
    loaders are given is asked of an evaluation that takes CUDA to be available.
    """
    says_it = "drop_last" in file.tree.code
    if not says_it and not file.project.mentions_word(file.module, "drop_last"):
        return
    known, module = file.session.once(_evaluations), file.module
    everything = list(known.of(module))
    if says_it and file.loaders:
        for other in _evaluating_modules(file.project, module):
            everything += [each for each in known.of(other) if each.loader.construction[1].scope.module is module]
    by_call: dict[int, list[Evaluation]] = {}
    for found in everything:
        by_call.setdefault(id(found.loader.construction[0]), []).append(found)
    seen: set[tuple[int, int]] = set()  # one call may make several, by what its function is given
    for found in everything:
        made, frame = found.loader.construction
        home = frame.scope.module
        key = (id(made), id(found.loader.frame))
        if key in seen or (home is not module and _is_reported_in(home, file)):
            continue
        seen.add(key)
        own = next((each.node for each in file.loaders if each.node is made), None)
        if own is None and found.step.module is not module:
            continue
        by_paths = file.session.with_cuda
        picked_from = tuple(replace(each, ev=by_paths) for each in found.picked_from)
        loader = replace(found.loader, ev=by_paths)
        others = tuple(each for each in by_call[id(made)] if each is not found)
        yield replace(found, loader=loader, node=own or found.node, picked_from=picked_from, others=others)


def _is_reported_in(home: ModuleFacts, file: File) -> bool:
    """True if the module that makes a loader knows that a file evaluates with it."""
    return "drop_last" in home.tree.code and file.module in _evaluating_modules(file.project, home)


def _evaluating_modules(project: Project, module: ModuleFacts) -> list[ModuleFacts]:
    """The other modules that may evaluate with what a module makes: of many, those that imports connect with it."""
    words = ("no_grad", "inference_mode", "eval", *sorted(LOADER_METHODS))
    found = dict.fromkeys(path for word in words for path in project.paths_with(module, word))
    found.pop(module.path, None)
    if len(found) > EVALUATING_MODULES:
        imports = Imports(project)
        near = (path for path in found if imports.connect(module.path, path))
        found = dict.fromkeys(islice(near, EVALUATING_MODULES + 1))
    return list(project.opened(module, found)) if len(found) <= EVALUATING_MODULES else []


def _of_loops(ev: Evaluator, module: ModuleFacts) -> Iterator[Evaluation]:
    for scope in module.root.descend():
        if not isinstance(scope.node, cst.FunctionDef | cst.Module):
            continue
        frame = ev.frame_of(scope)
        for loop in scope.own(cst.For):
            name = _name_of_evaluation(loop, scope)
            if not name or not _goes_through_all(loop, module.tree):
                continue
            if (
                _has_no_gradients(loop, scope)
                or _model_evaluates(loop, scope)
                or _steps_without_gradients(ev, loop, frame)
            ):
                yield from _loop_over(ev, loop, frame, name)


def _of_comprehensions(ev: Evaluator, module: ModuleFacts) -> Iterator[Evaluation]:
    """Those that are gone through in a comprehension: `sum(metric(model(x), y) for x, y in val_loader)`."""
    for scope in module.root.descend():
        if not isinstance(scope.node, cst.FunctionDef | cst.Module):
            continue
        for inner in scope.inner:
            for loop in inner.own(cst.CompFor) if inner.is_comprehension else ():
                name = _name_of_evaluation(loop, scope)
                if name and (_has_no_gradients(loop, scope) or _model_evaluates(loop, scope)):
                    yield from _loop_over(ev, loop, ev.frame_of(scope), name)


def _loop_over(ev: Evaluator, loop: cst.For | cst.CompFor, frame: Frame, name: str) -> Iterator[Evaluation]:
    if not is_reached(ev, loop, frame, with_options=True) or trains(ev, loop, frame):
        return
    given = [ev.values(*each) for each in prepared(ev, loop.iter, frame)]
    found = [loader for _, loader in loaders_behind(ev, merge(ev.values(loop.iter, frame), *given))]
    picked_from = tuple(found) if _is_picked(loop.iter, frame.scope.module.tree) else ()
    for loader in found:
        if not TRAINING.search(loader.bound_name.lower()):
            step = Step(frame.scope.module, loop, "this loop computes no gradients: it evaluates")
            yield Evaluation(loader, loop.iter, f"`{name}`", step, picked_from)


def _is_picked(node: cst.BaseExpression, tree: Tree) -> bool:
    """True for `loaders[split]`, also by another name: which loader it is depends on the key."""
    keys = (each.slice[0].slice for each in origins(node, tree, _shown) if isinstance(each, cst.Subscript))
    return any(isinstance(each, cst.Index) and isinstance(each.value, cst.Name | cst.Attribute) for each in keys)


def _shown(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [arg.value for arg in node.args[:1]] if isinstance(node, cst.Call) else []  # tqdm(loader), enumerate(loader)


def _of_methods(ev: Evaluator, module: ModuleFacts) -> Iterator[Evaluation]:
    for scope in module.root.descend():
        node = scope.node
        if not isinstance(node, cst.FunctionDef) or node.name.value not in LOADER_METHODS:
            continue
        frame = ev.frame_of(scope)
        for returned in scope.own(cst.Return):
            for value in ev.values(returned.value, frame) if returned.value is not None else ():
                loader = loader_of(ev, value)
                if loader is not None:
                    step = Step(module, returned, f"`{node.name.value}` returns it to a Trainer that evaluates")
                    yield Evaluation(loader, returned, f"`{node.name.value}`", step, is_returned=True)


def _name_of_evaluation(loop: cst.For | cst.CompFor, scope: Scope) -> str:
    """What says by its name that a loop evaluates: what it goes over, its function or class; empty if nothing does."""
    tree = scope.module.tree
    words = tree.words(loop.iter)
    if TRAINING.search(words.lower()):
        return ""
    around = [scope.node, *([owner.node] if (owner := class_of(scope)) is not None else [])]
    names = [each.name.value for each in around if isinstance(each, cst.FunctionDef | cst.ClassDef)]
    return next((word for word in (*words.split(), *names) if says_evaluation(word)), "")


def says_evaluation(name: str) -> bool:
    """True for `val_loader` and `testDataLoader`, not for `latest`."""
    return _EVALUATING.search(_CAMEL_HUMP.sub("_", name).lower()) is not None


def _has_no_gradients(loop: cst.For | cst.CompFor, scope: Scope) -> bool:
    """True if a loop stands in `torch.no_grad()`, or in a function decorated with it, or enters it in each round."""
    tree = scope.module.tree
    node = scope.node
    decorators = node.decorators if isinstance(node, cst.FunctionDef) else ()
    if any(_turns_gradients_off(each.decorator) for each in decorators):
        return True
    inside = loop.body.body if isinstance(loop, cst.For) and isinstance(loop.body, cst.IndentedBlock) else ()
    blocks = (each for each in (*tree.ancestors(loop), *inside) if isinstance(each, cst.With))
    return any(_turns_gradients_off(item.item) for block in blocks for item in block.items)


def _model_evaluates(loop: cst.For | cst.CompFor, scope: Scope) -> bool:
    """True if the function surely says `model.eval()` before a loop, and nothing between makes it train again."""
    tree = scope.module.tree
    modes = [
        call
        for call in scope.own(cst.Call)
        if isinstance(call.func, cst.Attribute)
        and call.func.attr.value in ("eval", "train")
        and tree.order(call) < tree.order(loop)
    ]
    if not modes:
        return False
    last = modes[-1]
    met = {(id(each.test), each.wanted) for each in path_conditions(loop, scope)}
    return (
        last_name(last.func) == "eval"
        and not last.args
        and all((id(each.test), each.wanted) in met for each in path_conditions(last, scope))
    )


def _steps_without_gradients(ev: Evaluator, loop: cst.For, frame: Frame) -> bool:
    """True if each round gives the batch to a function of the project that turns gradients off for it.

    What the function does is asked for the arguments of the call: `self.step(batch, phase="val")`.
    """
    tree = frame.scope.module.tree
    given = {each.value for each in tree.find(loop.target, cst.Name)}
    for statement in loop.body.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for call in tree.find(statement, cst.Call):
            if not any(name.value in given for arg in call.args for name in tree.find(arg.value, cst.Name)):
                continue
            for callee in ev.values(call.func, frame):
                inner = ev.entered(callee, call, frame)
                if inner is not None and isinstance(inner.scope.node, cst.FunctionDef):
                    if _runs_without_gradients(ev, inner):
                        return True
        given.update(target.value for target in _names_bound_by(statement, tree))
    return False


def _names_bound_by(statement: cst.SimpleStatementLine, tree: Tree) -> Iterator[cst.Name]:
    """The names that a statement binds: what is made of the batch may be given instead of it."""
    for assign in statement.body:
        if isinstance(assign, cst.Assign):
            for each in assign.targets:
                yield from tree.find(each.target, cst.Name)


def _runs_without_gradients(ev: Evaluator, frame: Frame) -> bool:
    """True if a function is decorated with `no_grad`, or surely enters it for the arguments of a call."""
    assert isinstance(frame.scope.node, cst.FunctionDef)
    if any(_turns_gradients_off(each.decorator) for each in frame.scope.node.decorators):
        return True
    return any(
        any(_turns_gradients_off(item.item) for item in block.items)
        and all(
            truth(ev.values(condition.test, frame)) is condition.wanted
            for condition in path_conditions(block, frame.scope)
        )
        for block in frame.scope.own(cst.With)
    )


def _turns_gradients_off(node: cst.BaseExpression) -> bool:
    named = node.func if isinstance(node, cst.Call) else node
    return bool(dotted(named)) and last_name(named) in _WITHOUT_GRADIENTS


def _needs_whole_batches(loop: Node, tree: Tree) -> bool:
    """True if a loop compares the samples of a batch with each other: with fewer of them the task gets easier."""
    return any(_WITHIN_BATCH.search(last_name(call.func).lower()) for call in tree.find(loop, cst.Call))


def _goes_through_all(loop: cst.For, tree: Tree) -> bool:
    """True if a loop has no way to end early, by which it would leave samples out on purpose."""
    return not any(True for _ in tree.find(loop.body, cst.Break)) and not any(
        last_name(call.func) == "islice" for call in tree.find(loop.iter, cst.Call)
    )
