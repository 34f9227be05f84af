"""The value of a loader's argument in runs with 0 workers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import ArgumentSite
from dataloader_lint.rules.arguments._shared.zero_guards import answer_at_zero, is_kept_away, mentions, name_of
from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.zero_sources import Zero
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.limits import ZERO_ARGUMENT_DEPTH
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Value,
    Values,
)

Test = Callable[[Value], bool]
_ABOUT_WORKERS = re.compile("worker|persist|prefetch", re.IGNORECASE)
# What a test may be made of that decides something else than the number of workers: a call may ask for them.
_PLAIN = (
    cst.And,
    cst.Attribute,
    cst.BooleanOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.BaseCompOp,
    cst.Integer,
    cst.Name,
    cst.Not,
    cst.Or,
    cst.SimpleString,
    cst.UnaryOperation,
)


def can_be_at_zero(ev: Evaluator, node: cst.BaseExpression, frame: Frame, zero: Zero, test: Test) -> bool:
    """True if an expression surely passes a test in some run that has 0 workers."""
    return _Question(ev, zero, test).of(node, frame, 0)


def is_set_at_zero(ev: Evaluator, places: list[ArgumentSite], zero: Zero, test: Test) -> bool:
    """True if one of several places sets an option in some run that has 0 workers, and passes a test.

    `if sys.platform != "win32": options["persistent_workers"] = True`: no condition around a place that sets it may be
    about the number of workers, and that number must be the same whatever these conditions say.
    """
    if zero.is_conditional or not zero.source:
        return False
    question = _Question(ev, zero, test)
    written = [(each.node, each.frame) for each in places if each.node is not None]
    return all(
        question.is_unrelated(condition, frame, 0)
        for node, frame in written
        for condition, _ in enclosing_tests(node, frame)
    ) and any(
        not is_kept_away(zero.names, node, frame) and question.of(node, frame, 0)
        for node, frame in written
        if enclosing_tests(node, frame)
    )


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
            arms = [self.of(arm, frame, depth + 1) for arm in (node.body, node.orelse)]
            return all(arms) if not self.is_about_something_else(node.test, frame) else any(arms)
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

    def is_about_something_else(self, test: cst.BaseExpression, frame: Frame) -> bool:
        """True if a test has nothing to do with the number of workers, so that each answer can go with a 0."""
        if self.zero.is_conditional or not self.zero.source:
            return False
        return self.is_unrelated(test, frame, 0)

    def is_unrelated(self, test: cst.BaseExpression, frame: Frame, depth: int) -> bool:
        tree = frame.scope.module.tree
        if depth > ZERO_ARGUMENT_DEPTH or mentions(test, self.zero.names, tree):
            return False
        for part in tree.walk(test):
            if not isinstance(part, _PLAIN) or _ABOUT_WORKERS.search(name_of(part)):
                return False
            if isinstance(part, cst.Attribute) and not all(
                self.is_unrelated(value, inner, depth + 1) for value, inner in self.kept_under(part, frame)
            ):
                return False
            bindings = resolve(part, tree) if isinstance(part, cst.Name) else []
            for binding in bindings:
                if binding.scope is not frame.scope or binding.value is None or binding.kind is not Kind.VALUE:
                    continue
                conditions = [condition for condition, _ in enclosing_tests(binding.node, frame)]
                if not all(self.is_unrelated(each, frame, depth + 1) for each in (*conditions, binding.value)):
                    return False
        return True

    def kept_under(self, node: cst.Attribute, frame: Frame) -> Iterator[tuple[cst.BaseExpression, Frame]]:
        """What the attribute of an object of the project is bound to."""
        for owner in self.ev.values(node.value, frame):
            if isinstance(owner, CallResult) and isinstance(owner.by, Class):
                for base in self.ev.bases(owner.by).classes:
                    for binding in classes.attribute_bindings(base.scope).get(node.attr.value, ()):
                        if binding.value is not None:
                            yield binding.value, attributes.method_frame(self.ev, binding.method, owner)
