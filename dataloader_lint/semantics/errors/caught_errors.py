"""Whether a handler, or a list of exceptions, covers one of some errors."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.syntax.handlers import always_fails, only_reports
from dataloader_lint.semantics.values.values import Class, Evaluator, Frame, Library, Sequence, Value

_BROAD = frozenset({"Exception", "BaseException"})


class Errors:
    """Some errors, and the handlers that count: with `by_name` only those that name the error."""

    def __init__(self, ev: Evaluator, errors: frozenset[str], by_name: bool) -> None:
        self.ev = ev
        self.by_name = by_name
        self.caught_by = errors | _BROAD | {base for name in errors for base in _bases_of(name)}

    def are_caught(self, node: cst.BaseExpression | None, frame: Frame) -> bool:
        """True if an exception or a tuple of them, as written, covers the error; any does where None is written."""
        if node is None:
            return True
        if isinstance(node, cst.Tuple | cst.List | cst.Set):
            return any(self.are_caught(each.value, frame) for each in node.elements)
        return any(self.covers(value) for value in self.ev.values(node, frame))

    def covers(self, value: Value) -> bool:
        if isinstance(value, Library):
            return value.name.removeprefix("builtins.") in self.caught_by
        if isinstance(value, Sequence) and value.items is not None:
            return any(self.covers(each) for several in value.items for each in several)
        return not isinstance(value, Class)  # an exception of the project's own is none that torch raises

    def are_swallowed(self, handler: cst.ExceptHandler | cst.ExceptStarHandler, frame: Frame, depth: int) -> bool:
        """True if a handler catches the error and the program goes on.

        One that catches everything at the top of a script, and only reports it, tells nothing about this error.
        """
        if not self.are_caught(handler.type, frame) or always_fails(handler.body):
            return False
        tree = frame.scope.module.tree
        is_at_the_top = depth > 0 and tree.scope_of(handler).function is None
        if not self.by_name and not (is_at_the_top and only_reports(handler.body)):
            return True
        names = {name.value for name in tree.find(handler.type, cst.Name)} if handler.type is not None else _BROAD
        return not names & _BROAD


def _bases_of(error: str) -> Iterator[str]:
    """The builtin exceptions that catch a builtin one."""
    found = getattr(builtins, error, None)
    if isinstance(found, type):
        yield from (base.__name__ for base in found.__mro__)
