"""Guards against 0: conditions that keep a number that is 0 away from a place."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.limits import ZERO_DEPTH, ZERO_NESTING
from dataloader_lint.semantics.syntax.flow import leaves
from dataloader_lint.semantics.syntax.origins import ingredients, only_value
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Frame


class _NotKnown:
    """Not known to the small calculation below; None is a value there."""


_NOT_KNOWN = _NotKnown()
_ENDING_CALLS = ("abort", "error", "exit", "fail")


def name_of(node: cst.CSTNode) -> str:
    """The last name by which an expression calls a number: `n` for `args.n`, `n`, `cfg["n"]`, `cfg.get("n", 4)`."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return node.attr.value
    key: cst.BaseExpression | None = None
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        key = node.slice[0].slice.value
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in ("get", "pop"):
        key = node.args[0].value if node.args else None
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "getattr":
        key = node.args[1].value if len(node.args) > 1 else None
    if isinstance(key, cst.SimpleString) and isinstance(key.evaluated_value, str):
        return key.evaluated_value
    return ""


def is_kept_away(names: frozenset[str], at: Node, frame: Frame) -> bool:
    """True if a condition around a place, or a check before it, keeps numbers with these names that are 0 from it."""
    tree = frame.scope.module.tree
    if any(bars(test, wanted, names, tree) for test, wanted in enclosing_tests(at, frame)):
        return True
    if any(_is_other_case(above, at, names, tree) for above in tree.ancestors(at) if isinstance(above, cst.Match)):
        return True
    order = tree.order(at)
    scope = function_scope(frame.scope)
    for check in scope.own(cst.If):
        is_exit = leaves(check.body) or _ends_program(check.body)
        if tree.order(check) < order and is_exit and bars(check.test, False, names, tree):
            return True
    return any(tree.order(check) < order and bars(check.test, True, names, tree) for check in scope.own(cst.Assert))


def _is_other_case(match: cst.Match, at: Node, names: frozenset[str], tree: Tree) -> bool:
    """True if a place stands in a case of a `match` on such a number, and not in that of 0."""
    if not mentions(match.subject, names, tree):
        return False
    case = next((each for each in match.cases if tree.is_inside(at, each)), None)
    pattern = case.pattern if case is not None else None
    is_zero = isinstance(pattern, cst.MatchValue) and isinstance(pattern.value, cst.Integer)
    return not (is_zero and pattern.value.evaluated_value == 0)  # type: ignore[union-attr]


def is_checked(name: str, scope: Scope) -> bool:
    """True if the module of a scope anywhere refuses a number with this name that is 0, or sets it again."""
    tree = scope.module.tree
    return tree.once((f"checked {name}", id(tree.root)), lambda: _is_checked(name, tree))


def _is_checked(name: str, tree: Tree) -> bool:
    names = frozenset({name})
    for each in tree.root.descend():
        for check in each.own(cst.If):
            if mentions(check.test, names, tree) and _refuses(check.body, name, tree):
                if bars(check.test, False, names, tree):
                    return True
        if any(bars(check.test, True, names, tree) for check in each.own(cst.Assert)):
            return True
        for assign in each.own(cst.Assign):
            if any(_is_stored(target.target, name) for target in assign.targets):
                set_to = at_zero(assign.value, names, tree)
                if mentions(assign.value, names, tree) and set_to != 0:
                    return True
                if isinstance(set_to, int | float) and set_to > 0 and not enclosing_tests(assign, Frame(each)):
                    return True
    return False


def _is_stored(target: cst.BaseAssignTargetExpression, name: str) -> bool:
    return isinstance(target, cst.Attribute | cst.Subscript) and name_of(target) == name


def _ends_program(body: cst.BaseSuite) -> bool:
    """True if a block ends with `sys.exit(...)`, `parser.error(...)` or the like."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    call = last.value if isinstance(last, cst.Expr) else None
    return isinstance(call, cst.Call) and name_of(call.func) in _ENDING_CALLS


def _refuses(body: cst.BaseSuite, name: str, tree: Tree) -> bool:
    for node in tree.walk(body):
        if isinstance(node, cst.Raise):
            return True
        if isinstance(node, cst.Call) and name_of(node.func) in _ENDING_CALLS:
            return True
        if isinstance(node, cst.AssignTarget) and name_of(node.target) in (name, "persistent_workers"):
            return True
    return False


def bars(test: cst.BaseExpression, wanted: bool, names: frozenset[str], tree: Tree) -> bool:
    """True if a condition that has to come out as `wanted` may be there to keep a 0 out."""
    if not mentions(test, names, tree) or answer_at_zero(test, names, tree) is wanted:
        return False
    return not _is_upper_bound(test, wanted, names, tree)


def _is_upper_bound(test: cst.BaseExpression, wanted: bool, names: frozenset[str], tree: Tree) -> bool:
    """True if a condition asks for few enough, which 0 always is: `assert shards >= args.workers * world_size`."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    smaller, operator, larger = test.left, test.comparisons[0].operator, test.comparisons[0].comparator
    if type(operator) not in _ORDERS:
        return False
    if isinstance(operator, cst.GreaterThan | cst.GreaterThanEqual) is wanted:
        smaller, larger = larger, smaller
    is_open = isinstance(at_zero(larger, names, tree), _NotKnown) and not mentions(larger, names, tree)
    return is_open and at_zero(smaller, names, tree) == 0


