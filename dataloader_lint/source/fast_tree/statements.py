"""From Python's statements to LibCST's."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from dataloader_lint.source.fast_tree.expressions import Expressions
from dataloader_lint.source.fast_tree.nodes import ASSIGNING, ASYNC, DOT, make, maker, name_node

COMPOUND = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.If,
    ast.With,
    ast.AsyncWith,
    ast.Try,
)
_COMPOUND = frozenset(COMPOUND)
_assign = maker(cst.Assign, "targets", "value")
_block = maker(cst.IndentedBlock, "body")
_expression = maker(cst.Expr, "value")
_if = maker(cst.If, "test", "body", "orelse")
_line = maker(cst.SimpleStatementLine, "body")
_return = maker(cst.Return, "value")
_target = maker(cst.AssignTarget, "target")


def by_line(statements: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a block: a compound one by itself, small ones with those that share their line."""
    line: list[ast.stmt] = []
    for statement in statements:
        is_small = type(statement) not in _COMPOUND
        if line and is_small and statement.lineno == line[-1].end_lineno and type(line[-1]) not in _COMPOUND:
            line.append(statement)
            continue
        if line:
            yield line
        line = [statement]
    if line:
        yield line


class Statements(Expressions):
    """Makes the nodes of a whole module."""

    def module(self, node: ast.Module) -> cst.Module:
        made: cst.Module = make(cst.Module, body=self._lines_of(node.body))
        return made

    def _statement(self, node: ast.stmt) -> Any:
        method = _METHODS.get(type(node))
        return method(self, node) if method is not None else self._unlike(node)

    def _lines_of(self, statements: list[ast.stmt]) -> list[Any]:
        """The lines and compound statements of a block: several small statements may share a line."""
        return [
            self._statement(line[0]) if type(line[0]) in _COMPOUND else _line([self._statement(each) for each in line])
            for line in by_line(statements)
        ]

    def _body(self, statements: list[ast.stmt]) -> Any:
        first = statements[0]
        if type(first) not in _COMPOUND and self._lines[first.lineno - 1][: first.col_offset].strip(b" \t\f"):
            return make(cst.SimpleStatementSuite, body=[self._statement(each) for each in statements])
        return _block(self._lines_of(statements))

    def _else(self, statements: list[ast.stmt]) -> Any:
        return make(cst.Else, body=self._body(statements)) if statements else None

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        if getattr(node, "type_params", None):
            self._unlike(node)
        return make(
            cst.FunctionDef,
            name=name_node(node.name),
            params=self._parameters(node.args),
            body=self._body(node.body),
            decorators=self._decorators(node.decorator_list),
            returns=self._annotation(node.returns),
            asynchronous=ASYNC if type(node) is ast.AsyncFunctionDef else None,
        )

    def class_(self, node: ast.ClassDef) -> Any:
        if getattr(node, "type_params", None):
            self._unlike(node)
        return make(
            cst.ClassDef,
            name=name_node(node.name),
            body=self._body(node.body),
            bases=[self._argument(each) for each in node.bases],
            keywords=[self.keyword(each) for each in node.keywords],
            decorators=self._decorators(node.decorator_list),
        )

    def _decorators(self, nodes: list[ast.expr]) -> list[Any]:
        return [make(cst.Decorator, decorator=self._node(each)) for each in nodes]

    def if_(self, node: ast.If) -> Any:
        orelse = node.orelse
        if len(orelse) == 1 and type(orelse[0]) is ast.If:
            inner = orelse[0]
            if self._lines[inner.lineno - 1].startswith(b"elif", inner.col_offset):
                return _if(self._node(node.test), self._body(node.body), self.if_(inner))
        return _if(self._node(node.test), self._body(node.body), self._else(orelse))

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        return make(
            cst.For,
            target=self._node(node.target),
            iter=self._node(node.iter),
            body=self._body(node.body),
            orelse=self._else(node.orelse),
            asynchronous=ASYNC if type(node) is ast.AsyncFor else None,
        )

    def while_(self, node: ast.While) -> Any:
        return make(cst.While, test=self._node(node.test), body=self._body(node.body), orelse=self._else(node.orelse))

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [
            make(
                cst.WithItem,
                item=self._node(each.context_expr),
                asname=None if each.optional_vars is None else make(cst.AsName, name=self._node(each.optional_vars)),
            )
            for each in node.items
        ]
        asynchronous = ASYNC if type(node) is ast.AsyncWith else None
        return make(cst.With, items=items, body=self._body(node.body), asynchronous=asynchronous)

    def try_(self, node: ast.Try) -> Any:
        return make(
            cst.Try,
            body=self._body(node.body),
            handlers=[self._handler(each) for each in node.handlers],
            orelse=self._else(node.orelse),
            finalbody=make(cst.Finally, body=self._body(node.finalbody)) if node.finalbody else None,
        )

    def _handler(self, node: ast.ExceptHandler) -> Any:
        name = None if node.name is None else make(cst.AsName, name=name_node(node.name))
        return make(cst.ExceptHandler, body=self._body(node.body), type=self._maybe(node.type), name=name)

    def expression(self, node: ast.Expr) -> Any:
        return _expression(self._node(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = [_target(self._node(each)) for each in node.targets]
        return _assign(targets, self._node(node.value))

    def annotated(self, node: ast.AnnAssign) -> Any:
        return make(
            cst.AnnAssign,
            target=self._node(node.target),
            annotation=self._annotation(node.annotation),
            value=self._maybe(node.value),
        )

    def augmented(self, node: ast.AugAssign) -> Any:
        return make(
            cst.AugAssign,
            target=self._node(node.target),
            operator=ASSIGNING[type(node.op)],
            value=self._node(node.value),
        )

    def delete(self, node: ast.Delete) -> Any:
        targets = [self._node(each) for each in node.targets]
        if len(targets) == 1:
            return make(cst.Del, target=targets[0])
        return make(cst.Del, target=make(cst.Tuple, elements=[make(cst.Element, value=each) for each in targets]))

    def return_(self, node: ast.Return) -> Any:
        return _return(self._maybe(node.value))

    def raise_(self, node: ast.Raise) -> Any:
        cause = None if node.cause is None else make(cst.From, item=self._node(node.cause))
        return make(cst.Raise, exc=self._maybe(node.exc), cause=cause)

    def assert_(self, node: ast.Assert) -> Any:
        return make(cst.Assert, test=self._node(node.test), msg=self._maybe(node.msg))

    def global_(self, node: ast.Global) -> Any:
        return make(cst.Global, names=[make(cst.NameItem, name=name_node(each)) for each in node.names])

    def nonlocal_(self, node: ast.Nonlocal) -> Any:
        return make(cst.Nonlocal, names=[make(cst.NameItem, name=name_node(each)) for each in node.names])

    def pass_(self, node: ast.Pass) -> Any:
        return make(cst.Pass)

    def break_(self, node: ast.Break) -> Any:
        return make(cst.Break)

    def continue_(self, node: ast.Continue) -> Any:
        return make(cst.Continue)

    def import_(self, node: ast.Import) -> Any:
        return make(cst.Import, names=_aliases(node.names))

    def import_from(self, node: ast.ImportFrom) -> Any:
        star = len(node.names) == 1 and node.names[0].name == "*"
        return make(
            cst.ImportFrom,
            module=None if node.module is None else _dotted(node.module),
            names=make(cst.ImportStar) if star else _aliases(node.names),
            relative=(DOT,) * node.level,
        )


# What is not named here is rare, as `match`, or newer than this: LibCST takes such a file over.
_METHODS: dict[type[ast.stmt], Callable[[Statements, Any], Any]] = {
    ast.AnnAssign: Statements.annotated,
    ast.Assert: Statements.assert_,
    ast.Assign: Statements.assign,
    ast.AsyncFor: Statements.for_,
    ast.AsyncFunctionDef: Statements.function,
    ast.AsyncWith: Statements.with_,
    ast.AugAssign: Statements.augmented,
    ast.Break: Statements.break_,
    ast.ClassDef: Statements.class_,
    ast.Continue: Statements.continue_,
    ast.Delete: Statements.delete,
    ast.Expr: Statements.expression,
    ast.For: Statements.for_,
    ast.FunctionDef: Statements.function,
    ast.Global: Statements.global_,
    ast.If: Statements.if_,
    ast.Import: Statements.import_,
    ast.ImportFrom: Statements.import_from,
    ast.Nonlocal: Statements.nonlocal_,
    ast.Pass: Statements.pass_,
    ast.Raise: Statements.raise_,
    ast.Return: Statements.return_,
    ast.Try: Statements.try_,
    ast.While: Statements.while_,
    ast.With: Statements.with_,
}


def _dotted(name: str) -> Any:
    first, *others = name.split(".")
    node = name_node(first)
    for each in others:
        node = make(cst.Attribute, value=node, attr=name_node(each))
    return node


def _aliases(nodes: Iterable[ast.alias]) -> list[Any]:
    return [
        make(
            cst.ImportAlias,
            name=_dotted(each.name),
            asname=None if each.asname is None else make(cst.AsName, name=name_node(each.asname)),
        )
        for each in nodes
    ]
