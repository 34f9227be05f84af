"""Datasets that pass on the samples of others: torch's Subset, ConcatDataset, random_split."""

from __future__ import annotations

from collections.abc import Iterator

from dataloader_lint.semantics.libraries.datasets import SAMPLE_WRAPPERS
from dataloader_lint.semantics.limits import WRAPPER_DEPTH
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, ItemOf, Sequence, Value


def wrapped_datasets(ev: Evaluator, value: Value, depth: int = 0, library: str = "") -> Iterator[CallResult]:
    """The objects of the project whose samples a Dataset gives: itself, or what wrappers of torch are made from.

    Those of a library count as well whose names begin with `library`, if it is given.
    """
    while isinstance(value, ItemOf):
        value = value.of
    if isinstance(value, Sequence):
        for each in ev.element(value) if depth < WRAPPER_DEPTH else ():
            yield from wrapped_datasets(ev, each, depth + 1, library)
    elif isinstance(value, CallResult):
        if isinstance(value.by, Class) or (library and value.library.startswith(library)):
            yield value
        elif value.library in SAMPLE_WRAPPERS and value.call is not None and value.frame is not None:
            for arg in value.call.args[:1] if depth <= WRAPPER_DEPTH else ():
                for inner in ev.values(arg.value, value.frame):
                    yield from wrapped_datasets(ev, inner, depth + 1, library)
