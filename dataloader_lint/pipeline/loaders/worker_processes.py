"""Which loaders start worker processes, and which of these pickle what they are given."""

from __future__ import annotations

from collections.abc import Sequence

from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import Const, Values


def has_workers(values: Values) -> bool:
    """True if there are workers on one branch at least, and nothing unknown on any."""
    answers = {is_positive(value) for value in values}
    return True in answers and None not in answers


def may_pickle(loader: Loader) -> bool:
    """True if a loader may start workers by a way that pickles the Dataset.

    A declared default of 0 is there to be set to more.
    """
    if loader.has_workers is False and not any(
        isinstance(value, Const) and value.default for value in loader.values("num_workers")
    ):
        return False
    return not loader.pickles_nothing and loader.is_reached


def never_started(loaders: Sequence[Loader]) -> bool:
    """True if all visible loaders, of which there are some, start no workers."""
    return bool(loaders) and all(loader.has_workers is False for loader in loaders)


def never_pickled(loaders: Sequence[Loader]) -> bool:
    """True if all visible loaders, of which there are some, start no workers or fork them."""
    return bool(loaders) and not any(may_pickle(loader) for loader in loaders)
