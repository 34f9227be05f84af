"""Shares of the CPUs that are 0 on a small machine: `os.cpu_count() // 4`, `os.cpu_count() - 2`."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import SETTABLE_DEPTH
from dataloader_lint.semantics.syntax.expressions import positional_of
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library, constant


def is_zero_on_small_machines(ev: Evaluator, node: cst.BinaryOperation, frame: Frame) -> bool:
    """True if a number of CPUs is divided by a constant of 2 or more, or gets one of 1 or more subtracted."""
    if not isinstance(node.operator, cst.FloorDivide | cst.Divide | cst.Subtract):
        return False
    by = constant(ev.values(node.right, frame))
    if by is None or isinstance(by.value, bool) or not isinstance(by.value, int | float):
        return False
    least = 0 if isinstance(node.operator, cst.Subtract) else 1
    return by.value > least and _is_at_most_cpus(ev, node.left, frame, 0) and not _is_tested(node, frame)


def _is_tested(node: cst.BinaryOperation, frame: Frame) -> bool:
    """True if a test around a share asks about the number: `cpus // 4 if cpus > 4 else 1`."""
    tree = frame.scope.module.tree
    asked = set(tree.words(node.left).split())
    for above in tree.ancestors(node):
        if above is frame.scope.node:
            return False
        if isinstance(above, cst.If | cst.IfExp) and asked.intersection(tree.words(above.test).split()) - _PREFIXES:
            return True
    return False


_PREFIXES = frozenset({"os", "multiprocessing", "mp", "torch", "psutil"})


def _is_at_most_cpus(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> bool:
    """True if a number is known to be the number of CPUs, or a share of it."""
    if depth > SETTABLE_DEPTH:
        return False
    if isinstance(node, cst.Name):
        bindings = resolve(node, frame.scope.module.tree)
        written = [each.value for each in bindings if each.kind is Kind.VALUE and not each.path]
        if len(bindings) != 1 or len(written) != 1 or written[0] is None:
            return False
        return _is_at_most_cpus(ev, written[0], ev.at(bindings[0].scope, frame), depth + 1)
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        return _is_at_most_cpus(ev, node.left, frame, depth + 1)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.FloorDivide):
        return _is_at_most_cpus(ev, node.left, frame, depth + 1)
    if not isinstance(node, cst.Call):
        return False
    for callee in ev.values(node.func, frame):
        if not isinstance(callee, Library):
            return False
        first = positional_of(node)[:1]
        if callee.name == "builtins.int" and first:
            return _is_at_most_cpus(ev, first[0], frame, depth + 1)
        if callee.name == "builtins.len" and first and isinstance(first[0], cst.Call):
            makers = ev.values(first[0].func, frame)
            return any(isinstance(each, Library) and row(each.name).cpus == "set" for each in makers)
        return row(callee.name).cpus == "number"
    return False
