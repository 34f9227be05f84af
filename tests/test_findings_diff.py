"""What `benchmarks.findings_diff` takes for the same finding, and two small versions of a tool compared end to end."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import findings_diff, processes, versions
from benchmarks.findings import Change, Edit, Finding, Fix, Kind, Sources, Span, Text, compare, of_codes
from benchmarks.findings_page import render, render_table
from benchmarks.real_code import findings_in
from benchmarks.versions import CodeBase, UnknownVersionError, export, stamp

SOURCE = """\
import torch

class Bars:
    def __init__(self):
        self.paths = []
        self.sizes = []

        self.paths = sorted(self.paths)

def train(loader):
    x = x.cuda()
    y = y.cuda()
    x = x.cuda()

def test(loader):
    x = x.cuda()
"""


def found(row: int, message: str = "`x` is late", *, code: str = "DL401", fix: Fix | None = None) -> Finding:
    return Finding(code, "train.py", Span(0, row, 5, row, 9), (message,), fix)


def fix_at(row: int, content: str = "new", *, safety: str = "safe", title: str = "Mend it") -> Fix:
    return Fix(safety, (Edit(Span(0, row, 5, row, 6), content),), title)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    (tmp_path / "train.py").write_text(SOURCE)
    return Sources(tmp_path)


def kinds(changes: list[Change]) -> list[tuple[Kind, ...]]:
    return [change.kinds for change in changes]


def test_same_findings_do_not_differ(sources: Sources) -> None:
    both = [found(11), found(11), found(12, fix=fix_at(12))]
    assert compare(both, reversed(both), sources) == []


def test_came_and_went(sources: Sources) -> None:
    changes = compare([found(11)], [found(11), found(12, "`y` is late", code="DL101")], sources)
    assert changes == [Change(None, found(12, "`y` is late", code="DL101"))]
    assert kinds(changes) == [(Kind.CAME,)]
    assert kinds(compare([found(11)], [], sources)) == [(Kind.WENT,)]


def test_one_of_two_equal_findings_went(sources: Sources) -> None:
    assert compare([found(11), found(11)], [found(11)], sources) == [Change(found(11), None)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (found(5, "`Bars.paths` is a list"), found(8, "`Bars.paths` is a list")),  # the same message
        (found(5, "`Bars.paths` is a list"), found(8, "`Bars.paths` grows")),  # the same subject
        (found(11, "`x` is late"), found(13, "`loader` pins nothing")),  # the same source line
        (found(11), replace(found(11), span=Span(0, 11, 5, 12, 3))),  # another end
    ],
)
def test_moved(old: Finding, new: Finding, sources: Sources) -> None:
    (change,) = compare([old], [new], sources)
    assert change == Change(old, new)
    assert change.kinds[0] is Kind.MOVED
    assert (Kind.WORDS in change.kinds) == (old.words != new.words)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (found(11), found(16)),  # in another function, although message and source line are the same
        (found(5, "`Bars.paths` is a list"), found(6, "`Bars.sizes` is a list")),
        (found(11), found(13, code="DL402")),
        (found(11), replace(found(13), path="other.py")),
    ],
)
def test_something_else_has_not_moved(old: Finding, new: Finding, sources: Sources) -> None:
    assert sorted(change.kinds[0].value for change in compare([old], [new], sources)) == ["came", "went"]


def test_the_nearest_is_the_one_that_moved(sources: Sources) -> None:
    changes = compare([found(10), found(13)], [found(12)], sources)
    assert changes == [Change(found(10), None), Change(found(13), found(12))]


def test_other_words(sources: Sources) -> None:
    assert kinds(compare([found(11)], [found(11, "`x` waits")], sources)) == [(Kind.WORDS,)]
    titles = [found(11, fix=fix_at(11, title=title)) for title in ("Mend it", "Fix it")]
    assert kinds(compare([titles[0]], [titles[1]], sources)) == [(Kind.WORDS,)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, fix_at(11)),
        (fix_at(11), None),
        (fix_at(11), fix_at(11, safety="unsafe")),
        (fix_at(11), fix_at(11, "other")),
        (fix_at(11), fix_at(12)),
    ],
)
def test_another_fix(old: Fix | None, new: Fix | None, sources: Sources) -> None:
    assert kinds(compare([found(11, fix=old)], [found(11, fix=new)], sources)) == [(Kind.FIX,)]
    reworded = compare([found(11, fix=old)], [found(11, "`x` waits", fix=new)], sources)
    assert kinds(reworded) == [(Kind.FIX, Kind.WORDS)]


def test_a_fix_that_moves_with_its_finding_is_the_same(sources: Sources) -> None:
    old, new = found(11, fix=fix_at(11)), found(13, fix=fix_at(13))
    assert kinds(compare([old], [new], sources)) == [(Kind.MOVED,)]
    unsafe = found(13, fix=fix_at(13, safety="unsafe"))
    assert kinds(compare([old], [unsafe], sources)) == [(Kind.MOVED, Kind.FIX)]


def test_cells_of_notebooks(tmp_path: Path) -> None:
    cells = [{"source": ["# title"]}, {"source": ["import torch\n", "x = x.cuda()\n"]}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    one = Finding("DL401", "a.ipynb", Span(2, 2, 1, 2, 3), ("`x` is late",))
    sources = Sources(tmp_path)
    assert sources.line(one) == "x = x.cuda()"
    assert one.place == "a.ipynb:cell 2:2"
    assert sources.line(replace(one, span=Span(3, 1, 1, 1, 2))) == ""


def test_edits_in_any_order_are_made_from_the_end() -> None:
    edits = [Edit(Span(0, 1, 2, 1, 3), "XY"), Edit(Span(0, 1, 4, 2, 2), "\n-"), Edit(Span(0, 1, 4, 1, 4), "+")]
    assert Text("abc\rdef").edited(edits) == ["aXYc+", "-ef"]


def test_codes_may_be_how_codes_begin() -> None:
    findings = [found(1, code="DL101"), found(1, code="DL102"), found(1, code="DL401")]
    assert of_codes(findings, ["DL102", "DL4"]) == findings[1:]
    assert of_codes(findings, []) == findings


def test_what_is_printed(sources: Sources) -> None:
    old = [found(11, "`x` is late"), found(12, "`y` is late"), found(16, fix=fix_at(16)), found(5, code="DL101")]
    new = [found(11, "`x` waits"), found(12, "`y` waits"), found(16), found(6, "`z` is new", fix=fix_at(6))]
    changes = compare(old, new, sources)
    text = "\n".join(render([("yolo", sources, change) for change in changes]))
    assert text == (
        "DL101: went 1\n"
        "  went  yolo/train.py:5\n"
        "        `x` is late\n"
        "        | self.paths = []\n"
        "\n"
        "DL401: came 1, fix 1, words 2\n"
        "  came  yolo/train.py:6  (safe fix)\n"
        "        `z` is new\n"
        "        | self.sizes = []\n"
        "  fix   yolo/train.py:16  (safe -> no fix)\n"
        "        `x` is late\n"
        "        | x = x.cuda()\n"
        "        fix -     x = x.cuda()\n"
        "        fix +     new = x.cuda()\n"
        "  words yolo/train.py:11\n"
        "        old: `x` is late\n"
        "        new: `x` waits\n"
        "        | x = x.cuda()\n"
        "        and 1 more reworded alike\n"
    )
    table = [line.split() for line in render_table([("yolo", change) for change in changes])]
    assert table[1:] == [
        ["DL101", "yolo", "0", "1", "0", "0", "0"],
        ["DL401", "yolo", "1", "0", "0", "1", "2"],
        ["all", "1", "1", "0", "1", "2"],
    ]
    assert list(render_table([])) == []


def shown(old: Finding, new: Finding, sources: Sources) -> list[str]:
    return [line.strip() for line in render([("yolo", sources, change) for change in compare([old], [new], sources)])]


def test_fixes_are_shown_by_what_differs(sources: Sources) -> None:
    lines = shown(found(11, fix=fix_at(11)), found(11, fix=fix_at(11, "other")), sources)
    assert lines[1] == "fix   yolo/train.py:11  (other edits)"
    assert lines[-3:-1] == ["old fix     new = x.cuda()", "new fix     other = x.cuda()"]
    long = fix_at(11, "new\n" * 30, title="Mend all")
    lines = shown(found(11, fix=long), found(11, fix=replace(long, safety="unsafe", title="Fix all")), sources)
    assert lines[1] == "fix   yolo/train.py:11  (safe -> unsafe fix)"
    assert lines[3:5] == ["old: fix: Mend all", "new: fix: Fix all"]
    assert lines[6:8] == ["fix -     x = x.cuda()", "fix +     new"]
    assert lines[-2] == "and 20 more lines"
    indents = Fix("safe", (Edit(Span(0, 11, 1, 11, 5), "    if x:\n        "),))
    lines = shown(found(11, fix=indents), found(11), sources)
    assert lines[-2:] == ["fix +     if x:", ""]


TOOL = '''\
"""Reports each line that contains a word."""

import json
import os

found = []
for number, line in enumerate(open("train.py"), 1):
    if {word!r} in line:
        place = {{"row": number, "column": 1}}
        found.append({{"cell": None, "code": "DL401", "end_location": place, "filename": os.path.abspath("train.py"),
                      "fix": None, "location": place, "message": "`x` is late", "noqa_row": number, "url": ""}})
print(json.dumps(found))
'''
Tools = Callable[[str, str], str]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    """Makes versions of a tool, by name and program, beside a code base `code/bars` and an empty cache."""
    monkeypatch.setattr(findings_diff, "CACHE", tmp_path / "cache")
    (tmp_path / "code" / "bars").mkdir(parents=True)
    (tmp_path / "code" / "bars" / "train.py").write_text(SOURCE)

    def make(name: str, program: str) -> str:
        package = tmp_path / name / "dataloader_lint"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(program)
        return str(tmp_path / name)

    return make


def test_two_versions(
    tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tools("old", TOOL.format(word="x.cuda")), tools("new", TOOL.format(word="y.cuda"))
    where = ["--over", str(tmp_path / "code"), "--only", "bars"]
    assert findings_diff.main([old, new, *where, "--json", str(tmp_path / "diff.json")]) == 1
    printed = capsys.readouterr().out
    assert "went  bars/train.py:16\n        `x` is late\n        | x = x.cuda()\n" in printed
    assert "moved bars/train.py:12  (was line 11)" in printed
    assert printed.endswith(f"findings: 3 of {old}, 1 of {new}; code bases: 1\n")
    (saved,) = json.loads((tmp_path / "diff.json").read_text())
    assert [change["kinds"] for change in saved["changes"]] == [["went"], ["went"], ["moved"]]
    assert saved["changes"][0]["line"] == "x = x.cuda()"

    assert findings_diff.main([old, new, *where, "--codes", "DL1"]) == 0
    with monkeypatch.context() as patch:
        patch.setattr(versions, "findings_in", None)  # nothing runs again
        assert findings_diff.main([old, new, *where]) == 1
        assert findings_diff.main([new, new, *where]) == 0
    shutil.copytree(new, tmp_path / "copy")
    assert findings_diff.main([new, str(tmp_path / "copy"), *where, "--jobs", "4"]) == 0
    (tmp_path / "code" / "bars" / "train.py").write_text("x = x.cuda()\n")
    capsys.readouterr()
    assert findings_diff.main([old, new, *where]) == 1
    assert capsys.readouterr().out.endswith(f"findings: 1 of {old}, 0 of {new}; code bases: 1\n")


@pytest.mark.parametrize(
    ("program", "why"),
    [("import sys\nsys.exit('it broke')\n", "exits with 1: it broke"), ("print('no JSON')\n", "exits with 0: ")],
)
def test_a_version_that_fails(
    program: str, why: str, tools: Tools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tools("old", TOOL.format(word="x")), tools("new", program)
    for _ in range(2):  # a failure is not kept
        assert findings_diff.main([old, new, "--over", str(tmp_path / "code"), "--only", "bars"]) == 2
        assert f"{new}: bars: the linter {why}\n" in capsys.readouterr().err


def test_a_version_that_hangs_is_ended_with_what_it_started(tools: Tools, tmp_path: Path) -> None:
    program = "import subprocess, time\n"
    program += (
        f"child = subprocess.Popen(['sleep', '60'])\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
    )
    tool = tools("hangs", program + "time.sleep(60)\n")
    with pytest.raises(RuntimeError, match="bars: not done after 3 s"):
        findings_in(tmp_path / "code" / "bars", tool=Path(tool), limit=3)
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not _runs(pid):
            return
        time.sleep(0.1)
    pytest.fail("the child process lives on")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")  # an ended child may wait for the init process to notice
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["none", "none"], "'none' is neither a commit of this repository nor a folder with dataloader_lint/ in it"),
        (["--codes", "DL1,E501", "new", "new"], "no code of a rule, nor how one begins: E501"),
        (["--over", "none", "new", "new"], "no folder none"),
        (["--over", "empty", "new", "new"], "no folders in empty"),
        (["--over", "code", "--over", "code", "new", "new"], "two code bases have the same name: "),
        (["--over", "code", "--only", "foos", "new", "new"], "no such code base: foos"),
        (["--jobs", "0", "new", "new"], "--jobs must be at least 1"),
        (["--json", "none/found.json", "new", "new"], "no folder none"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    why: str,
    tools: Tools,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools("new", TOOL.format(word="x"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        findings_diff.main(arguments)
    assert ended.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"findings_diff: {why}") and errors.count("\n") == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_commit_and_a_checkout_of_it_are_the_same_version(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tools("checkout", "print([])\n")
    git = ["git", "-C", checkout, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "All"]):
        processes.run([*git, *command], check=True)
    monkeypatch.setattr(versions, "ROOT", Path(checkout))
    commit = export("HEAD", tmp_path / "cache")
    assert (commit.folder / "dataloader_lint" / "__main__.py").read_text() == "print([])\n"
    assert export(checkout, tmp_path / "cache").folder == commit.folder
    (Path(checkout) / "dataloader_lint" / "__main__.py").write_text("print([1])\n")
    assert export(checkout, tmp_path / "cache").folder != commit.folder
    with pytest.raises(UnknownVersionError):
        export("--output=x", tmp_path / "cache")


def test_only_so_many_versions_are_kept(tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "KEPT", 2)
    folders = []
    for number in range(3):
        folders.append(export(tools(str(number), f"print({number})\n"), tmp_path / "cache").folder)
        os.utime(folders[-1], (number, number))
    assert [folder.exists() for folder in folders] == [False, True, True]


def test_a_code_base_is_named_by_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    before = stamp(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").touch()
    assert stamp(tmp_path) == before
    (tmp_path / "a.py").write_text("x = 10\n")
    assert stamp(tmp_path) != before
    version = versions.Version("1", tmp_path)
    files = {version.findings_file(CodeBase("a", tmp_path, options), "") for options in ((), ("--isolated",))}
    assert len(files) == 2
