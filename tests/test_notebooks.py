"""Notebooks: their cells as one module, findings in cells, repairs written back, and every other byte as it was."""

from __future__ import annotations

import codecs
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import processes
from commands import here, run, write  # noqa: F401
from dataloader_lint import Settings, lint_paths, lint_source
from dataloader_lint.engine.fixer import fix_source, with_fixes
from dataloader_lint.lsp.checking import Document, check
from dataloader_lint.source.cells import join
from dataloader_lint.source.decoding import UnreadableError
from dataloader_lint.source.notebooks import Cell, read, written
from notebook_texts import cell, encoded, notebook, source_of

IMPORT = "from torch.utils.data import DataLoader\n"
BAD = "loader = DataLoader(data, persistent_workers=True)"
GOOD = "loader = DataLoader(data)"


def found(content: Any, **settings: Any) -> list[tuple[int | None, int, int, str]]:
    """Cell, line, column and code of all findings."""
    source = content if isinstance(content, (bytes, str)) else encoded(content)
    return [
        (one.cell, one.start.line, one.start.column, one.code)
        for one in lint_source(source, "nb.ipynb", Settings(**settings))
    ]


def fixed(content: bytes, *, unsafe: bool = False) -> bytes:
    return fix_source(content, "nb.ipynb", Settings(select=("DL",)), unsafe=unsafe).source


def problem(content: bytes) -> str:
    [one] = lint_source(content, "nb.ipynb")
    assert one.code == "DL000"
    return one.message


# Places.


def test_cells_are_counted_as_ruff_counts_them() -> None:
    content = notebook(cell("# Title", "markdown"), IMPORT, cell("raw", "raw"), f"\n{BAD}")
    assert found(content) == [(4, 2, 9, "DL301")]


def test_names_are_known_across_cells() -> None:
    assert found(notebook("import torch.utils.data as d", "workers = 0", "d.DataLoader(x, timeout=5)")) == [
        (3, 1, 0, "DL303")
    ]


def test_places_behind_what_only_ipython_understands() -> None:
    cells = ["%pip install torch\n" + IMPORT, f"!ls \\\n  -l\n{BAD}", f"%time {BAD}", f"%%time\n{BAD}", f"  {BAD}"]
    assert [place[:3] for place in found(notebook(*cells))] == [(2, 3, 9), (3, 1, 15), (4, 2, 9), (5, 1, 11)]


def test_the_end_of_a_finding_and_its_statement() -> None:
    [one] = lint_source(encoded(notebook(IMPORT, "x = 1\nDataLoader(\n  data,\n  persistent_workers=True)")), "n.ipynb")
    assert (one.end.line, one.end.column) == (4, 26)
    assert one.statement_lines == (2, 4)


@pytest.mark.parametrize(
    "source",
    [f"{BAD}  # noqa: DL301", f"{BAD}  # noqa", "DataLoader(\n  data,\n  persistent_workers=True)  # noqa: DL301"],
)
def test_noqa(source: str) -> None:
    assert found(notebook(IMPORT, source, BAD)) == [(3, 1, 9, "DL301")]


def test_a_whole_notebook_can_be_left_out() -> None:
    assert found(notebook(IMPORT, "# flake8: noqa\n", BAD)) == []


# What is read and what is not.


def test_a_broken_cell_does_not_hide_the_others() -> None:
    content = notebook(IMPORT, "def f(:\n    DataLoader", BAD, "class", "x = ...\n-->\n")
    assert found(content) == [(2, 1, 6, "DL000"), (3, 1, 9, "DL301")]


def test_a_command_alone_is_no_error() -> None:
    assert found(notebook(IMPORT, "pip install DataLoader", BAD)) == [(3, 1, 9, "DL301")]


def test_a_broken_cell_can_be_excused() -> None:
    assert found(notebook(IMPORT, "def f(:  # noqa: DL000\n    DataLoader")) == []


