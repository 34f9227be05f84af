"""A LibCST tree with only what carries meaning, made with Python's own parser, which is some ten times as fast.

Most files that are opened have nothing to be reported and nothing to be repaired, so nobody asks how they are laid out.
Such a tree has the nodes of LibCST's own, without blank space, comments, commas and parentheses; `complete` puts these
in when they are needed, into the very same nodes.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import libcst as cst

Node = cst.CSTNode
_new = object.__new__
_set = object.__setattr__

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

_OPERATORS: dict[type[ast.AST], Node] = {
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
_ASSIGNING: dict[type[ast.AST], Node] = {
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
_DOT = cst.Dot()
_ASYNC = cst.Asynchronous()
_BARE_STAR = cst.ParamStar()
# One node for all places where it stands, so what is put into the others cannot be put into these.
_SHARED = frozenset(
    id(node)
    for node in (*_OPERATORS.values(), *_ASSIGNING.values(), _DOT, _ASYNC, _BARE_STAR, cst.MaybeSentinel.DEFAULT)
)
_NUMBERS: dict[type, type[Node]] = {int: cst.Integer, float: cst.Float, complex: cst.Imaginary}
_COMPOUND = (
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


class UnlikeError(Exception):
    """Python's tree does not tell how LibCST's would look, or the two trees differ. LibCST's must be taken instead.

    `path` is that of the file, where it is known.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.path = path


def is_bare(module: cst.Module) -> bool:
    """Whether a tree lacks all that says how the module is laid out."""
    return not hasattr(module, "header")


