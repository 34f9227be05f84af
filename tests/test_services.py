"""The formats that other programs read, and `--output-file`."""

from __future__ import annotations

import json
import os
import re
import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from commands import BAD, ONLY, here, run, write
from dataloader_lint.diagnostics import Diagnostic, Position
from dataloader_lint.output import concise, full, github, gitlab, junit, paint
from dataloader_lint.output.fingerprints import fingerprints
from dataloader_lint.output.places import root_folder

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
PAGE = "https://dataloader-lint.readthedocs.io/en/latest/rules/dl301-persistent-workers-without-workers/"


def made(line: int = 3, filename: str = "a.py", message: str = "it hurts", cell: int | None = None) -> Diagnostic:
    place = Position(line, 0)
    return Diagnostic(filename, place, place, "DL301", message, "", (line, line), cell=cell)


def test_json_lines_are_the_objects_of_json() -> None:
    write("a.py", BAD + BAD)
    code, out, err = run(*ONLY, "--output-format", "json-lines")
    assert (code, err) == (1, "")
    assert [json.loads(line) for line in out.splitlines()] == json.loads(run(*ONLY, "--output-format", "json")[1])
    assert len(out.splitlines()) == 2
    assert json.loads(out.splitlines()[0])["url"] == PAGE
    counted = run(*ONLY, "--statistics", "--output-format", "json-lines")[1]
    assert [json.loads(line)["count"] for line in counted.splitlines()] == [2]
    write("a.py", "")
    assert run("--output-format", "json-lines") == (0, "", "")


def test_full_links_to_the_page() -> None:
    write("a.py", BAD)
    assert f"\ndocs: {PAGE}\n" in run(*ONLY)[1]


def test_github_annotations() -> None:
    write("pkg/a,b:c%.py", BAD)
    write("two.py", BAD.replace("(data, ", "(\n    data, "))
    code, out, err = run(*ONLY, "--output-format", "github")
    assert (code, err) == (1, "")
    first, second = out.splitlines()
    assert first.startswith(
        "::error title=DL301 persistent-workers-without-workers,file=pkg/a%2Cb%3Ac%25.py,line=3,endLine=3,col=10,"
        "endColumn=66::pkg/a,b:c%25.py:3:10: DL301 `DataLoader` raises ValueError"
    )
    assert ",file=two.py,line=3,endLine=4::two.py:3:10: DL301 " in second
    write("pkg/a,b:c%.py", "")
    write("two.py", "")
    assert run(*ONLY, "--output-format", "github") == (0, "", "")


def test_a_message_cannot_write_commands_of_its_own() -> None:
    nasty = made(message="50%\r\n::set-env name=a::b", filename="a\n::error::b.py")
    (line,) = github.emit([nasty], lambda _: "some-name", str(Path.cwd()))
    assert "\n" not in line
    assert "50%25\\r\\n::set-env" in line
    assert "file=a\\n%3A%3Aerror%3A%3Ab.py," in line


def test_gitlab_code_quality() -> None:
    write("src/a.py", BAD + BAD)
    code, out, err = run(*ONLY, "--output-format", "gitlab")
    assert (code, err) == (1, "")
    first, second = json.loads(out)
    assert first["check_name"] == "DL301"
    assert first["description"].startswith("DL301 `DataLoader` raises")
    assert first["severity"] == "critical"
    assert first["location"] == {
        "path": "src/a.py",
        "positions": {"begin": {"line": 3, "column": 10}, "end": {"line": 3, "column": 66}},
    }
    assert second["location"]["positions"]["begin"] == {"line": 6, "column": 10}
    assert first["fingerprint"] != second["fingerprint"]
    before = {first["fingerprint"], second["fingerprint"]}
    write("src/a.py", "import os\n\n\n" + BAD + "\n# a comment\n" + BAD.replace("loader =", "loader   ="))
    after = {one["fingerprint"] for one in json.loads(run(*ONLY, "--output-format", "gitlab")[1])}
    assert after == before
    write("src/a.py", "")
    assert run("--output-format", "gitlab")[:2] == (0, "[]\n")


def test_fingerprints_tell_apart_what_is_different() -> None:
    lines = ["x", "y", "", "\tx  ", "x # more"]
    base = made(1)
    marks = fingerprints([base, made(4), made(2), made(5), made(1, "b.py"), made(99)], lambda _: lines, str(Path.cwd()))
    assert len(set(marks)) == 6
    assert [mark.rpartition(":")[2] for mark in marks] == ["1", "2", "1", "1", "1", "1"]
    assert marks[0].rpartition(":")[0] == marks[1].rpartition(":")[0]
    assert all(re.fullmatch(r"[0-9a-f]{16}:\d+", mark) for mark in marks)
    assert fingerprints([base], lambda _: ["  x"], str(Path.cwd())) == marks[:1]


def test_junit() -> None:
    write("src/a.py", BAD + BAD)
    write("b.py", BAD)
    write("c.py", "DataLoader(\n")
    code, out, err = run(*ONLY, "--output-format", "junit")
    assert (code, err) == (1, "")
    suites = ET.fromstring(out)
    assert suites.attrib == {"name": "dataloader-lint", "tests": "4", "failures": "4", "errors": "0"}
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [
        ("b.py", "1"),
        ("c.py", "1"),
        ("src/a.py", "2"),
    ]
    case = suites[2][1]
    assert case.attrib == {"name": "DL301", "classname": "src.a", "file": "src/a.py", "line": "6"}
    assert case[0].tag == "failure"
    assert case[0].get("message", "").startswith("`DataLoader` raises ValueError")
    text = case[0].text or ""
    assert text.startswith("src/a.py:6:10: `DataLoader` raises")
    assert text.endswith(PAGE)

    code, out, _ = run("--output-format", "junit", "--ignore", "DL")
    suites = ET.fromstring(out.replace("DL000", ""))
    assert (suites.get("tests"), suites.get("failures")) == ("1", "1")  # only c.py, which cannot be read
    Path("c.py").unlink()
    suites = ET.fromstring(run("--output-format", "junit", "--ignore", "DL")[1])
    assert (suites.get("tests"), suites.get("failures"), len(suites[0])) == ("1", "0", 1)


