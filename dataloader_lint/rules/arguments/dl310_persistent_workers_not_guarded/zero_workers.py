"""Inputs that can give a loader 0 workers although its other options need some."""

from __future__ import annotations

from functools import partial

from dataloader_lint.pipeline.loaders import argument_sites
from dataloader_lint.rules.arguments._shared.needs_workers import is_prevented, needs_workers
from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.arguments_at_zero import can_be_at_zero
from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.zero_sources import Zero, zero_in
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.evaluation.loader_calls import Loader


def zero_workers(loader: Loader) -> Zero | None:
    """The input that can give a loader 0 workers; None where none is known, or a guard may prevent it."""
    places = argument_sites.sites_of(loader, "num_workers")
    conditions = enclosing_tests(loader.call, loader.frame)
    for place in places or ():
        found = Zero("", frozenset())
        if place.node is not None:
            here = zero_in(loader.ev, place.node, place.frame, len(places or ()) > 1)
            if here is None:
                continue
            found = here
        elif len(places or ()) == 1:
            continue  # left out for good
        # A 0 on one branch says nothing about a call that only some branches come to.
        if (found.source or not conditions) and not is_prevented(loader, found.names):
            return found
    return None


def fixed_for_workers(loader: Loader) -> tuple[Zero, list[str]] | None:
    """The arguments that need workers and have their values without any, and who can take the workers away.

    Those count that stand in the place that makes the loader.
    """
    given = [name for name in _NEED_WORKERS if loader.is_passed(name) is not False and _is_written(loader, name)]
    zero = zero_workers(loader) if given else None
    if zero is None:
        return None
    fixed = [name for name in given if _is_fixed(loader, name, zero)]
    return (zero, fixed) if fixed else None


_NEED_WORKERS = ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout")


def _is_written(loader: Loader, name: str) -> bool:
    if loader.is_written_here:
        return True
    # What a subclass's own constructor writes is reported there.
    places = argument_sites.sites_of(loader, name)
    return bool(places) and all(each.frame is not loader.frame for each in places or ())


def _is_fixed(loader: Loader, name: str, zero: Zero) -> bool:
    places = argument_sites.sites_of(loader, name)
    test = partial(needs_workers, loader, name)
    if places is not None and len(places) == 1 and places[0].node is not None:
        return can_be_at_zero(loader.ev, places[0].node, places[0].frame, zero, test)
    return all(test(value) for value in loader.passed(name))