def bare_tree(text: str, parsed: ast.Module | None = None) -> cst.Module:
    """The bare tree of a module, made from what Python has parsed it into, if that is at hand.

    Raises UnlikeError where the whole one is needed, be it to tell what is wrong.
    """
    try:
        return _Converter(text).module(parsed or parse_as_python(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnlikeError(str(error)) from None


def parse_as_python(text: str) -> ast.Module:
    """What Python makes of a text, with the errors that `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python thinks of the escapes in this file is not our business
        return ast.parse(text)


def complete(bare: Node, whole: Node) -> None:
    """Put all that the whole tree has into the nodes of a bare one; they stay the same objects.

    Raises UnlikeError where the trees differ; the bare one is then as it was.
    """
    news: list[tuple[Node, str, object]] = []
    stack = [(bare, whole)]
    while stack:
        mine, other = stack.pop()
        if type(mine) is not type(other):
            raise UnlikeError(f"{type(mine).__name__} for {type(other).__name__}")
        for field in mine.__slots__:
            theirs = getattr(other, field)
            own = getattr(mine, field, None)
            if isinstance(own, Node) and id(own) not in _SHARED:
                stack.append((own, theirs))
            elif isinstance(own, list):
                if type(mine) is cst.FormattedString:
                    news.append((mine, field, _same_parts(own, theirs, stack)))
                    continue
                if len(own) != len(theirs):
                    raise UnlikeError(f"{len(own)} for {len(theirs)} of {field} in {type(mine).__name__}")
                stack.extend(zip(own, theirs, strict=True))
            else:
                news.append((mine, field, theirs))
    for node, field, value in news:
        _set(node, field, value)


def _same_parts(own: list[Node], theirs: Sequence[Node], stack: list[tuple[Node, Node]]) -> list[Node]:
    """The parts of an f-string: texts may be cut differently, expressions may not."""
    expressions = [part for part in own if type(part) is cst.FormattedStringExpression]
    parts = list(theirs)
    places = [place for place, part in enumerate(parts) if type(part) is cst.FormattedStringExpression]
    if len(expressions) != len(places):
        raise UnlikeError("another number of expressions in an f-string")
    for place, expression in zip(places, expressions, strict=True):
        stack.append((expression, parts[place]))
        parts[place] = expression
    return parts


def _make(kind: type[Node], **fields: object) -> Any:
    """A node without what it is laid out with. LibCST's own constructors check the layout, which takes most of it."""
    node = _new(kind)
    for field, value in fields.items():
        _set(node, field, value)
    return node


class _Converter:
    """Makes LibCST's nodes from Python's, one method for each kind. Bytes, because Python counts columns in them."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE.split(text.encode())
        self._in_string = 0

    def module(self, node: ast.Module) -> cst.Module:
        made: cst.Module = _make(cst.Module, body=self._lines_of(node.body))
        return made

    def _node(self, node: ast.AST) -> Any:
        method = _METHODS.get(type(node))
        return method(self, node) if method is not None else self._unlike(node)

    def _maybe(self, node: ast.AST | None) -> Any:
        return None if node is None else self._node(node)

    def _unlike(self, node: ast.AST) -> NoReturn:
        raise UnlikeError(type(node).__name__)

    def _text(self, node: ast.expr) -> bytes:
        """The source of an expression that is not in an f-string, where places are not told well."""
        assert node.end_lineno is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        if first == last:
            return self._lines[first][node.col_offset : node.end_col_offset]
        lines = [self._lines[first][node.col_offset :], *self._lines[first + 1 : last]]
        return b"\n".join([*lines, self._lines[last][: node.end_col_offset]])

    # Statements.

    def _lines_of(self, statements: list[ast.stmt]) -> list[Any]:
        """The lines and compound statements of a block: several small statements may share a line."""
        found = []
        line: list[Any] = []
        end = -1
        for statement in statements:
            if isinstance(statement, _COMPOUND):
                found.append(self._node(statement))
                end = -1
                continue
            small = self._node(statement)
            if statement.lineno == end:
                line.append(small)
            else:
                line = [small]
                found.append(_make(cst.SimpleStatementLine, body=line))
            end = statement.end_lineno or -1
        return found

    def _body(self, statements: list[ast.stmt]) -> Any:
        first = statements[0]
        if not isinstance(first, _COMPOUND) and self._lines[first.lineno - 1][: first.col_offset].strip(b" \t\f"):
            return _make(cst.SimpleStatementSuite, body=[self._node(each) for each in statements])
        return _make(cst.IndentedBlock, body=self._lines_of(statements))

    def _else(self, statements: list[ast.stmt]) -> Any:
        return _make(cst.Else, body=self._body(statements)) if statements else None

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        if getattr(node, "type_params", None):
            self._unlike(node)
        return _make(
            cst.FunctionDef,
            name=_name(node.name),
            params=self._parameters(node.args),
            body=self._body(node.body),
            decorators=self._decorators(node.decorator_list),
            returns=self._annotation(node.returns),
            asynchronous=_ASYNC if type(node) is ast.AsyncFunctionDef else None,
        )

    def class_(self, node: ast.ClassDef) -> Any:
        if getattr(node, "type_params", None):
            self._unlike(node)
        return _make(
            cst.ClassDef,
            name=_name(node.name),
            body=self._body(node.body),
            bases=[self._argument(each) for each in node.bases],
            keywords=[self.keyword(each) for each in node.keywords],
            decorators=self._decorators(node.decorator_list),
        )

    def _decorators(self, nodes: list[ast.expr]) -> list[Any]:
        return [_make(cst.Decorator, decorator=self._node(each)) for each in nodes]

    def _annotation(self, node: ast.expr | None) -> Any:
        return None if node is None else _make(cst.Annotation, annotation=self._node(node))

    def _parameters(self, node: ast.arguments) -> Any:
        plain = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults))
        params = [
            self._parameter(each, value, "") for each, value in zip(plain, [*defaults, *node.defaults], strict=True)
        ]
        only = [self._parameter(each, value, "") for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        star: Any = _BARE_STAR if only else cst.MaybeSentinel.DEFAULT
        if node.vararg is not None:
            star = self._parameter(node.vararg, None, "*")
        return _make(
            cst.Parameters,
            params=params[len(node.posonlyargs) :],
            star_arg=star,
            kwonly_params=only,
            star_kwarg=None if node.kwarg is None else self._parameter(node.kwarg, None, "**"),
            posonly_params=params[: len(node.posonlyargs)],
        )

    def _parameter(self, node: ast.arg, default: ast.expr | None, star: str) -> Any:
        return _make(
            cst.Param,
            name=_name(node.arg),
            annotation=self._annotation(node.annotation),
            default=self._maybe(default),
            star=star,
        )

    def if_(self, node: ast.If) -> Any:
        orelse = node.orelse
        if len(orelse) == 1 and type(orelse[0]) is ast.If:
            inner = orelse[0]
            if self._lines[inner.lineno - 1].startswith(b"elif", inner.col_offset):
                return _make(cst.If, test=self._node(node.test), body=self._body(node.body), orelse=self.if_(inner))
        return _make(cst.If, test=self._node(node.test), body=self._body(node.body), orelse=self._else(orelse))

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        return _make(
            cst.For,
            target=self._node(node.target),
            iter=self._node(node.iter),
            body=self._body(node.body),
            orelse=self._else(node.orelse),
            asynchronous=_ASYNC if type(node) is ast.AsyncFor else None,
        )

    def while_(self, node: ast.While) -> Any:
        return _make(cst.While, test=self._node(node.test), body=self._body(node.body), orelse=self._else(node.orelse))

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [
            _make(
                cst.WithItem,
                item=self._node(each.context_expr),
                asname=None if each.optional_vars is None else _make(cst.AsName, name=self._node(each.optional_vars)),
            )
            for each in node.items
        ]
        asynchronous = _ASYNC if type(node) is ast.AsyncWith else None
        return _make(cst.With, items=items, body=self._body(node.body), asynchronous=asynchronous)

    def try_(self, node: ast.Try) -> Any:
        return _make(
            cst.Try,
            body=self._body(node.body),
            handlers=[self._handler(each) for each in node.handlers],
            orelse=self._else(node.orelse),
            finalbody=_make(cst.Finally, body=self._body(node.finalbody)) if node.finalbody else None,
        )

    def _handler(self, node: ast.ExceptHandler) -> Any:
        name = None if node.name is None else _make(cst.AsName, name=_name(node.name))
        return _make(cst.ExceptHandler, body=self._body(node.body), type=self._maybe(node.type), name=name)

    def expression(self, node: ast.Expr) -> Any:
        return _make(cst.Expr, value=self._node(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = [_make(cst.AssignTarget, target=self._node(each)) for each in node.targets]
        return _make(cst.Assign, targets=targets, value=self._node(node.value))

    def annotated(self, node: ast.AnnAssign) -> Any:
        return _make(
            cst.AnnAssign,
            target=self._node(node.target),
            annotation=self._annotation(node.annotation),
            value=self._maybe(node.value),
        )

    def augmented(self, node: ast.AugAssign) -> Any:
        return _make(
            cst.AugAssign,
            target=self._node(node.target),
            operator=_ASSIGNING[type(node.op)],
            value=self._node(node.value),
        )

    def delete(self, node: ast.Delete) -> Any:
        targets = [self._node(each) for each in node.targets]
        if len(targets) == 1:
            return _make(cst.Del, target=targets[0])
        return _make(cst.Del, target=_make(cst.Tuple, elements=[_make(cst.Element, value=each) for each in targets]))

    def return_(self, node: ast.Return) -> Any:
        return _make(cst.Return, value=self._maybe(node.value))

    def raise_(self, node: ast.Raise) -> Any:
        cause = None if node.cause is None else _make(cst.From, item=self._node(node.cause))
        return _make(cst.Raise, exc=self._maybe(node.exc), cause=cause)

    def assert_(self, node: ast.Assert) -> Any:
        return _make(cst.Assert, test=self._node(node.test), msg=self._maybe(node.msg))

    def global_(self, node: ast.Global) -> Any:
        return _make(cst.Global, names=[_make(cst.NameItem, name=_name(each)) for each in node.names])

    def nonlocal_(self, node: ast.Nonlocal) -> Any:
        return _make(cst.Nonlocal, names=[_make(cst.NameItem, name=_name(each)) for each in node.names])

    def pass_(self, node: ast.Pass) -> Any:
        return _make(cst.Pass)

    def break_(self, node: ast.Break) -> Any:
        return _make(cst.Break)

    def continue_(self, node: ast.Continue) -> Any:
        return _make(cst.Continue)

    def import_(self, node: ast.Import) -> Any:
        return _make(cst.Import, names=_aliases(node.names))

    def import_from(self, node: ast.ImportFrom) -> Any:
        star = len(node.names) == 1 and node.names[0].name == "*"
        return _make(
            cst.ImportFrom,
            module=None if node.module is None else _dotted(node.module),
            names=_make(cst.ImportStar) if star else _aliases(node.names),
            relative=(_DOT,) * node.level,
        )

    # Expressions.

    def name(self, node: ast.Name) -> Any:
        return _name(node.id)

    def attribute(self, node: ast.Attribute) -> Any:
        found = _new(cst.Attribute)
        _set(found, "value", self._node(node.value))
        _set(found, "attr", _name(node.attr))
        return found

    def call(self, node: ast.Call) -> Any:
        found = _new(cst.Call)
        _set(found, "func", self._node(node.func))
        if node.keywords and node.args and _place(node.args[-1]) > _place(node.keywords[0]):
            written: list[Any] = sorted([*node.args, *node.keywords], key=_place)
            args = [self.keyword(each) if type(each) is ast.keyword else self._argument(each) for each in written]
        else:
            args = [self._argument(each) for each in node.args]
            args.extend([self.keyword(each) for each in node.keywords])
        _set(found, "args", args)
        return found

    def _argument(self, node: ast.expr) -> Any:
        if type(node) is ast.Starred:
            return _make(cst.Arg, value=self._node(node.value), keyword=None, star="*")
        return _make(cst.Arg, value=self._node(node), keyword=None, star="")

    def keyword(self, node: ast.keyword) -> Any:
        if node.arg is None:
            return _make(cst.Arg, value=self._node(node.value), keyword=None, star="**")
        return _make(cst.Arg, value=self._node(node.value), keyword=_name(node.arg), star="")

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        kind = type(value)
        if kind is str or kind is bytes:
            return _make(cst.SimpleString, value=repr(value)) if self._in_string else self._string(node)
        if kind in _NUMBERS:
            text = repr(value) if self._in_string else self._text(node).decode()
            if text == "inf" or text == "infj":
                self._unlike(node)
            return _make(_NUMBERS[kind], value=text)
        return _make(cst.Ellipsis) if value is ... else _name(str(value))

    def _string(self, node: ast.Constant | ast.JoinedStr) -> Any:
        """One literal, or several that stand side by side."""
        text = self._text(node)
        quote = text[:1]
        if quote in (b'"', b"'") and text.find(quote, 1) == len(text) - 1:
            return _make(cst.SimpleString, value=text.decode())
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
            found = _make(cst.ConcatenatedString, left=self._piece(prefix, piece), right=found)
        return found

    def _piece(self, prefix: bytes, text: bytes) -> Any:
        if b"f" not in prefix:
            return _make(cst.SimpleString, value=text.decode())
        node = ast.parse(text, mode="eval").body
        if type(node) is ast.JoinedStr:
            return self._formatted(node)
        return _make(cst.FormattedString, parts=[])

    def joined(self, node: ast.JoinedStr) -> Any:
        return self._formatted(node) if self._in_string else self._string(node)

    def _formatted(self, node: ast.JoinedStr) -> Any:
        self._in_string += 1
        parts = []
        for each in node.values:
            if type(each) is ast.FormattedValue:
                parts.append(_make(cst.FormattedStringExpression, expression=self._node(each.value)))
            elif type(each) is ast.Constant:
                parts.append(_make(cst.FormattedStringText, value=each.value))
            else:
                self._unlike(each)
        self._in_string -= 1
        return _make(cst.FormattedString, parts=parts)

    def subscript(self, node: ast.Subscript) -> Any:
        index = node.slice
        several = type(index) is ast.Tuple and not self._is_in_parentheses(index)
        parts: Iterable[ast.expr] = index.elts if several and type(index) is ast.Tuple else [index]
        elements = [_make(cst.SubscriptElement, slice=self._index(each)) for each in parts]
        return _make(cst.Subscript, value=self._node(node.value), slice=elements)

    def _index(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            lower, upper, step = self._maybe(node.lower), self._maybe(node.upper), self._maybe(node.step)
            return _make(cst.Slice, lower=lower, upper=upper, step=step)
        if type(node) is ast.Starred:
            return _make(cst.Index, value=self._node(node.value), star="*")
        return _make(cst.Index, value=self._node(node), star=None)

    def _is_in_parentheses(self, node: ast.Tuple) -> bool:
        if not node.elts:
            return True
        if self._in_string:
            return False  # which nobody can tell, but hardly anybody writes `f"{a[(0, 1)]}"`
        if not self._lines[node.lineno - 1].startswith(b"(", node.col_offset) or _place(node.elts[0]) == _place(node):
            return False
        if any(type(each) is ast.Slice for each in node.elts):
            return False
        # `(a), b` or `(a, b)`
        return bool(cst.ensure_type(cst.parse_expression(f"({self._text(node).decode()})"), cst.Tuple).lpar[1:])

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self._node(node.left), self._node(node.right)
        return _make(cst.BinaryOperation, left=left, operator=_OPERATORS[type(node.op)], right=right)

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = _OPERATORS[type(node.op)]
        found = self._node(node.values[0])
        for each in node.values[1:]:
            found = _make(cst.BooleanOperation, left=found, operator=operator, right=self._node(each))
        return found

    def unary(self, node: ast.UnaryOp) -> Any:
        operator = _OPERATORS[type(node.op)]
        return _make(cst.UnaryOperation, operator=operator, expression=self._node(node.operand))

    def compare(self, node: ast.Compare) -> Any:
        comparisons = [
            _make(cst.ComparisonTarget, operator=_OPERATORS[type(operator)], comparator=self._node(other))
            for operator, other in zip(node.ops, node.comparators, strict=True)
        ]
        return _make(cst.Comparison, left=self._node(node.left), comparisons=comparisons)

    def if_expression(self, node: ast.IfExp) -> Any:
        test, body, orelse = self._node(node.test), self._node(node.body), self._node(node.orelse)
        return _make(cst.IfExp, test=test, body=body, orelse=orelse)

    def lambda_(self, node: ast.Lambda) -> Any:
        return _make(cst.Lambda, params=self._parameters(node.args), body=self._node(node.body))

    def _elements(self, nodes: list[ast.expr]) -> list[Any]:
        return [
            _make(cst.StarredElement, value=self._node(each.value))
            if type(each) is ast.Starred
            else _make(cst.Element, value=self._node(each))
            for each in nodes
        ]

    def tuple(self, node: ast.Tuple) -> Any:
        return _make(cst.Tuple, elements=self._elements(node.elts))

    def list(self, node: ast.List) -> Any:
        return _make(cst.List, elements=self._elements(node.elts))

    def set(self, node: ast.Set) -> Any:
        return _make(cst.Set, elements=self._elements(node.elts))

    def dict(self, node: ast.Dict) -> Any:
        elements = [
            _make(cst.StarredDictElement, value=self._node(value))
            if key is None
            else _make(cst.DictElement, key=self._node(key), value=self._node(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return _make(cst.Dict, elements=elements)

    def _comprehension(self, generators: Sequence[ast.comprehension]) -> Any:
        found = None
        for each in reversed(generators):
            found = _make(
                cst.CompFor,
                target=self._node(each.target),
                iter=self._node(each.iter),
                ifs=[_make(cst.CompIf, test=self._node(test)) for test in each.ifs],
                inner_for_in=found,
                asynchronous=_ASYNC if each.is_async else None,
            )
        return found

    def list_comprehension(self, node: ast.ListComp) -> Any:
        return _make(cst.ListComp, elt=self._node(node.elt), for_in=self._comprehension(node.generators))

    def set_comprehension(self, node: ast.SetComp) -> Any:
        return _make(cst.SetComp, elt=self._node(node.elt), for_in=self._comprehension(node.generators))

    def generator(self, node: ast.GeneratorExp) -> Any:
        return _make(cst.GeneratorExp, elt=self._node(node.elt), for_in=self._comprehension(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        key, value = self._node(node.key), self._node(node.value)
        return _make(cst.DictComp, key=key, value=value, for_in=self._comprehension(node.generators))

    def await_(self, node: ast.Await) -> Any:
        return _make(cst.Await, expression=self._node(node.value))

    def yield_(self, node: ast.Yield) -> Any:
        return _make(cst.Yield, value=self._maybe(node.value))

    def yield_from(self, node: ast.YieldFrom) -> Any:
        return _make(cst.Yield, value=_make(cst.From, item=self._node(node.value)))

    def walrus(self, node: ast.NamedExpr) -> Any:
        return _make(cst.NamedExpr, target=self._node(node.target), value=self._node(node.value))


# What is not named here is rare, as `match`, or newer than this: LibCST takes such a file over.
_METHODS: dict[type[ast.AST], Callable[[_Converter, Any], Any]] = {
    ast.AnnAssign: _Converter.annotated,
    ast.Assert: _Converter.assert_,
    ast.Assign: _Converter.assign,
    ast.AsyncFor: _Converter.for_,
    ast.AsyncFunctionDef: _Converter.function,
    ast.AsyncWith: _Converter.with_,
    ast.Attribute: _Converter.attribute,
    ast.AugAssign: _Converter.augmented,
    ast.Await: _Converter.await_,
    ast.BinOp: _Converter.binary,
    ast.BoolOp: _Converter.boolean,
    ast.Break: _Converter.break_,
    ast.Call: _Converter.call,
    ast.ClassDef: _Converter.class_,
    ast.Compare: _Converter.compare,
    ast.Constant: _Converter.constant,
    ast.Continue: _Converter.continue_,
    ast.Delete: _Converter.delete,
    ast.Dict: _Converter.dict,
    ast.DictComp: _Converter.dict_comprehension,
    ast.Expr: _Converter.expression,
    ast.For: _Converter.for_,
    ast.FunctionDef: _Converter.function,
    ast.GeneratorExp: _Converter.generator,
    ast.Global: _Converter.global_,
    ast.If: _Converter.if_,
    ast.IfExp: _Converter.if_expression,
    ast.Import: _Converter.import_,
    ast.ImportFrom: _Converter.import_from,
    ast.JoinedStr: _Converter.joined,
    ast.Lambda: _Converter.lambda_,
    ast.List: _Converter.list,
    ast.ListComp: _Converter.list_comprehension,
    ast.Name: _Converter.name,
    ast.NamedExpr: _Converter.walrus,
    ast.Nonlocal: _Converter.nonlocal_,
    ast.Pass: _Converter.pass_,
    ast.Raise: _Converter.raise_,
    ast.Return: _Converter.return_,
    ast.Set: _Converter.set,
    ast.SetComp: _Converter.set_comprehension,
    ast.Subscript: _Converter.subscript,
    ast.Try: _Converter.try_,
    ast.Tuple: _Converter.tuple,
    ast.UnaryOp: _Converter.unary,
    ast.While: _Converter.while_,
    ast.With: _Converter.with_,
    ast.Yield: _Converter.yield_,
    ast.YieldFrom: _Converter.yield_from,
}


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _name(value: str) -> Any:
    node = _new(cst.Name)
    _set(node, "value", value)
    return node


def _dotted(name: str) -> Any:
    first, *others = name.split(".")
    node = _name(first)
    for each in others:
        node = _make(cst.Attribute, value=node, attr=_name(each))
    return node


def _aliases(nodes: Iterable[ast.alias]) -> list[Any]:
    return [
        _make(
            cst.ImportAlias,
            name=_dotted(each.name),
            asname=None if each.asname is None else _make(cst.AsName, name=_name(each.asname)),
        )
        for each in nodes
    ]
