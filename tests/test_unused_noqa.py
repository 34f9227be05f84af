"""DL001: comments that suppress nothing are reported and removed, and no other comment is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import here, run, write
from dataloader_lint import fix_source, lint_source
from dataloader_lint.settings import Settings
from notebook_texts import cell, encoded, notebook

__all__ = ["here"]

IMPORT = "from torch.utils.data import DataLoader\n\n"
RAISES = "loader = DataLoader(data, persistent_workers=True)"

# A line, the codes that are reported, and what the fix makes of the line.
TABLE = [
    ("x = 1  # noqa: DL301", ["DL301"], "x = 1"),
    ("x = 1  # noqa: DL301, DL302", ["DL301, DL302"], "x = 1"),
    ("x = 1  # noqa: E501, DL301", ["DL301"], "x = 1  # noqa: E501"),
    ("x = 1  # noqa: DL301 loaded once", ["DL301"], "x = 1  # loaded once"),
    ("x = 1  # noqa: DL301 - loaded once", ["DL301"], "x = 1  # loaded once"),
    ("x = 1  # noqa: DL301  # type: ignore", ["DL301"], "x = 1  # type: ignore"),
    ("x = 1  # type: ignore # noqa: DL301", ["DL301"], "x = 1  # type: ignore"),
    ("x = 1  # noqa: DL888", ["DL888"], "x = 1"),
    ("x = 1  # noqa: DL3x3", ["DL3x3"], "x = 1"),
    ("x = 1  # noqa: DL999", ["DL999"], "x = 1"),
    (f"{RAISES}  # noqa: DL301", [], None),
    (f"{RAISES}  # noqa: DL3", [], None),
    (f"{RAISES}  # noqa: DL301, DL302", ["DL302"], f"{RAISES}  # noqa: DL301"),
    (f"{RAISES.replace('(data, ', '(data,')}  # noqa: DL302, DL301", ["DL302"], None),
    # What cannot be told, or is not ours.
    ("x = 1  # noqa", [], None),
    ("x = 1  # noqa: E501", [], None),
    ("x = 1  # noqa: DLX100", [], None),
    ("x = 1  # noqa: DL306", [], None),  # opt-in: it did not run
    ("x = 1  # noqa: DL3", [], None),  # some of them did not run
    ('x = "# noqa: DL301"', [], None),
    ('"""A text.\n\n    x = 1  # noqa: DL301\n"""', [], None),
]


@pytest.mark.parametrize(("line", "codes", "fixed"), TABLE)
def test_unused_codes(line: str, codes: list[str], fixed: str | None) -> None:
    source = f"{IMPORT}{line}\nuse(x)\n".encode()
    found = [one for one in lint_source(source, "a.py") if one.code == "DL001"]
    assert [one.problem.partition("`: ")[0] for one in found] == [f"unused `# noqa: {code}" for code in codes]
    if fixed is not None:
        assert fix_source(source, "a.py").source.decode() == f"{IMPORT}{fixed}\nuse(x)\n"
    elif not codes:
        assert lint_source(source, "a.py") == []


@pytest.mark.parametrize(
    ("comment", "codes", "problem", "advice"),
    [
        ("dl301", ["DL001", "DL301"], "`# noqa: dl301` suppresses nothing: codes are in capitals", "write DL301"),
        ("E501, Dl301", ["DL001", "DL301"], "`# noqa: Dl301` suppresses nothing: codes are in capitals", "write DL301"),
        (
            "persistent-workers-without-workers why",
            ["DL001"],
            "`# noqa: persistent-workers-without-workers` suppresses all findings of the line, as it holds no code",
            "write DL301",
        ),
        ("well-known", [], "", ""),
        ("e501", ["DL301"], "", ""),
    ],
)
def test_comments_that_are_misread(comment: str, codes: list[str], problem: str, advice: str) -> None:
    source = f"{IMPORT}{RAISES}  # noqa: {comment}\n".encode()
    found = lint_source(source, "a.py", Settings(select=("DL301", "DL001")))
    assert sorted(one.code for one in found) == codes
    assert [(one.problem, one.advice) for one in found if one.code == "DL001"] == (
        [(problem, advice)] if problem else []
    )
    assert f"# noqa: {comment}" in fix_source(source, "a.py").source.decode()


