"""Definition site: the first expression that names a value, followed backwards from its use."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values.values import Evaluator, Frame, Value


def definition_site(
    ev: Evaluator, node: cst.BaseExpression, frame: Frame, value: Value
) -> tuple[cst.BaseExpression, Frame]:
    """The expression that names a value first, on the way back from where it is used: the argument, not the parameter.

    Where the value comes in through a parameter, that is what the visible call passes.
    """
    for _ in range(8):
        found = _source(ev, node, frame, value)
        if found is None:
            break
        node, frame = found
    return node, frame


def _source(
    ev: Evaluator, node: cst.BaseExpression, frame: Frame, value: Value
) -> tuple[cst.BaseExpression, Frame] | None:
    if isinstance(node, cst.IfExp | cst.BooleanOperation):
        arms = (node.body, node.orelse) if isinstance(node, cst.IfExp) else (node.left, node.right)
        return next(((arm, frame) for arm in arms if value in ev.values(arm, frame)), None)
    if not isinstance(node, cst.Name):
        return None
    for binding in resolve(node, frame.scope.module.tree):
        home = ev.at(binding.scope, frame)
        if binding.kind is Kind.PARAMETER:
            given = (home.args or {}).get(node.value)
            if given is not None and given.node is not None and given.frame is not None:
                if value in ev.values(given.node, given.frame):
                    return given.node, given.frame
            param = binding.node
            if isinstance(param, cst.Param) and param.default is not None and home.outer is not None:
                if value in ev.values(param.default, home.outer):
                    return param.default, home.outer
        elif binding.kind is Kind.VALUE and binding.value is not None and not binding.path:
            if value in ev.values(binding.value, home):
                return binding.value, home
    return None
