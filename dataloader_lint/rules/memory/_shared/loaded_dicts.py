"""Attributes that hold what a file does, and are read as dicts."""

from __future__ import annotations

from dataloader_lint.pipeline.datasets.loaded_objects import is_loaded
from dataloader_lint.rules.memory._shared.access_patterns import (
    is_indexed_by_field,
    is_indexed_by_own_keys,
    is_indexed_by_text,
)
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.field_attributes import attributes_of_field
from dataloader_lint.semantics.values.values import Value

_OF_DICTS = {"get", "items", "keys"}


def is_loaded_dict(dataset: StoringDataset, name: str, value: Value) -> bool:
    """True if an attribute holds what a file does, and code of the Dataset asks it for what only a dict has."""
    if not is_loaded(value):
        return False
    use = dataset.reads.of(name)
    if attributes_of_field(dataset, name) & _OF_DICTS:
        return True
    if is_indexed_by_own_keys(dataset, value, use) or is_indexed_by_text(use):
        return True
    return is_indexed_by_field(use)
