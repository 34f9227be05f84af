"""Findings as they can be compared: what differs between those of two versions of the tool in the same code.

Both versions read the same files, so a finding at another line is the same one only if more than its rule is the same.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

QUOTED = re.compile(r"`[^`]*`")
NEWLINE = re.compile(r"\r\n|\r|\n")  # str.splitlines would also split at form feeds, unlike Python and the linter


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Rows and columns from 1, in a file or in a cell of a notebook (0: no notebook)."""

    cell: int
    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that replaces what stands at a span."""

    span: Span
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What the linter would do to the file; the title is for people to read."""

    safety: str
    edits: tuple[Edit, ...]
    title: str = ""

    @property
    def contents(self) -> tuple[str, ...]:
        """The texts that the edits put in."""
        return tuple(edit.content for edit in self.edits)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `path` is relative to the code base, `words` is all text that a person gets to read."""

    code: str
    path: str
    span: Span
    words: tuple[str, ...]
    fix: Fix | None = None

    @classmethod
    def from_json(cls, found: Mapping[str, Any], root: Path) -> Finding:
        """Read an object of the linter's JSON output.

        Text fields beside the known ones count as words, so that versions that say more can be compared.
        """
        cell, fix = found["cell"] or 0, found["fix"]
        known = {"cell", "code", "end_location", "filename", "fix", "location", "noqa_row", "url", "message"}
        texts = [value for key, value in found.items() if key not in known]
        edits = [Edit(_span(each, each.get("cell", cell)), each["content"]) for each in fix["edits"]] if fix else []
        return cls(
            found["code"],
            Path(found["filename"]).relative_to(root).as_posix(),
            _span(found, cell),
            (found["message"], *(text if isinstance(text, str) else json.dumps(text) for text in texts)),
            Fix(fix["applicability"], tuple(edits), fix["message"]) if fix else None,
        )

    @property
    def message(self) -> str:
        """What the finding says, without advice that has a field of its own."""
        return self.words[0]

    @property
    def subject(self) -> str:
        """What the message speaks of first: the first code in it."""
        quoted = QUOTED.search(self.message)
        return quoted[0] if quoted else self.message

    @property
    def place(self) -> str:
        """Path, cell and row, as in the linter's output."""
        cell = f":cell {self.span.cell}" if self.span.cell else ""
        return f"{self.path}{cell}:{self.span.row}"


def _span(found: Mapping[str, Any], cell: int) -> Span:
    start, end = found["location"], found["end_location"]
    return Span(cell, start["row"], start["column"], end["row"], end["column"])


class Kind(Enum):
    """What became of a finding, the more important first."""

    CAME = "came"
    WENT = "went"
    MOVED = "moved"
    FIX = "fix"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Change:
    """A finding of the one version that the other lacks or has otherwise; at least one of the two is there."""

    old: Finding | None
    new: Finding | None

    @property
    def finding(self) -> Finding:
        """The new one, or the old one where it went."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All that differs, the most important first."""
        if self.old is None or self.new is None:
            return (Kind.CAME if self.old is None else Kind.WENT,)
        old, new = self.old.fix, self.new.fix
        moved = self.old.span != self.new.span
        fix = (old is None) != (new is None)
        words = self.old.words != self.new.words
        if old is not None and new is not None:
            # The edits of a fix move with its finding.
            fix = old.safety != new.safety or (old.contents != new.contents if moved else old.edits != new.edits)
            words = words or old.title != new.title
        differs = {Kind.MOVED: moved, Kind.FIX: fix, Kind.WORDS: words}
        return tuple(kind for kind, holds in differs.items() if holds)


class Sources:
    """The texts that findings are in; each is read and parsed once."""

    def __init__(self, root: Path) -> None:
        """`root` is the folder of the code base."""
        self._root = root
        self._texts: dict[tuple[str, int], Text] = {}

    def text(self, path: str, cell: int) -> Text:
        """A file, or a cell of a notebook; empty if it cannot be read."""
        if (path, cell) not in self._texts:
            self._texts[path, cell] = Text(self._read(path, cell))
        return self._texts[path, cell]

    def line(self, finding: Finding) -> str:
        """The first line of a finding, without indentation."""
        return self.text(finding.path, finding.span.cell).line(finding.span.row).strip()

    def _read(self, path: str, cell: int) -> str:
        try:
            text = (self._root / path).read_bytes().decode("utf-8-sig", errors="replace")
            return "".join(json.loads(text)["cells"][cell - 1]["source"]) if cell else text
        except (OSError, ValueError, LookupError, TypeError):
            return ""


