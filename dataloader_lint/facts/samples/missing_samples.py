"""Samples that can be None in a loader whose default collate function has to build a batch of them."""

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
    """A statement of `__getitem__` that returns None as the sample, and a loader that cannot collate it."""

    statement: Node
    klass: Class
    loader: Loader
    is_written: bool  # `return None`, rather than the end of the function after a handler

    @property
    def name(self) -> str:
        return self.klass.node.name.value


def missing_samples(reach: DatasetFlow, module: ModuleFacts) -> Iterator[MissingSample]:
    """Yields the places in `__getitem__` methods of a module that return None to a loader with torch's collate_fn."""
    for klass in reach.workers.datasets(module):
        method = classes.methods_of(klass.scope).get("__getitem__")
        if method is None:
            continue
        places = list(_none_sites(reach.ev, method))
        if not places:
            continue
        loader = next((each for each in reach.loaders_of(klass) if _collates_results(reach.ev, each, method)), None)
        if loader is not None:
            for statement, is_written in places:
                yield MissingSample(statement, klass, loader, is_written)


def _none_sites(ev: Evaluator, method: Scope) -> Iterator[tuple[Node, bool]]:
    returns = method.own(cst.Return)
    if not any(each.value is not None and not _is_none(each.value) for each in returns) or method.own(cst.Yield):
        return
    frame = ev.frame_of(method)
    tree = method.module.tree
    for each in returns:
        if each.value is None or _is_none(each.value):
            tests = [test for test, _ in enclosing_tests(each, frame)]
            is_bound = any(
                last_name(call.func) in _LENGTH_FUNCTIONS for test in tests for call in tree.find(test, cst.Call)
            )
            if not is_bound and _is_reached(ev, each, frame):
                yield each, True
    body = method.node.body if isinstance(method.node, cst.FunctionDef) else None
    last = body.body[-1] if isinstance(body, cst.IndentedBlock) and body.body else None
    if isinstance(last, cst.Try) and last.finalbody is None and _body_returns(last):
        for handler in last.handlers:
            if not leaves(handler.body) and handler.body.body:
                yield handler.body.body[-1], False


# An index past the end, which no sampler produces: `if index >= self.__len__(): return None`.
_LENGTH_FUNCTIONS = frozenset({"__len__", "len"})


def _is_reached(ev: Evaluator, node: Node, frame: Frame) -> bool:
    """True if control may reach a place; a test for None shows that a library's result can be None."""
    return none_closes(
        ev,
        node,
        frame,
        "without a sample",
        lambda condition: (
            excludes(ev, condition, frame, with_options=True) and not _is_none_test(ev, condition.test, frame)
        ),
    )


def _is_none_test(ev: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool:
    """True for `cv2.imread(path) is None`, also through a local name: the file cannot be read."""
    if not isinstance(test, cst.Comparison) or not _is_none(test.comparisons[0].comparator):
        return False
    bindings = resolve(test.left, frame.scope.module.tree) if isinstance(test.left, cst.Name) else []
    calls = [each.value for each in bindings] or [test.left]
    if all(isinstance(call, cst.Call) and last_name(call.func) == "imread" for call in calls):
        return True
    found = ev.values(test.left, frame)
    return bool(found) and all(
        isinstance(value, CallResult)
        and bool(value.library)
        and value.library.partition(".")[0] not in _LIBRARIES_NEVER_NONE
        for value in found
    )


# Libraries whose functions return a value or raise, but never return None.
_LIBRARIES_NEVER_NONE = frozenset(
    {"PIL", "builtins", "collections", "numpy", "pandas", "pathlib", "torch", "torchvision"}
)


def _body_returns(statement: cst.Try) -> bool:
    """True if the body of a `try` returns unless something is raised."""
    return leaves(statement.body) or (statement.orelse is not None and leaves(statement.orelse.body))


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _collates_results(ev: Evaluator, loader: Loader, method: Scope) -> bool:
    """True if a loader collates the results of the method with torch's default function."""
    collate, size = loader.known("collate_fn"), loader.values("batch_size")
    if collate is None or collate.value is not None or loader.kind is not _TORCH or not loader.is_reached:
        return False
    if any(isinstance(each, Const) and each.value is None for each in size):
        return False  # without batches, nothing is collated
    return any(_samples_come_from(ev, value, method, 0) for value in loader.values("dataset"))


def _samples_come_from(ev: Evaluator, value: Value, method: Scope, depth: int) -> bool:
    """True if the samples of a Dataset are the results of the method, directly or through wrappers of torch."""
    while isinstance(value, ItemOf):
        value = value.of
    if isinstance(value, Sequence):
        elements = ev.element(value) if depth < WRAPPED_DATASET_DEPTH else ()
        return any(_samples_come_from(ev, each, method, depth + 1) for each in elements)
    if not isinstance(value, CallResult):
        return False
    if isinstance(value.by, Class):
        found = classes.find_method(ev, ev.bases(value.by).classes, "__getitem__")
        return found is not None and found.scope is method
    if value.library not in _WRAPPERS or value.call is None or value.frame is None or depth > WRAPPED_DATASET_DEPTH:
        return False
    inside = [inner for arg in value.call.args[:1] for inner in ev.values(arg.value, value.frame)]
    return any(_samples_come_from(ev, inner, method, depth + 1) for inner in inside)
