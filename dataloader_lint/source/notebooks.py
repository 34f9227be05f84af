"""Jupyter notebooks: the code cells in their JSON, and their new text put back with every other byte as it was."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

from dataloader_lint.source.decoding import UnreadableError

SUFFIX = ".ipynb"

_SPACE = re.compile(r"[ \t\r\n]*")
# A line of a JSON string as it is written, its `\n` with it.
_WRITTEN_LINE = re.compile(r"(?:[^\\]++|\\[^n])*+(?:\\n)?", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ESCAPED_LETTER = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")
_UPGRADE = "open it in Jupyter and save it, which brings it to format 4"


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell in Python: its number, counted from 1 over all cells, its text, and where its `source` is written.

    `start` and `end` are offsets in the notebook's JSON.
    """

    number: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's JSON, its Python cells, and what is wrong with others by the number of the cell."""

    raw: str
    is_marked: bool
    cells: tuple[Cell, ...]
    broken: tuple[tuple[int, str], ...]


def read(source: bytes | str) -> Notebook | None:
    """The Python cells of a notebook; None where its language is another one. Raises UnreadableError."""
    is_marked = isinstance(source, bytes) and source.startswith(codecs.BOM_UTF8)
    raw = _decoded(source)
    content = _parsed(raw)
    if not isinstance(content, dict):
        raise UnreadableError(f"this is JSON but no notebook: it holds {_kind(content)}, not an object")
    version = content.get("nbformat")
    if "worksheets" in content or (isinstance(version, int) and version < 4):
        raise UnreadableError(f"this notebook is in format {version or 3}, and only format 4 is read", _UPGRADE)
    if not isinstance(content.get("cells"), list):
        problem = "has no `cells`" if "cells" not in content else f"has {_kind(content['cells'])} as its `cells`"
        raise UnreadableError(f"this is JSON but no notebook: it {problem}")
    if not _is_python(content):
        return None
    top = _SPACE.match(raw)
    assert top is not None
    # Of a duplicate key the last one counts, as in every JSON parser.
    start = {key: at for key, at, _ in _items(raw, top.end())}["cells"]
    cells: list[Cell] = []
    broken: list[tuple[int, str]] = []
    for number, (cell, (_, at, _end)) in enumerate(zip(content["cells"], _items(raw, start), strict=True), start=1):
        if not isinstance(cell, dict):
            broken.append((number, f"this cell is {_kind(cell)}, not an object"))
        elif "cell_type" not in cell:
            broken.append((number, "this cell has no `cell_type`"))
        elif cell["cell_type"] == "code" and _is_python_cell(cell):
            text = _joined(cell.get("source"))
            if text is None:
                has = f"has {_kind(cell['source'])} as its `source`" if "source" in cell else "has no `source`"
                broken.append((number, f"this cell {has}"))
            else:
                begin, end = {key: (begin, end) for key, begin, end in _items(raw, at)}["source"]
                cells.append(Cell(number, text, begin, end))
    return Notebook(raw, is_marked, tuple(cells), tuple(broken))


def written(notebook: Notebook, texts: Mapping[int, str]) -> bytes:
    """The notebook's bytes with new texts for some of its cells, by their number."""
    raw = notebook.raw
    is_ascii = raw.isascii() and _ESCAPED_LETTER.search(raw) is not None
    parts: list[str] = []
    position = 0
    for cell in notebook.cells:
        text = texts.get(cell.number, cell.text)
        if text != cell.text:
            parts += (raw[position : cell.start], _source(raw[cell.start : cell.end], text, is_ascii))
            position = cell.end
    parts.append(raw[position:])
    mark = codecs.BOM_UTF8 if notebook.is_marked else b""
    return mark + "".join(parts).encode("utf-8")


def changed_cells(old: bytes, new: bytes) -> Iterator[tuple[int, str, str]]:
    """The cells that differ between two versions of a notebook: number, old and new text. Raises UnreadableError."""
    before, after = read(old), read(new)
    if before is not None and after is not None:
        for one, other in zip(before.cells, after.cells, strict=True):
            if one.text != other.text:
                yield one.number, one.text, other.text


