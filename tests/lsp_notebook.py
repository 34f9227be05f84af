"""A notebook in the small editor of `lsp_editor`, whose cells are added, removed, moved and edited."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from lsp_editor import Editor, applied

_NUMBERS = itertools.count()


@dataclass
class Cell:
    """A cell; a new kind or language makes a new document of it in VS Code, but other clients tell the kind alone."""

    uri: str
    kind: types.NotebookCellKind
    language: str

    def sent(self) -> types.NotebookCell:
        return types.NotebookCell(self.kind, self.uri)


class OpenNotebook:
    """What the client holds of a notebook."""

    def __init__(self, me: Editor, path: Path, *texts: str) -> None:
        self.me, self.path, self.uri, self.version = me, path, path.as_uri(), 1
        self.cells = [self._new(text) for text in texts]
        notebook = types.NotebookDocument(self.uri, "jupyter-notebook", 1, [cell.sent() for cell in self.cells])
        items = [self._item(cell) for cell in self.cells]
        me.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))

    def text(self, number: int) -> str:
        return self.me.texts[self.cells[number].uri]

    def json(self) -> bytes:
        """The notebook as it would be saved."""
        kinds = {types.NotebookCellKind.Code: "code", types.NotebookCellKind.Markup: "markdown"}
        cells = [
            {"cell_type": kinds[cell.kind], "metadata": {"vscode": {"languageId": cell.language}}, "source": text}
            for cell, text in ((cell, self.text(number)) for number, cell in enumerate(self.cells))
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()

    def insert(self, at: int, text: str, language: str = "python") -> Cell:
        cell = self._new(text, language)
        self.cells.insert(at, cell)
        self._restructure(at, 0, [cell], opened=[cell])
        return cell

    def remove(self, at: int) -> None:
        cell = self.cells.pop(at)
        self._restructure(at, 1, [], closed=[cell])

    def move(self, at: int, to: int) -> None:
        """One change, from the first to the last cell that is elsewhere afterwards, as VS Code sends it."""
        self.cells.insert(to, self.cells.pop(at))
        first, last = sorted((at, to))
        self._restructure(first, last - first + 1, self.cells[first : last + 1])

    def replace(self, at: int, language: str) -> None:
        """Gives a cell another language, or makes it one of text, as VS Code does: by a new document."""
        old = self.cells[at]
        new = self._new(self.text(at), language)
        self.cells[at] = new
        self._restructure(at, 1, [new], opened=[new], closed=[old])

    def turn(self, at: int, kind: types.NotebookCellKind) -> None:
        """Gives a cell another kind, and tells nothing else."""
        self.cells[at].kind = kind
        self._change(types.NotebookDocumentCellChanges(data=[self.cells[at].sent()]))

    def edit(self, at: int, *changes: tuple[types.Range, str]) -> None:
        uri = self.cells[at].uri
        self.me.versions[uri] += 1
        sent: list[types.TextDocumentContentChangeEvent] = []
        for place, text in changes:
            self.me.texts[uri] = applied(self.me.texts[uri], [types.TextEdit(place, text)])
            sent.append(types.TextDocumentContentChangePartial(range=place, text=text))
        document = types.VersionedTextDocumentIdentifier(version=self.me.versions[uri], uri=uri)
        content = types.NotebookDocumentCellContentChanges(document, sent)
        self._change(types.NotebookDocumentCellChanges(text_content=[content]))

    def save(self) -> None:
        self.path.write_bytes(self.json())
        notebook = types.NotebookDocumentIdentifier(self.uri)
        self.me.client.notebook_document_did_save(types.DidSaveNotebookDocumentParams(notebook))

    def close(self) -> None:
        cells = [types.TextDocumentIdentifier(cell.uri) for cell in self.cells]
        notebook = types.NotebookDocumentIdentifier(self.uri)
        self.me.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(notebook, cells))

    def _new(self, text: str, language: str = "python") -> Cell:
        kind = types.NotebookCellKind.Markup if language == "markdown" else types.NotebookCellKind.Code
        cell = Cell(f"vscode-notebook-cell:{self.path.as_uri()[7:]}#W{next(_NUMBERS)}sZmlsZQ%3D%3D", kind, language)
        self.me.texts[cell.uri], self.me.versions[cell.uri] = text, 1
        return cell

    def _item(self, cell: Cell) -> types.TextDocumentItem:
        return types.TextDocumentItem(cell.uri, cell.language, self.me.versions[cell.uri], self.me.texts[cell.uri])

    def _restructure(
        self,
        start: int,
        removed: int,
        cells: list[Cell],
        opened: list[Cell] | None = None,
        closed: list[Cell] | None = None,
    ) -> None:
        array = types.NotebookCellArrayChange(start, removed, [cell.sent() for cell in cells])
        structure = types.NotebookDocumentCellChangeStructure(
            array,
            [self._item(cell) for cell in opened or ()],
            [types.TextDocumentIdentifier(cell.uri) for cell in closed or ()],
        )
        self._change(types.NotebookDocumentCellChanges(structure=structure))

    def _change(self, cells: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        document = types.VersionedNotebookDocumentIdentifier(self.version, self.uri)
        change = types.NotebookDocumentChangeEvent(cells=cells)
        self.me.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, change))
