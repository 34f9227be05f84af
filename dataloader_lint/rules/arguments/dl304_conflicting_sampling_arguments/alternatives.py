"""What an argument of a loader can be, alternative by alternative, each with the conditions that lead to it.

Two arguments that both depend on conditions go together only where those are the same; taking every pair of values
would find combinations that no run of the program makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.semantics.callers.parameters import entered_by
from dataloader_lint.semantics.control.reachability import (
    enclosing_tests,
    from_last_passed,
    none_closes,
    reaching_bindings,
)
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.catalogue import DATALOADER_DEFAULTS
from dataloader_lint.semantics.limits import ALTERNATIVE_DEPTH, OPTION_CAUSES
from dataloader_lint.semantics.syntax.flow import leaves
from dataloader_lint.semantics.syntax.names import Binding, Kind, dotted, resolve
from dataloader_lint.semantics.syntax.origins import ingredients
from dataloader_lint.semantics.syntax.tree import LOOPS, Node
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import Const, Evaluator, Frame, Values

_OPPOSITES: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {cst.IsNot: cst.Is, cst.NotEqual: cst.Equal}

# A condition as it is spelled, and the answer that leads here.
Conditions = frozenset[tuple[object, bool]]


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """One value of an argument, and when it has it."""

    values: Values
    conditions: Conditions
    given: Conditions = frozenset()  # what is known besides: the answer to the expression itself
    by_default: bool = False  # whether options make it so that are left at their defaults
    by_option: bool = False  # whether it needs an option to be set to something else

    def under(self, conditions: Conditions, by_default: bool = False, by_option: bool = False) -> Alternative:
        """The same value where it stands under more conditions."""
        return replace(
            self,
            conditions=self.conditions | conditions,
            by_default=self.by_default or by_default,
            by_option=self.by_option or by_option,
        )


def contexts(loader: Loader) -> list[tuple[Loader, cst.Call, Frame]]:
    """The loader as each visible call of the function around it makes it, with that call and where it stands.

    The loader itself and its own call where no other call is visible.
    """
    scope = loader.frame.scope
    if loader.frame.args is not None or not isinstance(scope.node, cst.FunctionDef):
        return [(loader, loader.call, loader.frame)]
    ev = loader.ev
    found: list[tuple[Loader, cst.Call, Frame]] = []
    for call, frame, callees in ev.callers(scope):
        for callee in callees:
            inner = entered_by(ev, scope, callee, call, frame)
            if inner is not None:
                found.append((replace(loader, frame=inner), call, frame))
    return found or [(loader, loader.call, loader.frame)]


def together(
    loader: Loader, firsts: Iterable[Alternative], seconds: Iterable[Alternative]
) -> Iterator[tuple[Values, Values]]:
    """The values that two arguments of a loader surely have at the same time, in some run that makes the loader."""
    here, is_clear = _around(loader.call, loader.frame)
    for first in firsts:
        for second in seconds:
            if _go_together(first, second, here, is_clear):
                yield first.values, second.values


def _go_together(one: Alternative, other: Alternative, here: Conditions, is_clear: bool) -> bool:
    # An option is not set for one argument and left at its default for the other one.
    if (one.by_option and other.by_default) or (other.by_option and one.by_default):
        return False
    first, second = one.conditions, other.conditions
    own, others = first - here, second - here
    if own and others and own != others:
        return False
    needed = own | others
    known = here | needed | one.given | other.given
    if any((text, not answer) in known for text, answer in needed):
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
    found = {_condition(test, answer, frame) for test, answer in enclosing_tests(node, frame)}
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


def alternatives(loader: Loader, name: str) -> list[Alternative]:
    """What an argument of a loader can be; nothing where it is unknown."""
    places = sites_of(loader, name)
    if places is None:
        return []
    found: list[Alternative] = []
    for place in places:
        if place.node is None:
            default = Const(loader.kind.defaults.get(name, DATALOADER_DEFAULTS.get(name)))
            # The dict lacks the key where no other place has set it.
            conditions: Conditions = frozenset({(f"#left out {name}", True)}) if len(places) > 1 else frozenset()
            found.append(Alternative((default,), conditions))
        elif _is_reached(loader.ev, place.node, place.frame):
            same = place.frame.scope is loader.frame.scope
            inside = _of(loader.ev, place.node, place.frame, loader if same else None, 0)
            if len(places) > 1:
                around = _conditions(place.node, place.frame) or frozenset({(f"#set {id(place.node)}", True)})
                found.extend(each.under(around) for each in inside)
            else:
                hangs = _is_under_option(loader.ev, place.node, place.frame)
                found.extend(each.under(frozenset(), by_default=hangs) for each in inside)
    return found


def _of(ev: Evaluator, node: cst.BaseExpression, frame: Frame, made: Loader | None, depth: int) -> list[Alternative]:
    """What an expression can be. `made` is the loader that gets it, if its call stands in the same function."""
    if isinstance(node, cst.IfExp) and depth < ALTERNATIVE_DEPTH:
        usual = truth(ev.values(node.test, frame))
        sure = _sure(ev, node.test, frame)
        found: list[Alternative] = []
        for arm, answer in ((node.body, True), (node.orelse, False)):
            if sure is None or sure is answer:
                own = frozenset({_condition(node.test, answer, frame)}) if sure is None else frozenset()
                if own and made is not None and not _is_asked_around(node, frame):
                    # The test is asked where control is on its way to the call already.
                    own |= _conditions(node, frame) & _conditions(made.call, made.frame)
                is_other = usual is not None and usual is not answer
                found.extend(each.under(own, by_option=is_other) for each in _of(ev, arm, frame, made, depth + 1))
        return found
    if isinstance(node, cst.Name) and depth < ALTERNATIVE_DEPTH:
        bindings = resolve(node, frame.scope.module.tree)
        if len(bindings) > 1 and all(each.scope is frame.scope for each in bindings):
            return _of_bindings(ev, node, bindings, frame)
        if len(bindings) == 1 and bindings[0].kind is Kind.VALUE and bindings[0].scope is frame.scope:
            binding = bindings[0]
            # Bound once: where the loader is made, the name has this value or none.
            if binding.value is not None and not binding.path:
                return _of(ev, binding.value, frame, made, depth + 1)
    values = ev.values(node, frame)
    sure = truth(values)
    given = frozenset({_condition(node, sure, frame)}) if sure is not None else frozenset()
    # The value of an option itself may be one of several, but what is worked out from options goes with them.
    plain = node
    while isinstance(plain, cst.UnaryOperation):
        plain = plain.expression
    hangs = not _is_option(ev, plain, frame) and _hangs(ev, node, frame)
    return [Alternative(values, frozenset(), given, by_default=hangs)]


def _is_asked_around(node: cst.IfExp, frame: Frame) -> bool:
    """True if the conditions around a conditional ask for something that its test asks for, too."""
    asked = _chains(node.test, frame)
    return any(not asked.isdisjoint(_chains(test, frame)) for test, _ in enclosing_tests(node, frame))


def _chains(test: cst.BaseExpression, frame: Frame) -> set[str]:
    """The names in a test, each with its attributes, and those in what they are bound to: `args.loss`, `args`."""
    tree = frame.scope.module.tree
    found: set[str] = set()
    for part in ingredients(test, tree):
        chains = list(tree.find(part, cst.Attribute))
        owners = {id(each.value) for each in chains}
        found.update(map(dotted, chains), (each.value for each in tree.find(part, cst.Name) if id(each) not in owners))
    return found - {""}


def _of_bindings(ev: Evaluator, use: cst.Name, bindings: list[Binding], frame: Frame) -> list[Alternative]:
    usual = {id(each) for each in reaching_bindings(ev, use, bindings, frame)}
    left = _reaching(ev, use, bindings, frame)
    found: list[Alternative] = []
    for binding in left:
        own = _conditions(binding.node, frame) if binding.kind is not Kind.PARAMETER else frozenset()
        if len(left) > 1 and not own:
            own = frozenset({(f"#binding {id(binding)}", True)})  # where no other one overwrites it
        elif len(left) == 1:
            own = frozenset()
        hangs = binding.value is not None and _hangs(ev, binding.value, frame)
        is_other = id(binding) not in usual
        found.append(Alternative(ev.binding(binding, frame, use), own, by_default=hangs, by_option=is_other))
    return found


def _reaching(ev: Evaluator, use: cst.Name, bindings: list[Binding], frame: Frame) -> list[Binding]:
    """The bindings that some run of the program uses, whatever its options are set to, in document order."""
    reached = [each for each in bindings if each.kind is Kind.PARAMETER or _is_reached(ev, each.node, frame)]
    return from_last_passed(reached, use, frame, lambda test: _sure(ev, test, frame))


def _is_reached(ev: Evaluator, node: Node, frame: Frame) -> bool:
    return none_closes(ev, node, frame, "surely", lambda each: _sure(ev, each.test, frame) not in (None, each.wanted))


def _is_under_option(ev: Evaluator, node: Node, frame: Frame) -> bool:
    """True if a condition around a place depends on an option that is left at its default."""
    return not none_closes(
        ev, node, frame, "under options", lambda each: not each.is_exit and _hangs(ev, each.test, frame)
    )


def _sure(ev: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool | None:
    """The answer to a test that every run gives; None where runs may differ, also by what an option is set to."""
    found = truth(ev.values(test, frame))
    return None if found is None or _hangs(ev, test, frame) else found


def _is_option(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if an expression has the value of an option that is left at its default."""
    is_plain = isinstance(node, cst.Name | cst.Attribute)
    return is_plain and any(isinstance(each, Const) and each.default for each in ev.values(node, frame))


