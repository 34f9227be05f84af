"""Blocking moves to CUDA of batches that are not pinned and that a loop trains with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.pipeline.devices.devices import CURRENT_CUDA, Device, kind_of_choice
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders.epochs import trains
from dataloader_lint.rules.transfers._shared.batches import Transfer, transfers_of
from dataloader_lint.rules.transfers._shared.unpinned import UnpinnedMove, is_unpinned
from dataloader_lint.semantics.values.values import CallResult, Const


def unpinned_trainings(file: File) -> Iterator[UnpinnedMove]:
    """The first blocking move to CUDA of each loader's batches that a loop trains with, and that are not pinned."""
    seen: set[int] = set()
    for transfer in transfers_of(file):
        loops = _loops_around(transfer)
        if not loops or not transfer.is_surely_blocking or transfer.is_in_forward:
            continue
        if transfer.device is not Device.CUDA and not _goes_to_cuda_if_any(transfer):
            continue
        origins = transfer.origins
        if not origins or not all(is_unpinned(each) for each in origins) or not transfer.is_reached:
            continue
        if id(origins[0].loader.call) not in seen and _trains_in(loops, transfer):
            seen.add(id(origins[0].loader.call))
            yield UnpinnedMove(origins[0], transfer)


def _goes_to_cuda_if_any(transfer: Transfer) -> bool:
    """True if a device is the CUDA device in use, and the CPU where there is none, by two assignments."""
    node = transfer.named_device
    found = transfer.ev.values(node, transfer.frame) if node is not None else ()
    others = [each for each in found if not (isinstance(each, CallResult) and each.library == CURRENT_CUDA)]
    is_cpu = (isinstance(each, Const) and kind_of_choice(each) is Device.CPU for each in others)
    return len(others) < len(found) and all(is_cpu)


def _loops_around(transfer: Transfer) -> list[cst.For]:
    tree = transfer.frame.scope.module.tree
    return [each for each in tree.ancestors(transfer.call) if isinstance(each, cst.For)]


def _trains_in(loops: Iterable[cst.For], transfer: Transfer) -> bool:
    return any(trains(transfer.ev, loop, transfer.frame) for loop in loops)
