"""Edits that would leave a line longer than the project allows → the same edits with that line split.

A comment that alone makes a line too long moves above it.

Only lines that the edits made too long are split: what was too long before stays as it is.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from dataloader_lint.diagnostics import Fix
from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import Edit, Repair, fix_of, splice
from dataloader_lint.edits.splitting import split, width
from dataloader_lint.source.decoding import line_starts, split_lines
from dataloader_lint.source.extents import Lines, Nesting
from dataloader_lint.source.line_length import line_length
from dataloader_lint.source.parsing import parsed_by_python

_SHORTEST = 60  # no project has a lower limit
# Comments that are about the line that they stand in, or would mean something on a line of their own. Any may follow
# another comment.
_PRAGMA = re.compile(
    r"#\s*(noqa|nosec|nosonar|nopep8|type:|pylint|pragma|fmt:|yapf|isort|ruff|flake8|pyright|mypy|dataloader-lint"
    r"|py\w+[-:]\s*(?:ignore|disable|fixme)|\w[\w-]*:\s*(?:ignore|disable|skip)\b)",
    re.IGNORECASE,
)


def laid_out(editor: Editor, edits: Sequence[Edit], filename: str) -> list[Edit]:
    """Edits of a file, in the order of their places, that keep its lines as short as its project wants them.

    Only the statements that they change are looked at: files are long, and have many fixes.
    """

    def limit() -> int:
        return editor.once("line length", lambda: line_length(filename))

    def known(longest: int) -> set[str]:
        return editor.once(
            ("long lines", longest),
            lambda: {line.strip() for line in split_lines(editor.text) if width(line) > longest},
        )

    def fitted(first: int, last: int, some: Sequence[Edit]) -> list[Edit] | None:
        starts = editor.line_starts
        start, end = starts[first - 1], starts[last] if last < len(starts) else len(editor.text)
        moved = [Edit(one.start - start, one.end - start, one.content) for one in some]
        found = wrapped(moved, editor.text[start:end], limit, known, editor.indent, editor.newline)
        return None if found is None else [Edit(one.start + start, one.end + start, one.content) for one in found]

    found: list[Edit] = []
    for statements, some in _by_statements(editor, edits):
        tried = (fitted(first, last, some) for first, last in statements)
        found += next((each for each in tried if each is not None), some)
    return found


def _by_statements(editor: Editor, edits: Sequence[Edit]) -> Iterator[tuple[list[Lines], list[Edit]]]:
    """The edits by the innermost statements that they change, each with those around it, and the whole text."""
    whole = (1, len(editor.line_starts))
    nesting = editor.once("nesting", lambda: _nesting(editor.text))
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        last_change = edit.end if _joins_lines(editor, edit) else max(edit.start, edit.end - 1)
        first, last = editor.line(edit.start) + 1, editor.line(last_change) + 1
        some = [edit]
        while True:
            first, last = next(nesting.around(first, last)) if nesting is not None else whole
            if not groups or groups[-1][1] < first:
                break
            before = groups.pop()
            first, last, some = min(first, before[0]), max(last, before[1]), [*before[2], *some]
        groups.append((first, last, some))
    for first, last, some in groups:
        yield [*(nesting.around(first, last) if nesting is not None else ()), whole], some


def _nesting(text: str) -> Nesting | None:
    try:
        return Nesting(parsed_by_python(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _joins_lines(editor: Editor, edit: Edit) -> bool:
    """True if what follows an edit no longer begins a line, or may not."""
    if edit.content:
        return not edit.content.endswith(("\n", "\r"))
    return editor.line_start(edit.start) != edit.start


def as_fix(editor: Editor, repair: Repair, filename: str) -> Fix:
    """A repair of a file as diagnostics carry it."""
    edits = sorted(set(repair.edits), key=lambda one: (one.start, one.end))
    return fix_of(replace(repair, edits=tuple(laid_out(editor, edits, filename))), editor.line_starts)


def wrapped(
    edits: Sequence[Edit],
    text: str,
    limit: Callable[[], int],
    known: Callable[[int], AbstractSet[str]],
    unit: str,
    newline: str,
) -> list[Edit] | None:
    """Edits of a text, in the order of their places, that split lines as black would where they get too long.

    `limit` is how long a line may be, and asked only if a line may be too long; `known` gives the lines of the file
    that are longer, without their indentation; `unit` is one step of indentation. The edits stay as they are if nothing
    is too long. None if the text does not say enough, or if split lines would mean something else.
    """
    edits = list(edits)
    after = splice(text, edits)
    lines = _Lines(after)
    changed = {
        number: old
        for number, old in _changed_lines(edits, text, lines).items()
        if width(lines.texts[number]) > _SHORTEST
    }
    if not changed:
        return edits
    longest = limit()
    too_long = known(longest)
    long = [
        number
        for number, old in changed.items()
        if width(lines.texts[number]) > longest >= old and lines.texts[number].strip() not in too_long
    ]
    if not long:
        return edits
    statements = _Statements(after)
    if not statements.is_readable:
        return None
    regions = sorted({statements.around(number) for number in long} - {None}, key=lambda one: one or (0, 0, 0))
    changes = []
    for region in regions:
        assert region is not None
        comment = statements.comments.get(region[0])
        content = _split(lines.texts[region[0] : region[1] + 1], comment, region[2] > 0, unit, longest)
        if content is not None:
            end = lines.starts[region[1]] + len(lines.texts[region[1]])
            changes.append(Edit(lines.starts[region[0]], end, newline.join(content)))
    if not changes:
        return edits
    if not _mean_the_same(after, splice(after, changes)):
        return None
    for change in reversed(changes):
        edits = _composed(edits, change)
    return edits


class _Lines:
    """The lines of a text, without their ends, and where they begin."""

    def __init__(self, text: str) -> None:
        self.starts = line_starts(text)
        ends = [*self.starts[1:], len(text)]
        self.texts = [text[start:end].rstrip("\r\n") for start, end in zip(self.starts, ends, strict=True)]

    def at(self, offset: int) -> int:
        """The number of the line of an offset, from 0."""
        return bisect_right(self.starts, offset) - 1


def _changed_lines(edits: list[Edit], text: str, after: _Lines) -> dict[int, int]:
    """The lines that edits touch, and how wide each was before; 0 for new lines."""
    before = _Lines(text)
    grown = 0
    found: dict[int, int] = {}
    for edit in edits:
        start = edit.start + grown
        grown += len(edit.content) - (edit.end - edit.start)
        first, last = before.at(edit.start), before.at(edit.end)
        old = width(before.texts[first]) if first == last and "\n" not in edit.content else 0
        for number in range(after.at(start), after.at(start + len(edit.content)) + 1):
            found[number] = max(found.get(number, 0), old)
    return found


@dataclass(slots=True)
class _Row:
    """What tokens say of a line: open brackets at its beginning and end, and the first line of its statement."""

    depth: int
    first: int
    closes: int = 0
    is_odd: bool = False  # part of a string of several lines, or after a backslash


class _Statements:
    """The lines of a text by the statements that they belong to."""

    def __init__(self, text: str) -> None:
        self._rows: dict[int, _Row] = {}
        self._lasts: dict[int, int] = {}
        self.comments: dict[int, int] = {}  # the column at which the comment of a line begins
        self.is_readable = True
        depth = first = 0
        is_new = True
        try:
            for token in tokenize.generate_tokens(io.StringIO("\n".join(split_lines(text))).readline):
                row, end = token.start[0] - 1, token.end[0] - 1
                if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.ENDMARKER):
                    continue
                if token.type == tokenize.COMMENT:
                    self.comments[row] = token.start[1]
                    continue
                if token.type == tokenize.NEWLINE:
                    self._lasts[first] = row
                    is_new = True
                    continue
                first = row if is_new else first
                is_new = False
                self._rows.setdefault(row, _Row(depth, first))
                if token.type == tokenize.OP:
                    depth += (token.string in "([{") - (token.string in ")]}")
                self._rows[row].closes = depth
                for number in range(row, end + 1) if end > row else ():
                    self._rows.setdefault(number, _Row(depth, first, depth)).is_odd = True
        except (tokenize.TokenError, SyntaxError):
            self.is_readable = False

    def around(self, number: int) -> tuple[int, int, int] | None:
        """The lines to split for a line that is too long, first and last, and how many brackets are open there.

        The line alone where it is one part of a statement that has its brackets whole, else all of the statement.
        None where a comment would have to move, or a string spans lines.
        """
        row = self._rows.get(number)
        if row is None or row.is_odd:
            return None
        if row.depth == row.closes and (row.depth or self._lasts.get(row.first) == number):
            return number, number, row.depth
        last = self._lasts.get(row.first, -1)
        rows = range(row.first, last + 1)
        if last < 0 or any(self._rows[one].is_odd for one in rows if one in self._rows):
            return None
        return None if any(one in self.comments for one in rows) else (row.first, last, 0)


def _split(texts: list[str], column: int | None, is_inside: bool, unit: str, limit: int) -> list[str] | None:
    """The lines of a statement, or a part of it, split; `column` is where a comment begins."""
    indent = texts[0][: len(texts[0]) - len(texts[0].lstrip())]
    comment = "" if column is None else texts[0][column:]
    code = _joined([texts[0][:column], *texts[1:]])
    if _PRAGMA.search(comment):
        return None
    if comment and width(indent + code.rstrip()) <= limit:
        return [indent + comment, indent + code.rstrip()]
    return split(code, indent, unit, limit, is_inside=is_inside, comment=comment)


def _joined(texts: list[str]) -> str:
    """A statement of several lines in one line."""
    code = ""
    for text in texts:
        piece = text.strip()
        is_tight = not code or code[-1] in "([{" or piece[:1] in (")", "]", "}")
        code += piece if is_tight else f" {piece}"
    return code


def _mean_the_same(text: str, other: str) -> bool:
    head = "if 1:\n" if text[:1] in (" ", "\t") else ""  # statements of a block
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the file's other lines is not our business
            return ast.dump(ast.parse(head + text)) == ast.dump(ast.parse(head + other))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


@dataclass(slots=True)
class _Parts:
    before: list[Edit] = field(default_factory=list)
    touched: list[tuple[int, Edit]] = field(default_factory=list)  # with where the edit begins in the new text
    after: list[Edit] = field(default_factory=list)


def _composed(edits: list[Edit], change: Edit) -> list[Edit]:
    """Edits, and a change of the text that they make, as edits of the text before."""
    parts = _Parts()
    grown = before = 0  # how much the text has grown up to an edit, and up to the change
    for edit in edits:
        start = edit.start + grown
        grown += len(edit.content) - (edit.end - edit.start)
        if start + len(edit.content) <= change.start:
            parts.before.append(edit)
            before = grown
        elif start < change.end:
            parts.touched.append((start, edit))
        else:
            parts.after.append(edit)
    low, high, content = change.start - before, change.end, change.content
    grown = before + sum(len(edit.content) - (edit.end - edit.start) for _, edit in parts.touched)
    high = change.end - grown
    if parts.touched:
        start, edit = parts.touched[0]
        if start < change.start:
            low, content = edit.start, edit.content[: change.start - start] + content
        start, edit = parts.touched[-1]
        if start + len(edit.content) > change.end:
            high, content = edit.end, content + edit.content[change.end - start :]
    return [*parts.before, Edit(low, high, content), *parts.after]
