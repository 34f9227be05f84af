"""Changes of parts of a text, as the server applies them, against a model that counts code units one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

pytest.importorskip("pygls.workspace")

from lsprotocol import types

from dataloader_lint.lsp.documents import Documents, changed

UNITS = ("utf-8", "utf-16", "utf-32")


def place(*numbers: int) -> types.Range:
    first_line, first, last_line, last = numbers
    return types.Range(types.Position(first_line, first), types.Position(last_line, last))


@pytest.mark.parametrize(
    ("text", "where", "new", "expected"),
    [
        ("", (0, 0, 0, 0), "x", "x"),
        ("ab\ncd\n", (0, 1, 1, 1), "-", "a-d\n"),
        ("ab\r\ncd", (0, 2, 1, 0), "", "abcd"),
        ("ab\r\ncd", (0, 3, 0, 9), "-", "ab-\r\ncd"),  # past the end of the line, not into what ends it
        ("ab\rcd", (1, 0, 1, 1), "x", "ab\rxd"),
        ("ab", (0, 9, 0, 9), "c", "abc"),
        ("ab", (5, 0, 9, 3), "c", "abc"),
        ("ab\n", (1, 0, 1, 0), "c", "ab\nc"),
        ("ab\n", (0, 0, 7, 0), "", ""),
        ("abc", (0, 2, 0, 1), "-", "a-c"),  # the wrong way round
        ("a\fb\x0bc\u2028d\x85e", (0, 8, 0, 9), "-", "a\fb\x0bc\u2028d\x85-"),  # none of these ends a line
        ("a\n\n\nb", (1, 0, 3, 0), "", "a\nb"),
        ("é😀x", (0, 3, 0, 4), "-", "é😀-"),
        ("é\ud800x", (0, 2, 0, 3), "-", "é\ud800-"),
        ("a\ud83d", (0, 2, 0, 2), "\ude00", "a😀"),  # the second half of a character
        ("a😀b", (0, 2, 0, 3), "", "a\ud83db"),
        ("a😀b", (0, 1, 0, 2), "", "a\ude00b"),
    ],
)
def test_changes_in_units_of_utf_16(text: str, where: tuple[int, int, int, int], new: str, expected: str) -> None:
    assert changed(text, place(*where), new, "utf-16") == expected


@pytest.mark.parametrize(
    ("units", "first", "last"), [("utf-8", 6, 7), ("utf-16", 3, 4), ("utf-32", 2, 3), (None, 3, 4)]
)
def test_units(units: str | None, first: int, last: int) -> None:
    assert changed("é😀x", place(0, first, 0, last), "-", units) == "é😀-"
    assert changed("é😀x", place(0, 99, 0, 99), "-", units) == "é😀x-"


def test_a_place_within_a_character_of_utf_8_is_in_front_of_it() -> None:
    for column in (2, 3, 4, 5):
        assert changed("é😀x", place(0, column, 0, column), "-", "utf-8") == "é-😀x"


class Model:
    """A text as an editor holds it: code units, by the bytes of each."""

    def __init__(self, text: str, units: str) -> None:
        self._name, self._width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[units]
        self.units = self.split(text)

    def split(self, text: str) -> list[bytes]:
        data = text.encode(self._name, "surrogatepass")
        return [data[at : at + self._width] for at in range(0, len(data), self._width)]

    @property
    def text(self) -> str:
        return b"".join(self.units).decode(self._name, "surrogatepass")

    def position(self, offset: int) -> types.Position:
        """Where a unit stands: editors end lines at these three only."""
        returned, feed = self.split("\r")[0], self.split("\n")[0]
        line = begin = 0
        for at, unit in enumerate(self.units[:offset]):
            is_pair = unit == returned and self.units[at + 1 : at + 2] == [feed]
            if unit == feed or (unit == returned and not is_pair):
                line, begin = line + 1, at + 1
        return types.Position(line, offset - begin)

    def replace(self, first: int, last: int, new: str) -> types.Range:
        found = types.Range(self.position(first), self.position(last))
        self.units[first:last] = self.split(new)
        return found

    def offsets(self) -> list[int]:
        """The places where an edit may begin or end: none within a character of UTF-8, or between the two ends."""
        feeds = [at for at, unit in enumerate(self.units) if unit == self.split("\n")[0]]
        within = {at for at in feeds if at and self.units[at - 1] == self.split("\r")[0]}
        if self._width == 1:
            within |= {at for at, unit in enumerate(self.units) if unit[0] & 0xC0 == 0x80}
        return [at for at in range(len(self.units) + 1) if at not in within]


PIECES = (
    "",
    "x",
    "DataLoader(data, ",
    "\n",
    "\r\n",
    "\r",
    "é",
    "😀",
    "\f",
    "\u2028",
    "\t",
    "a\nb\r\nc",
    "\x85",
    "😀 = 1\n",
)
HALVES = ("\ud83d", "\ude00", "\ud800x")


def go_through(units: str, seed: int, pieces: Sequence[str]) -> None:
    """Random edits and undoing them, several in a message."""
    chance = random.Random(seed)
    workspace = Documents(None, position_encoding=units)
    model = Model("".join(chance.choice(pieces) for _ in range(8)), units)
    uri = "file:///a%20b/x.py"
    workspace.put_text_document(types.TextDocumentItem(uri, "python", 1, model.text))
    undo: list[tuple[int, int, str]] = []
    for version in range(2, 60):
        for _ in range(chance.choice((1, 1, 1, 3))):
            if undo and chance.random() < 0.3 and {undo[-1][0], undo[-1][1]} <= set(model.offsets()):
                first, last, new = undo.pop()
            else:
                first, last = sorted(chance.choices(model.offsets(), k=2))
                if chance.random() < 0.5:
                    last = first
                new = chance.choice(pieces)
                old = b"".join(model.units[first:last]).decode(model._name, "surrogatepass")
                undo.append((first, first + len(model.split(new)), old))
            changing = types.TextDocumentContentChangePartial(range=model.replace(first, last, new), text=new)
            document = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
            workspace.update_text_document(document, changing)
            found = workspace.get_text_document(uri)
            assert (found.source, found.version) == (model.text, version), (seed, units)


@pytest.mark.parametrize("units", UNITS)
def test_random_edits_and_undoing_them(units: str) -> None:
    for seed in range(60):
        go_through(units, seed, PIECES)


def test_random_edits_with_halves_of_characters() -> None:
    for seed in range(60):
        go_through("utf-16", seed, (*PIECES, *HALVES))


def test_what_is_not_open_is_not_changed() -> None:
    workspace = Documents(None)
    document = types.VersionedTextDocumentIdentifier(version=2, uri="file:///x.py")
    workspace.update_text_document(document, types.TextDocumentContentChangeWholeDocument("x = 1\n"))
    notebook = types.VersionedNotebookDocumentIdentifier(version=2, uri="file:///x.ipynb")
    change = types.NotebookDocumentChangeEvent(metadata=None)
    workspace.update_notebook_document(types.DidChangeNotebookDocumentParams(notebook, change))
    assert not workspace.text_documents
    assert not workspace.notebook_documents
