"""From Python's expressions to LibCST's."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import libcst as cst

from dataloader_lint.source.fast_tree.nodes import (
    ASYNC,
    BARE_STAR,
    OPERATORS,
    Node,
    UnlikeError,
    argument_node,
    make,
    maker,
    name_node,
)

_LINE = re.compile(rb"\r\n|\r|\n")
_LITERAL = re.compile(
    rb"([rbufRBUF]{0,2})(?:"
    rb'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    rb"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    rb"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')",
    re.DOTALL,
)
_BETWEEN = re.compile(rb"(?:\s|\\\n|#[^\n]*)*")

_NUMBERS: dict[type, type[Node]] = {int: cst.Integer, float: cst.Float, complex: cst.Imaginary}
_attribute = maker(cst.Attribute, "value", "attr")
_binary = maker(cst.BinaryOperation, "left", "operator", "right")
_call = maker(cst.Call, "func", "args")
_element = maker(cst.Element, "value")
_index = maker(cst.Index, "value", "star")
_part_of_subscript = maker(cst.SubscriptElement, "slice")
_simple_string = maker(cst.SimpleString, "value")
_subscript = maker(cst.Subscript, "value", "slice")


class Expressions:
    """Makes LibCST's nodes, one method for each kind of Python's. Bytes, because Python counts columns in them."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE.split(text.encode())
        self._in_string = 0

    def _node(self, node: ast.expr) -> Any:
        method = _METHODS.get(type(node))
        return method(self, node) if method is not None else self._unlike(node)

    def _maybe(self, node: ast.expr | None) -> Any:
        return None if node is None else self._node(node)

    def _unlike(self, node: ast.AST) -> NoReturn:
        raise UnlikeError(type(node).__name__)

    def _text(self, node: ast.expr) -> bytes:
        """The source of an expression that is not in an f-string, where Python's positions are not exact."""
        assert node.end_lineno is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        if first == last:
            return self._lines[first][node.col_offset : node.end_col_offset]
        lines = [self._lines[first][node.col_offset :], *self._lines[first + 1 : last]]
        return b"\n".join([*lines, self._lines[last][: node.end_col_offset]])

    def name(self, node: ast.Name) -> Any:
        return name_node(node.id)

    def attribute(self, node: ast.Attribute) -> Any:
        return _attribute(self._node(node.value), name_node(node.attr))

    def call(self, node: ast.Call) -> Any:
        func = self._node(node.func)
        if node.keywords and node.args and _place(node.args[-1]) > _place(node.keywords[0]):
            written: list[Any] = sorted([*node.args, *node.keywords], key=_place)
            args = [self.keyword(each) if type(each) is ast.keyword else self._argument(each) for each in written]
        else:
            args = [self._argument(each) for each in node.args]
            args.extend([self.keyword(each) for each in node.keywords])
        return _call(func, args)

    def _argument(self, node: ast.expr) -> Any:
        if type(node) is ast.Starred:
            return argument_node(self._node(node.value), None, "*")
        return argument_node(self._node(node), None, "")

    def keyword(self, node: ast.keyword) -> Any:
        if node.arg is None:
            return argument_node(self._node(node.value), None, "**")
        return argument_node(self._node(node.value), name_node(node.arg), "")

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        kind = type(value)
        if kind is str or kind is bytes:
            return _simple_string(repr(value)) if self._in_string else self._string(node)
        if kind in _NUMBERS:
            text = repr(value) if self._in_string else self._text(node).decode()
            if text == "inf" or text == "infj":
                self._unlike(node)
            return make(_NUMBERS[kind], value=text)
        return make(cst.Ellipsis) if value is ... else name_node(str(value))

    def _string(self, node: ast.Constant | ast.JoinedStr) -> Any:
        """One literal, or several that stand side by side."""
        text = self._text(node)
        quote = text[:1]
        if quote in (b'"', b"'") and text.find(quote, 1) == len(text) - 1:
            return _simple_string(text.decode())
        pieces = []
        place = 0
        while place < len(text):
            match = _LITERAL.match(text, place)
            if match is None:
                self._unlike(node)
            pieces.append((match[1].lower(), match[0]))
            behind = _BETWEEN.match(text, match.end())
            place = behind.end() if behind is not None else match.end()
        if len(pieces) == 1 and type(node) is ast.JoinedStr:
            return self._formatted(node)
        found = self._piece(*pieces[-1])
        for prefix, piece in reversed(pieces[:-1]):
            found = make(cst.ConcatenatedString, left=self._piece(prefix, piece), right=found)
        return found

    def _piece(self, prefix: bytes, text: bytes) -> Any:
        if b"f" not in prefix:
            return _simple_string(text.decode())
        node = ast.parse(text, mode="eval").body
        if type(node) is ast.JoinedStr:
            return self._formatted(node)
        return make(cst.FormattedString, parts=[])

    def joined(self, node: ast.JoinedStr) -> Any:
        return self._formatted(node) if self._in_string else self._string(node)

    def _formatted(self, node: ast.JoinedStr) -> Any:
        self._in_string += 1
        parts = self._parts(node)
        self._in_string -= 1
        return make(cst.FormattedString, parts=parts)

    def _parts(self, node: ast.JoinedStr) -> list[Any]:
        return [self._part(each) for each in node.values]

    def _part(self, node: ast.expr) -> Any:
        if type(node) is ast.FormattedValue:
            spec = self._parts(node.format_spec) if type(node.format_spec) is ast.JoinedStr else None
            return make(cst.FormattedStringExpression, expression=self._node(node.value), format_spec=spec)
        return make(cst.FormattedStringText, value=node.value) if type(node) is ast.Constant else self._unlike(node)

    def subscript(self, node: ast.Subscript) -> Any:
        index = node.slice
        several = type(index) is ast.Tuple and not self._is_in_parentheses(index)
        parts: Iterable[ast.expr] = index.elts if several and type(index) is ast.Tuple else [index]
        elements = [_part_of_subscript(self._index(each)) for each in parts]
        return _subscript(self._node(node.value), elements)

    def _index(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            lower, upper, step = self._maybe(node.lower), self._maybe(node.upper), self._maybe(node.step)
            return make(cst.Slice, lower=lower, upper=upper, step=step)
        if type(node) is ast.Starred:
            return _index(self._node(node.value), "*")
        return _index(self._node(node), None)

    def _is_in_parentheses(self, node: ast.Tuple) -> bool:
        if not node.elts:
            return True
        if self._in_string:
            return False  # ambiguous, but very rare: `f"{a[(0, 1)]}"`
        if not self._lines[node.lineno - 1].startswith(b"(", node.col_offset) or _place(node.elts[0]) == _place(node):
            return False
        if any(type(each) is ast.Slice for each in node.elts):
            return False
        # `(a), b` or `(a, b)`
        return bool(cst.ensure_type(cst.parse_expression(f"({self._text(node).decode()})"), cst.Tuple).lpar[1:])

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self._node(node.left), self._node(node.right)
        return _binary(left, OPERATORS[type(node.op)], right)

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = OPERATORS[type(node.op)]
        found = self._node(node.values[0])
        for each in node.values[1:]:
            found = make(cst.BooleanOperation, left=found, operator=operator, right=self._node(each))
        return found

    def unary(self, node: ast.UnaryOp) -> Any:
        operator = OPERATORS[type(node.op)]
        return make(cst.UnaryOperation, operator=operator, expression=self._node(node.operand))

    def compare(self, node: ast.Compare) -> Any:
        comparisons = [
            make(cst.ComparisonTarget, operator=OPERATORS[type(operator)], comparator=self._node(other))
            for operator, other in zip(node.ops, node.comparators, strict=True)
        ]
        return make(cst.Comparison, left=self._node(node.left), comparisons=comparisons)

    def if_expression(self, node: ast.IfExp) -> Any:
        test, body, orelse = self._node(node.test), self._node(node.body), self._node(node.orelse)
        return make(cst.IfExp, test=test, body=body, orelse=orelse)

    def lambda_(self, node: ast.Lambda) -> Any:
        return make(cst.Lambda, params=self._parameters(node.args), body=self._node(node.body))

    def _elements(self, nodes: list[ast.expr]) -> list[Any]:
        return [
            make(cst.StarredElement, value=self._node(each.value))
            if type(each) is ast.Starred
            else _element(self._node(each))
            for each in nodes
        ]

    def tuple(self, node: ast.Tuple) -> Any:
        return make(cst.Tuple, elements=self._elements(node.elts))

    def list(self, node: ast.List) -> Any:
        return make(cst.List, elements=self._elements(node.elts))

    def set(self, node: ast.Set) -> Any:
        return make(cst.Set, elements=self._elements(node.elts))

    def dict(self, node: ast.Dict) -> Any:
        elements = [
            make(cst.StarredDictElement, value=self._node(value))
            if key is None
            else make(cst.DictElement, key=self._node(key), value=self._node(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return make(cst.Dict, elements=elements)

    def _comprehension(self, generators: Sequence[ast.comprehension]) -> Any:
        found = None
        for each in reversed(generators):
            found = make(
                cst.CompFor,
                target=self._node(each.target),
                iter=self._node(each.iter),
                ifs=[make(cst.CompIf, test=self._node(test)) for test in each.ifs],
                inner_for_in=found,
                asynchronous=ASYNC if each.is_async else None,
            )
        return found

    def list_comprehension(self, node: ast.ListComp) -> Any:
        return make(cst.ListComp, elt=self._node(node.elt), for_in=self._comprehension(node.generators))

    def set_comprehension(self, node: ast.SetComp) -> Any:
        return make(cst.SetComp, elt=self._node(node.elt), for_in=self._comprehension(node.generators))

    def generator(self, node: ast.GeneratorExp) -> Any:
        return make(cst.GeneratorExp, elt=self._node(node.elt), for_in=self._comprehension(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        key, value = self._node(node.key), self._node(node.value)
        return make(cst.DictComp, key=key, value=value, for_in=self._comprehension(node.generators))

    def await_(self, node: ast.Await) -> Any:
        return make(cst.Await, expression=self._node(node.value))

    def yield_(self, node: ast.Yield) -> Any:
        return make(cst.Yield, value=self._maybe(node.value))

    def yield_from(self, node: ast.YieldFrom) -> Any:
        return make(cst.Yield, value=make(cst.From, item=self._node(node.value)))

    def walrus(self, node: ast.NamedExpr) -> Any:
        return make(cst.NamedExpr, target=self._node(node.target), value=self._node(node.value))

    def _annotation(self, node: ast.expr | None) -> Any:
        return None if node is None else make(cst.Annotation, annotation=self._node(node))

    def _parameters(self, node: ast.arguments) -> Any:
        plain = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults))
        params = [
            self._parameter(each, value, "") for each, value in zip(plain, [*defaults, *node.defaults], strict=True)
        ]
        only = [self._parameter(each, value, "") for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        star: Any = BARE_STAR if only else cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            star = self._parameter(node.vararg, None, "*")
        return make(
            cst.Parameters,
            params=params[len(node.posonlyargs) :],
            star_arg=star,
            kwonly_params=only,
            star_kwarg=None if node.kwarg is None else self._parameter(node.kwarg, None, "**"),
            posonly_params=params[: len(node.posonlyargs)],
        )

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str) -> Any:
        return make(
            cst.Param,
            name=name_node(node.arg),
            annotation=self._annotation(node.annotation),
            default=self._maybe(default),
            star=star,
        )


_METHODS: dict[type[ast.expr], Callable[[Expressions, Any], Any]] = {
    ast.Attribute: Expressions.attribute,
    ast.Await: Expressions.await_,
    ast.BinOp: Expressions.binary,
    ast.BoolOp: Expressions.boolean,
    ast.Call: Expressions.call,
    ast.Compare: Expressions.compare,
    ast.Constant: Expressions.constant,
    ast.Dict: Expressions.dict,
    ast.DictComp: Expressions.dict_comprehension,
    ast.GeneratorExp: Expressions.generator,
    ast.IfExp: Expressions.if_expression,
    ast.JoinedStr: Expressions.joined,
    ast.Lambda: Expressions.lambda_,
    ast.List: Expressions.list,
    ast.ListComp: Expressions.list_comprehension,
    ast.Name: Expressions.name,
    ast.NamedExpr: Expressions.walrus,
    ast.Set: Expressions.set,
    ast.SetComp: Expressions.set_comprehension,
    ast.Subscript: Expressions.subscript,
    ast.Tuple: Expressions.tuple,
    ast.UnaryOp: Expressions.unary,
    ast.Yield: Expressions.yield_,
    ast.YieldFrom: Expressions.yield_from,
}


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset
