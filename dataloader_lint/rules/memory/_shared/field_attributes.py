"""Which attributes the methods of a Dataset read of what it stores: `keys` for `self.table.keys()`."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.tree import Scope


def attributes_of_field(dataset: StoringDataset, name: str) -> set[str]:
    """The attributes and methods of `self.name` that construction and worker code name."""
    scopes = (*dataset.construction, *dataset.reads.functions)
    return set().union(*(_by_field(scope).get(name, ()) for scope in scopes))


def _by_field(scope: Scope) -> dict[str, set[str]]:
    def collected() -> dict[str, set[str]]:
        own = classes.receiver_name(scope)
        found: dict[str, set[str]] = {}
        for node in scope.within(cst.Attribute):
            held = node.value
            if isinstance(held, cst.Attribute) and isinstance(held.value, cst.Name) and held.value.value == own:
                found.setdefault(held.attr.value, set()).add(node.attr.value)
        return found

    return scope.module.tree.once(("attributes of fields", id(scope)), collected)
