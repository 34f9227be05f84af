"""Narrowing: under `isinstance(rows, list)` a name is no generator, under `if rows` it is not None."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.control.reachability import Way, way_to
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.short_names import ARRAY_TYPES
from dataloader_lint.semantics.syntax.names import Binding, dotted, is_none
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Frame,
    Function,
    Mapping,
    Opaque,
    Sequence,
    Values,
)
from dataloader_lint.semantics.values.values import Value as AnyValue

_COLLECTION = frozenset({"Collection", "Container", "Iterable", "Sized"})
# The types that an object is of, among those that are distinguished here, by the kind of the value.
_TYPES_OF: dict[str, frozenset[str]] = {
    "array": _COLLECTION,
    "bool": frozenset({"bool", "int"}),
    "bytes": _COLLECTION | {"Sequence", "bytes"},
    "dict": _COLLECTION | {"Mapping", "MutableMapping", "dict"},
    "float": frozenset({"float"}),
    "frame": _COLLECTION,
    "frozenset": _COLLECTION | {"Set", "frozenset"},
    "function": frozenset(),
    "generator": frozenset({"Generator", "GeneratorType", "Iterable", "Iterator"}),
    "int": frozenset({"int"}),
    "list": _COLLECTION | {"MutableSequence", "Sequence", "list"},
    "NoneType": frozenset({"NoneType"}),
    "path": frozenset({"Path", "PathLike", "PurePath"}),
    "set": _COLLECTION | {"MutableSet", "Set", "set"},
    "str": _COLLECTION | {"Sequence", "str"},
    "tensor": _COLLECTION,
    "tuple": _COLLECTION | {"Sequence", "tuple"},
}
_BUILT_IN = frozenset({"bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
NONE_TYPE = frozenset({"NoneType"})
_TOLD_APART = frozenset[str]().union(*_TYPES_OF.values())
_ARRAY_KINDS = ("array", "frame", "tensor")
_NUMBERS = ("bool", "float", "int")  # numpy has such as well, which are not always of Python's types


@dataclass(frozen=True, slots=True, eq=False)
class TypeTest:
    """An expression is of one of some types, given by the last parts of their names, or is of none (`answer`)."""

    of: cst.BaseExpression
    names: frozenset[str]
    answer: bool
    node: Node  # what asks


def type_test(test: cst.BaseExpression, answer: bool, tree: Tree) -> Iterator[TypeTest]:
    """The type test that a condition with a known answer implies; None counts as a type.

    A name may keep the answer to another condition.
    """
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, answer = test.expression, not answer
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And if answer else cst.Or):
        yield from type_test(test.left, answer, tree)
        yield from type_test(test.right, answer, tree)
    elif isinstance(test, cst.Name):
        kept = _kept_answer(test, tree)
        if kept is not None:
            yield from type_test(kept, answer, tree)
        elif answer:
            yield TypeTest(test, NONE_TYPE, False, test)
    elif isinstance(test, cst.Call) and dotted(test.func) == "isinstance" and len(test.args) == 2:
        yield TypeTest(test.args[0].value, frozenset(_last_parts(test.args[1].value)), answer, test)
    elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:  # type(rows) is list
        sign, other = test.comparisons[0].operator, test.comparisons[0].comparator
        if is_none(other):
            yield TypeTest(test.left, NONE_TYPE, answer is isinstance(sign, cst.Equal | cst.Is), test)
        elif isinstance(test.left, cst.Call) and dotted(test.left.func) == "type" and len(test.left.args) == 1:
            if isinstance(sign, cst.Equal | cst.Is | cst.NotEqual | cst.IsNot):
                answer = answer is isinstance(sign, cst.Equal | cst.Is)
                yield TypeTest(test.left.args[0].value, frozenset(_last_parts(other)), answer, test)


@dataclass(frozen=True, slots=True, eq=False)
class _TypeTests:
    """What a condition says of types, and what those before it do. Conditions that say nothing are left out."""

    tests: tuple[TypeTest, ...]
    outer: _TypeTests | None


def asked_on_the_way(node: Node, scope: Scope) -> Iterator[TypeTest]:
    """What the conditions on the way from the start of a scope to a node say of types, the last one first."""
    tree = scope.module.tree
    known: dict[int, _TypeTests | None] = tree.of_text(("types on ways", id(scope)), dict)
    way = way_to(node, scope)
    passed: list[Way] = []
    while way is not None and id(way) not in known:
        passed.append(way)
        way = way.outer
    found = known[id(way)] if way is not None else None
    for each in reversed(passed):
        tests = tuple(type_test(each.condition.test, each.condition.wanted, tree))
        found = _TypeTests(tests, found) if tests else found
        known[id(each)] = found
    while found is not None:
        yield from found.tests
        found = found.outer


def _kept_answer(name: cst.Name, tree: Tree) -> cst.BaseExpression | None:
    """What a name was bound to, `is_list = isinstance(rows, list)`, where that is the test of one type."""
    value = only_value(name, tree)
    return value if isinstance(value, cst.Call) and dotted(value.func) == "isinstance" else None


def _last_parts(types: cst.BaseExpression) -> Iterator[str]:
    if isinstance(types, cst.Tuple):
        for part in types.elements:
            yield from _last_parts(part.value)
    elif isinstance(types, cst.BinaryOperation):  # list | tuple
        yield from _last_parts(types.left)
        yield from _last_parts(types.right)
    else:
        yield dotted(types).rpartition(".")[2]


def narrowed(use: cst.Name, binding: Binding, found: Values, frame: Frame) -> Values:
    """The values of a binding that are left after the type tests between it and a use of the name; none may be."""
    scope = binding.scope
    if use.value not in _names_asked(scope) or scope is not function_scope(frame.scope):
        return found
    tree = scope.module.tree
    left = found
    for one in tree.of_text(("type tests", id(use)), lambda: _type_tests_of(use, scope)):
        if tree.order(one.node) > tree.order(binding.node):  # else it asked for what the name was before
            left = tuple(value for value in left if is_of(value, one.names) in (None, one.answer))
    return left


def replaces_none(binding: Binding) -> bool:
    """True for a binding that stands in the body of `if name is None:`."""
    tree = binding.scope.module.tree
    child: Node = binding.node
    for above in tree.ancestors(binding.node):
        if isinstance(above, cst.If) and child is above.body:
            for one in type_test(above.test, True, tree):
                if isinstance(one.of, cst.Name) and one.of.value == binding.name:
                    return one.answer and one.names == NONE_TYPE
        if above is binding.scope.node:
            break
        child = above
    return False


def _type_tests_of(use: cst.Name, scope: Scope) -> list[TypeTest]:
    """The type tests of a name on the path to a use of it."""
    others = (
        one
        for test, wanted in (*_set_again_otherwise(use, scope), *_asserted(use, scope))
        for one in type_test(test, wanted, scope.module.tree)
    )
    return [
        one
        for one in (*asked_on_the_way(use, scope), *others)
        if isinstance(one.of, cst.Name) and one.of.value == use.value
    ]


def _set_again_otherwise(use: cst.Name, scope: Scope) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """Conditions implied because the other branch rebinds the name: `if not is_list: rows = [rows]`."""
    tree = scope.module.tree
    child: Node = use
    for above in tree.ancestors(use):
        if isinstance(above, cst.IndentedBlock | cst.Module):
            binding = _binding_arms(above, tree).get(use.value, ())
            before = bisect_left(binding, tree.place_in(above, child), key=lambda each: each[0])
            yield from ((test, answer) for _, test, answer in reversed(binding[:before]))
        if above is scope.node:
            break
        child = above


def _asserted(use: cst.Name, scope: Scope) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """Assertions before a use: `assert isinstance(rows, np.ndarray)`."""
    tree = scope.module.tree
    earlier = [each for each in scope.own(cst.Assert) if tree.order(each) < tree.order(use)]
    around = {id(each) for each in tree.ancestors(use)} if earlier else set()
    for check in earlier:
        line = tree.parent(check)
        if line is not None and id(tree.parent(line)) in around:
            yield check.test, True


_Arm = tuple[int, cst.BaseExpression, bool]


def _binding_arms(block: cst.IndentedBlock | cst.Module, tree: Tree) -> dict[str, list[_Arm]]:
    """By name the `if` statements of a block one arm of which surely binds it.

    Each is a position in the block, a test, and the answer that leads to no such arm.
    """

    def work_out() -> dict[str, list[_Arm]]:
        found: dict[str, list[_Arm]] = {}
        for place, statement in enumerate(block.body):
            if isinstance(statement, cst.If):
                body = set(_bound_by(statement.body))
                orelse = _bound_by(statement.orelse.body) if isinstance(statement.orelse, cst.Else) else ()
                for name in body:
                    found.setdefault(name, []).append((place, statement.test, False))
                for name in {*orelse} - body:
                    found.setdefault(name, []).append((place, statement.test, True))
        return found

    return tree.of_text(("binding arms", id(block)), work_out)


def _bound_by(body: cst.BaseSuite) -> Iterator[str]:
    """The names to which running a block surely gives another value."""
    for line in body.body:
        if isinstance(line, cst.SimpleStatementLine):
            for statement in line.body:
                if isinstance(statement, cst.Assign):
                    yield from (each.target.value for each in statement.targets if isinstance(each.target, cst.Name))


def _names_asked(scope: Scope) -> frozenset[str]:
    """The names that a function anywhere asks for their type, or whether they are None."""
    return scope.module.tree.of_text(("types asked", id(scope)), lambda: frozenset(_asked_in(scope)))


def _asked_in(scope: Scope) -> Iterator[str]:
    tree = scope.module.tree
    conditions: list[cst.If | cst.IfExp] = [*scope.within(cst.If), *scope.within(cst.IfExp)]
    for condition in conditions:
        for one in (*type_test(condition.test, True, tree), *type_test(condition.test, False, tree)):
            if isinstance(one.of, cst.Name):
                yield one.of.value
    for check in scope.own(cst.Assert):
        for one in type_test(check.test, True, tree):
            if isinstance(one.of, cst.Name):
                yield one.of.value


def is_of(value: AnyValue, names: frozenset[str]) -> bool | None:
    """True if a value is of one of some types, given by the last parts of their names; None where it is unknown."""
    kind = _kind(value)
    own = _TYPES_OF.get(kind)
    if own is None:
        return False if type(value) is CallResult and names <= _BUILT_IN and _is_iterable_only(value) else None
    known = names & _TOLD_APART
    if kind in _NUMBERS:
        if not known.isdisjoint(("bool", "float", "int")):
            return None
    if kind not in _ARRAY_KINDS:
        known = known | (names & ARRAY_TYPES)
    if not own.isdisjoint(known):
        return True
    return False if known == names else None


def _is_iterable_only(value: CallResult) -> bool:
    """True for loaders and what `itertools` makes, which are of none of the built-in types."""
    return value.library in LOADERS or value.library.startswith("itertools.")


def _kind(value: AnyValue) -> str:
    if isinstance(value, Const):
        return type(value.value).__name__
    if isinstance(value, Opaque):
        return "list" if value.kind.startswith("list of ") else value.kind
    if isinstance(value, Sequence):
        return value.kind
    if isinstance(value, Mapping):
        return "dict"
    return "function" if isinstance(value, Function | Class) else ""