def _decoded(source: bytes | str) -> str:
    if isinstance(source, str):
        return source.removeprefix("\ufeff")
    try:
        return source.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"this notebook is not valid UTF-8 (byte 0x{error.object[error.start]:02x})"
        raise UnreadableError(problem, "save it as UTF-8") from None


def _parsed(raw: str) -> Any:
    try:
        return json.loads(raw)
    except json.JSONDecodeError as error:
        problem = f"this notebook is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        advice = "resolve the merge conflict in it" if "\n<<<<<<< " in raw else ""
        raise UnreadableError(problem, advice, error.lineno, error.colno - 1) from None
    except RecursionError:
        raise UnreadableError("this notebook is not valid JSON: it is nested too deeply") from None
    except ValueError:
        raise UnreadableError("this notebook cannot be read: it holds a number with thousands of digits") from None


def _items(raw: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The values in the object or list that begins at an offset of valid JSON: key (or ""), start and end of each."""
    decode = json.JSONDecoder().raw_decode
    is_object = raw[at] == "{"
    position = _skip(raw, at + 1)
    while raw[position] not in "]}":
        key = ""
        if is_object:
            key, position = decode(raw, position)
            position = _skip(raw, _skip(raw, position) + 1)  # behind the colon
        end = decode(raw, position)[1]
        yield key, position, end
        position = _skip(raw, end)
        if raw[position] == ",":
            position = _skip(raw, position + 1)


def _skip(raw: str, position: int) -> int:
    found = _SPACE.match(raw, position)
    assert found is not None
    return found.end()


def _is_python(content: dict[str, Any]) -> bool:
    """True if the kernel runs Python, or the notebook does not name its kernel."""
    metadata = content.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        described = metadata.get(part) if isinstance(metadata, dict) else None
        language = described.get(key) if isinstance(described, dict) else None
        if isinstance(language, str) and language:
            return language.lower().startswith(("python", "ipython"))
    return True


def _is_python_cell(cell: dict[str, Any]) -> bool:
    """VS Code lets a cell have a language of its own."""
    metadata = cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return language in (None, "python")


def _joined(source: object) -> str | None:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _source(raw: str, text: str, is_ascii: bool) -> str:
    """A new text in the shape that the old one is written in. Its unchanged lines stay as they are written."""
    if raw.startswith('"'):
        return _string(raw, text, is_ascii)
    items = [(json.loads(raw[start:end]), start, end) for _, start, end in _items(raw, 0)]
    if len(items) == 1 and len(items[0][0].splitlines()) > 1:
        _, start, end = items[0]
        return raw[:start] + _string(raw[start:end], text, is_ascii) + raw[end:]
    lines = text.splitlines(keepends=True)
    known = {line: raw[start:end] for line, start, end in items}
    encoded = [known.get(line) or json.dumps(line, ensure_ascii=is_ascii) for line in lines]
    if not items or not lines:
        return f"[{', '.join(encoded)}]"
    before, after = raw[: items[0][1]], raw[items[-1][2] :]
    between = [raw[one[2] : other[1]] for one, other in pairwise(items)]
    gaps = _gaps([line for line, _, _ in items], lines, between, f",{before[1:] or ' '}")
    return before + "".join(gap + line for gap, line in zip(["", *gaps], encoded, strict=False)) + after


def _gaps(old: list[str], new: list[str], between: list[str], usual: str) -> list[str]:
    """What stands between new lines: what stood between those that they come from, or else between the first two."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    gaps = []
    for index in range(len(new) - 1):
        at = index if index < same else index - len(new) + len(old)  # those below a change have moved
        gaps.append(between[at] if 0 <= at < len(between) else between[0] if between else usual)
    return gaps


def _string(raw: str, text: str, is_ascii: bool) -> str:
    """A new text as a JSON string."""
    written_lines = filter(None, _WRITTEN_LINE.findall(raw[1:-1]))
    known = {json.loads(f'"{line}"'): line for line in written_lines}
    lines = _LINE.findall(text)
    return '"' + "".join(known.get(line) or json.dumps(line, ensure_ascii=is_ascii)[1:-1] for line in lines) + '"'