def test_cells_with_characters_that_python_refuses() -> None:
    for char in ("\0", "\ud800"):
        content = encoded(notebook(IMPORT, f"x = '{char}'\nDataLoader", BAD), ensure_ascii=True)
        assert found(content) == [(2, 1, 0, "DL000"), (3, 1, 9, "DL301")]


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "R", "name": "ir"}},
        {"language_info": {"name": "julia"}},
        {"language_info": {"name": "scala"}, "kernelspec": {"language": "python"}},
    ],
)
def test_other_languages_are_skipped(metadata: object) -> None:
    assert found(notebook(IMPORT, BAD, metadata=metadata)) == []


@pytest.mark.parametrize("metadata", [{}, None, [], {"kernelspec": None}, {"language_info": {"name": "ipython"}}])
def test_python_where_nothing_says_otherwise(metadata: object) -> None:
    assert len(found(notebook(IMPORT, BAD, metadata=metadata))) == 1


def test_cells_of_another_language_are_skipped() -> None:
    other = cell(f"{IMPORT}{BAD}", metadata={"vscode": {"languageId": "julia"}})
    assert found(notebook(other, "%%julia\n" + BAD, "%%script python2\n" + IMPORT + BAD)) == []


def test_words_in_outputs_alone_do_not_matter() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["DataLoader\n"]}
    assert found(notebook("def f(:\n  pass", cell("x", outputs=[output]))) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"DataLoader", "this notebook is not valid JSON: expecting value"),
        (b'{"cells": [DataLoader', "this notebook is not valid JSON: expecting value"),
        (b'["DataLoader"]', "this is JSON but no notebook: it holds a list, not an object"),
        (b'"DataLoader"', "this is JSON but no notebook: it holds a string, not an object"),
        (b'{"x": "DataLoader"}', "this is JSON but no notebook: it has no `cells`"),
        (b'{"cells": "DataLoader"}', "this is JSON but no notebook: it has a string as its `cells`"),
        (b"DataLoader\xff", "this notebook is not valid UTF-8 (byte 0xff); save it as UTF-8"),
        ("DataLoader".encode("utf-16"), "this notebook is not valid UTF-8 (byte 0xff); save it as UTF-8"),
        (b"[" * 100_000 + b"DataLoader", "this notebook is not valid JSON: it is nested too deeply"),
        (b'{"DataLoader": ' + b"9" * 5000 + b"}", "this notebook cannot be read: it holds a number with"),
        (b'{"cells": []}\n<<<<<<< HEAD\nDataLoader', "this notebook is not valid JSON: extra data; resolve the merge"),
    ],
)
def test_what_is_no_notebook(content: bytes, said: str) -> None:
    assert problem(content).startswith(said)


def test_where_json_is_wrong() -> None:
    assert found(b'{"cells": [\n  DataLoader') == [(None, 2, 2, "DL000")]


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        ({"nbformat": 3, "cells": None, "worksheets": [{"cells": ["DataLoader"]}]}, 3),
        ({"nbformat": 2, "DataLoader": 1}, 2),
        ({"nbformat": None, "worksheets": ["DataLoader"]}, 3),
    ],
)
def test_old_formats(changes: dict[str, Any], version: int) -> None:
    said = problem(encoded(notebook() | changes))
    assert said.startswith(f"this notebook is in format {version}, and only format 4 is read; open it in Jupyter")


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (3, "this cell is a number, not an object"),
        ({"source": BAD}, "this cell has no `cell_type`"),
        ({"cell_type": "code"}, "this cell has no `source`"),
        ({"cell_type": "code", "source": {"a": 1}}, "this cell has an object as its `source`"),
        ({"cell_type": "code", "source": ["a", None]}, "this cell has a list as its `source`"),
    ],
)
def test_a_damaged_cell_does_not_hide_the_others(damaged: object, said: str) -> None:
    content = encoded(notebook(cell("text", "markdown"), damaged, IMPORT + BAD))
    both = lint_source(content, "nb.ipynb")
    assert [(one.cell, one.code) for one in both] == [(2, "DL000"), (3, "DL301")]
    assert both[0].problem == said
    assert [one.cell for one in fix_source(content, "nb.ipynb").remaining] == [2]


def test_markdown_may_be_as_it_likes() -> None:
    assert len(found(notebook({"cell_type": "markdown"}, {"cell_type": "raw", "source": 3}, IMPORT + BAD))) == 1