def test_a_line_with_nothing_else_goes() -> None:
    source = f"{IMPORT}x = 1\r\n    # noqa: DL301\r\ny = 2\r\n".replace("\r\n", "\n").encode()
    assert fix_source(source, "a.py").source.decode() == f"{IMPORT}x = 1\ny = 2\n"
    source = f"{IMPORT}x = 1\n# noqa: DL301".encode()
    assert fix_source(source, "a.py").source.decode() == f"{IMPORT}x = 1\n"


def test_a_comment_counts_for_the_whole_statement() -> None:
    source = f"{IMPORT}loader = DataLoader(\n    data,\n    persistent_workers=True,\n)  # noqa: DL301\n"
    assert lint_source(source, "a.py") == []
    assert [one.code for one in lint_source(source.replace("=True", "=False"), "a.py")] == ["DL001"]


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        (Settings(ignore=("DL301",)), []),
        (Settings(select=("DL302",)), []),
        (Settings(ignore=("DL001",)), []),
        (Settings(ignored_here=("DL301",)), []),
        (Settings(ignore_noqa=True), []),
        (Settings(select=("DL001",)), []),
        (Settings(select=("DL001", "DL301")), ["DL001"]),
    ],
)
def test_settings_decide(settings: Settings, codes: list[str]) -> None:
    assert [one.code for one in lint_source(f"{IMPORT}x = 1  # noqa: DL301\n", "a.py", settings)] == codes


def test_rules_about_spawned_workers_do_not_run_with_fork() -> None:
    source = f"{IMPORT}x = 1  # noqa: DL201\n"
    assert [one.code for one in lint_source(source, "a.py")] == ["DL001"]
    assert lint_source(source, "a.py", Settings(start_method="fork")) == []


def test_unfixable_comments_stay() -> None:
    source = f"{IMPORT}x = 1  # noqa: DL301\n".encode()
    settings = Settings(unfixable=("DL001",))
    result = fix_source(source, "a.py", settings)
    assert (result.source, [one.fix for one in result.remaining]) == (source, [None])


@pytest.mark.usefixtures("here")
def test_on_the_command_line() -> None:
    write("a.py", f"{IMPORT}{RAISES}  # noqa: DL302\n")
    code, out, err = run("--output-format", "concise", "a.py")
    assert (code, err) == (1, "")
    assert [line.split(" ")[1:3] for line in out.splitlines()[:2]] == [["DL301", "[*]"], ["DL001", "[*]"]]
    (_, comment) = json.loads(run("--output-format", "json", "a.py")[1])
    assert comment["fix"]["message"] == "Remove the unused `# noqa: DL302`"
    assert run("--fix", "a.py")[0] == 0
    assert Path("a.py").read_text() == f"{IMPORT}loader = DataLoader(data)\n"


@pytest.mark.usefixtures("here")
def test_add_noqa_adds_no_comment_for_comments() -> None:
    write("a.py", f"{IMPORT}x = 1  # noqa: DL302\n")
    assert run("--add-noqa", "a.py")[:2] == (0, "Added 0 `# noqa` comments in 0 files.\n")
    assert Path("a.py").read_text() == f"{IMPORT}x = 1  # noqa: DL302\n"


@pytest.mark.usefixtures("here")
def test_ignore_noqa_reports_what_comments_suppress() -> None:
    write("a.py", f"{IMPORT}{RAISES}  # noqa: DL301\n")
    write("b.py", f"# flake8: noqa\n{IMPORT}{RAISES}\n")
    assert run("--quiet", ".") == (0, "", "")
    code, out, _ = run("--ignore-noqa", "--output-format", "concise", "--quiet", ".")
    assert (code, [line.split(" ")[:2] for line in out.splitlines()]) == (
        1,
        [["a.py:3:10:", "DL301"], ["b.py:4:10:", "DL301"]],
    )


@pytest.mark.usefixtures("here")
def test_in_notebooks() -> None:
    write("n.ipynb", encoded(notebook(cell(f"{IMPORT}x = 1  # noqa: DL301\n"))))
    code, out, _ = run("--output-format", "concise", "n.ipynb")
    assert (code, out.partition(" [*]")[0]) == (1, "n.ipynb:cell 1:3:8: DL001")
    assert run("--fix", "n.ipynb")[0] == 0
    assert "noqa" not in Path("n.ipynb").read_text()
