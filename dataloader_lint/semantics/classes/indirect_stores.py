"""Attributes that are set without `self.name = value`: by `setattr`, `self.__dict__`, `vars(self)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve, written_part
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree

ANY_NAME = "*"  # all keys of a dict become attributes


@dataclass(frozen=True, slots=True, eq=False)
class IndirectStore:
    """One attribute that a statement sets, or `ANY_NAME` where `value` is a dict of attributes."""

    name: str
    node: Node
    value: cst.BaseExpression


def indirect_stores(scope: Scope, own: str) -> Iterator[IndirectStore]:
    """What a scope sets on the object that it calls `own`."""
    tree = scope.module.tree
    for call, target in tree.of_text(("indirect stores", id(scope)), lambda: list(_candidates(scope))):
        if target is not None:
            if is_namespace_of(target.value, own):
                index = target.slice[0].slice
                for name in _texts(index.value, tree) if isinstance(index, cst.Index) else ():
                    yield IndirectStore(name, call, call.value)
        elif last_name(call.func) != "update":
            yield from _of_setattr(call, own, tree.statement_of(call), tree)
        elif is_namespace_of(call.func.value, own):
            yield from _of_update(call, tree.statement_of(call))


def _candidates(scope: Scope) -> Iterator[tuple[Any, cst.Subscript | None]]:
    """The calls and assignments of a scope that may set attributes of any object, the latter with the target."""
    for call in scope.own(cst.Call):
        name = last_name(call.func)
        if name in ("setattr", "__setattr__") or (name == "update" and isinstance(call.func, cst.Attribute)):
            yield call, None
    for assign in scope.own(cst.Assign):
        for each in assign.targets:
            if isinstance(each.target, cst.Subscript):
                yield assign, each.target


def is_namespace_of(node: cst.BaseExpression, own: str) -> bool:
    """True for `self.__dict__` and `vars(self)`."""
    if isinstance(node, cst.Call):
        return dotted(node.func) == "vars" and len(node.args) == 1 and dotted(node.args[0].value) == own
    return dotted(node) == f"{own}.__dict__"


def _of_setattr(call: cst.Call, own: str, statement: Node, tree: Tree) -> Iterator[IndirectStore]:
    given = [arg.value for arg in call.args if not arg.star and arg.keyword is None]
    if isinstance(call.func, cst.Attribute) and dotted(call.func.value) == own:
        given = [call.func.value, *given]  # self.__setattr__("name", value)
    if len(given) != 3 or dotted(given[0]) != own:
        return
    name, value = given[1:]
    whole = _spread_dict(name, value, tree)
    if whole is not None:
        yield from _of_dict(whole, statement)
        return
    pairs = list(_written_pairs(name, value, tree)) or [(text, value) for text in _texts(name, tree)]
    yield from (IndirectStore(text, statement, given) for text, given in pairs)


def _of_update(call: cst.Call, statement: Node) -> Iterator[IndirectStore]:
    for arg in call.args:
        if arg.keyword is not None:
            yield IndirectStore(arg.keyword.value, statement, arg.value)
        elif arg.star in ("", "**"):
            yield from _of_dict(arg.value, statement)


def _of_dict(node: cst.BaseExpression, statement: Node) -> Iterator[IndirectStore]:
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
                yield IndirectStore(str(element.key.evaluated_value), statement, element.value)
    elif isinstance(node, cst.Call) and dotted(node.func) == "dict" and not any(arg.star for arg in node.args):
        for arg in node.args:
            if arg.keyword is not None:
                yield IndirectStore(arg.keyword.value, statement, arg.value)
    else:
        yield IndirectStore(ANY_NAME, statement, node)


def _texts(node: cst.BaseExpression, tree: Tree) -> Iterator[str]:
    """The texts that an expression can be: one that is written out, or those that a loop takes from a display."""
    if isinstance(node, cst.SimpleString):
        yield str(node.evaluated_value)
        return
    for binding in resolve(node, tree) if isinstance(node, cst.Name) else ():
        if binding.kind is Kind.ELEMENT:
            source, path = binding.value, binding.path
            if isinstance(source, cst.Call) and last_name(source.func) == "zip" and path and path[0] < len(source.args):
                source, path = source.args[path[0]].value, path[1:]  # zip(("files", "sizes"), columns)
            for element in _elements(source, tree):
                part = written_part(element, path)
                if isinstance(part, cst.SimpleString):
                    yield str(part.evaluated_value)
        elif binding.kind is Kind.VALUE and not binding.path and isinstance(binding.value, cst.SimpleString):
            yield str(binding.value.evaluated_value)


def _elements(node: cst.BaseExpression | None, tree: Tree) -> Iterator[cst.BaseExpression]:
    """What a loop over an expression takes from it, as far as it is written out."""
    for each in origins(node, tree):
        if isinstance(each, cst.Tuple | cst.List | cst.Set):
            yield from (element.value for element in each.elements)


def _written_pairs(
    name: cst.BaseExpression, value: cst.BaseExpression, tree: Tree
) -> Iterator[tuple[str, cst.BaseExpression]]:
    """`for name, value in (("files", files), ("sizes", sizes)): setattr(self, name, value)`."""
    for binding in _loop_over_both(name, value, tree):
        for element in _elements(binding, tree):
            if isinstance(element, cst.Tuple) and len(element.elements) == 2:
                key = element.elements[0].value
                if isinstance(key, cst.SimpleString):
                    yield str(key.evaluated_value), element.elements[1].value


def _spread_dict(name: cst.BaseExpression, value: cst.BaseExpression, tree: Tree) -> cst.BaseExpression | None:
    """The dict of which a loop sets all entries: `for key, value in kwargs.items(): setattr(self, key, value)`."""
    for source in _loop_over_both(name, value, tree):
        if (
            isinstance(source, cst.Call)
            and isinstance(source.func, cst.Attribute)
            and last_name(source.func) == "items"
        ):
            return source.func.value
    return None


def _loop_over_both(name: cst.BaseExpression, value: cst.BaseExpression, tree: Tree) -> Iterator[cst.BaseExpression]:
    """What a loop runs over that gives a name and its value as a pair."""
    if not isinstance(name, cst.Name) or not isinstance(value, cst.Name):
        return
    values = [each for each in resolve(value, tree) if each.kind is Kind.ELEMENT and each.path == (1,)]
    for each in resolve(name, tree):
        if each.kind is Kind.ELEMENT and each.path == (0,) and any(one.node is each.node for one in values):
            if each.value is not None:
                yield each.value