@pytest.mark.parametrize("content", [b"", b"{}", b"not JSON at all", encoded(notebook("import os"))])
def test_what_cannot_matter_is_not_opened(content: bytes) -> None:
    assert found(content) == []


def test_what_cannot_matter_costs_only_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "nb.ipynb").write_bytes(encoded(notebook("import os\nprint(1)")))
    code = (
        "import sys; from dataloader_lint import lint_paths; before = set(sys.modules);"
        f"assert lint_paths([{str(tmp_path)!r}]) == [];"
        "print(sorted({'json', 're', 'libcst', 'dataloader_lint.source.notebooks'} & (set(sys.modules) - before)))"
    )
    done = processes.run([sys.executable, "-S", "-c", code])
    assert done.returncode == 0, done.stderr
    assert "notebooks" not in done.stdout
    assert "libcst" not in done.stdout


def test_text_that_was_decoded_already() -> None:
    assert found(encoded(notebook(IMPORT, BAD)).decode()) == [(2, 1, 9, "DL301")]


def test_editors_get_the_findings_of_the_command_line() -> None:
    content = encoded(notebook(IMPORT, BAD))
    checked = check(Document("/x/nb.ipynb", content.decode()), [])
    assert list(checked.found) == lint_source(content, "/x/nb.ipynb")
    assert [(one.cell, one.code) for one in checked.found] == [(2, "DL301")]


# The project around it.


def test_a_notebook_sees_the_modules_of_its_project(tmp_path: Path) -> None:
    (tmp_path / "options.py").write_text("import torch.utils.data\n\nWORKERS = 0\n")
    content = notebook(f"{IMPORT}from options import WORKERS", f"{BAD[:-1]}, num_workers=WORKERS)")
    path = tmp_path / "nb.ipynb"
    path.write_bytes(encoded(content))
    assert [(one.cell, one.code) for one in lint_paths([tmp_path])] == [(2, "DL301")]


# Repairs.

