"""Datasets that pass on the samples of others: torch's Subset, ConcatDataset, random_split."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.libraries.datasets import SAMPLE_WRAPPERS
from dataloader_lint.semantics.limits import CHAIN_STEPS, WRAPPER_DEPTH
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


def chain_of(ev: Evaluator, value: Value) -> Iterator[CallResult]:
    """A Dataset of a library, and those that its chain of methods began with: `load(path)` of `load(path).map(f)`."""
    step = value if isinstance(value, CallResult) else None
    for _ in range(CHAIN_STEPS):
        if step is None:
            return
        yield step
        func = step.call.func if step.call is not None else None
        if not isinstance(func, cst.Attribute) or step.frame is None:
            return
        step = next((each for each in ev.values(func.value, step.frame) if isinstance(each, CallResult)), None)
