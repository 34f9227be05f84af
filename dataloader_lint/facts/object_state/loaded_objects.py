"""Objects that files hold, of which only the way they are asked shows that they are dicts.

`pickle.load`, `torch.load` and the like return anything. What is asked for the id of a record, for the name of a file,
or for its own keys is a dict.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.values import CallResult, ItemOf, Value
from dataloader_lint.facts.libraries.calls import row
from dataloader_lint.facts.object_state.access_patterns import (
    is_indexed_by_field,
    is_indexed_by_own_keys,
    is_indexed_by_text,
    keys_are_texts,
)
from dataloader_lint.facts.object_state.dataset import Dataset
from dataloader_lint.facts.syntax.tree import Scope


def is_loaded(value: Value) -> bool:
    """True if it is what a file holds, or what is there under a name: `pickle.load(file)["scans"]`."""
    while isinstance(value, ItemOf) and isinstance(value.index, str):
        value = value.of
    return isinstance(value, CallResult) and row(value.library).gives in ("config", "object")


def is_loaded_dict(dataset: Dataset, name: str, value: Value) -> bool:
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