class Text:
    """The text of a file or cell, and which definition of it a row is in."""

    def __init__(self, text: str) -> None:
        """Split into lines as Python does."""
        self._text = text
        self.lines = NEWLINE.split(text)

    def line(self, row: int) -> str:
        """A line, from 1; empty beyond the last."""
        return self.lines[row - 1] if row <= len(self.lines) else ""

    def definition(self, row: int) -> str:
        """The name of the class or function at the top level that a row is in; empty outside of those."""
        return next((name for name, first, last in self._definitions if first <= row <= last), "")

    @cached_property
    def _definitions(self) -> list[tuple[str, int, int]]:
        try:
            body = ast.parse(self._text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return [(node.name, node.lineno, node.end_lineno or node.lineno) for node in body if isinstance(node, kinds)]

    def edited(self, edits: Iterable[Edit]) -> list[str]:
        """The lines after the edits, which do not overlap."""
        lines = list(self.lines)
        for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
            span = edit.span
            if span.end_row > len(lines):
                continue  # the file is not the one that was linted
            before, after = lines[span.row - 1][: span.column - 1], lines[span.end_row - 1][span.end_column - 1 :]
            lines[span.row - 1 : span.end_row] = NEWLINE.split(before + edit.content + after)
        return lines


def compare(old: Iterable[Finding], new: Iterable[Finding], sources: Sources) -> list[Change]:
    """What differs, in the order of rules, kinds and places.

    Findings of a rule are the same one at the same span; then, inside the same definition at the top level, with the
    same message, the same subject or the same source line, the nearest first.
    """

    def definition(finding: Finding) -> str:
        return sources.text(finding.path, finding.span.cell).definition(finding.span.row)

    keys: list[Callable[[Finding], Hashable]] = [
        lambda one: (one.code, one.path, one.span),
        lambda one: (one.code, one.path, one.span.cell, definition(one), one.message),
        lambda one: (one.code, one.path, one.span.cell, definition(one), one.subject),
        lambda one: (one.code, one.path, one.span.cell, definition(one), sources.line(one)),
    ]
    counts = Counter(old), Counter(new)
    went, came = list((counts[0] - counts[1]).elements()), list((counts[1] - counts[0]).elements())
    changes: list[Change] = []
    for key in keys:
        pairs = _pairs(went, came, key)
        for one, other in pairs:
            went.remove(one)
            came.remove(other)
            changes.append(Change(one, other))
    changes.extend(Change(one, None) for one in went)
    changes.extend(Change(None, one) for one in came)
    order = list(Kind)
    changes.sort(key=lambda one: (one.finding.code, order.index(one.kinds[0]), one.finding.path, one.finding.span))
    return changes


def _pairs(
    old: Sequence[Finding], new: Sequence[Finding], key: Callable[[Finding], Hashable]
) -> list[tuple[Finding, Finding]]:
    groups: dict[Hashable, tuple[list[Finding], list[Finding]]] = defaultdict(lambda: ([], []))
    for side, findings in enumerate((old, new)):
        for finding in findings:
            groups[key(finding)][side].append(finding)
    pairs = []
    for olds, news in groups.values():
        near = sorted(
            (abs(one.span.row - other.span.row), place, number)
            for place, one in enumerate(olds)
            for number, other in enumerate(news)
        )
        used: tuple[set[int], set[int]] = (set(), set())
        for _, place, number in near:
            if place not in used[0] and number not in used[1]:
                used[0].add(place)
                used[1].add(number)
                pairs.append((olds[place], news[number]))
    return pairs


def of_codes(findings: Iterable[Finding], codes: Sequence[str]) -> list[Finding]:
    """Those whose rule begins with one of the codes; all where no code is given."""
    return [finding for finding in findings if not codes or finding.code.startswith(tuple(codes))]
