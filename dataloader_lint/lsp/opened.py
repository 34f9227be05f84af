"""What is open in the editor, as the linter sees it: a file, or a notebook with its cells."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path

from dataloader_lint.lsp.checking import Document, code_cells
from dataloader_lint.lsp.places import Places
from dataloader_lint.source.notebooks import SUFFIX

if TYPE_CHECKING:
    from pygls.workspace import TextDocument, Workspace

_PYTHON = (None, "", "python")


@dataclass(frozen=True, slots=True)
class Part:
    """A text in the editor with an address of its own: a file, or a cell of a notebook."""

    uri: str
    version: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A document with its version and its parts: a file by None, the Python cells of a notebook by their numbers."""

    uri: str
    version: int | None
    document: Document
    parts: Mapping[int | None, Part]
    units: types.PositionEncodingKind | str

    def part(self, cell: int | None) -> Part:
        """The part with this number; the first one for what concerns a notebook as a whole."""
        return self.parts.get(cell) or next(iter(self.parts.values()))

    def number(self, uri: str) -> int | None:
        """The number of a cell."""
        return next((number for number, part in self.parts.items() if unquote(part.uri) == unquote(uri)), None)

    def places(self, cell: int | None) -> Places:
        """The places in a part."""
        return _places(self.part(cell).text, self.units)


def owner_of(workspace: Workspace, uri: str) -> str:
    """The notebook that a cell belongs to; for other documents their own address, as it was when they were opened."""
    notebook = workspace.get_notebook_document(cell_uri=uri)
    found = notebook or workspace.text_documents.get(unquote(uri))  # that is how pygls keeps them
    return found.uri if found is not None else uri


def owners(workspace: Workspace) -> Iterator[str]:
    """The files and notebooks that are open."""
    for document in workspace.text_documents.values():
        if workspace.get_notebook_document(cell_uri=document.uri) is None:
            yield document.uri
    for notebook in workspace.notebook_documents.values():
        yield notebook.uri


def opened_at(workspace: Workspace, uri: str) -> Opened | None:
    """What is open at the address of a file, a notebook or a cell; None for what holds no Python."""
    units = workspace.position_encoding or types.PositionEncodingKind.Utf16
    notebook = workspace.get_notebook_document(notebook_uri=owner_of(workspace, uri))
    if notebook is not None:
        path = _path(notebook.uri, "untitled.ipynb")
        parts: dict[int | None, Part] = dict(_cells(workspace, notebook))
        text = _json(notebook, parts)
        document = Document(path if path.endswith(SUFFIX) else path + SUFFIX, text, _folder(workspace, notebook.uri))
        return Opened(notebook.uri, notebook.version, document, parts, units)
    found: TextDocument | None = workspace.text_documents.get(unquote(uri))
    if found is None or found.language_id not in _PYTHON:
        return None
    path = _path(found.uri, "untitled.py", os.path.basename(found.path))
    if path.endswith(SUFFIX):  # JSON, or a cell of which an editor does not say what stands in the others
        return None
    part = Part(found.uri, found.version, found.source)
    document = Document(path, part.text, _folder(workspace, found.uri))
    return Opened(found.uri, found.version, document, {None: part}, units)


def is_unsaved(document: Document) -> bool:
    """True if a document holds something else than its file."""
    try:
        status = os.stat(document.path)
        kept = _saved(document.path, document.is_notebook, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    except (OSError, ValueError):
        return True
    return kept != (code_cells(document.text) if document.is_notebook else document.text)


def _cells(workspace: Workspace, notebook: types.NotebookDocument) -> Iterator[tuple[int, Part]]:
    """The Python cells of a notebook by their numbers."""
    for number, cell in enumerate(notebook.cells, start=1):
        found = workspace.text_documents.get(unquote(cell.document))
        is_code = cell.kind is types.NotebookCellKind.Code
        if found is not None and is_code and found.language_id in _PYTHON:
            yield number, Part(found.uri, found.version, found.source)


def _json(notebook: types.NotebookDocument, parts: Mapping[int | None, Part]) -> str:
    """A notebook as it would be saved, without what does not matter to the linter."""
    cells = [
        {"cell_type": "code", "source": parts[number].text} if number in parts else {"cell_type": "raw", "source": ""}
        for number in range(1, len(notebook.cells) + 1)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@lru_cache(maxsize=64)
def _places(text: str, units: types.PositionEncodingKind | str) -> Places:
    return Places(text, units)


@lru_cache(maxsize=256)
def _saved(path: str, is_notebook: bool, *_stamps: int) -> str | tuple[str, ...] | None:
    """What a file holds; of a notebook the texts of its Python cells. Raises OSError or ValueError."""
    if not os.path.isfile(path):  # a pipe would block
        return None
    with open(path, "rb") as stream:
        content = stream.read()
    return code_cells(content) if is_notebook else content.decode("utf-8")


def _folder(workspace: Workspace, uri: str) -> str:
    """The innermost folder in the editor that holds a document."""
    folders = (f"{unquote(folder.uri).rstrip('/')}/" for folder in workspace.folders.values())
    around = [folder for folder in folders if unquote(uri).startswith(folder)]
    return to_fs_path(max(around, key=len)) or "" if around else ""


def _path(uri: str, otherwise: str, name: str = "") -> str:
    """Where a document lies, or would lie if it was saved into the working directory."""
    path = to_fs_path(uri) or os.path.join(os.getcwd(), name or otherwise)
    return path if _is_possible(path) else os.path.join(os.getcwd(), otherwise)


def _is_possible(path: str) -> bool:
    """False for what no file can be called."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeError:
        return False
