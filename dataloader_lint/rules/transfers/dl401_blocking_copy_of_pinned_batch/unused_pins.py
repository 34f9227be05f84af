"""Loaders that pin, where nothing in the project asks for a copy that does not block: a pin that gains nothing yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.file import File
from dataloader_lint.rules.transfers._shared.batches import Transfer, transfers_of
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.tree import LOOPS, Tree

# Libraries that move the batches themselves, without blocking, or by settings of their own.
_MOVED_BY_OTHERS = re.compile(
    r"\b(?:accelerate|catalyst|composer|deepspeed|fastai|ignite|lightning\w*|mmengine|pytorch_lightning|transformers)\b"
)


@dataclass(frozen=True, slots=True, eq=False)
class UnusedPin:
    """A loader that pins, and a blocking move in a loop of its file, if there is one, that may get its batches."""

    loader: Loader
    move: Transfer | None


def unused_pins(file: File, reported: set[int]) -> Iterator[UnusedPin]:
    """The first loader of a file that is written with `pin_memory=True` and whose batches nobody is seen to move.

    `reported` are the calls of loaders, by `id`, whose batches are known to be moved.
    """
    if "pin_memory" not in file.tree.code or is_test(file.module):
        return
    if file.project.mentions_word(file.module, "non_blocking") or _MOVED_BY_OTHERS.search(file.tree.code):
        return
    pinning = [each for each in file.loaders if _pins(each)]
    if not pinning or any(id(each.call) in reported for each in pinning):
        return
    moves = [each for each in transfers_of(file) if _is_in_loop(each, file.tree)]
    unknown = [each for each in moves if each.may_name_device and not each.is_in_forward and each.is_surely_blocking]
    if moves and not unknown:
        return
    first = next((each for each in unknown if each.goes_to_gpu and each.known_origins == ((), False)), None)
    if first is None and (moves or _may_be_moved_elsewhere(file)):
        return
    yield UnusedPin(pinning[0], first)


def _pins(loader: Loader) -> bool:
    given = loader.argument("pin_memory")
    is_written = given is not None and isinstance(given.value, cst.Name) and given.value.value == "True"
    return is_written and loader.is_written_here and loader.is_reached and not loader.kind.moves_batches


def _may_be_moved_elsewhere(file: File) -> bool:
    """True if another file of the project names a device, and may move the batches to it."""
    named = (path for word in ("cuda", "device") for path in file.project.paths_with(file.module, word))
    return any(path != file.module.path for path in named)


def _is_in_loop(transfer: Transfer, tree: Tree) -> bool:
    return any(isinstance(above, LOOPS) for above in tree.ancestors(transfer.call))
