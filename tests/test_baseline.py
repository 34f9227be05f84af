"""`--baseline` and `--write-baseline`: only what is new is reported."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commands import BAD, ONLY, here, run, write
from dataloader_lint.engine import baseline

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
LINE = BAD.splitlines()[2]
PLACES = ("--output-format", "concise", "--quiet", *ONLY)


def places(*arguments: str) -> list[str]:
    code, out, err = run(*PLACES, "--baseline", "base.json", *arguments)
    assert (code, err) == (1 if out else 0, "")
    return [line.split(" ")[0] for line in out.splitlines()]


def test_what_is_in_the_baseline_is_not_reported_wherever_it_moves() -> None:
    write("src/a.py", BAD)
    write("b.py", BAD + BAD)
    assert run(*ONLY, "--write-baseline", "base.json") == (0, "Wrote 3 findings to base.json.\n", "")
    assert run(*ONLY, "--baseline", "base.json") == (
        0,
        "All checks passed!\n3 findings of the baseline are not shown.\n",
        "",
    )
    write("src/a.py", "import os\n\n\ndef make():\n    " + BAD.replace("\n\n", "\n    ") + "\n# the end\n")
    write("b.py", BAD + "\n\n" + BAD.replace("loader = Data", "loader =  Data"))
    assert places() == []
    write("b.py", BAD + BAD + BAD)
    assert places() == ["b.py:9:10:"]
    write("b.py", BAD + BAD.replace("loader =", "other ="))
    write("new.py", BAD)
    code, out, err = run(*ONLY, "--baseline", "base.json", "--output-format", "concise")
    assert code == 1
    assert [line.split(" ")[0] for line in out.splitlines()] == ["b.py:6:9:", "new.py:3:10:", "Found", "2", "[*]"]
    assert out.splitlines()[2:] == [
        "Found 2 problems: 2 errors.",
        "2 findings of the baseline are not shown.",
        "[*] 2 fixable with the `--fix` option.",
    ]
    message = "dataloader-lint: 1 finding of base.json was not found any more; --write-baseline base.json drops it\n"
    assert err == message


def test_the_file_can_be_read_and_reviewed() -> None:
    write("b.py", BAD + BAD)
    write("ü.py", BAD.replace("data,", "数据,"))
    run(*ONLY, "--write-baseline", "base.json")
    text = Path("base.json").read_text(encoding="utf-8")
    assert text.count("\n") == 7
    assert json.loads(text)["version"] == 1
    first, second = json.loads(text)["findings"]
    assert first == {"path": "b.py", "code": "DL301", "line": LINE, "count": 2}
    assert (second["path"], second["line"]) == ("ü.py", LINE.replace("data,", "数据,"))
    assert "数据" in text
    run(*ONLY, "--write-baseline", "again.json")
    assert Path("again.json").read_text(encoding="utf-8") == text
    write("b.py", "")
    write("ü.py", "")
    assert run("--write-baseline", "base.json")[1] == "Wrote 0 findings to base.json.\n"
    assert baseline.load(Path("base.json").read_text(encoding="utf-8")) == {}


def test_paths_count_from_the_baseline() -> None:
    write("repo/src/a.py", BAD)
    Path("repo/ci").mkdir()
    assert run(*ONLY, "--write-baseline", "repo/ci/base.json", "repo")[0] == 0
    entries = json.loads(Path("repo/ci/base.json").read_text())["findings"]
    assert [one["path"] for one in entries] == ["../src/a.py"]
    os.chdir("repo/src")
    assert run(*ONLY, "--baseline", "../ci/base.json", "--quiet") == (0, "", "")
    os.chdir("../..")
    Path("repo").rename("moved")
    assert run(*ONLY, "--baseline", "moved/ci/base.json", "--quiet", "moved/src/a.py") == (0, "", "")


def test_stale_entries_are_those_that_the_run_could_have_found() -> None:
    write("a.py", BAD)
    write("b.py", BAD)
    write("c.py", BAD)
    assert run(*ONLY, "--write-baseline", "base.json")[0] == 0
    write("a.py", "")
    Path("b.py").unlink()
    write("c.py", "DataLoader(\n")
    said = "of base.json {} not found any more; --write-baseline base.json drops {}\n"
    assert run(*ONLY, "--baseline", "base.json")[2] == f"dataloader-lint: 2 findings {said.format('were', 'them')}"
    assert run(*ONLY, "--baseline", "base.json", "c.py")[2] == f"dataloader-lint: 1 finding {said.format('was', 'it')}"
    assert run("--select", "DL302", "--baseline", "base.json", "a.py")[2].startswith("dataloader-lint: 1 finding ")
    write("b.py", "")
    assert run("--select", "DL302", "--baseline", "base.json")[2] == ""
    assert run(*ONLY, "--baseline", "base.json", "--per-file-ignores", "a.py:DL301", "a.py")[2] == ""
    assert run(*ONLY, "--baseline", "base.json", "--quiet", "a.py") == (0, "", "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not valid JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[" * 100_000, "not valid JSON: "),
        ("[]", "no object with a list of findings"),
        ('{"version": 1}', "no object with a list of findings"),
        ('{"version": 2, "findings": []}', "its version is 2, and only 1 is known"),
        ('{"version": 1, "findings": [3]}', "entry 1 is not one of path, code, line and a count above 0"),
        ('{"version": 1, "findings": [{"path": "a", "code": "DL301", "line": "", "count": 0}]}', "entry 1 is not"),
        ('{"version": 1, "findings": [{"path": "a", "code": "DL301", "line": "", "count": true}]}', "entry 1 is not"),
        ("\udcff{}", "not valid JSON: "),
    ],
)
def test_a_damaged_baseline_is_one_line(content: str, reason: str) -> None:
    write("a.py", BAD)
    write("base.json", content.encode("utf-8", "surrogateescape"))
    code, out, err = run("--baseline", "base.json")
    assert (code, out) == (2, "")
    assert err.startswith(f"dataloader-lint: base.json is not a baseline that can be used: {reason}")
    assert err.count("\n") == 1


def test_files_that_cannot_be_used_are_one_line() -> None:
    write("a.py", BAD)
    said = "dataloader-lint: cannot read the baseline gone.json: no such file or directory\n"
    assert run("--baseline", "gone.json") == (2, "", said)
    assert run("--baseline", ".")[::2] == (2, "dataloader-lint: cannot read the baseline .: is a directory\n")
    said = "dataloader-lint: cannot write gone/base.json: there is no directory gone\n"
    assert run("--write-baseline", "gone/base.json") == (2, "", said)
    assert run("--write-baseline", "x", "-", stdin=b"") == (
        2,
        "",
        "dataloader-lint: --write-baseline needs files, and cannot be used with standard input\n",
    )
    assert run("--write-baseline", "x", "--add-noqa")[0] == 2
    assert not Path("x").exists()


def test_a_baseline_has_a_bound_in_length() -> None:
    write("a.py", BAD)
    with Path("base.json").open("wb") as stream:
        stream.truncate(50_000_001)
    said = "dataloader-lint: cannot read the baseline base.json: it is longer than 50,000,000 bytes\n"
    assert run("--baseline", "base.json") == (2, "", said)
    assert run("--fix", "--baseline", "/dev/zero")[::2] == (2, said.replace("base.json", "/dev/zero"))


def test_fixing_leaves_the_baseline_out_of_the_report() -> None:
    write("a.py", BAD + "many = DataLoader(data, num_workers=64)\n")
    rules = ("--select", "DL301,DL305")
    assert run(*rules, "--write-baseline", "base.json")[1] == "Wrote 2 findings to base.json.\n"
    code, out, err = run(*rules, "--fix", "--baseline", "base.json")
    assert "persistent_workers" not in Path("a.py").read_text()
    assert (code, out.splitlines()) == (
        0,
        [
            "Found 1 problem (1 fixed, 0 remaining).",
            "1 finding of the baseline is not shown.",
            "  fixed 1 DL301 persistent-workers-without-workers",
            "  changed a.py",
        ],
    )
    assert err.startswith("dataloader-lint: 1 finding of base.json was not found any more")
