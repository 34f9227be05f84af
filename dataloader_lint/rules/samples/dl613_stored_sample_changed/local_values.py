"""What the names of one function surely are, by their only binding in it."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.limits import STORED_ALIAS_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve, written_part
from dataloader_lint.semantics.syntax.tree import Node, Scope


def only_value(name: cst.Name, scope: Scope) -> cst.BaseExpression | None:
    """What the only binding of a name gives it; None if there are more, or if it stands in another function."""
    bindings = resolve(name, scope.module.tree)
    if len(bindings) != 1 or bindings[0].kind is not Kind.VALUE or bindings[0].scope is not scope:
        return None
    return written_part(bindings[0].value, bindings[0].path)


def asks_length(node: Node, owner: cst.BaseExpression, scope: Scope, depth: int = 0) -> bool:
    """True if an expression depends on `len(owner)`: `[0] * (size - len(words))` pads `words` once."""
    tree = scope.module.tree
    wanted = tree.spelling(owner)
    for call in tree.find(node, cst.Call):
        if last_name(call.func) == "len" and call.args and tree.spelling(call.args[0].value) == wanted:
            return True
    return depth < STORED_ALIAS_DEPTH and any(
        asks_length(part, owner, scope, depth + 1)
        for name in tree.find(node, cst.Name)
        if (part := only_value(name, scope)) is not None
    )


def is_number(node: cst.BaseExpression, scope: Scope, depth: int = 0) -> bool:
    """True if an index is written as one number: a parameter, a sum or remainder of it, or `int(...)`."""
    if isinstance(node, cst.BinaryOperation):
        sides = [each for each in (node.left, node.right) if not isinstance(each, cst.Attribute)]
        return bool(sides) and all(is_number(each, scope, depth) for each in sides)
    if isinstance(node, cst.Call):
        return last_name(node.func) in ("int", "len")
    if isinstance(node, cst.Name) and depth < STORED_ALIAS_DEPTH:
        part = only_value(node, scope)
        if part is not None:
            return is_number(part, scope, depth + 1)
        return all(each.kind is Kind.PARAMETER for each in resolve(node, scope.module.tree))
    return isinstance(node, cst.Integer)
