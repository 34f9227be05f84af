"""Samples that can be None where the loader's own collate function has to make a batch of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.reachability import enclosing_tests, excludes, none_closes
from dataloader_lint.facts.infer.values import CallResult, Class, Const, Evaluator, Frame, ItemOf, Sequence, Value
from dataloader_lint.facts.libraries.catalogue import LOADERS
from dataloader_lint.facts.limits import WRAPPED_DATASET_DEPTH
from dataloader_lint.facts.syntax.flow import leaves
from dataloader_lint.facts.syntax.module import ModuleFacts, last_name
from dataloader_lint.facts.syntax.names import resolve
from dataloader_lint.facts.syntax.tree import Node, Scope
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow

_WRAPPERS = frozenset(
    f"torch.utils.data.{prefix}{name}"
    for name in ("Subset", "ConcatDataset", "random_split")
    for prefix in ("", "dataset.")
)
_TORCH = LOADERS["torch.utils.data.DataLoader"]


@dataclass(frozen=True, slots=True, eq=False)
class MissingSample:
    """A statement of `__getitem__` after which the sample is None, and a loader that has no use for that."""

    statement: Node
    klass: Class
    loader: Loader
    is_written: bool  # `return None`, and not the end of the function after a handler

    @property
    def name(self) -> str:
        return self.klass.node.name.value


def missing_samples(reach: DatasetFlow, module: ModuleFacts) -> Iterator[MissingSample]:
    """The places in `__getitem__` methods of a module that give None to a loader with the default collate_fn."""
    for klass in reach.workers.datasets(module):
        method = classes.methods_of(klass.scope).get("__getitem__")
        if method is None:
            continue
        places = list(_places(reach.ev, method))
        if not places:
            continue
        loader = next((each for each in reach.loaders_of(klass) if _fails(reach.ev, each, method)), None)
        if loader is not None:
            for statement, is_written in places:
                yield MissingSample(statement, klass, loader, is_written)


def _places(ev: Evaluator, method: Scope) -> Iterator[tuple[Node, bool]]:
    returns = method.own(cst.Return)
    if not any(each.value is not None and not _is_none(each.value) for each in returns) or method.own(cst.Yield):
        return
    frame = ev.frame_of(method)
    tree = method.module.tree
    for each in returns:
        if each.value is None or _is_none(each.value):
            tests = [test for test, _ in enclosing_tests(each, frame)]
            is_bound = any(last_name(call.func) in _LENGTHS for test in tests for call in tree.find(test, cst.Call))
            if not is_bound and _is_reached(ev, each, frame):
                yield each, True
    body = method.node.body if isinstance(method.node, cst.FunctionDef) else None
    last = body.body[-1] if isinstance(body, cst.IndentedBlock) and body.body else None
    if isinstance(last, cst.Try) and last.finalbody is None and _leaves(last):
        for handler in last.handlers:
            if not leaves(handler.body) and handler.body.body:
                yield handler.body.body[-1], False


# A place past the end, which no sampler asks for: `if index >= self.__len__(): return None`.
_LENGTHS = frozenset({"__len__", "len"})


def _is_reached(ev: Evaluator, node: Node, frame: Frame) -> bool:
    """Whether control may get to a place. Who asks whether what a library gave is None knows that it can be."""
    return none_closes(
        ev,
        node,
        frame,
        "without a sample",
        lambda condition: (
            excludes(ev, condition, frame, with_options=True) and not _asks_for_none(ev, condition.test, frame)
        ),
    )


def _asks_for_none(ev: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool:
    """`cv2.imread(path) is None`, also under a name: a file that cannot be read."""
    if not isinstance(test, cst.Comparison) or not _is_none(test.comparisons[0].comparator):
        return False
    bindings = resolve(test.left, frame.scope.module.tree) if isinstance(test.left, cst.Name) else []
    calls = [each.value for each in bindings] or [test.left]
    if all(isinstance(call, cst.Call) and last_name(call.func) == "imread" for call in calls):
        return True
    found = ev.values(test.left, frame)
    return bool(found) and all(
        isinstance(value, CallResult) and bool(value.library) and value.library.partition(".")[0] not in _NEVER_NONE
        for value in found
    )


# Libraries whose functions give what they promise, or raise.
_NEVER_NONE = frozenset({"PIL", "builtins", "collections", "numpy", "pandas", "pathlib", "torch", "torchvision"})


def _leaves(statement: cst.Try) -> bool:
    """Whether the body of a `try` returns wherever nothing is raised."""
    return leaves(statement.body) or (statement.orelse is not None and leaves(statement.orelse.body))


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _fails(ev: Evaluator, loader: Loader, method: Scope) -> bool:
    """Whether a loader makes batches of what the method returns, with the function that torch brings."""
    collate, size = loader.known("collate_fn"), loader.values("batch_size")
    if collate is None or collate.value is not None or loader.kind is not _TORCH or not loader.is_reached:
        return False
    if any(isinstance(each, Const) and each.value is None for each in size):
        return False  # there are no batches to make
    return any(_reads(ev, value, method, 0) for value in loader.values("dataset"))


def _reads(ev: Evaluator, value: Value, method: Scope, depth: int) -> bool:
    """Whether the samples of a Dataset are what the method returns, through wrappers of torch at most."""
    while isinstance(value, ItemOf):
        value = value.of
    if isinstance(value, Sequence):
        return depth < WRAPPED_DATASET_DEPTH and any(_reads(ev, each, method, depth + 1) for each in ev.element(value))
    if not isinstance(value, CallResult):
        return False
    if isinstance(value.by, Class):
        found = classes.find_method(ev, ev.bases(value.by).classes, "__getitem__")
        return found is not None and found.scope is method
    if value.library not in _WRAPPERS or value.call is None or value.frame is None or depth > WRAPPED_DATASET_DEPTH:
        return False
    inside = [inner for arg in value.call.args[:1] for inner in ev.values(arg.value, value.frame)]
    return any(_reads(ev, inner, method, depth + 1) for inner in inside)
