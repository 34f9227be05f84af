"""What the names of one function surely are, by their only binding in it."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.limits import STORED_ALIAS_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.origins import ingredients, only_value
from dataloader_lint.semantics.syntax.tree import Scope


def asks_length(node: cst.BaseExpression, owner: cst.BaseExpression, scope: Scope) -> bool:
    """True if an expression depends on `len(owner)`: `[0] * (size - len(words))` pads `words` once."""
    tree = scope.module.tree
    asked = (call for each in ingredients(node, tree) for call in tree.find(each, cst.Call))
    lengths = (call.args[0].value for call in asked if last_name(call.func) == "len" and call.args)
    return any(tree.spelling(each) == tree.spelling(owner) for each in lengths)


def is_number(node: cst.BaseExpression, scope: Scope, depth: int = 0) -> bool:
    """True if an index is written as one number: a parameter, a sum or remainder of it, or `int(...)`."""
    if isinstance(node, cst.BinaryOperation):
        sides = [each for each in (node.left, node.right) if not isinstance(each, cst.Attribute)]
        return bool(sides) and all(is_number(each, scope, depth) for each in sides)
    if isinstance(node, cst.Call):
        return last_name(node.func) in ("int", "len")
    if isinstance(node, cst.Name) and depth < STORED_ALIAS_DEPTH:
        part = only_value(node, scope.module.tree)
        if part is not None:
            return is_number(part, scope, depth + 1)
        return all(each.kind is Kind.PARAMETER for each in resolve(node, scope.module.tree))
    return isinstance(node, cst.Integer)
