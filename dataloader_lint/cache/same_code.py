"""Files that hold other text than in an earlier run, but the same code, and the findings that this leaves as they are.

Comments and blank lines are no facts about a program, so nothing about other files changes. Findings name places,
though: their lines are counted again.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from typing import NamedTuple

from dataloader_lint.source.code_text import code_lines, code_of, has_plain_comments
from dataloader_lint.source.script_cells import has_cells
from dataloader_lint.source.states import NO_TEXT, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from dataloader_lint.diagnostics import Diagnostic, Place, Position, Reason
    from dataloader_lint.source.states import State

    # By the path of a file, what the gate says of it if it holds this.
    About = Callable[[str, bytes], frozenset[str]]


class Code(NamedTuple):
    """The code of a file: a hash of its text, one of its code, and what the gate says of it, comments included."""

    text: str
    code: str
    about: str


class Cited(NamedTuple):
    """A file that findings name lines of; each with its place among the lines that hold code.

    None in place of these where lines are not enough: fixes have what is written there, comments among it.
    """

    path: str
    places: list[tuple[int, int]] | None


class Contents:
    """What files hold, each read once; only what is the content of a given state."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, bytes]] = {}

    def of(self, path: str, state: State | None) -> bytes | None:
        """The content of a file in this state; None where it has none, or holds something else by now."""
        if state is None or state.digest in NO_TEXT:
            return None
        if path not in self._known:
            try:
                with open(path, "rb") as stream:
                    content = stream.read()
            except OSError:
                content = b""
            self._known[path] = digest_of(content), content
        digest, content = self._known[path]
        return content if digest == state.digest else None


def code_in(path: str, content: bytes, text: str, about: About) -> Code | None:
    """The code of a file with this content, whose hash is `text`; None where it cannot be told from comments."""
    code = _code_of(content) if path.endswith(".py") else None
    return None if code is None else Code(text, _hash(code), _said(about(path, content)))


def _code_of(content: bytes) -> bytes | None:
    """The code of a file; None as well where its comments mean something: they divide a script into cells."""
    return None if has_cells(content.decode("latin-1")) else code_of(content)


def with_same_code(
    before: Mapping[str, State], now: Mapping[str, State], codes: Mapping[str, Code], about: About, contents: Contents
) -> dict[str, bytes]:
    """The files that hold other text now, but the same code; each with what it holds."""
    found = {}
    for path, state in now.items():
        known = codes.get(path)
        if known is None or state.digest == before[path].digest or known.text != before[path].digest:
            continue
        content = contents.of(path, state)
        code = _code_of(content) if content is not None else None
        if (
            content is not None
            and code is not None
            and _hash(code) == known.code
            and _said(about(path, content)) == known.about
            and has_plain_comments(code)
        ):
            found[path] = content
    return found


def cited_by(
    path: str, diagnostics: Iterable[Diagnostic], states: Mapping[str, State], contents: Contents
) -> list[Cited]:
    """The places that the findings of a file name."""
    lines: dict[str, set[int]] = {}
    fixed = set()
    for one in diagnostics:
        if one.fix is not None:
            fixed.add(path)
        for cited, line in _places(one, path):
            lines.setdefault(cited, set()).add(line)
    return [
        Cited(cited, None if cited in fixed else _among_code(sorted(named), contents.of(cited, states.get(cited))))
        for cited, named in lines.items()
    ]


def _among_code(lines: list[int], content: bytes | None) -> list[tuple[int, int]] | None:
    if content is None:
        return None
    numbers = code_lines(content)
    places = [bisect_left(numbers, line) for line in lines]
    are_code = all(place < len(numbers) and numbers[place] == line for line, place in zip(lines, places, strict=True))
    return list(zip(lines, places, strict=True)) if are_code else None


def moved(
    known: list[Diagnostic], cited: list[Cited], path: str, same: Mapping[str, bytes]
) -> tuple[list[Diagnostic], list[Cited]] | None:
    """The findings of a file with the places where their lines are now; None where these cannot be told.

    `same` are the files in which only the text has changed, with what they hold now.
    """
    lines: dict[str, dict[int, int]] = {}
    there = []
    for each in cited:
        if each.path in same:
            if each.places is None:
                return None
            numbers = code_lines(same[each.path])
            lines[each.path] = {line: numbers[place] for line, place in each.places}
            each = Cited(each.path, [(numbers[place], place) for _, place in each.places])
        there.append(each)
    return [_moved(one, path, lines) for one in known] if lines else known, there


def _places(one: Diagnostic, path: str) -> Iterator[tuple[str, int]]:
    """The lines that a finding names, each with its file."""
    for line in (one.start.line, one.end.line, *one.statement_lines):
        yield path, line
    for each in one.places:
        for line in (each.start.line, each.end.line, *each.statement_lines):
            yield path, line
    for reason in one.because:
        yield _file_of(reason, one, path), reason.position.line


def _moved(one: Diagnostic, path: str, lines: Mapping[str, Mapping[int, int]]) -> Diagnostic:
    from dataclasses import replace

    def there(file: str, line: int) -> int:
        return lines[file][line] if file in lines else line

    def place(file: str, before: Position) -> Position:
        return replace(before, line=there(file, before.line))

    def there_too(each: Place) -> Place:
        first, last = each.statement_lines
        lines = (there(path, first), there(path, last))
        return replace(each, start=place(path, each.start), end=place(path, each.end), statement_lines=lines)

    first, last = one.statement_lines
    return replace(
        one,
        start=place(path, one.start),
        end=place(path, one.end),
        statement_lines=(there(path, first), there(path, last)),
        places=tuple(map(there_too, one.places)),
        because=tuple(
            replace(reason, position=place(_file_of(reason, one, path), reason.position)) for reason in one.because
        ),
    )


def _file_of(reason: Reason, one: Diagnostic, path: str) -> str:
    """The full path of the file that a reason is in."""
    return path if reason.filename == one.filename else reason.filename


def _hash(code: bytes) -> str:
    return hashlib.sha256(code).hexdigest()


def _said(about: Iterable[str]) -> str:
    return " ".join(sorted(about))
