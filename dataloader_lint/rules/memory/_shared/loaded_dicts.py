"""Attributes that hold what a file does, and are read as dicts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.loaded_objects import is_loaded
from dataloader_lint.rules.memory._shared.access_patterns import (
    is_indexed_by_field,
    is_indexed_by_own_keys,
    is_indexed_by_text,
    keys_are_texts,
)
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import Value


def is_loaded_dict(dataset: StoringDataset, name: str, value: Value) -> bool:
    """True if an attribute holds what a file does, and code of the Dataset asks it for what only a dict has."""
    if not is_loaded(value):
        return False
    use = dataset.reads.of(name)
    if any(name in _asked_like_dict(scope) for scope in (*dataset.construction, *dataset.reads.functions)):
        return True
    if is_indexed_by_own_keys(dataset, value, use) or keys_are_texts(dataset, use) or is_indexed_by_text(use):
        return True
    return is_indexed_by_field(use)


def _asked_like_dict(scope: Scope) -> frozenset[str]:
    """The attributes of its object that a method asks for keys: `self.x.keys()`, `self.x.get(key)`."""
    return scope.module.tree.once(("asked like a dict", id(scope)), lambda: frozenset(_dicts_of(scope)))


def _dicts_of(scope: Scope) -> Iterator[str]:
    own = classes.receiver_name(scope)
    for node in scope.within(cst.Attribute):
        held = node.value
        if node.attr.value in ("get", "items", "keys") and isinstance(held, cst.Attribute):
            if isinstance(held.value, cst.Name) and held.value.value == own:
                yield held.attr.value
