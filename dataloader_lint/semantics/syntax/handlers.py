"""How blocks such as the bodies of `except` clauses end, and what they do."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name

_ENDING = frozenset({"exit", "_exit", "quit", "abort", "fail"})


def always_fails(body: cst.BaseSuite) -> bool:
    """True if a block surely ends in an error or with the process."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.If):
        return last.orelse is not None and always_fails(last.body) and _fails_else(last.orelse)
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    if isinstance(last, cst.Expr) and isinstance(last.value, cst.Call):
        return last_name(last.value.func) in _ENDING
    return isinstance(last, cst.Raise)


def _fails_else(orelse: cst.If | cst.Else) -> bool:
    if isinstance(orelse, cst.Else):
        return always_fails(orelse.body)
    return orelse.orelse is not None and always_fails(orelse.body) and _fails_else(orelse.orelse)


def only_reports(body: cst.BaseSuite) -> bool:
    """True if a block holds calls only, such as `print(error)` and `logger.exception(...)`."""
    return all(
        isinstance(line, cst.SimpleStatementLine)
        and all(isinstance(each, cst.Expr) and isinstance(each.value, cst.Call) for each in line.body)
        for line in body.body
    )