def answer_at_zero(test: cst.BaseExpression, names: frozenset[str], tree: Tree) -> bool | None:
    """The answer to a test where the numbers with these names are 0; None where that depends on more."""
    answer = at_zero(test, names, tree)
    return None if isinstance(answer, _NotKnown) else bool(answer)


def mentions(test: cst.BaseExpression, names: frozenset[str], tree: Tree) -> bool:
    """True if a test asks for a number with one of these names, itself or through other names."""
    return any(name_of(node) in names for each in ingredients(test, tree) for node in tree.walk(each))


def at_zero(node: cst.BaseExpression, names: frozenset[str], tree: Tree, depth: int = 0, nesting: int = 0) -> object:
    """What an expression is where the numbers with these names are 0; `_NOT_KNOWN` where that depends on more."""
    if nesting > ZERO_NESTING:
        return _NOT_KNOWN
    if name_of(node) in names:
        return 0
    if isinstance(node, cst.Integer | cst.Float):
        return node.evaluated_value
    if isinstance(node, cst.Name):
        if node.value in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[node.value]
        value = only_value(node, tree) if depth < ZERO_DEPTH else None
        return at_zero(value, names, tree, depth + 1, nesting + 1) if value is not None else _NOT_KNOWN
    if isinstance(node, cst.UnaryOperation):
        inner = at_zero(node.expression, names, tree, depth, nesting + 1)
        known = not isinstance(inner, _NotKnown)
        return (not inner) if known and isinstance(node.operator, cst.Not) else _NOT_KNOWN
    if isinstance(node, cst.BooleanOperation):
        stops = isinstance(node.operator, cst.Or)
        sides = [at_zero(side, names, tree, depth, nesting + 1) for side in (node.left, node.right)]
        for side in sides:
            if not isinstance(side, _NotKnown) and bool(side) is stops:
                return side
        return _NOT_KNOWN if any(isinstance(side, _NotKnown) for side in sides) else sides[1]
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        target = node.comparisons[0]
        pair = (
            at_zero(node.left, names, tree, depth, nesting + 1),
            at_zero(target.comparator, names, tree, depth, nesting + 1),
        )
        return _compared(target.operator, *pair)
    if isinstance(node, cst.BinaryOperation):
        return _shared_out(node, names, tree, depth, nesting)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        given = [at_zero(arg.value, names, tree, depth, nesting + 1) for arg in node.args]
        return _called(node.func.value, given)
    return _NOT_KNOWN


def _shared_out(node: cst.BinaryOperation, names: frozenset[str], tree: Tree, depth: int, nesting: int) -> object:
    """0 divided among processes, or multiplied, stays 0: `args.workers // world_size`."""
    if not isinstance(node.operator, cst.FloorDivide | cst.Divide | cst.Multiply):
        return _NOT_KNOWN
    factors = [node.left, node.right] if isinstance(node.operator, cst.Multiply) else [node.left]
    return 0 if any(at_zero(each, names, tree, depth, nesting + 1) == 0 for each in factors) else _NOT_KNOWN


def _called(name: str, given: list[object]) -> object:
    if len(given) == 1 and not isinstance(given[0], _NotKnown) and name in ("bool", "int"):
        return bool(given[0]) if name == "bool" else given[0]
    numbers = [each for each in given if isinstance(each, int | float)]
    if len(numbers) == len(given) > 1 and name in ("min", "max"):
        return min(numbers) if name == "min" else max(numbers)
    return _NOT_KNOWN


_ORDERS: dict[type[cst.CSTNode], Callable[[float, float], bool]] = {
    cst.GreaterThan: lambda one, other: one > other,
    cst.GreaterThanEqual: lambda one, other: one >= other,
    cst.LessThan: lambda one, other: one < other,
    cst.LessThanEqual: lambda one, other: one <= other,
}


def _compared(operator: cst.BaseCompOp, one: object, other: object) -> object:
    if isinstance(one, _NotKnown) or isinstance(other, _NotKnown):
        return _NOT_KNOWN
    if isinstance(operator, cst.Equal | cst.Is):
        return one == other and (one is None) is (other is None)
    if isinstance(operator, cst.NotEqual | cst.IsNot):
        return one != other
    order = _ORDERS.get(type(operator))
    if order is not None and isinstance(one, int | float) and isinstance(other, int | float):
        return order(one, other)
    return _NOT_KNOWN
