"""What holds for every notebook: where findings are, that nothing else changes, and that nothing crashes."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataloader_lint import Settings, lint_source
from dataloader_lint.edits import Edit, splice
from dataloader_lint.edits.texts import CellText
from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.source.cells import join
from dataloader_lint.source.decoding import split_lines
from dataloader_lint.source.magics import to_python
from dataloader_lint.source.notebooks import read, written
from notebook_texts import encoded, notebook

pytestmark = pytest.mark.thorough

FIXTURES = Path(__file__).parent / "fixtures"
# These say something else of notebooks.
ABOUT_IMPORTS = {"DL201", "DL202", "DL203", "DL204", "DL206", "DL208", "DL210", "DL211"}

LINES = st.sampled_from(
    [
        "import torch",
        "from torch.utils.data import DataLoader",
        "loader = DataLoader(data, persistent_workers=True)",
        "DataLoader(data, num_workers=0, prefetch_factor=2)  # noqa: DL302",
        "%time loader = DataLoader(data, timeout=3)",
        "for batch in loader:",
        "    batch = batch.cuda()",
        "    !ls {batch}",
        "%%time",
        "%%bash",
        "%matplotlib inline",
        "!pip install a \\",
        "files = !ls *.png",
        "loader?",
        "'''",
        '"""%not a magic',
        "f(a,",
        "  % b)",
        "x = 'größer 😀 \\n'",
        "",
        "   ",
        "\t",
        "class",
        "# flake8: noqa: no",
    ]
)
NEWLINES = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\f\n", "\u2028"])
TEXTS = st.lists(st.tuples(LINES, NEWLINES), max_size=8).map(
    lambda lines: "".join(line + end for line, end in lines).removesuffix("\n")
)
STYLES = st.sampled_from(
    [{}, {"ensure_ascii": True}, {"indent": None}, {"indent": 3}, {"indent": None, "separators": (",", ":")}]
)


@st.composite
def notebooks(draw: st.DrawFn) -> bytes:
    cells: list[Any] = draw(st.lists(TEXTS, min_size=1, max_size=5))
    made = notebook(*cells)
    for cell in made["cells"]:
        if draw(st.booleans()):
            cell["source"] = "".join(cell["source"])
    return encoded(made, **draw(STYLES))


@settings(deadline=None)
@given(TEXTS)
def test_lines_stay_and_the_cell_comes_back(cell: str) -> None:
    python, hidden = to_python(cell)
    assert len(split_lines(python)) == len(split_lines(cell))
    for piece in reversed(hidden):
        python = python[: piece.start] + piece.original + python[piece.end :]
    assert python == cell


@settings(deadline=None)
@given(notebooks(), st.data())
def test_edits_change_nothing_but_sources(content: bytes, data: st.DataObject) -> None:
    opened = read(content)
    assert opened is not None
    assert written(opened, {cell.number: cell.text for cell in opened.cells}) == content
    text = CellText(join(opened.cells))
    place = st.integers(0, len(text.text))
    start, end = sorted((data.draw(place), data.draw(place)))
    added = data.draw(st.sampled_from(["", "x = 1\n", "y", "é"]))
    edit = Edit(start, end if data.draw(st.booleans()) else start, added)
    after = text.spliced([edit])
    if after is None:
        return
    assert after.text == splice(text.text, [edit])
    texts = {cell.number: cell.text for cell in after.cells.cells}
    new = written(opened, texts)
    again = read(new)
    assert again is not None
    assert {cell.number: cell.text for cell in again.cells} == texts
    assert _without_sources(new) == _without_sources(content)


@settings(max_examples=60, deadline=None)
@given(notebooks())
def test_repairs_and_findings(content: bytes) -> None:
    codes = Settings(select=("DL3", "DL4", "DL000", "DL999"))
    for one in lint_source(content, "nb.ipynb", codes, fixes=True):
        assert one.code != "DL999", one.message
        assert one.cell is not None
        source = "".join(json.loads(content)["cells"][one.cell - 1]["source"])
        lines = split_lines(source)
        assert one.start.line <= len(lines)
        if one.code != "DL000":
            found = lines[one.start.line - 1][one.start.column :]
            assert found.startswith(("DataLoader(", "batch.cuda()")), found
    result = fix_source(content, "nb.ipynb", codes)
    assert _without_sources(result.source) == _without_sources(content)
    assert fix_source(result.source, "nb.ipynb", codes).source == result.source


def test_cells_make_no_difference() -> None:
    """Every fixture with each of its statements in a cell of its own: the same findings at the same places."""
    compared = 0
    for file in sorted(FIXTURES.glob("DL*/*.py")):
        text = file.read_bytes().decode("utf-8", "replace")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        if file.parent.name in ABOUT_IMPORTS or re.search("\r|\f", text):
            continue
        begins = {min(each.lineno for each in (node, *getattr(node, "decorator_list", ()))) for node in tree.body}
        starts = sorted({0, *(line - 1 for line in begins)})
        lines = text.split("\n")
        cells = ["\n".join(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
        only = Settings(select=(file.parent.name,))
        expected = [(one.start.line, one.start.column, one.message) for one in lint_source(text, "/x/nb.py", only)]
        found = [
            (one.start.line + starts[(one.cell or 0) - 1], one.start.column, one.message)
            for one in lint_source(encoded(notebook(*cells)), "/x/nb.ipynb", only)
        ]
        assert found == expected, file
        compared += len(found)
    assert compared > 200


def _without_sources(content: bytes) -> Any:
    made = json.loads(content)
    for cell in made["cells"]:
        cell["source"] = type(cell["source"]).__name__
    return made
