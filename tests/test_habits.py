"""What users of ruff type without thinking."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import BAD, ONLY, here, run, write

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
FIXED = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, num_workers=0)\n"
CONCISE = ("--output-format", "concise", "--quiet")


def test_check_is_understood_as_a_first_word() -> None:
    write("a.py", BAD)
    assert run("check", *ONLY, *CONCISE) == run(*ONLY, *CONCISE)
    hint = "dataloader-lint: no such file or directory: check; no `check` is needed: dataloader-lint a.py\n"
    assert run(*ONLY, *CONCISE, "check", "a.py") == (2, "", hint)
    hint = "dataloader-lint: no such file or directory: lint; no `lint` is needed: dataloader-lint .\n"
    assert run("lint", ".") == (2, "", hint)
    write("check", "")
    assert run("check") == (0, "All checks passed! 1 file, no DataLoader or Dataset in it.\n", "")


def test_a_name_for_standard_input_is_enough() -> None:
    assert run("--stdin-filename", "x.py", *ONLY, *CONCISE, stdin=BAD.encode())[1].startswith("x.py:3:10: DL301 ")
    message = "dataloader-lint: --stdin-filename names standard input, and cannot be used with paths\n"
    assert run("--stdin-filename", "x.py", ".") == (2, "", message)


def test_files_that_are_not_python_are_skipped() -> None:
    write("README.md", f"```python\n{BAD}```\n")
    message = "dataloader-lint: warning: README.md is skipped: it is not a Python file or notebook\n"
    assert run("README.md") == (0, "", message)
    write("script", BAD)
    assert run(*ONLY, *CONCISE, "script", "README.md")[0] == 1


def test_short_options() -> None:
    write("a.py", BAD)
    assert run(*ONLY, "-e", "-n", "-q", "a.py")[0] == 0
    assert not Path(".dataloader_lint_cache").exists()


def test_color() -> None:
    write("a.py", BAD)
    assert "\x1b[" in run(*ONLY, "--color", "always", "a.py", NO_COLOR="1")[1]
    assert "\x1b[" not in run(*ONLY, "--color", "never", "a.py", FORCE_COLOR="1")[1]
    assert "\x1b[" in run("--explain", "DL301", "--color", "always")[1]


def test_settings_in_one_line() -> None:
    write("pyproject.toml", "[tool.dataloader-lint]\nmax-workers = 4\n")
    shown = run("--show-settings", "--config", "max-workers = 8", "--config", "start-method='spawn'")[1]
    assert '\nstart-method = "spawn"  # command line\n' in shown
    assert "\nmax-workers = 8  # command line\n" in shown
    assert (
        "\nmax-workers = 9  # command line\n"
        in run("--show-settings", "--config", "max-workers = 8", "--max-workers", "9")[1]
    )
    code, _, err = run("--config", "max-worker = 8")
    assert (code, err) == (2, "dataloader-lint: --config has no key 'max-worker'; did you mean 'max-workers'?\n")
    assert run("--config", "max-workers = ")[::2][0] == 2


def test_show_settings_says_where_they_come_from() -> None:
    write(
        "pyproject.toml", "[project]\nrequires-python = '>=3.11'\n[tool.dataloader-lint]\nextend-select = ['DL306']\n"
    )
    write("sub/pyproject.toml", "[tool.dataloader-lint]\nignore = ['DL2']\n")
    write("a.py", "")
    write("sub/b.py", "")
    code, out, err = run("--show-settings", "--extend-select", "DL309")
    assert (code, err) == (0, "")
    outer, inner = out.split("\n\n")[:2]
    here = Path.cwd()
    assert outer.startswith("# a.py\n")
    assert f'extend-select = ["DL306", "DL309"]  # {here / "pyproject.toml"} and command line\n' in outer
    assert 'target-python = ">=3.11"  # requires-python of the project\n' in outer
    assert "select = []  # default: the rules that are on by default\n" in outer
    assert "ignore = []  # default\n" in outer
    assert 'memory-threshold = "64MB"  # default\n' in outer
    assert 'memory-threshold = "1500KB"  # command line\n' in run("--show-settings", "--memory-threshold", "1.5MB")[1]
    on = outer.splitlines()[-1]
    assert re.fullmatch(r"# \d+ of \d+ rules:( DL\d{3})+", on)
    assert int(on.split()[1]) == on.count(" DL")
    assert inner.startswith("# sub/b.py\n")
    assert f'ignore = ["DL2"]  # {here / "sub" / "pyproject.toml"}\n' in inner
    assert "DL206" not in inner.rpartition("rules: ")[2]


def test_fixing_by_settings() -> None:
    write("pyproject.toml", "[tool.dataloader-lint]\nfix = true\nselect = ['DL301']\n")
    write("a.py", BAD)
    assert run("--no-fix", *CONCISE)[0] == 1
    assert run("--diff", "-q")[0] == 1
    assert run("--write-baseline", "b.json")[0] == 0
    assert Path("a.py").read_text() == BAD
    made = "  fixed 1 DL301 persistent-workers-without-workers\n"
    assert run() == (0, f"Found 1 problem (1 fixed, 0 remaining).\n{made}  changed a.py\n", "")
    assert Path("a.py").read_text() == FIXED


def test_only_some_rules_are_fixed() -> None:
    write("a.py", BAD)
    assert run(*ONLY, "--fix", "--unfixable", "DL3", *CONCISE)[0] == 1
    assert "[*]" not in run(*ONLY, "--fixable", "DL2", *CONCISE)[1]
    assert run(*ONLY, "--fix", "--fixable", "DL301", *CONCISE)[0] == 0


def test_fix_only_reports_nothing_else() -> None:
    write("a.py", BAD)
    write("b.py", "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, num_workers=64)\n")
    rules = ("--select", "DL301,DL305")
    assert run(*rules, "--fix-only", ".") == (0, "Fixed 1 problem.\n  changed a.py\n", "")
    write("a.py", BAD)
    assert run(*rules, "--fix-only", "--exit-non-zero-on-fix", ".")[0] == 1
    assert run(*rules, "--fix-only", "--exit-non-zero-on-fix", ".") == (0, "Fixed 0 problems.\n", "")


def test_show_fixes() -> None:
    write("a.py", BAD + BAD)
    code, out, _ = run(*ONLY, "--fix", "--show-fixes", ".")
    said = "Fixed 2 problems:\n- a.py:\n    2 x DL301 (persistent-workers-without-workers)\n\n"
    made = "  fixed 2 DL301 persistent-workers-without-workers\n"
    assert (code, out) == (0, f"{said}Found 2 problems (2 fixed, 0 remaining).\n{made}")


def test_gitignore_can_be_left_aside() -> None:
    write(".git/HEAD", "")
    write(".gitignore", "made.py\n")
    write("made.py", BAD)
    assert run("--show-files")[1] == ""
    assert run("--show-files", "--no-respect-gitignore")[1] == "made.py\n"


def test_the_cache_goes_where_settings_say() -> None:
    write("pyproject.toml", "[tool.dataloader-lint]\ncache-dir = 'kept/here'\n")
    write("a.py", BAD)
    run("-q")
    assert Path("kept/here").is_dir()


def test_formats() -> None:
    write("a,b.py", BAD)
    write("c.py", BAD + BAD)

    def said(shape: str) -> list[str]:
        code, out, err = run(*ONLY, "--quiet", "--output-format", shape)
        assert (code, err) == (1, "")
        return out.splitlines()

    grouped = said("grouped")
    assert [line[:18] for line in grouped] == [
        "a,b.py:",
        "  3:10 DL301 [*] `",
        "",
        "c.py:",
        "  3:10 DL301 [*] `",
        "  6:10 DL301 [*] `",
        "",
    ]
    assert said("pylint")[0].startswith("a,b.py:3: [DL301] `DataLoader` raises ValueError")
    azure = "##vso[task.logissue type=error;sourcepath=a,b.py;linenumber=3;columnnumber=10;code=DL301;]`DataLoader` "
    assert said("azure")[0].startswith(azure)
    report = json.loads("\n".join(said("rdjson")))
    first = report["diagnostics"][0]
    assert first["location"] == {
        "path": "a,b.py",
        "range": {"start": {"line": 3, "column": 10}, "end": {"line": 3, "column": 66}},
    }
    assert (first["severity"], first["code"]["value"]) == ("ERROR", "DL301")
    assert first["suggestions"] == [
        {"range": {"start": {"line": 3, "column": 27}, "end": {"line": 3, "column": 52}}, "text": ""}
    ]


def test_columns_of_reviewdog_count_bytes() -> None:
    write("a.py", BAD.replace("loader =", "größe ="))
    (one,) = json.loads(run(*ONLY, "--output-format", "rdjson")[1])["diagnostics"]
    assert one["location"]["range"]["start"] == {"line": 3, "column": 11}
