"""What is in an array or a table, as far as the way it is filled and used shows."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Scope

_PARSERS = frozenset({"eval", "literal_eval", "loads"})
# Methods of tables that are given a function; `map` is one of pools of processes as well.
TABLE_METHODS = frozenset({"agg", "aggregate", "apply", "map"})
_CONTAINERS = frozenset({"list", "set", "tuple"})
_NUMERIC = frozenset({"all", "any", "argmax", "argmin", "max", "mean", "min", "ndim", "std", "sum"})


def parses(node: cst.CSTNode) -> bool:
    """True if a function turns text into lists and dicts."""
    if isinstance(node, cst.Lambda):
        return isinstance(node.body, cst.Call) and parses(node.body.func)
    if isinstance(node, cst.Dict):
        return any(parses(element.value) for element in node.elements)
    return last_name(node) in _PARSERS


def makes_containers(call: cst.Call) -> bool:
    """True if a method of a table gives lists and dicts: parsed text, or what groups of rows are made of.

    `df["boxes"].apply(literal_eval)`, `df.groupby("image")["text"].agg(list)`.
    """
    name = last_name(call.func)
    if name == "split":  # `table["text"].str.split()`
        is_column = isinstance(call.func, cst.Attribute) and last_name(call.func.value) == "str"
        return is_column and not any(arg.keyword is not None and arg.keyword.value == "expand" for arg in call.args)
    if name == "tolist" and isinstance(call.func, cst.Attribute):
        return _is_of_columns(call.func.value)
    if not call.args or name not in TABLE_METHODS:
        return False
    function = call.args[0].value
    return parses(function) or _gives_container(function) or (name != "map" and last_name(function) in _CONTAINERS)


def _is_of_columns(node: cst.BaseExpression) -> bool:
    """True for the array of several columns, of which each row becomes a list: `table[["left", "top"]].values`."""
    if isinstance(node, cst.Call) and last_name(node.func) == "to_numpy" and isinstance(node.func, cst.Attribute):
        columns: cst.BaseExpression = node.func.value
    elif isinstance(node, cst.Attribute) and node.attr.value == "values":
        columns = node.value
    else:
        return False
    index = columns.slice[0].slice if isinstance(columns, cst.Subscript) else None
    return isinstance(index, cst.Index) and isinstance(index.value, cst.List)


def _gives_container(node: cst.CSTNode) -> bool:
    """`lambda text: text.split()`, `lambda row: {"box": row.box}`."""
    body = node.body if isinstance(node, cst.Lambda) else None
    if isinstance(body, cst.Call):
        return last_name(body.func) in ("split", "tolist", *_CONTAINERS)
    return isinstance(body, cst.List | cst.Dict | cst.ListComp | cst.DictComp)


def is_numeric(dataset: StoringDataset, name: str) -> bool:
    """True if the class treats an array as one of numbers: several indices at once, sums, other shapes."""
    for klass in dataset.bases.classes:
        for method in klass.scope.inner:
            for scope in method.descend():
                if _is_numeric_in(scope, name, classes.receiver_name(method)):
                    return True
    return False


def _is_numeric_in(scope: Scope, name: str, own: str) -> bool:
    def is_it(node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Attribute) and node.attr.value == name and dotted(node.value) == own

    if any(is_it(each.value) and len(each.slice) > 1 for each in scope.own(cst.Subscript)):
        return True
    if any(is_it(each.value) and each.attr.value in _NUMERIC for each in scope.own(cst.Attribute)):
        return True
    for subscript in scope.own(cst.Subscript):  # self.data.shape[1]
        if isinstance(subscript.value, cst.Attribute) and subscript.value.attr.value == "shape":
            index = subscript.slice[0].slice
            number = index.value if isinstance(index, cst.Index) else None
            is_first = isinstance(number, cst.Integer) and number.value == "0"
            if is_it(subscript.value.value) and not is_first:
                return True
    return any(
        last_name(call.func) in ("from_numpy", "as_tensor") and call.args and is_it(call.args[0].value)
        for call in scope.own(cst.Call)
    )
