"""Expressions and those that may give them their value, or that they are made of."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.layout import code
from dataloader_lint.semantics.syntax.origins import ingredients, only_value, origins
from question_tables import Row, each_row


def _listed(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    return (node.args[0].value,) if isinstance(node, cst.Call) and node.args else ()


@each_row(__file__, "origins.md")
def test_origins(row: Row) -> None:
    tree = row.file.tree
    assert ", ".join(code(tree, each) for each in origins(row.asked.node, tree, _listed)) == row.answer


@each_row(__file__, "ingredients.md")
def test_ingredients(row: Row) -> None:
    tree = row.file.tree
    assert ", ".join(code(tree, each) for each in ingredients(row.asked.node, tree)) == row.answer


@each_row(__file__, "only_value.md")
def test_only_value(row: Row) -> None:
    tree = row.file.tree
    found = only_value(row.asked.node, tree)
    assert (code(tree, found) if found is not None else "nothing") == row.answer
