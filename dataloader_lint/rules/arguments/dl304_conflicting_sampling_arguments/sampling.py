"""Arguments of a loader about sampling that torch's constructor does not take together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.rules.arguments.dl304_conflicting_sampling_arguments.alternatives import (
    Alternative,
    alternatives,
    contexts,
    together,
)
from dataloader_lint.rules.arguments.dl304_conflicting_sampling_arguments.iterable_makers import is_iterable_of_library
from dataloader_lint.semantics.errors.expected_errors import is_error_expected
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import ITERABLE_BASES
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    Absent,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Library,
    Module,
    Value,
    Values,
)
from dataloader_lint.semantics.values.values import Iterator as Iterated

if TYPE_CHECKING:
    import libcst as cst

Test = Callable[[Evaluator, Value], bool]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two arguments that torch does not take together, as they are in some run that makes the loader."""

    first: str
    second: str
    is_sure: bool  # whether every run that makes the loader has them so
    default: str  # the declared default that one of them comes from, if any


def conflicts_of(loader: Loader) -> Iterator[Conflict]:
    """Every pair of arguments of a loader that makes the constructor raise."""
    if loader.kind.moves_batches or not loader.is_written_here:  # timm's has a signature of its own
        return
    made = [(_Arguments(each), call, frame) for each, call, frame in contexts(loader) if each.is_reached]
    for first, is_first, second, is_second in _CONFLICTS:
        for each, call, frame in made:
            firsts = each.that_are(first, is_first)
            seconds = each.that_are(second, is_second) if firsts else []
            pair = next(together(each.loader, firsts, seconds), None) if seconds else None
            if pair is not None and not _is_wanted(loader, call, frame):
                is_sure = all(
                    _all(loader, test, loader.values(name)) for name, test in ((first, is_first), (second, is_second))
                )
                yield Conflict(first, second, is_sure, next(_defaults(pair), ""))
                break


def _is_wanted(loader: Loader, call: cst.Call, frame: Frame) -> bool:
    """True if the code around the loader, or around the call that makes it so, expects the constructor to raise."""
    if loader.is_error_expected("ValueError"):
        return True
    return call is not loader.call and is_error_expected(loader.ev, call, frame, ("ValueError",))


class _Arguments:
    """The arguments of a loader as one call makes it, each looked at once."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self._known: dict[str, list[Alternative]] = {}

    def that_are(self, name: str, test: Test) -> list[Alternative]:
        """What an argument can be that surely passes a test."""
        if name not in self._known:
            self._known[name] = alternatives(self.loader, name)
        return [each for each in self._known[name] if _all(self.loader, test, each.values)]


def _all(loader: Loader, test: Test, values: Values) -> bool:
    return bool(values) and all(test(loader.ev, value) for value in values)


def _defaults(pair: tuple[Values, Values]) -> Iterator[str]:
    for values in pair:
        for value in values:
            if isinstance(value, Const) and value.default:
                yield value.default


def _is_given(ev: Evaluator, value: Value) -> bool:
    """Surely not None. What a function of a library gives can be None; what a class gives cannot."""
    if isinstance(value, CallResult):
        return isinstance(value.by, Class) or value.library.rpartition(".")[2][:1].isupper()
    if isinstance(value, Const):
        return value.value is not None
    return value is not UNKNOWN and not isinstance(
        value, Absent | AttributeOf | ItemOf | Iterated | Library | Module | Function | Class
    )


def _is_true(ev: Evaluator, value: Value) -> bool:
    return isinstance(value, Const) and value.value is True


def _is_none(ev: Evaluator, value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _is_not_one(ev: Evaluator, value: Value) -> bool:
    return isinstance(value, Const) and value.value != 1


def _is_iterable(ev: Evaluator, value: Value) -> bool:
    """An IterableDataset. Datapipes are some too, but those torch shuffles."""
    if not isinstance(value, CallResult):
        return False
    if is_iterable_of_library(ev, value):
        return True
    names = ev.bases(value.by).libraries if isinstance(value.by, Class) else (value.library,)
    return any(name in _ITERABLE for name in names) and not any("DataPipe" in name for name in names)


_ITERABLE = frozenset(name for name in ITERABLE_BASES if name.endswith("IterableDataset"))

_CONFLICTS: tuple[tuple[str, Test, str, Test], ...] = (
    ("sampler", _is_given, "shuffle", _is_true),
    ("batch_sampler", _is_given, "batch_size", _is_not_one),
    ("batch_sampler", _is_given, "shuffle", _is_true),
    ("batch_sampler", _is_given, "sampler", _is_given),
    ("batch_sampler", _is_given, "drop_last", _is_true),
    ("dataset", _is_iterable, "shuffle", _is_true),
    ("dataset", _is_iterable, "sampler", _is_given),
    ("dataset", _is_iterable, "batch_sampler", _is_given),
    ("batch_size", _is_none, "drop_last", _is_true),
)
