"""Columns of tables that are set to lists or dicts, before the table or the column is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.rules.memory._shared.array_contents import makes_containers
from dataloader_lint.semantics.limits import ARRAY_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Node, function_scope
from dataloader_lint.semantics.values.values import Evaluator, Frame

# What gives the same columns, or some of their rows.
_SAME_COLUMNS = frozenset({"copy", "dropna", "head", "query", "reset_index", "sample", "sort_values", "to_numpy"})
# Methods that only tables and their columns have, of those that may give lists.
_OF_TABLES = frozenset({"agg", "aggregate", "apply", "split", "tolist"})


@dataclass(frozen=True, slots=True)
class _Part:
    """The name of a table at a place in a function, and that of a column if only this is meant."""

    name: str
    place: Node
    frame: Frame
    column: str = ""


def parsed_column(
    ev: Evaluator, value: cst.BaseExpression, frame: Frame, kept: str, is_table: bool
) -> tuple[cst.Call, str] | None:
    """The call that sets a column of what an expression gives to lists or dicts; None if there is none.

    `df["boxes"] = df["boxes"].apply(literal_eval)` before `self.boxes = df["boxes"].values` or `self.table = df`. What
    is kept as a whole may get such a column later in the same function, also under the name `kept`. `is_table` says
    that it surely is a table. Second, `table` or `column`: what the expression gives.
    """
    parts = (_Part(kept, value, frame), *_parts(ev, value, frame, "", 0))
    found = ((call, "column" if part.column else "table") for part in parts for call in _filling(part, is_table))
    return next(found, None)


def column_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The table of which an expression gives one column, under its name; None for other expressions."""
    while not isinstance(node, cst.Subscript):
        if isinstance(node, cst.Attribute) and node.attr.value == "values":
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and _keeps_columns(node.func):
            node = node.func.value
        else:
            return None
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return node.value if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString) else None


def _keeps_columns(method: cst.Attribute) -> bool:
    return method.attr.value in _SAME_COLUMNS


def _parts(ev: Evaluator, node: cst.BaseExpression, frame: Frame, column: str, depth: int) -> Iterator[_Part]:
    """The tables that an expression may be a part of, each also under the names that it had before."""
    if depth > ARRAY_DEPTH:
        return
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice if len(node.slice) == 1 else None
        text = index.value if isinstance(index, cst.Index) else None
        if isinstance(text, cst.SimpleString):
            if not column and isinstance(text.evaluated_value, str):
                yield from _parts(ev, node.value, frame, text.evaluated_value, depth + 1)
        elif not isinstance(text, cst.List):
            yield from _parts(ev, node.value, frame, column, depth + 1)
    elif isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and _keeps_columns(node.func):
            yield from _parts(ev, node.func.value, frame, column, depth + 1)
        else:
            yield from _returned(ev, node, frame, column, depth)
    elif isinstance(node, cst.Attribute) and node.attr.value == "values":
        yield from _parts(ev, node.value, frame, column, depth + 1)
    elif isinstance(node, cst.Name | cst.Attribute):
        yield from _named(ev, node, frame, column, depth)


def _named(ev: Evaluator, node: cst.Name | cst.Attribute, frame: Frame, column: str, depth: int) -> Iterator[_Part]:
    name = dotted(node)
    tree = frame.scope.module.tree
    if not name or node not in tree:
        return
    yield _Part(name, node, frame, column)
    if isinstance(node, cst.Attribute):
        if not column and isinstance(node.value, cst.Name):  # `df.boxes`, unless it is `self.table`
            yield _Part(node.value.value, node, frame, node.attr.value)
        return
    order = tree.order(node)
    for binding in resolve(node, tree):
        is_before = binding.scope is not function_scope(frame.scope) or tree.order(binding.node) < order
        if binding.kind is Kind.VALUE and binding.value is not None and not binding.path and is_before:
            yield from _parts(ev, binding.value, ev.at(binding.scope, frame), column, depth + 1)


def _returned(ev: Evaluator, call: cst.Call, frame: Frame, column: str, depth: int) -> Iterator[_Part]:
    """What a function of the project returns."""
    for callee in ev.values(call.func, frame):
        if inner := ev.entered(callee, call, frame):
            for statement in inner.scope.own(cst.Return):
                if statement.value is not None:
                    yield from _parts(ev, statement.value, inner, column, depth + 1)


def _filling(part: _Part, is_table: bool) -> Iterator[cst.Call]:
    """The calls that columns of a table are set to last, if they make lists or dicts."""
    tree = part.frame.scope.module.tree
    last: dict[str, cst.BaseExpression] = {}
    for assign in function_scope(part.frame.scope).own(cst.Assign):
        if part.column and tree.order(assign) > tree.order(part.place):
            continue
        for each in assign.targets:
            if isinstance(each.target, cst.Subscript) and _table_of(each.target.value) == part.name:
                last[_column_in(each.target)] = assign.value
    for column, value in last.items():
        if isinstance(value, cst.Call) and part.column in ("", column):
            name = last_name(value.func)
            if makes_containers(value) and (is_table or name in _OF_TABLES or _is_column(value.func, part.name)):
                yield value
            elif name == "astype" and value.args and last_name(value.args[0].value) == "object":
                yield value


def _is_column(method: cst.BaseExpression, table: str) -> bool:
    """True for a method of a column of the same table: `df["boxes"].map`."""
    column = method.value if isinstance(method, cst.Attribute) else None
    return isinstance(column, cst.Subscript) and dotted(column.value) == table


def _table_of(node: cst.BaseExpression) -> str:
    """The name of the table that a store goes to: `df["boxes"]`, `df.loc[:, "boxes"]`."""
    is_located = isinstance(node, cst.Attribute) and node.attr.value == "loc"
    return dotted(node.value if is_located and isinstance(node, cst.Attribute) else node)


def _column_in(target: cst.Subscript) -> str:
    index = target.slice[-1].slice
    text = index.value if isinstance(index, cst.Index) else None
    return str(text.evaluated_value) if isinstance(text, cst.SimpleString) else ""