def _hangs(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if the value of an expression may be another one where an option is not left at its default."""
    seen: set[tuple[int, int]] = set()
    rest = [(node, frame)]
    while rest and len(seen) < OPTION_CAUSES:
        cause, where = rest.pop()
        if (id(cause), id(where)) in seen:
            continue
        seen.add((id(cause), id(where)))
        if any(isinstance(each, Const) and each.default for each in ev.values(cause, where)):
            return True
        if cause in where.scope.module.tree:
            rest.extend(_causes(cause, where))
    return False


def _causes(node: cst.BaseExpression, frame: Frame) -> Iterator[tuple[cst.BaseExpression, Frame]]:
    """What the value of an expression depends on: its parts, what its names are bound to, and when."""
    tree = frame.scope.module.tree
    yield from ((part, frame) for part in tree.find(node, cst.Attribute) if part is not node)
    yield from ((part, frame) for part in tree.find(node, cst.Name) if part is not node)
    for binding in resolve(node, tree) if isinstance(node, cst.Name) else ():
        if binding.scope is not frame.scope:
            continue
        if binding.kind is Kind.PARAMETER:
            passed = frame.args.get(binding.name) if frame.args is not None else None
            if passed is not None and passed.node is not None and passed.frame is not None:
                yield passed.node, passed.frame
        else:
            yield from ((test, frame) for test, _ in enclosing_tests(binding.node, frame))
            if binding.value is not None:
                yield binding.value, frame
