"""What the names of one function surely are, by their only binding in it."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.origins import ingredients, origins
from dataloader_lint.semantics.syntax.tree import Scope


def asks_length(node: cst.BaseExpression, owner: cst.BaseExpression, scope: Scope) -> bool:
    """True if an expression depends on `len(owner)`: `[0] * (size - len(words))` pads `words` once."""
    tree = scope.module.tree
    asked = (call for each in ingredients(node, tree) for call in tree.find(each, cst.Call))
    lengths = (call.args[0].value for call in asked if last_name(call.func) == "len" and call.args)
    return any(tree.spelling(each) == tree.spelling(owner) for each in lengths)


def is_number(node: cst.BaseExpression, scope: Scope) -> bool:
    """True if an index is written as one number: a parameter, a sum or remainder of it, or `int(...)`."""
    tree = scope.module.tree
    return all(
        isinstance(each, cst.Integer)
        or (isinstance(each, cst.Call) and last_name(each.func) in ("int", "len"))
        or (isinstance(each, cst.Name) and all(made.kind is Kind.PARAMETER for made in resolve(each, tree)))
        for each in origins(node, tree, _sides)
    )


def _sides(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    sides = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else ()
    return [each for each in sides if not isinstance(each, cst.Attribute)]
