"""Attributes that a module sets on objects: `loader.collate_fn = collate`, `setattr(loader, "collate_fn", collate)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """`name.attribute = value` on something that is not looked at closer, or `setattr(name, "attribute", value)`."""

    node: cst.Assign | cst.Call
    owner: cst.BaseExpression
    value: cst.BaseExpression


def stores_to(module: ModuleFacts, name: str, attribute: str) -> list[Store]:
    """The assignments of a module to `name.attribute`, scope by scope; `name` may be dotted: `_C.TEST`."""
    return _stores_by_name(module).get((name, attribute), [])


def stores(module: ModuleFacts) -> Iterator[tuple[str, Store]]:
    """All that a module sets as an attribute of a name, each with the attribute's name."""
    for (name, attribute), found in _stores_by_name(module).items():
        for store in found if "." not in name else ():
            yield attribute, store


def _stores_by_name(module: ModuleFacts) -> dict[tuple[str, str], list[Store]]:
    return module.tree.of_text(("attribute stores", id(module)), lambda: _collect(module))


def _collect(module: ModuleFacts) -> dict[tuple[str, str], list[Store]]:
    found: dict[tuple[str, str], list[Store]] = {}
    for scope in module.root.descend():
        for assign in scope.own(cst.Assign):
            for target in assign.targets:
                node = target.target
                if type(node) is cst.Attribute and (owner := dotted(node.value)):
                    found.setdefault((owner, node.attr.value), []).append(Store(assign, node.value, assign.value))
        for each in named_stores(scope):
            if owner := dotted(each.owner):
                found.setdefault((owner, each.name), []).append(Store(each.node, each.owner, each.value))
    return found


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
