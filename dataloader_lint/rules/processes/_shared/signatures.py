"""What the functions are that a file imports, by the modules that they come from."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import Evaluator, Function, Library, Value


def signature(ev: Evaluator, function: Function, callee: cst.BaseExpression) -> tuple[str, ...] | None:
    """The parameters that a callee in a function takes by position or keyword; none for a library's, as if unknown.

    None unless it can only be a function that a pickle finds by its name: one at the top of a module of the project, or
    one of a library.
    """
    found = [_names(ev, value, function.scope.module) for value in ev.values(callee, ev.frame_of(function.scope))]
    return found[0] if len(found) == 1 else None


def _names(ev: Evaluator, value: Value, module: ModuleFacts) -> tuple[str, ...] | None:
    if isinstance(value, Library):
        # A name that the project does not show may be anything.
        return () if ev.project.find(value.name.partition(".")[0], module) is None else None
    if not isinstance(value, Function) or not isinstance(value.node, cst.FunctionDef):
        return None
    scope, node = value.scope, value.node
    if scope.parent is not scope.module.root or node.decorators:
        return None
    return () if node.params.posonly_params else tuple(each.name.value for each in node.params.params)
