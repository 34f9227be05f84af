"""What an argument of a loader can be, alternative by alternative, each with the conditions that lead to it.

Two arguments that both depend on conditions go together only where those are the same; taking every pair of values
would find combinations that no run of the program makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.facts.branches import in_force, is_reached, tests_around
from dataloader_lint.facts.flow import leaves
from dataloader_lint.facts.library import DATALOADER_DEFAULTS
from dataloader_lint.facts.loaders import Loader
from dataloader_lint.facts.names import Binding, Kind, resolve
from dataloader_lint.facts.tree import LOOPS, Node
from dataloader_lint.facts.values import Class, Const, Evaluator, Frame, Function, Made, Method, Values, truth
from dataloader_lint.facts.written import places_of

_OPPOSITES: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {cst.IsNot: cst.Is, cst.NotEqual: cst.Equal}

# A condition as it is spelled, and the answer that leads here.
Conditions = frozenset[tuple[object, bool]]
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """One value of an argument, and when it has it."""

    values: Values
    conditions: Conditions


def contexts(loader: Loader) -> list[Loader]:
    """The loader as each call in sight of the function around it makes it; itself where none is in sight."""
    scope = loader.frame.scope
    if loader.frame.args is not None or not isinstance(scope.node, cst.FunctionDef):
        return [loader]
    ev = loader.ev
    found: list[Loader] = []
    for call, frame, callees in ev.callers(scope):
        for callee in callees:
            inner: Frame | None = None
            if isinstance(callee, Function) and callee.scope is scope:
                inner = ev.enter(callee, call, frame, None)
            elif isinstance(callee, Method) and callee.function.scope is scope:
                inner = ev.enter(callee.function, call, frame, callee.receiver)
            elif isinstance(callee, Class) and loader.frame.outer is not None:
                inner = ev.enter(Function(scope, loader.frame.outer), call, frame, Made(callee, call, frame))
            if inner is not None:
                found.append(replace(loader, frame=inner))
    return found or [loader]


def together(loader: Loader, one: str, other: str) -> Iterator[tuple[Values, Values]]:
    """The values that two arguments of a loader surely have at the same time, in some run that makes the loader."""
    here, is_clear = _around(loader.call, loader.frame)
    firsts, seconds = _alternatives(loader, one), _alternatives(loader, other)
    for first in firsts:
        for second in seconds:
            if _go_together(first.conditions, second.conditions, here, is_clear):
                yield first.values, second.values


def _go_together(first: Conditions, second: Conditions, here: Conditions, is_clear: bool) -> bool:
    own, others = first - here, second - here
    if own and others and own != others:
        return False
    needed = own | others
    if any((text, not answer) in here or (text, not answer) in needed for text, answer in needed):
        return False
    # Whether the loader is made at all where the argument is so: surely, if nothing else stands before it.
    return not needed or (is_clear and here <= (first | second))


def _around(call: Node, frame: Frame) -> tuple[Conditions, bool]:
    """The conditions around a place, and whether control surely gets there under them."""
    tree = frame.scope.module.tree
    order = tree.order(call)
    is_clear = not any(
        tree.order(check) < order and any(leaves(arm) and not _raises(arm) for arm in _arms(check))
        for check in frame.scope.own(cst.If)
    )
    return _conditions(call, frame), is_clear


def _arms(check: cst.If) -> list[cst.BaseSuite]:
    return [check.body, check.orelse.body] if check.orelse is not None else [check.body]


def _raises(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)


def _conditions(node: Node, frame: Frame) -> Conditions:
    found = {_condition(test, answer, frame) for test, answer in tests_around(node, frame)}
    tree = frame.scope.module.tree
    for above in tree.ancestors(node):
        if above is frame.scope.node:
            break
        if isinstance(above, (cst.Try, cst.TryStar, cst.MatchCase, cst.ExceptHandler, *LOOPS)):
            found.add((f"#{tree.order(above)}", True))
    return frozenset(found)


def _condition(test: cst.BaseExpression, answer: bool, frame: Frame) -> tuple[object, bool]:
    """`not x` is x with the other answer, and so is `x is not None` beside `x is None`."""
    tree = frame.scope.module.tree
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, answer = test.expression, not answer
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        operator, other = type(test.comparisons[0].operator), test.comparisons[0].comparator
        opposite = _OPPOSITES.get(operator)
        sign, answer = (opposite, not answer) if opposite is not None else (operator, answer)
        return (sign, tree.spelling(test.left), tree.spelling(other)), answer
    return tree.spelling(test), answer


def _alternatives(loader: Loader, name: str) -> list[Alternative]:
    places = places_of(loader, name)
    if places is None:
        return []
    found: list[Alternative] = []
    for place in places:
        if place.node is None:
            default = Const(loader.kind.defaults.get(name, DATALOADER_DEFAULTS.get(name)))
            # The dict lacks the key where no other place has set it.
            conditions: Conditions = frozenset({(f"#left out {name}", True)}) if len(places) > 1 else frozenset()
            found.append(Alternative((default,), conditions))
        else:
            inside = _of(loader.ev, place.node, place.frame, 0)
            if len(places) > 1:
                around = _conditions(place.node, place.frame) or frozenset({(f"#set {id(place.node)}", True)})
                inside = [Alternative(each.values, each.conditions | around) for each in inside]
            found.extend(inside)
    return found


def _of(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> list[Alternative]:
    if isinstance(node, cst.IfExp) and depth < _MAX_DEPTH:
        sure = truth(ev.values(node.test, frame))
        arms = [(node.body, True), (node.orelse, False)]
        found: list[Alternative] = []
        for arm, answer in arms:
            if sure is None or sure is answer:
                own = frozenset({_condition(node.test, answer, frame)}) if sure is None else frozenset()
                found.extend(Alternative(one.values, one.conditions | own) for one in _of(ev, arm, frame, depth + 1))
        return found
    if isinstance(node, cst.Name) and depth < _MAX_DEPTH:
        bindings = resolve(node, frame.scope.module.tree)
        if len(bindings) > 1 and all(each.scope is frame.scope for each in bindings):
            return _of_bindings(ev, node, bindings, frame)
        if len(bindings) == 1 and bindings[0].kind is Kind.VALUE and bindings[0].scope is frame.scope:
            binding = bindings[0]
            # Bound once: where the loader is made, the name has this value or none.
            if binding.value is not None and not binding.path:
                return _of(ev, binding.value, frame, depth + 1)
    return [Alternative(ev.values(node, frame), frozenset())]


def _of_bindings(ev: Evaluator, use: cst.Name, bindings: list[Binding], frame: Frame) -> list[Alternative]:
    left = [each for each in in_force(ev, use, bindings, frame) if _is_reached(ev, each, frame)]
    if all(each.kind is not Kind.PARAMETER for each in bindings):
        # What only the default of an option keeps away is one of the program's runs all the same.
        open_ways = [each for each in bindings if is_reached(ev, each.node, frame, with_options=True)]
        left = open_ways if len(open_ways) > len(left) > 0 else left
    found: list[Alternative] = []
    for binding in left:
        values = ev.binding(binding, frame, use)
        own = _conditions(binding.node, frame) if binding.kind is not Kind.PARAMETER else frozenset()
        if len(left) > 1 and not own:
            own = frozenset({(f"#binding {id(binding)}", True)})  # where no other one overwrites it
        elif len(left) == 1:
            own = frozenset()
        found.append(Alternative(values, own))
    return found


def _is_reached(ev: Evaluator, binding: Binding, frame: Frame) -> bool:
    return binding.kind is Kind.PARAMETER or is_reached(ev, binding.node, frame)
