"""How nodes of bare trees are made, and those that stand in many places at once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import libcst as cst

Node = cst.CSTNode
new = object.__new__
set_field = object.__setattr__

OPERATORS: dict[type[ast.AST], Node] = {
    ast.Add: cst.Add(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.LShift: cst.LeftShift(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Mod: cst.Modulo(),
    ast.Mult: cst.Multiply(),
    ast.Pow: cst.Power(),
    ast.RShift: cst.RightShift(),
    ast.Sub: cst.Subtract(),
    ast.And: cst.And(),
    ast.Or: cst.Or(),
    ast.Invert: cst.BitInvert(),
    ast.Not: cst.Not(),
    ast.UAdd: cst.Plus(),
    ast.USub: cst.Minus(),
    ast.Eq: cst.Equal(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.In: cst.In(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.NotEq: cst.NotEqual(),
    ast.NotIn: cst.NotIn(),
}
ASSIGNING: dict[type[ast.AST], Node] = {
    ast.Add: cst.AddAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
    ast.Div: cst.DivideAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.Sub: cst.SubtractAssign(),
}
DOT = cst.Dot()
ASYNC = cst.Asynchronous()
BARE_STAR = cst.ParamStar()
# One node for all places where it stands, so what is put into the others cannot be put into these.
SHARED = frozenset(
    id(node) for node in (*OPERATORS.values(), *ASSIGNING.values(), DOT, ASYNC, BARE_STAR, cst.MaybeSentinel.DEFAULT)
)


class UnlikeError(Exception):
    """Python's tree does not tell how LibCST's would look, or the two trees differ. LibCST's must be taken instead.

    `path` is that of the file, where it is known.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.path = path


def make(kind: type[Node], **fields: object) -> Any:
    """A node without what it is laid out with. LibCST's own constructors check the layout, which takes most of it."""
    node = new(kind)
    for field, value in fields.items():
        set_field(node, field, value)
    return node


def maker(kind: type[Node], first: str, second: str = "", third: str = "") -> Callable[..., Any]:
    """As `make` for one kind with up to three fields, which are given in this order; it takes 40 % of the time.

    For the kinds that most nodes of a tree are of.
    """
    set_first = getattr(kind, first).__set__
    if not second:

        def with_one(value: object) -> Any:
            node = new(kind)
            set_first(node, value)
            return node

        return with_one
    set_second = getattr(kind, second).__set__
    if not third:

        def with_two(value: object, other: object) -> Any:
            node = new(kind)
            set_first(node, value)
            set_second(node, other)
            return node

        return with_two
    set_third = getattr(kind, third).__set__

    def with_three(value: object, other: object, last: object) -> Any:
        node = new(kind)
        set_first(node, value)
        set_second(node, other)
        set_third(node, last)
        return node

    return with_three


name_node = maker(cst.Name, "value")
argument_node = maker(cst.Arg, "value", "keyword", "star")
