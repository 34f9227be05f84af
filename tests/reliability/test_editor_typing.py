"""Random typing in files and notebooks, over standard input and output: findings are those of the text in a file."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.client")

from lsprotocol import types

from dataloader_lint import Diagnostic, lint_source
from lsp_editor import PATIENCE, Editor, editor
from lsp_notebook import OpenNotebook
from reliability.budget import within

STEPS = 12
PIECES = (
    "from torch.utils.data import DataLoader\n",
    "a = DataLoader(data, persistent_workers=True)\n",
    "b = DataLoader(é, prefetch_factor=2, num_workers=WORKERS)  # 😀\r\n",
    "s = '😀é'; c = DataLoader(data, num_workers=2, collate_fn=lambda x: x)\n",
    "WORKERS = 0\n",
    "WORKERS = 2\r\n",
    "def make(data, n=0):\n    return DataLoader(data, num_workers=n, timeout=9)\n",
    "make([], 0)\n",
    "\f\n",
    "# \u2028 \x85 \x0b\n",
    "\n",
    "x",
    "(",
    ")",
    "'",
)
Shown = tuple[str, int, int, int, int]
Change = tuple[types.Range, str]


def lines_of(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def place(text: str, offset: int) -> types.Position:
    lines = lines_of(text[:offset])
    return types.Position(len(lines) - 1, units(lines[-1]))


def edits(text: str, chance: random.Random) -> list[Change]:
    """Changes, as keys, pasting and deleting make them; each is for the text after the one before it."""
    found: list[Change] = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        starts = [0, *(each.end() for each in re.finditer(r"\r\n|\r|\n", text)), len(text)]
        is_line = chance.random() < 0.7
        first, last = sorted(chance.choices(starts if is_line else range(len(text) + 1), k=2))
        if text[first - 1 : first + 1] == "\r\n" or text[last - 1 : last + 1] == "\r\n":
            continue  # no editor has a place between the two
        if chance.random() < 0.7:
            last = first
        new = chance.choice(PIECES)
        found.append((types.Range(place(text, first), place(text, last)), new))
        text = text[:first] + new + text[last:]
    return found


def as_shown(one: Diagnostic, text: str) -> Shown:
    """A finding as the client should get it."""
    lines = [*lines_of(text), ""]
    columns = [
        units(lines[position.line - 1][: position.column]) if position.line <= len(lines) else 0
        for position in (one.start, one.end)
    ]
    return one.code, one.start.line - 1, columns[0], one.end.line - 1, columns[1]


def shown(found: list[types.Diagnostic]) -> list[Shown]:
    return sorted(
        (str(one.code), one.range.start.line, one.range.start.character, one.range.end.line, one.range.end.character)
        for one in found
    )


async def in_a_file(me: Editor, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = folder / f"file_{seed}.py"
    text = "".join(chance.choice(PIECES[:8]) for _ in range(6))
    uri = me.open(path, text)
    version, done = 1, []
    for _ in range(STEPS):
        expected = sorted(as_shown(one, me.texts[uri]) for one in lint_source(me.texts[uri], str(path)))
        assert shown(await me.said(uri, version)) == expected, (seed, done, me.texts[uri])
        before = me.texts[uri]
        while not (changes := edits(before, chance)):
            pass
        done.append(changes)
        version = me.edit(uri, *changes)
        if chance.random() < 0.2:  # back to what it was
            lines = lines_of(me.texts[uri])
            everything = types.Range(types.Position(0, 0), types.Position(len(lines) - 1, units(lines[-1])))
            version = me.edit(uri, (everything, before))
            assert me.texts[uri] == before
    me.close(uri)


async def in_a_notebook(me: Editor, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = folder / f"notebook_{seed}.ipynb"
    book = OpenNotebook(me, path, *(chance.choice(PIECES[:8]) for _ in range(5)))
    done: list[str] = []
    for _ in range(STEPS):
        assert await cells_shown(book) == expected_in(book), (seed, done, book.json())
        for _ in range(chance.choice((1, 1, 2))):
            done.append(step(book, chance))
    book.close()


def step(book: OpenNotebook, chance: random.Random) -> str:
    """One change of a notebook, of its cells or of a text."""
    at = chance.randrange(len(book.cells))
    kind = chance.choice(("edit", "edit", "insert", "remove", "move", "turn", "language"))
    if kind == "edit":
        changes = edits(book.text(at), chance)
        book.edit(at, *(changes or [(types.Range(types.Position(0, 0), types.Position(0, 0)), "x")]))
    elif kind == "insert":
        book.insert(at, chance.choice(PIECES), chance.choice(("python", "python", "markdown", "r")))
    elif kind == "remove" and len(book.cells) > 2:
        book.remove(at)
    elif kind == "move":
        book.move(at, chance.randrange(len(book.cells)))
    elif kind == "turn":
        others = [each for each in types.NotebookCellKind if each is not book.cells[at].kind]
        book.turn(at, others[0])
    else:
        book.replace(at, chance.choice(("python", "python", "markdown")))
    return f"{kind} {at}"


def expected_in(book: OpenNotebook) -> dict[str, list[Shown]]:
    """The findings by cell that the command would print for the notebook as it stands."""
    found: dict[str, list[Shown]] = {cell.uri: [] for cell in python_cells(book)}
    for one in lint_source(book.json(), str(book.path)):
        assert one.cell is not None
        found[book.cells[one.cell - 1].uri].append(as_shown(one, book.text(one.cell - 1)))
    return {uri: sorted(each) for uri, each in found.items()}


def python_cells(book: OpenNotebook) -> list:  # type: ignore[type-arg]
    return [each for each in book.cells if each.language == "python" and each.kind is types.NotebookCellKind.Code]


async def cells_shown(book: OpenNotebook) -> dict[str, list[Shown]]:
    """What is shown for the cells once the server has nothing more to say."""
    wanted = expected_in(book)
    found: dict[str, list[Shown]] = getattr(book, "shown", {})
    book.shown = found  # type: ignore[attr-defined]
    waited = 0.0
    while {uri: found.get(uri) for uri in wanted} != wanted and waited < PATIENCE:
        try:
            published = await asyncio.wait_for(book.me.published.get(), 1)
            found[published.uri] = shown(list(published.diagnostics))
        except TimeoutError:
            waited += 1
    return {uri: found.get(uri, []) for uri in wanted}


def go_through(folder: Path, play: Callable[[Editor, Path, int], Awaitable[None]], seeds: range) -> None:
    (folder / "setup.cfg").touch()

    async def run() -> None:
        async with editor(folder) as me:
            for seed in within(play.__name__, seeds):
                await play(me, folder, seed)

    asyncio.run(run())


@pytest.mark.parametrize("play", [in_a_file, in_a_notebook])
def test_findings_are_those_of_the_text(tmp_path: Path, play: Callable[[Editor, Path, int], Awaitable[None]]) -> None:
    go_through(tmp_path, play, range(3))


@pytest.mark.long
@pytest.mark.parametrize("play", [in_a_file, in_a_notebook])
def test_findings_are_those_of_the_text_at_length(
    tmp_path: Path, play: Callable[[Editor, Path, int], Awaitable[None]]
) -> None:
    go_through(tmp_path, play, range(3, 10_000))
