"""Expressions and those that may give them their value, or that they are made of."""

from __future__ import annotations

import libcst as cst
import pytest

from asking import asked
from dataloader_lint.semantics.syntax.layout import code
from dataloader_lint.semantics.syntax.origins import ingredients, only_value, origins

ORIGINS = [
    ("f()", "", ["f()"]),
    ("x", "x = f()", ["f()"]),
    ("x", "x = y = f()", ["f()"]),
    ("y", "x = f()\ny = x", ["f()"]),
    ("x", "x, y = 1, 2", ["1"]),
    ("x", "x, y = f()", ["x"]),
    ("x if y else 2", "x = 1", ["1", "2"]),
    ("x or 2", "x = 1", ["1", "2"]),
    ("(x := 1)", "", ["1"]),
    ("given", "", ["given"]),
    ("x", "for x in range(3):\n    pass", ["x"]),
    ("x", "x = 1\nif x:\n    x = 2", ["1", "2"]),
    ("x", "y = 1\nx = y\ny = x", ["1"]),
    ("list(x)", "x = f()", ["f()"]),
]
INGREDIENTS = [
    ("x + 1", "x = f(y)\ny = 2", ["x + 1", "f(y)", "2"]),
    ("x", "x = x + 1", ["x", "x + 1"]),
    ("given", "", ["given"]),
]
ONLY = [
    ("x", "x = f()", "f()"),
    ("x", "x, y = 1, 2", "1"),
    ("x", "x, y = f()", ""),
    ("x", "x = 1\nif f():\n    x = 2", ""),
    ("given", "", ""),
    ("f()", "", ""),
]


def _listed(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    return (node.args[0].value,) if isinstance(node, cst.Call) and node.args else ()


@pytest.mark.parametrize(("expression", "before", "answer"), ORIGINS)
def test_origins(expression: str, before: str, answer: list[str]) -> None:
    of = asked(expression, before, "given")
    tree = of.frame.scope.module.tree
    assert [code(tree, each) for each in origins(of.node, tree, _listed)] == answer


@pytest.mark.parametrize(("expression", "before", "answer"), INGREDIENTS)
def test_ingredients(expression: str, before: str, answer: list[str]) -> None:
    of = asked(expression, before, "given")
    tree = of.frame.scope.module.tree
    assert [code(tree, each) for each in ingredients(of.node, tree)] == answer


@pytest.mark.parametrize(("expression", "before", "answer"), ONLY)
def test_only_value(expression: str, before: str, answer: str) -> None:
    of = asked(expression, before, "given")
    tree = of.frame.scope.module.tree
    found = only_value(of.node, tree)
    assert (code(tree, found) if found is not None else "") == answer
