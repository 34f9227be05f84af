"""Findings and recorded answers as plain lists, and back."""

from __future__ import annotations

from dataloader_lint.diagnostics import Diagnostic, Fix, Level, Place, Position, Reason, Safety, TextEdit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from dataloader_lint.semantics.project.dependencies import Asked


def plain(one: Diagnostic) -> list[Any]:
    """A finding as a list."""
    fix = one.fix and [
        one.fix.safety.value,
        one.fix.title,
        [[*_places(each.start, each.end), each.content, each.cell] for each in one.fix.edits],
    ]
    places = _places(one.start, one.end)
    because = [[each.filename, each.position.line, each.position.column, each.text, each.cell] for each in one.because]
    others = [[*_places(each.start, each.end), *each.statement_lines, each.cell] for each in one.places]
    said = [one.code, one.problem, one.advice, list(one.statement_lines), fix, one.cell, because, one.level.value]
    return [one.filename, *places, *said, one.cause, others, one.no_fix]


def _places(start: Position, end: Position) -> list[int]:
    return [start.line, start.column, end.line, end.column]


def diagnostic(plain: list[Any]) -> Diagnostic:
    """The finding that a list encodes."""
    filename, line, column, end_line, end_column, code, problem, advice, lines, fix, cell, because, *more = plain
    start, end = Position(line, column), Position(end_line, end_column)
    fixed = None
    if fix is not None:
        edits = tuple(TextEdit(Position(a, b), Position(c, d), content, where) for a, b, c, d, content, where in fix[2])
        fixed = Fix(Safety(fix[0]), fix[1], edits)
    reasons = tuple(Reason(path, Position(a, b), text, where) for path, a, b, text, where in because)
    level, cause, others, no_fix = more
    places = tuple(
        Place(filename, Position(a, b), Position(c, d), (first, last), where)
        for a, b, c, d, first, last, where in others
    )
    of = (lines[0], lines[1])
    return Diagnostic(
        filename, start, end, code, problem, advice, of, fixed, cell, reasons, Level(level), cause, places, no_fix
    )


def plain_asked(asked: Asked) -> list[list[Any]]:
    """Questions and answers as lists, each with the answer last."""
    return [[*question, answer] for question, answer in asked.items()]


def asked_from(plain: list[list[Any]]) -> Asked:
    """The questions and answers that lists encode."""
    return {tuple(map(_tupled, question)): _tupled(answer) for *question, answer in plain}


def _tupled(part: Any) -> Any:
    return tuple(part) if isinstance(part, list) else part
