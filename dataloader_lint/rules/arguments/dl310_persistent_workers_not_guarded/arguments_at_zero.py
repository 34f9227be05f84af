"""The value of a loader's argument in runs with 0 workers."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from dataloader_lint.rules.arguments._shared.zero_guards import answer_at_zero, is_kept_away, mentions
from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.zero_sources import Zero
from dataloader_lint.semantics.limits import ZERO_ARGUMENT_DEPTH
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    Const,
    Evaluator,
    Frame,
    Value,
    Values,
)

Test = Callable[[Value], bool]


def can_be_at_zero(ev: Evaluator, node: cst.BaseExpression, frame: Frame, zero: Zero, test: Test) -> bool:
    """True if an expression surely passes a test in some run that has 0 workers."""
    return _Question(ev, zero, test).of(node, frame, 0)


class _Question:
    def __init__(self, ev: Evaluator, zero: Zero, test: Test) -> None:
        self.ev = ev
        self.zero = zero
        self.test = test

    def of(self, node: cst.BaseExpression, frame: Frame, depth: int) -> bool:
        tree = frame.scope.module.tree
        names = self.zero.names
        if depth > ZERO_ARGUMENT_DEPTH:
            return self.all_of(NOTHING_KNOWN)
        if isinstance(node, cst.IfExp):
            answer = answer_at_zero(node.test, names, tree)
            if answer is not None:
                return self.of(node.body if answer else node.orelse, frame, depth + 1)
            return all(self.of(arm, frame, depth + 1) for arm in (node.body, node.orelse))
        if isinstance(node, cst.Comparison | cst.BooleanOperation | cst.UnaryOperation):
            answer = answer_at_zero(node, names, tree) if mentions(node, names, tree) else None
            if answer is not None:
                return self.test(Const(answer))
        if isinstance(node, cst.Name):
            bindings = resolve(node, tree)
            if bindings and all(each.scope is frame.scope for each in bindings):
                return self.of_bindings(node, bindings, frame, depth)
        return self.all_of(self.ev.values(node, frame))

    def of_bindings(self, node: cst.Name, bindings: list[Binding], frame: Frame, depth: int) -> bool:
        passed = frame.args.get(node.value) if frame.args is not None else None
        if len(bindings) == 1 and passed is not None and passed.node is not None and passed.frame is not None:
            return self.of(passed.node, passed.frame, depth + 1)
        if any(each.kind is not Kind.VALUE or each.path or each.value is None for each in bindings):
            return self.all_of(self.ev.values(node, frame))
        left = [each for each in bindings if not is_kept_away(self.zero.names, each.node, frame)]
        return bool(left) and all(self.of(each.value, frame, depth + 1) for each in left if each.value is not None)

    def all_of(self, values: Values) -> bool:
        return bool(values) and all(self.test(value) for value in values if value is not ABSENT)
