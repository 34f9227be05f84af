"""Looking at what a loader holds: sizes, pickling, and where its code is.

Runs none of the user's code but `__len__`, and that only where nothing else tells how long an epoch is.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from dataloader_lint.doctor.own_files import source_files
from dataloader_lint.doctor.pickling import Failure, Pickled, is_out_of_reach, pickled_by_path
from dataloader_lint.doctor.records import Contents, LoaderRecord
from dataloader_lint.doctor.sizes import attributes_of

_SECONDS = 3.0  # for each of sizes and pickling, in the middle of the program


def contents_of(dataset: Any, holder: Any, record: LoaderRecord, *, kind: type) -> Contents:
    """What a loader of this class, or its iterator, holds. Raises nothing: what cannot be looked at is left out."""
    found = Contents()
    sampler = _sampler_of(holder)
    collate = _held(holder, "collate_fn")
    init = _held(holder, "worker_init_fn")
    with contextlib.suppress(Exception):
        found.files = [os.path.abspath(each) for each in source_files(dataset, (collate, init), (kind, type(sampler)))]
    with contextlib.suppress(Exception):
        found.attributes = attributes_of(dataset, _SECONDS)
    for name, value in (("dataset", dataset), ("collate_fn", collate), ("worker_init_fn", init)):
        if value is not None:
            with contextlib.suppress(Exception):
                found.pickles[name] = _pickled(value, name)
    found.sampler = type(sampler).__name__
    with contextlib.suppress(Exception):  # of an iterable Dataset, or one that raises
        if not any(each.ended for each in record.epochs):
            found.batches = len(_held(holder, "index_sampler"))
        if record.settings.drop_last:
            found.samples = len(sampler)
    return found


def _held(holder: Any, name: str) -> Any:
    """What a loader holds under this name; its iterator has the same name with a line before it."""
    own = getattr(holder, f"_{name}", None)
    return own if own is not None else getattr(holder, name, None)


def _sampler_of(holder: Any) -> Any:
    index_sampler = _held(holder, "index_sampler")
    return getattr(index_sampler, "sampler", index_sampler)


def _pickled(value: object, name: str) -> Pickled:
    found = pickled_by_path(value, name, _SECONDS)
    if not found.error and is_out_of_reach(value):
        error = "defined in a notebook or at a prompt, which workers that are not forked cannot import"
        return Pickled(found.size, found.tensors, failures=(Failure(error, name),))
    return found
