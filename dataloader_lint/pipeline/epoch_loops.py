"""The loops of a file that go over a loader again and again, each searched once for all rules."""

from __future__ import annotations

from collections.abc import Iterable

from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders.epochs import EpochLoop, Loop, epoch_loop, loops_of, training_loops


def epoch_loops(file: File) -> list[EpochLoop]:
    """The loops that iterate over a loader repeatedly."""
    return loops_with_passes(file, loops_of(file.module), False)


def loops_that_train(file: File, word: str, only_training: bool) -> list[EpochLoop]:
    """The epoch loops that may train, if a word occurs in this file or in related ones."""
    if not file.project.mentions_word(file.module, word):
        return []
    return loops_with_passes(file, training_loops(file.project, file.module), only_training)


def loops_with_passes(file: File, loops: Iterable[Loop], only_training: bool) -> list[EpochLoop]:
    """The loops that iterate over a loader, optionally only in training."""
    searched = file.once(_searched)
    found = []
    for loop in loops:
        key = (id(loop), only_training)
        if key not in searched:
            searched[key] = epoch_loop(file.ev, file.project, file.module, loop, only_training)
        passes = searched[key]
        if passes is not None:
            found.append(passes)
    return found


def _searched(file: File) -> dict[tuple[int, bool], EpochLoop | None]:
    return {}
