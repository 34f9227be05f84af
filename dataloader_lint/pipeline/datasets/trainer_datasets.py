"""Datasets that a library makes the loaders of: `Trainer(model, args, train_dataset=Texts(path))`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts.sources import any_value
from dataloader_lint.semantics.evaluation.loader_calls import written_argument
from dataloader_lint.semantics.libraries.datasets import DATASET_TAKERS, DatasetTaker
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Evaluator, Frame, Library, Mapping, Value

if TYPE_CHECKING:
    import libcst as cst

_NAMES = frozenset(name.rpartition(".")[2] for name in DATASET_TAKERS)
_PARAMETERS = frozenset(name for taker in DATASET_TAKERS.values() for name in taker.datasets)


def datasets_for_libraries(ev: Evaluator, module: ModuleFacts) -> Iterator[Value]:
    """What a module gives to libraries that make loaders of it, unless these surely have no workers."""
    for call in module.all_calls():
        keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        if last_name(call.func) not in _NAMES and _PARAMETERS.isdisjoint(keywords):
            continue
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        for callee in ev.values(call.func, frame):
            taker = _taker(ev, callee)
            if taker is not None and not _has_no_workers(ev, call, frame, taker):
                yield from _given(ev, call, frame, taker, isinstance(callee, Library))


def _taker(ev: Evaluator, callee: Value) -> DatasetTaker | None:
    """The row for a callable of a library, or for a class of the project that derives from it."""
    if isinstance(callee, Library):
        return DATASET_TAKERS.get(callee.name)
    libraries = ev.bases(callee).libraries if isinstance(callee, Class) else ()
    return next((DATASET_TAKERS[name] for name in libraries if name in DATASET_TAKERS), None)


def _given(ev: Evaluator, call: cst.Call, frame: Frame, taker: DatasetTaker, by_position: bool) -> Iterator[Value]:
    """The Datasets of a call; a subclass may have other positions than the class of the library."""
    for name in sorted(taker.datasets):
        arg = written_argument(call, name, taker.positions if by_position else ())
        for value in ev.values(arg.value, frame) if arg is not None else ():
            if isinstance(value, Mapping):  # several to evaluate on, by name
                yield from any_value(ev, value)
            else:
                yield value


def _has_no_workers(ev: Evaluator, call: cst.Call, frame: Frame, taker: DatasetTaker) -> bool:
    """True if the number of workers is 0 in all that is known of it, or left out, which means the same."""
    if not taker.options:
        return _is_zero(ev, call, frame, taker)
    options = written_argument(call, taker.options, taker.positions)
    if options is None:
        return not any(arg.star for arg in call.args)
    found = ev.values(options.value, frame)
    return all(
        isinstance(each, CallResult)
        and each.call is not None
        and each.frame is not None
        and (isinstance(each.by, Library) or classes.constructor(ev, each.by) is None)
        and _is_zero(ev, each.call, each.frame, taker)
        for each in found
    )


def _is_zero(ev: Evaluator, call: cst.Call, frame: Frame, taker: DatasetTaker) -> bool:
    """True if a call passes 0 workers, and 0 is no default that users may override, or passes none."""
    workers = written_argument(call, taker.workers, ())
    if workers is None:
        return not any(arg.star == "**" for arg in call.args)
    found = ev.values(workers.value, frame)
    return all(isinstance(each, Const) and each.value == 0 and not each.default for each in found)
