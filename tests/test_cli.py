"""The command as users run it: real processes, real files."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from commands import terminal
from dataloader_lint import __version__, cli
from fake_rules import fake_rules

__all__ = ["fake_rules"]

ROOT = Path(__file__).parent.parent
BAD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True, num_workers=0)\n"
GOOD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data)\n"
ONLY = ("--select", "DL301")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "pycache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str, stdin: bytes | None = None, **environment: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "dataloader_lint", *arguments]
    done = processes.run_bytes(command, input=stdin, env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(name: str, content: str | bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_nothing_to_find() -> None:
    write("a.py", "import os\n")
    write("pkg/b.py", GOOD)
    assert run() == (0, "All checks passed!\n", "")
    assert run("--output-format", "json") == (0, "[]\n", "")
    assert run("--statistics") == (0, "All checks passed!\n", "")


def test_findings() -> None:
    write("z.py", BAD)
    write("a/b.py", BAD + BAD)
    code, out, err = run(*ONLY, "--output-format=concise")
    assert (code, err) == (1, "")
    places = [line.split(" ")[0] for line in out.splitlines()]
    assert places == ["a/b.py:3:10:", "a/b.py:6:10:", "z.py:3:10:", "Found", "[*]"]
    assert run(*ONLY, "--output-format=concise", "z.py", "a", ".") == (code, out, err)
    assert run(*ONLY, "--exit-zero")[0] == 0
    assert run("--ignore", "DL")[0] == 0

    code, out, err = run(*ONLY, "z.py")
    assert (code, err) == (1, "")
    assert out.startswith("DL301 ")
    assert "\n --> z.py:3:10\n  |\n1 | from torch" in out
    assert "\n  |          ^^^^^^" in out
    assert "\nhelp: " in out
    assert out.endswith("\nFound 1 problem: 1 error.\n[*] 1 fixable with the `--fix` option.\n")

    code, out, _ = run(*ONLY, "--output-format", "json", "z.py")
    (finding,) = json.loads(out)
    assert code == 1
    assert (finding["filename"], finding["code"]) == (str(Path("z.py").resolve()), "DL301")
    assert finding["location"] == {"row": 3, "column": 10}

    end = "Found 3 problems: 3 errors.\n[*] 3 fixable with the `--fix` option.\n"
    line = "3\tDL301\terror\tpersistent-workers-without-workers [*]\n"
    assert run(*ONLY, "--statistics") == (1, line + end, "")
    code, out, _ = run(*ONLY, "--statistics", "--output-format", "json")
    assert json.loads(out)[0]["count"] == 3


def test_bad_input_gives_one_line_each_and_the_rest_is_linted() -> None:
    write("bad.py", BAD)
    write("empty.py", "")
    write("latin.py", "x = 'é'  # DataLoader\n".encode("latin-1"))
    write("nul.py", b"DataLoader\0\n")
    write("syntax.py", "DataLoader(\n")
    write("deep.py", "DataLoader(" + "(" * 9_999)
    write("utf16.py", GOOD.encode("utf-16"))
    write("note.ipynb", '{"text": "DataLoader"}')
    Path("dangling.py").symlink_to("gone")
    os.mkfifo("fifo.py")
    code, out, err = run(*ONLY, "--output-format", "concise", ".", "gone.py", "note.ipynb", "fifo.py")
    assert code == 2
    assert sorted(err.splitlines()) == [
        "dataloader-lint: no such file or directory: gone.py",
        "dataloader-lint: warning: dangling.py is skipped: the link leads nowhere",
        "dataloader-lint: warning: fifo.py is skipped: it is no regular file",
    ]
    lines = [line for line in out.splitlines() if ": DL" in line]
    assert [line.split(" ")[:2] for line in lines] == [
        ["bad.py:3:10:", "DL301"],
        ["deep.py:1:1:", "DL000"],
        ["fifo.py:1:1:", "DL000"],
        ["latin.py:1:1:", "DL000"],
        ["note.ipynb:1:1:", "DL000"],
        ["nul.py:1:1:", "DL000"],
        ["syntax.py:1:11:", "DL000"],
        ["utf16.py:1:1:", "DL000"],
    ]
    assert run(*ONLY, "syntax.py")[0] == 1
    assert run("--ignore", "DL000", "syntax.py")[0] == 0


def test_named_files_are_parsed_even_if_no_rule_has_to_look_at_them() -> None:
    write("a/syntax.py", "def (\n")
    write("a/newer.py", "type X = int\ndef f[T](x: T): ...\n")
    write("a/warns.py", "x = '\\d'\n")
    write("a/skipped.py", "# flake8: noqa\ndef (\n")
    write("a/latin.py", "# é\n".encode("latin-1"))
    write("a/empty.ipynb", "")  # which Jupyter does not open
    write("a/text.ipynb", "garbage")
    write("a/cut.ipynb", '{"cells": [')
    write("a/fine.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    assert run("a") == (0, "All checks passed! 9 files, no DataLoader or Dataset in them.\n", "")
    for more in ((), ("--fix",)):
        code, out, err = run(
            *more, "--output-format", "concise", "a", *(f"a/{path.name}" for path in Path("a").iterdir())
        )
        assert (code, err) == (1, "")
        places = [line.split(" ")[:2] for line in out.splitlines() if ": DL" in line]
        assert places == [
            ["a/cut.ipynb:1:12:", "DL000"],
            ["a/empty.ipynb:1:1:", "DL000"],
            ["a/latin.py:1:1:", "DL000"],
            ["a/syntax.py:1:5:", "DL000"],
            ["a/text.ipynb:1:1:", "DL000"],
        ]
    assert run("--stdin-filename", "a.ipynb", "-", stdin=b"")[0] == 1
    assert run("-", stdin=b"def (\n")[0] == 1
    assert run("--diff", "-", stdin=b"def (\n")[::2] == (
        0,
        "No fixes for 1 problem: 1 error.\n  left 1: no autofix for DL000\n",
    )
    assert run("-", stdin=b"import os\n")[0] == 0
    assert run("--ignore", "DL000", "a/syntax.py", "-q")[0] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_without_permission() -> None:
    write("bad.py", BAD)
    write("locked/a.py", BAD)
    write("secret.py", BAD)
    Path("locked").chmod(0)
    Path("secret.py").chmod(0)
    code, out, err = run(*ONLY, "--output-format", "concise")
    Path("locked").chmod(0o700)
    assert (code, err) == (1, "")
    assert "locked:1:1: DL000 cannot be read: permission denied\n" in out
    assert "secret.py:1:1: DL000 cannot be read: permission denied\n" in out
    assert "bad.py:3:10: DL301" in out


def test_a_file_that_vanishes_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", BAD)
    write("b.py", BAD)
    found = cli.main  # imported before `open` is replaced
    real = open

    def vanish(path: str, mode: str = "r") -> object:
        if path == "a.py":
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path, mode)

    monkeypatch.setattr("builtins.open", vanish)
    assert found(["--output-format", "concise", *ONLY]) == 1
    out = capsys.readouterr().out
    assert out.startswith("a.py:1:1: DL000 cannot be read: no such file or directory\nb.py:3:10: DL301 ")


def test_standard_input() -> None:
    code, out, _ = run(*ONLY, "--output-format", "concise", "-", stdin=BAD.encode())
    assert (code, out.split(" ")[0]) == (1, "<stdin>:3:10:")
    code, out, _ = run(*ONLY, "--stdin-filename", "pkg/x.py", "-", stdin=BAD.encode())
    assert (code, out.splitlines()[1]) == (1, " --> pkg/x.py:3:10")
    assert "3 | loader = " in out
    assert run("-", stdin=b"") == (0, "All checks passed!\n", "")
    assert run("-", "a.py")[0] == 2
    assert run("-", stdin=b"import torch\n")[0] == 0


def test_standard_input_has_a_bound_in_length() -> None:
    source = BAD.encode() + b"#" * 50_000_000
    said = "dataloader-lint: cannot read standard input: it is longer than 50,000,000 bytes\n"
    assert run("-", stdin=source) == (2, "", said)
    assert run("--fix", "-", stdin=source) == (2, "", said)
    assert run("-", stdin=source[:1_600_000])[0] == 1  # DL000: read, and too long to be checked


def test_wrong_usage() -> None:
    write("a.py", GOOD)
    code, out, err = run("--select", "DL311x,DL301")
    assert (code, out) == (2, "")
    assert err.startswith("dataloader-lint: --select has the unknown rule code 'DL311x'; did you mean 'DL3")
    assert run("--ignore", "E501")[0] == 2
    assert run("--extend-select", "dl30x")[2].endswith("has the unknown rule code 'dl30x'; did you mean 'DL301'?\n")
    for given, meant in {
        "--selct": "--select",
        "--unsafe": "--unsafe-fixes",
        "--format=json": "--output-format",
        "--json": "--output-format json",
        "--github": "--output-format github",
        "--disable=DL1": "--ignore",
    }.items():
        code, out, err = run(given, "a.py")
        assert (code, out) == (2, "")
        assert err.endswith(f"error: unrecognized arguments: {given}; did you mean {meant!r}?\n")
    assert run("--zzzzzz")[2].endswith("error: unrecognized arguments: --zzzzzz\n")
    assert run("--output-format", "xml")[0] == 2
    code, out, err = run("gone\x1b.py")
    assert (code, err) == (2, "dataloader-lint: no such file or directory: gone\\x1b.py\n")
    assert run("gone.py")[1] == ""
    for words, meant in (("explain DL201", "--explain DL201"), ("rule DL201", "--explain DL201"), ("fix .", "--fix .")):
        said = f"{words.split()[0]}; did you mean `dataloader-lint {meant}`?"
        assert run(*words.split())[::2] == (2, f"dataloader-lint: no such file or directory: {said}\n")
    Path("fix").mkdir()
    assert run("fix")[0] == 0
    assert run("--stdin-filename", "a.py", "b.py")[0] == 2
    code, out, err = run("gone.py", "a.py")
    assert code == 2
    assert out == ""


def test_lists_of_codes_may_be_given_in_any_way() -> None:
    write("a.py", BAD)
    for arguments in (["--select", "DL2,DL301"], ["--select=DL2 DL301"], ["--select", "DL2", "--select", "DL301"]):
        counted = run(*arguments, "--statistics", "--quiet")[1]
        assert counted == "1\tDL301\terror\tpersistent-workers-without-workers [*]\n"
    nothing = "dataloader-lint: warning: no Python files found under the given paths\n"
    assert run("--extend-exclude", "b,a.py") == (0, "", nothing)  # so nothing has passed


def test_about_itself() -> None:
    assert run("--version") == (0, f"dataloader-lint {__version__}\n", "")
    code, out, err = run("--explain", "DL000")
    assert (code, err) == (0, "")
    assert out.startswith(
        "# DL000 unreadable-file\n\nLevel: error. On by default; no automatic fix.\n\nA file that cannot be read"
    )
    claimed = " ".join(run("--explain", "DL401")[1].split())
    assert "One path through your code that is known to cause it is enough for a report." in claimed
    assert "\n## Why is this bad?\n" in out
    assert run("--explain", "unreadable-file") == (0, out, "")
    listed = run("--explain", "dl10")[1].splitlines()
    assert [line.split(" ")[0] for line in listed[:-1]] == [f"DL10{n}" for n in range(1, 7)]
    assert listed[-1] == "`--explain CODE` shows the page of one."
    assert run("--explain", "RuntimeError")[2].startswith("dataloader-lint: no error message that is known fits 'Run")
    assert "did you mean 'DL101'?" in run("--explain", "DL1O1")[2]
    assert "unknown rule 'DL801'; there are DL101 to DL106, DL201 to " in run("--explain", "DL801")[2]
    assert "did you mean 'list-attribute'?" in run("--select", "list-atribute")[2]
    assert run("--explain", "DL02")[::2] == (2, "dataloader-lint: unknown rule 'DL02'; did you mean 'DL102'?\n")
    code, out, _ = run("--help")
    assert code == 0
    for option in ("--select", "--ignore", "--extend-select", "--exclude", "--extend-exclude", "--output-format",
                   "--exit-zero", "--statistics", "--explain", "--version", "--stdin-filename"):  # fmt: skip
        assert option in out


@pytest.mark.usefixtures("fake_rules")
def test_an_internal_error_is_exit_code_2_even_with_exit_zero(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", "DataLoader(crash())\n")
    write("b.py", "DataLoader(1)\n")
    assert cli.main(["--output-format", "concise", "--exit-zero"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("a.py:1:1: DL301 ")
    assert "a.py:1:1: DL999 internal error in rule DL304: ZeroDivisionError: made up" in lines[2]
    assert lines[3].startswith("b.py:1:1: DL301")
    assert cli.main(["--ignore", "DL304", "--exit-zero"]) == 0


@pytest.mark.usefixtures("fake_rules")
def test_opt_in_rules_need_their_full_code(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", "Dataset(1)\n")
    assert cli.main(["--select", "DL"]) == 0
    assert cli.main(["--extend-select", "DL30"]) == 0
    assert cli.main(["--extend-select", "DL305"]) == 1
    assert cli.main(["--select", "DL305", "a.py"]) == 1
    capsys.readouterr()
    assert cli.main(["--explain", "DL305"]) == 0
    assert "Opt-in: --extend-select DL305; no automatic fix." in capsys.readouterr().out


def test_colours() -> None:
    write("a.py", BAD)
    assert "\x1b[" not in run(*ONLY)[1]
    assert "\x1b[1;31mDL301\x1b[0m" in run(*ONLY, FORCE_COLOR="1")[1]
    assert "\x1b[" not in run(*ONLY, FORCE_COLOR="1", NO_COLOR="1")[1]
    assert "\x1b[" not in run(*ONLY, "--output-format", "json", FORCE_COLOR="1")[1]
    command = [sys.executable, "-m", "dataloader_lint", *ONLY, "a.py"]
    with terminal() as (handle, shown):
        processes.run(command, stdout=handle, env={**os.environ, "TERM": "xterm"})
    assert b"\x1b[1;31mDL301\x1b[0m" in shown


def test_names_and_encodings_that_the_terminal_cannot_show() -> None:
    write("数据\x1b.py", BAD.replace("data,", "数据,"))
    code, out, err = run(*ONLY, "--output-format", "concise", PYTHONIOENCODING="ascii")
    assert (code, err) == (1, "")
    assert out.startswith("\\u6570\\u636e\\x1b.py:3:10: DL301 ")


def test_a_reader_that_has_seen_enough() -> None:
    for number in range(40):
        write(f"a{number}.py", BAD * 40)
    command = f"{sys.executable} -m dataloader_lint --select DL301 | head -n 1"
    done = processes.run(["bash", "-c", command], check=True)
    assert done.stdout.startswith("DL301 ")
    assert done.stderr == ""


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dataloader_lint.source.discovery.discover", interrupt)
    assert cli.main([]) == 130


IMPORTED = "import sys; from dataloader_lint.cli import main; main(sys.argv[1:]); print(*sys.modules, sep='\\n')"


def imported_by(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", IMPORTED, *arguments]
    return set(processes.run(command, check=True).stdout.splitlines())


def test_files_that_cannot_matter_import_next_to_nothing() -> None:
    write("a.py", "import os\n")
    write("pkg/b.py", "import torch\n")
    bare = processes.run([sys.executable, "-c", "import sys; print(*sys.modules)"], check=True)
    more = imported_by() - set(bare.stdout.split())
    assert more <= {
        "All checks passed! 2 files, no DataLoader or Dataset in them.", "__future__",
        "dataloader_lint.engine", "dataloader_lint.engine.cpus", "dataloader_lint.engine.parallel",
        "dataloader_lint.engine.run", "gc",
        "dataloader_lint.source.projects", "dataloader_lint", "dataloader_lint.cli", "dataloader_lint.settings",
        "dataloader_lint.cli.command", "dataloader_lint.cli.linting", "dataloader_lint.cli.options",
        "dataloader_lint.cli.nothing_known", "dataloader_lint.cli.report",
        "dataloader_lint.gate", "dataloader_lint.engine.runner", "dataloader_lint.source.pyproject",
            "dataloader_lint.source", "dataloader_lint.source.discovery", "dataloader_lint.source.reading",
            "dataloader_lint.source.confinement", "dataloader_lint.source.unread_configuration", "errno",
    }  # fmt: skip
    write(".gitignore", "*.txt\n")
    assert "dataloader_lint.source.gitignore" in imported_by()
    with_options = imported_by("--exit-zero", "a.py")
    assert not with_options & {"libcst", "dataclasses", "inspect", "json", "pathlib", "dataloader_lint.rules"}


def test_other_formats_and_flake8_are_not_imported() -> None:
    write("a.py", BAD)
    loaded = imported_by(*ONLY, "--output-format", "concise")
    assert "libcst" in loaded
    assert not loaded & {"flake8", "torch"}


def cpu_seconds(*command: str) -> float:
    """The least processor time that a command took in a number of tries."""
    best = float("inf")
    for _ in range(15):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        processes.run([sys.executable, *command], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def test_a_file_that_cannot_matter_costs_little_more_than_starting_python() -> None:
    write("a.py", "import os\n")
    start = "import sys; from dataloader_lint.cli import main; sys.exit(main(['a.py']))"
    assert cpu_seconds("-c", start) < 2 * cpu_seconds("-c", "pass")


@pytest.mark.parametrize("option", ["--output-file", "-o", "--write-baseline"])
@pytest.mark.parametrize("name", ["train.py", "notes.txt", "pyproject.toml"])
def test_nothing_is_overwritten_that_is_no_report(option: str, name: str) -> None:
    content = BAD if name == "train.py" else "# DL301\n[tool.other]\n" if name.endswith(".toml") else "mine\n"
    write(name, content)
    write("a.py", BAD)
    code, out, err = run(*ONLY, option, name, "a.py")
    assert (code, out) == (2, "")
    assert err == f"dataloader-lint: {name} exists and is no report or baseline: it is not overwritten\n"
    assert Path(name).read_text() == content


@pytest.mark.parametrize("shape", ["concise", "full", "grouped", "json", "json-lines", "sarif", "rdjson", "junit",
                                   "github", "gitlab", "azure", "pylint"])  # fmt: skip
@pytest.mark.parametrize("content", [BAD, GOOD])
def test_a_report_takes_the_place_of_an_older_one(shape: str, content: str) -> None:
    write("a.py", content)
    for _ in range(2):
        code, _, err = run(*ONLY, "--output-format", shape, "-o", "report.out", "a.py")
        assert (code, err) == (int(content is BAD), "")
    assert run(*ONLY, "--write-baseline", "report.out", "a.py")[0] == 0
    assert run(*ONLY, "--write-baseline", "report.out", "a.py")[0] == 0
