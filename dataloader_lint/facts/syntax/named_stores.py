"""Attributes that are set by their name: `setattr(loader, "collate_fn", collate)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.syntax.tree import Scope


@dataclass(frozen=True, slots=True, eq=False)
class NamedStore:
    """A call of `setattr` with a name that is written out."""

    node: cst.Call
    owner: cst.BaseExpression
    name: str
    value: cst.BaseExpression


def named_stores(scope: Scope) -> Iterator[NamedStore]:
    """The calls of `setattr` in a scope itself."""
    for call in scope.own(cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value == "setattr" and len(call.args) == 3:
            owner, name, value = (arg.value for arg in call.args)
            if isinstance(name, cst.SimpleString) and isinstance(text := name.evaluated_value, str):
                yield NamedStore(call, owner, text, value)