def test_junit_is_xml_whatever_is_in_it() -> None:
    nasty = made(filename="<&\x1b\udce9数>.py", message='"<&\x00\x0b\ufffe数>')
    (text,) = junit.emit([nasty], lambda _: "https://page", str(Path.cwd()), "DL999")
    case = ET.fromstring(text)[0][0]
    assert case.get("file") == "<&\\x1b\\xe9数>.py"
    assert case[0].get("message") == '"<&\\x00\\x0b\\ufffe数>'
    crashed = Diagnostic("a.py", Position(1, 0), Position(1, 0), "DL999", "p", "", (1, 1))
    (text,) = junit.emit([crashed], lambda _: "https://page", str(Path.cwd()), "DL999")
    suites = ET.fromstring(text)
    assert (suites.get("failures"), suites.get("errors"), suites[0][0][0].tag) == ("0", "1", "error")


def test_findings_in_notebooks_say_the_cell() -> None:
    one = made(filename="n.ipynb", cell=4)
    assert list(concise.emit([one], paint.plain)) == ["n.ipynb:cell 4:3:1: DL301 it hurts"]
    text = "\n".join(full.emit([one], lambda _: ["", "", "x = 1"], str, paint.plain, 80))
    assert "--> n.ipynb:cell 4:3:1\n" in text
    assert "3 | x = 1" in text
    (line,) = github.emit([one], str, str(Path.cwd()))
    assert line == "::error title=DL301 DL301,file=n.ipynb::n.ipynb:cell 4:3:1: DL301 it hurts"
    (report,) = (json.loads(text) for text in gitlab.emit([one], lambda _: (), str(Path.cwd())))
    assert report[0]["description"] == "DL301 cell 4, line 3: it hurts"
    assert report[0]["location"]["positions"]["begin"] == {"line": 1, "column": 1}
    (text,) = junit.emit([one], str, str(Path.cwd()), "DL999")
    case = ET.fromstring(text)[0][0]
    assert "line" not in case.attrib
    assert case[0].get("message") == "cell 4, line 3: it hurts"


def test_paths_count_from_the_checkout_that_the_service_names(here: Path) -> None:
    write("repo/sub/a.py", BAD)
    os.chdir("repo/sub")
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        out = run(*ONLY, "--output-format", "github", **{name: str(here / "repo")})[1]
        assert ",file=sub/a.py," in out
    assert ",file=a.py," in run(*ONLY, "--output-format", "github", GITHUB_WORKSPACE=str(here / "other"))[1]
    assert root_folder({"GITHUB_WORKSPACE": str(here / "repo") + "/"}) == str(here / "repo")
    assert root_folder({"GITHUB_WORKSPACE": "repo"}) == str(here / "repo" / "sub")
    os.chdir(here)
    write("elsewhere/b.py", "")
    os.chdir("elsewhere")
    assert f",file={here}/repo/sub/a.py," in run(*ONLY, "--output-format", "github", str(here / "repo"))[1]


def test_output_file(here: Path) -> None:
    write("a.py", BAD)
    for shape in ("concise", "full", "json", "json-lines", "sarif", "github", "gitlab", "junit"):
        printed = run(*ONLY, "--output-format", shape)
        assert run(*ONLY, "--output-format", shape, "--output-file", f"{shape}.txt") == (printed[0], "", "")
        assert Path(f"{shape}.txt").read_text() == printed[1]
    assert run(*ONLY, "-o", "full.txt", FORCE_COLOR="1") == (1, "", "")
    assert "\x1b" not in Path("full.txt").read_text()
    assert run("--ignore", "DL", "-o", "full.txt")[0] == 0
    assert Path("full.txt").read_text() == "All checks passed!\n"
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == [".dataloader_lint_cache"]
    mask = os.umask(0o022)
    os.umask(mask)
    assert stat.S_IMODE(Path("full.txt").stat().st_mode) == 0o666 & ~mask
    Path("link").symlink_to("json.txt")
    assert run(*ONLY, "-o", "link")[0] == 1
    assert Path("link").is_symlink()
    assert Path("json.txt").read_text().startswith("DL301 ")


def test_an_output_file_that_cannot_be_written_is_one_line() -> None:
    write("a.py", BAD)
    Path("folder").mkdir()
    assert run("-o", "gone/out.txt") == (
        2,
        "",
        "dataloader-lint: cannot write gone/out.txt: there is no directory gone\n",
    )
    assert run("-o", "folder") == (2, "", "dataloader-lint: cannot write folder: it is a directory\n")
    write("fixed.txt", "old").chmod(0o400)
    code, out, err = run("-o", "fixed.txt")
    assert (code, out) == (2, "") and err.startswith("dataloader-lint: fixed.txt exists and is no report")
    assert Path("fixed.txt").read_text() == "old"


def test_an_output_file_that_is_no_file_is_written_to() -> None:
    write("a.py", BAD)
    code, out, err = run(*ONLY, "--output-format", "concise", "-o", "/dev/stderr")
    assert (code, out) == (1, "")
    assert err.startswith("a.py:3:10: DL301 ")


def test_statistics_are_text_or_json() -> None:
    write("a.py", BAD)
    message = "dataloader-lint: --statistics can be shown as text or json, not as sarif\n"
    assert run("--statistics", "--output-format", "sarif") == (2, "", message)
