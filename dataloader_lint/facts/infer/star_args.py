"""What `*args` means in a call."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.infer.values import Argument, Frame
from dataloader_lint.facts.syntax.names import resolve


def starred(node: cst.BaseExpression, frame: Frame) -> tuple[Argument, ...] | None:
    """What `*args` means where it is the function's own parameter and the call is known; None otherwise."""
    if not isinstance(node, cst.Name) or frame.args is None:
        return None
    bindings = resolve(node, frame.scope.module.tree)
    is_own = len(bindings) == 1 and isinstance(bindings[0].node, cst.Param) and bindings[0].scope is frame.scope
    return frame.extra if is_own else None
