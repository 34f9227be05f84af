"""Findings with their fixes, and the texts of files with such fixes in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from dataloader_lint.diagnostics import Diagnostic, TextEdit
from dataloader_lint.engine.runner import lint_found
from dataloader_lint.output import diff
from dataloader_lint.output.paint import plain
from dataloader_lint.source.decoding import decode, encoding_of
from dataloader_lint.source.discovery import discover
from dataloader_lint.source.noqa import suppress
from dataloader_lint.source.pyproject import NO_RECORD, chosen


def findings_in(files: Sequence[str]) -> list[Diagnostic]:
    """The findings in the user's files, the worst first, each with a fix that was tried and holds if it has one."""
    if not files:
        return []
    # What an earlier trial found decides nothing about this one.
    settings = chosen(folder=os.path.dirname(files[0])).replace(record=NO_RECORD)
    found = lint_found(discover(files, settings), settings, "tried")
    return sorted((one for one in found if one.cell is None), key=lambda one: (one.level.rank, one.sort_key))


def patched(content: bytes, edits: Iterable[TextEdit]) -> bytes:
    """A file's content with edits in it, which do not overlap."""
    encoding = encoding_of(content)
    lines = decode(content).splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = "".join(lines)
    places = [
        (starts[each.start.line - 1] + each.start.column, starts[each.end.line - 1] + each.end.column, each.content)
        for each in edits
    ]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text.encode(encoding)


def all_patched(findings: Sequence[Diagnostic]) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """The files with the fixes of all findings in them, and the findings whose fix overlaps one before it."""
    kept: dict[str, list[TextEdit]] = {}
    left: list[Diagnostic] = []
    for one in findings:
        edits = one.fix.edits if one.fix is not None else ()
        taken = kept.setdefault(one.filename, [])
        if any(_overlap(a, b) for a in edits for b in taken if a != b):
            left.append(one)
        else:
            taken.extend(each for each in edits if each not in taken)
    return {name: patched(Path(name).read_bytes(), edits) for name, edits in kept.items() if edits}, left


def _overlap(a: TextEdit, b: TextEdit) -> bool:
    if a.start == a.end and b.start == b.end:
        return a.start == b.start
    return a.start < b.end and b.start < a.end


def as_diff(texts: dict[str, bytes], root: str) -> str:
    """One diff of all files, with paths from the folder of the project."""
    lines: list[str] = []
    for name, new in sorted(texts.items()):
        shown = os.path.relpath(name, root).replace(os.sep, "/")
        lines += diff.emit(shown, decode(Path(name).read_bytes()), decode(new), plain)
    return "".join(f"{line}\n" for line in lines)


def silenced_line(one: Diagnostic) -> str:
    """The line with the comment that silences a finding; "" if none can stand there."""
    try:
        text = decode(Path(one.filename).read_bytes())
    except OSError:
        return ""
    edit = suppress(text, one.code, one.statement_lines)
    if edit is None:
        return ""
    line = text.splitlines()[edit.start.line - 1]
    return f"{edit.start.line}: {(line[: edit.start.column] + edit.content + line[edit.end.column :]).strip()}"
