"""Loaders that went through `accelerator.prepare(...)` and the like, which give each argument back in its place."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.libraries.catalogue import MANAGED
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values.values import Evaluator, Frame


def prepared(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> Iterator[tuple[cst.BaseExpression, Frame]]:
    """What was prepared as the name that an iterated expression is about (`enumerate(loader)`), with its frame."""
    while isinstance(node, cst.Call) and node.args:
        node = node.args[0].value
    for binding in resolve(node, frame.scope.module.tree) if isinstance(node, cst.Name) else ():
        call = binding.value
        if isinstance(call, cst.Call) and last_name(call.func) in MANAGED and binding.kind is Kind.VALUE:
            position = binding.path[0] if binding.path else 0
            if 0 <= position < len(call.args) and call.args[position].keyword is None:
                yield call.args[position].value, ev.at(binding.scope, frame)
