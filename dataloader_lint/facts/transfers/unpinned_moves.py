"""Moves that need not block, of batches that their loader does not pin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dataloader_lint.facts.transfers.batches import Origin, Transfer
from dataloader_lint.facts.transfers.to_cpu import is_constant
from dataloader_lint.facts.transfers.unpinned import is_unpinned


def unpinned_moves(transfers: Iterable[Transfer]) -> Iterator[tuple[Origin, Transfer]]:
    """The first move of each loader's batches that need not block, where the loader is known not to pin them."""
    seen: set[int] = set()
    for transfer in transfers:
        if transfer.is_in_forward or not is_constant(transfer.non_blocking, True) or not transfer.goes_to_gpu:
            continue
        origins = transfer.origins
        if not origins or not all(is_unpinned(each) for each in origins) or not transfer.is_reached:
            continue
        if id(origins[0].loader.call) not in seen:
            seen.add(id(origins[0].loader.call))
            yield origins[0], transfer
