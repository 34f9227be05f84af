"""Which record a loader has: loaders and their Datasets are told apart without being kept alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from dataloader_lint.doctor.records import LoaderRecord


class KnownLoader:
    """A record, and how to tell its loader, and that one's Dataset, without keeping them alive."""

    def __init__(self, record: LoaderRecord, loader: Any) -> None:
        self.record = record
        self.note(loader)

    def note(self, loader: Any) -> None:
        """From now on this is the loader of the record."""
        self._loader, self._dataset = _reference(loader), _reference(loader.dataset)

    def is_of(self, loader: Any) -> bool:
        """True if this is the loader."""
        return self._loader() is loader

    def has_dataset(self, loader: Any) -> bool:
        """True if the loader has the same Dataset as the one before."""
        return self._dataset() is loader.dataset


def _reference(value: Any) -> Callable[[], Any]:
    """A weak reference; to what takes none, such as a list, one that finds nothing."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: None
