"""`# noqa` comments for many findings of a file at once; every other byte stays as it was."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from operator import ne

from dataloader_lint.diagnostics import Diagnostic, TextEdit
from dataloader_lint.source.decoding import UnreadableError, decode, encoding_of, line_starts, split_lines
from dataloader_lint.source.noqa import silenced, suppress, suppress_all

_ENGINE_CODES = ("DL000", "DL999")  # they say that a file was not checked, which no comment makes good


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A file with its comments, how many findings they suppress, and which findings have none, with the reason.

    `lines` is how many lines have got a comment, or more codes in one.
    """

    source: bytes
    added: int
    left: list[tuple[Diagnostic, str]]
    lines: int = 0


def excused(source: bytes, diagnostics: Iterable[Diagnostic], is_notebook: bool) -> Suppressed:
    """Excuse findings of one file, given as its bytes, by the comments on which the linter would let them pass."""
    wanted = list(diagnostics)
    left = [(one, "the file has to be readable first") for one in wanted if one.code in _ENGINE_CODES]
    wanted = [one for one in wanted if one.code not in _ENGINE_CODES]
    if not wanted:
        return Suppressed(source, 0, left)
    try:
        done = _in_notebook(source, wanted) if is_notebook else _in_file(source, wanted)
    except (UnreadableError, UnicodeError, SyntaxError, LookupError):
        return Suppressed(source, 0, [*left, *((one, "the file cannot be written back as it is") for one in wanted)])
    return Suppressed(done.source, done.added, [*left, *done.left], done.lines)


def _in_file(source: bytes, wanted: list[Diagnostic]) -> Suppressed:
    text = decode(source)
    encoding = encoding_of(source).removesuffix("-sig")
    mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
    if mark + text.encode(encoding) != source:
        raise UnreadableError("its text does not encode to the same bytes")
    new, added, left = _in_text(text, text, wanted)
    return Suppressed(mark + new.encode(encoding), added, left, _changed(text, new))


def _in_notebook(source: bytes, wanted: list[Diagnostic]) -> Suppressed:
    from dataloader_lint.source.magics import to_python
    from dataloader_lint.source.notebooks import read, written

    notebook = read(source)
    cells = {cell.number: cell.text for cell in notebook.cells} if notebook is not None else {}
    texts: dict[int, str] = {}
    added = 0
    left: list[tuple[Diagnostic, str]] = []
    for number in dict.fromkeys(one.cell for one in wanted):
        here = [one for one in wanted if one.cell == number]
        if number is None or number not in cells:
            left += [(one, "it is in no cell") for one in here]
            continue
        texts[number], count, rest = _in_text(cells[number], to_python(cells[number])[0], here)
        added += count
        left += rest
    if notebook is None or not added:
        return Suppressed(source, 0, left)
    changed = {number: text for number, text in texts.items() if text != cells[number]}
    lines = sum(_changed(cells[number], text) for number, text in changed.items())
    return Suppressed(written(notebook, changed), added, left, lines)


def _changed(old: str, new: str) -> int:
    """How many lines have changed; comments add none."""
    return sum(map(ne, split_lines(old), split_lines(new)))


def _in_text(text: str, python: str, wanted: list[Diagnostic]) -> tuple[str, int, list[tuple[Diagnostic, str]]]:
    """The text with comments, the number of findings that they suppress, and those that have none.

    `python` is the text as Python reads it: with as many lines, of which those that are not the same get no comment.
    """
    lines = suppress_all(python, [(one.code, _lines_of(one)) for one in wanted])
    old, shown = split_lines(python), split_lines(text)
    if lines is None or any(new != was and was != here for new, was, here in zip(lines, old, shown, strict=True)):
        return _one_by_one(text, python, wanted)
    starts = [*line_starts(text), len(text)]
    ends = [text[start + len(here) : end] for start, end, here in zip(starts, starts[1:], shown, strict=False)]
    kept = [here if new == was else new for new, was, here in zip(lines, old, shown, strict=True)]
    return "".join(line + end for line, end in zip(kept, ends, strict=True)), len(wanted), []


def _one_by_one(text: str, python: str, wanted: list[Diagnostic]) -> tuple[str, int, list[tuple[Diagnostic, str]]]:
    added = 0
    left: list[tuple[Diagnostic, str]] = []
    for one in wanted:
        if silenced(python)(one.code, _lines_of(one)):  # by the comment for another finding
            added += 1
            continue
        edit = suppress(python, one.code, _lines_of(one))
        if edit is None or _line(text, edit) != _line(python, edit):
            left.append((one, "its lines have no place for one"))
            continue
        text, python = _applied(text, edit), _applied(python, edit)
        added += 1
    return text, added, left


def _lines_of(one: Diagnostic) -> tuple[int, ...]:
    return (one.start.line, *one.statement_lines)


def _line(text: str, edit: TextEdit) -> str:
    return split_lines(text)[edit.start.line - 1]


def _applied(text: str, edit: TextEdit) -> str:
    start = line_starts(text)[edit.start.line - 1]
    return text[: start + edit.start.column] + edit.content + text[start + edit.end.column :]
