"""Notebooks in the language server, cell by cell, as a client over standard input and output sees them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.client")

from lsprotocol import types

from dataloader_lint import lint_source
from lsp_editor import Editor, editor
from lsp_notebook import OpenNotebook
from notebook_texts import encoded, notebook

pytestmark = pytest.mark.thorough

IMPORT = "from torch.utils.data import DataLoader"
BAD = "loader = DataLoader(data, persistent_workers=True)"
ALL = types.Range(types.Position(0, 0), types.Position(10_000, 0))


def at(line: int, first: int, last: int | None = None) -> types.Range:
    return types.Range(types.Position(line, first), types.Position(line, first if last is None else last))


def session(folder: Path, play: Callable[[Editor], Awaitable[None]], **options: object) -> None:
    async def run() -> None:
        async with editor(folder, **options) as me:  # type: ignore[arg-type]
            await play(me)

    asyncio.run(run())


async def codes(book: OpenNotebook) -> list[list[str]]:
    """The codes that are shown for each cell, once the server has said them for all that can have some."""
    found: dict[str, list[str]] = {}
    wanted = {cell.uri for cell in book.cells if cell.language == "python" and cell.kind is types.NotebookCellKind.Code}
    versions = {uri: book.me.versions[uri] for uri in wanted}
    while not wanted <= found.keys():
        published = await asyncio.wait_for(book.me.published.get(), 60)
        if published.version in (None, versions.get(published.uri)):
            found[published.uri] = [str(one.code) for one in published.diagnostics]
    return [found.get(cell.uri, []) for cell in book.cells]


def test_cells_are_added_removed_moved_and_edited(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        book = OpenNotebook(me, tmp_path / "a b.ipynb", IMPORT, BAD)
        assert await codes(book) == [[], ["DL301"]]
        book.edit(1, (at(0, len(BAD) - 1), ", num_workers=WORKERS"))
        assert await codes(book) == [[], []]
        book.insert(1, "WORKERS = 0\n")
        assert await codes(book) == [[], [], ["DL301"]]
        book.edit(1, (at(0, 10, 11), "2"))
        assert await codes(book) == [[], [], []]
        book.insert(0, "# Text with DataLoader(data, persistent_workers=True)", "markdown")
        book.insert(0, f"x = 1\n{BAD}")
        assert await codes(book) == [["DL301"], [], [], [], []]
        book.move(0, 4)
        assert await codes(book) == [[], [], [], [], ["DL301"]]
        [one] = lint_source(book.json(), "a.ipynb")
        assert (one.cell, one.code) == (5, "DL301")
        book.remove(1)
        assert await codes(book) == [[], [], [], []]  # nothing is imported any more
        book.edit(1, (at(0, 0), "from torch.utils.data import Dataset\n"), (at(0, 29, 36), "DataLoader"))
        assert await codes(book) == [[], [], [], ["DL301"]]
        assert book.text(1) == f"{IMPORT}\nWORKERS = 2\n"

        uris = [cell.uri for cell in book.cells]
        book.close()
        said = [await asyncio.wait_for(me.published.get(), 60) for _ in range(3)]
        assert {one.uri for one in said} == {uris[1], uris[2], uris[3]}
        assert all(not one.diagnostics for one in said)

    session(tmp_path, play)


def test_kinds_and_languages_change(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        book = OpenNotebook(me, tmp_path / "a.ipynb", IMPORT, BAD, BAD)
        assert await codes(book) == [[], ["DL301"], ["DL301"]]
        gone = book.cells[1].uri
        book.turn(1, types.NotebookCellKind.Markup)
        assert await me.said(gone) == []
        assert (await codes(book))[2] == ["DL301"]
        assert await me.actions(gone, ALL) == []
        assert await me.hover(gone, 0, 12) == ""
        book.turn(1, types.NotebookCellKind.Code)
        assert await codes(book) == [[], ["DL301"], ["DL301"]]
        gone = book.cells[2].uri
        book.replace(2, "r")
        assert await me.said(gone) == []
        assert await codes(book) == [[], ["DL301"], []]
        book.replace(2, "python")
        assert await codes(book) == [[], ["DL301"], ["DL301"]]

    session(tmp_path, play)


@pytest.mark.parametrize("resolves", [(), ("edit",)])
def test_quick_fixes_change_their_cells(tmp_path: Path, resolves: tuple[str, ...]) -> None:
    first = f"%matplotlib inline\n{IMPORT}\ns = '😀'; {BAD}"
    second = "import torch\nother = DataLoader(more, num_workers=0, prefetch_factor=2)\r\n!ls"

    async def play(me: Editor) -> None:
        book = OpenNotebook(me, tmp_path / "a.ipynb", first, "", second)
        assert await codes(book) == [["DL301"], [], ["DL302"]]
        uri, _, other = (cell.uri for cell in book.cells)
        fix, comment, everything = await me.actions(uri, at(2, 25))
        assert (fix.title, fix.kind) == ("DL301: Remove `persistent_workers`", "quickfix")
        assert me.all_after(fix) == {uri: first.replace(", persistent_workers=True", "")}
        assert me.all_after(comment) == {uri: f"{first}  # noqa: DL301"}
        assert everything.title == "Fix all safely fixable DataLoader findings in this notebook"
        if resolves:
            everything = await me.resolved(everything)
        assert me.all_after(everything) == {
            uri: first.replace(", persistent_workers=True", ""),
            other: second.replace(", prefetch_factor=2", ""),
        }
        [saving] = await me.actions(other, ALL, ["notebook.source.fixAll"])
        assert saving.kind == "notebook.source.fixAll.dataloader-lint"
        assert "DL302" in await me.hover(other, 1, 12)
        assert await me.hover(uri, 1, 0) == ""

    session(tmp_path, play, resolves=resolves)


def test_unsaved_cells_are_callers_of_other_files_until_the_notebook_is_closed(tmp_path: Path) -> None:
    part = f"{IMPORT}\n\n\ndef make(data, workers):\n    return DataLoader(data, num_workers=workers, timeout=9)\n"
    use = "from part import make\nfrom torch.utils.data import DataLoader\nmake([], workers=2)\n"
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "part.py").write_text(part)
    path = tmp_path / "use.ipynb"
    path.write_bytes(encoded(notebook(use)))

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "part.py", part)
        assert await me.said(uri, 1) == []
        book = OpenNotebook(me, path, use)
        assert await codes(book) == [[]]
        book.edit(0, (at(2, 17, 18), "0"))
        assert [one.code for one in await me.said(uri, 1)] == ["DL303"]
        assert lint_source(part, str(tmp_path / "part.py")) == []  # not in the file yet
        book.close()
        assert await me.said(uri, 1) == []

    session(tmp_path, play)


def test_saving_a_notebook_looks_at_other_files_again(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()

    async def play(me: Editor) -> None:
        uri = me.open(tmp_path / "train.py", f"{IMPORT}\n{BAD}\n")
        assert len(await me.said(uri, 1)) == 1
        book = OpenNotebook(me, tmp_path / "a.ipynb", IMPORT)
        assert await codes(book) == [[]]
        book.save()
        assert len(await me.said(uri, 1)) == 1
        assert json.loads(book.path.read_bytes())["cells"]

    session(tmp_path, play)


def test_json_and_single_cells_get_no_findings(tmp_path: Path) -> None:
    async def play(me: Editor) -> None:
        me.open(tmp_path / "a.ipynb", encoded(notebook(IMPORT, BAD)).decode(), "json")
        cell = tmp_path / "b.ipynb"
        me.open(cell, f"{IMPORT}\n{BAD}\n")  # by a client that does not say what stands in the other cells
        uri = me.open(tmp_path / "c.py", f"{IMPORT}\n{BAD}\n")
        while (published := await asyncio.wait_for(me.published.get(), 60)).uri != uri:
            assert not published.diagnostics
        assert await me.actions(cell.as_uri(), ALL) == []

    session(tmp_path, play)
