"""What must be as it was after a loader has been iterated: its workers have ended, random states are restored."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from dataloader_lint.doctor.signals import children_ignored


def end_workers(loader: Any, iterator: Any) -> None:
    """End the workers of an iterator, whatever state they are in; none of them is left."""
    workers = list(getattr(iterator, "_workers", ()))
    if not workers:
        return
    with children_ignored():
        with contextlib.suppress(Exception):  # torch's own way, which may fail for killed workers
            iterator._shutdown_workers()
        for worker in workers:
            with contextlib.suppress(ValueError, AssertionError):
                if worker.is_alive():
                    worker.kill()
                    worker.join(5)
        with contextlib.suppress(Exception):  # where torch was not done: it must not raise for them any more
            import torch

            torch._C._remove_worker_pids(id(iterator))
    if getattr(loader, "_iterator", None) is iterator:
        loader._iterator = None


@contextlib.contextmanager
def random_state_kept(loader: Any) -> Iterator[None]:
    """Restore the states of the random generators that iterating a loader draws from in the main process."""
    import torch

    generators = [
        each
        for each in (getattr(loader, "generator", None), getattr(getattr(loader, "sampler", None), "generator", None))
        if each is not None
    ]
    state, states = torch.get_rng_state(), [each.get_state() for each in generators]
    try:
        yield
    finally:
        torch.set_rng_state(state)
        for each, before in zip(generators, states, strict=True):
            each.set_state(before)