STYLES: list[dict[str, Any]] = [
    {},
    {"ensure_ascii": True},
    {"indent": None},
    {"indent": None, "separators": (",", ":")},
    {"indent": 4},
    {"indent": "\t"},
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("shape", ["lines", "text", "one line", "lines without ends"])
def test_only_the_cell_changes(style: dict[str, Any], shape: str) -> None:
    text = f"# größer 😀 \\ \"x\" \t\n{BAD}  # stays\nx = '\\n'  # 好"
    source: object = {"lines": text.splitlines(keepends=True), "text": text}.get(shape, [text])
    if shape == "lines without ends":
        source = [part for line in text.splitlines(keepends=True) for part in (line[:5], line[5:])]
    output = {"output_type": "stream", "name": "stdout", "text": [f"{BAD}\n", "é"]}
    made = cell(source, execution_count=7, outputs=[output], id="a", metadata={"b": 1.50})
    content = encoded(notebook(cell("# é", "markdown"), IMPORT, made, "# unchanged ü"), **style)
    after = fixed(content)
    expected = text.replace(BAD, GOOD)
    assert source_of(after, 3) == expected
    old, new = json.loads(content), json.loads(after)
    assert isinstance(new["cells"][2].pop("source"), str) is isinstance(old["cells"][2].pop("source"), str)
    assert new == old
    if shape != "lines without ends":
        assert after == content.replace(BAD.encode(), GOOD.encode(), 1)
    assert fixed(after) == after


def test_bytes_around_stay_as_they_are() -> None:
    content = codecs.BOM_UTF8 + (
        b'{ "nbformat":4,\r\n\t"cells" : [ {"source":["from torch.utils.data import DataLoader\\n" ,\r\n '
        b'"DataLoader(d, persistent_workers=True)\\n","\\u0078 = 1 \\/ 2"], "cell_type" :"code"}],'
        b'"n":[1e5,1.0] }  \r\n\r\n'
    )
    assert fixed(content) == content.replace(b", persistent_workers=True", b"")


def test_a_key_that_is_there_twice() -> None:
    line = json.dumps(IMPORT + BAD)
    content = f'{{"cells": 1, "cells": [{{"cell_type": "code", "source": "x", "source": {line}}}]}}'.encode()
    assert fixed(content) == content.replace(b", persistent_workers=True", b"")


def test_repairs_that_reach_several_cells() -> None:
    after = fixed(encoded(notebook(IMPORT, BAD, "x = 1", BAD)))
    assert [source_of(after, cell) for cell in (2, 3, 4)] == [GOOD, "x = 1", GOOD]


def test_what_only_ipython_understands_stays() -> None:
    text = f"%%time\n%matplotlib inline\n!ls \\\n  -l\nfiles = !ls *.png\n{BAD}\n%time {BAD}\nloader?"
    after = fixed(encoded(notebook(IMPORT, text)))
    assert source_of(after, 2) == text.replace(BAD, GOOD)


def test_an_indented_cell_is_repaired_in_place() -> None:
    text = f"    x = 1\n    {BAD}"
    assert source_of(fixed(encoded(notebook(IMPORT, text))), 2) == text.replace(BAD, GOOD)


def test_a_statement_that_goes_takes_its_line_along() -> None:
    cells = [IMPORT, "loader = DataLoader(data)\nloader.shuffle = True", "x = 1"]
    content = encoded(notebook(*cells))
    result = fix_source(content, "nb.ipynb", Settings(), unsafe=True)
    changed = [source_of(result.source, number) for number in (1, 2, 3)]
    assert changed[0] == cells[0]
    assert changed[2] == cells[2]
    assert not changed[1].endswith("\n\n")


@pytest.mark.thorough
def test_every_other_repair_stays_in_its_cell(tmp_path: Path) -> None:
    """The fixed fixtures of all rules, each as a notebook with a cell before and after it."""
    folder = Path(__file__).parent / "fixtures"
    changed = 0
    for file in sorted(folder.glob("DL[1-6]*/reported*.py")):
        text = file.read_text(encoding="utf-8-sig", errors="replace")
        content = encoded(notebook("first = 1", text, "last = 1\n"))
        result = fix_source(content, str(tmp_path / "nb.ipynb"), Settings(select=(file.parent.name,)), unsafe=True)
        old, new = json.loads(content), json.loads(result.source)
        assert source_of(result.source, 1) == "first = 1"
        assert source_of(result.source, 3) == "last = 1\n"
        compile(source_of(result.source, 2), str(file), "exec")
        for one in (*old["cells"], *new["cells"]):
            del one["source"]
        assert old == new
        changed += result.source != content
    assert changed > 10


def test_fixes_are_told_by_cell() -> None:
    content = encoded(notebook(IMPORT, "x = 1", f"%time {BAD}"))
    for diagnostics in (with_fixes(content, "nb.ipynb"), lint_source(content, "nb.ipynb", fixes=True)):
        [one] = diagnostics
        assert one.fix is not None
        [edit] = one.fix.edits
        assert (edit.cell, edit.start.line, edit.start.column, edit.content) == (3, 1, 6 + BAD.index(","), "")


def test_edits_that_would_break_a_cell_are_refused() -> None:
    cells = [Cell(1, "%time x = 1\n!ls", 0, 0), Cell(2, "y = 2", 0, 0)]
    module = join(cells)
    assert module.text == "x = 1\npass\n\n\ny = 2\n\n\n"
    second = module.starts[1]

    def after(*edits: tuple[int, int, str]) -> list[str] | None:
        done = module.spliced(edits)
        return None if done is None else [one.text for one in done]

    assert after((4, 5, "3"), (second, second, "z = 0\n")) == ["%time x = 3\n!ls", "z = 0\ny = 2"]
    assert after((0, 0, "z = 0\n")) == ["z = 0\n%time x = 1\n!ls", "y = 2"]
    assert after((10, 10, "\nz = 0")) == ["%time x = 1\n!ls\nz = 0", "y = 2"]
    assert after((11, 11, "z = 0\n")) == ["%time x = 1\n!ls\nz = 0", "y = 2"]
    assert after((6, 10, "")) is None  # the line that stands for the command
    assert after((4, second + 1, "")) is None  # two cells
    assert after((10, 12, "")) is None  # what parts them


def test_reading_and_writing_change_nothing() -> None:
    for style in STYLES:
        content = encoded(notebook(IMPORT, "", [], "x = '\\u00e9'\n\n", cell("a\r\nb")), **style)
        opened = read(content)
        assert opened is not None
        assert written(opened, {}) == content
        assert written(opened, {one.number: one.text for one in opened.cells}) == content


def test_new_lines_in_empty_cells_are_written_as_json() -> None:
    content = encoded(notebook("", cell("")), indent=None)
    opened = read(content)
    assert opened is not None
    assert source_of(written(opened, {1: "a\nb"}), 1) == "a\nb"


def test_emptied_cells_are_empty_lists() -> None:
    content = encoded(notebook("x = 1\ny = 2"))
    opened = read(content)
    assert opened is not None
    assert json.loads(written(opened, {1: ""}))["cells"][0]["source"] == []


@pytest.mark.parametrize(
    "new", ["b\nc", "a\nb", "a\nc", "x\na\nb\nc", "a\nb\nc\nx", "a\nx\nb\nc", "a\nx\ny\nc", "x\ny\nz"]
)
@pytest.mark.parametrize("style", STYLES)
def test_lines_that_come_and_go_are_written_as_jupyter_writes_them(new: str, style: dict[str, Any]) -> None:
    content = encoded(notebook("a\nb\nc", "d"), **style)
    opened = read(content)
    assert opened is not None
    text = new.replace(" ", "\n")
    assert written(opened, {1: text}) == encoded(notebook(text, "d"), **style)


def test_errors_name_the_notebook() -> None:
    with pytest.raises(UnreadableError):
        read(b"[]")


# The command line.

pytestmark = pytest.mark.usefixtures("here")
ONLY = ("--select", "DL301")


def test_command_line() -> None:
    content = encoded(notebook(cell("# Title", "markdown"), IMPORT, BAD))
    write("a/nb.ipynb", content)
    write("a/.ipynb_checkpoints/nb-checkpoint.ipynb", content)
    code, out, err = run(*ONLY, "--output-format", "concise")
    assert (code, err) == (1, "")
    assert out.startswith("a/nb.ipynb:cell 3:1:10: DL301 ")
    assert "Found 1 problem: 1 error." in out
    assert f"\n1 | {BAD}\n" in run(*ONLY)[1]
    [one] = json.loads(run(*ONLY, "--output-format", "json")[1])
    assert (one["cell"], one["location"]) == (3, {"column": 10, "row": 1})
    assert [(edit["cell"], edit["location"]["row"]) for edit in one["fix"]["edits"]] == [(3, 1)]

    code, out, err = run(*ONLY, "--diff")
    assert (code, err.splitlines()[0]) == (1, "Would fix 1 problem; 0 would remain.")
    assert out == f"--- a/nb.ipynb:cell 3\n+++ a/nb.ipynb:cell 3\n@@ -1 +1 @@\n-{BAD}\n+{GOOD}\n"
    assert Path("a/nb.ipynb").read_bytes() == content
    code, out, err = run(*ONLY, "--fix")
    made = "  fixed 1 DL301 persistent-workers-without-workers\n"
    assert (code, out, err) == (0, f"Found 1 problem (1 fixed, 0 remaining).\n{made}  changed a/nb.ipynb\n", "")
    assert Path("a/nb.ipynb").read_bytes() == content.replace(BAD.encode(), GOOD.encode())
    assert Path("a/.ipynb_checkpoints/nb-checkpoint.ipynb").read_bytes() == content


def test_standard_input() -> None:
    content = encoded(notebook(IMPORT, BAD))
    code, out, _ = run(*ONLY, "--output-format", "concise", "--stdin-filename", "x.ipynb", "-", stdin=content)
    assert (code, out.split(" DL301")[0]) == (1, "x.ipynb:cell 2:1:10:")
    code, out, _ = run(*ONLY, "--fix", "--stdin-filename", "x.ipynb", "-", stdin=content)
    assert out.encode() == content.replace(BAD.encode(), GOOD.encode())
    assert f"1 | {BAD}" in run(*ONLY, "--stdin-filename", "x.ipynb", "-", stdin=content)[1]
