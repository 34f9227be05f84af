"""What the command tells about itself and its work: lists of rules and files, completion, quiet and verbose."""

from __future__ import annotations

import builtins
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from benchmarks import processes
from commands import BAD, ONLY, here, run, write
from dataloader_lint import cli
from dataloader_lint.cli import terminal
from dataloader_lint.rules.registry import found_rules

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")


def states(*arguments: str) -> dict[str, str]:
    code, out, err = run(*arguments, "--explain")
    assert (code, err) == (0, "")
    return {line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith("DL")}


def test_all_rules_with_their_state() -> None:
    usual = states()
    assert list(usual) == list(found_rules())
    assert (usual["DL301"], usual["DL309"], usual["DL000"], usual["DL999"]) == ("on", "opt-in", "on", "on")
    chosen = states("--select", "DL3,DL309", "--ignore", "DL302")
    assert (chosen["DL301"], chosen["DL302"], chosen["DL309"], chosen["DL101"]) == ("on", "off", "on", "off")
    write("pyproject.toml", '[tool.dataloader-lint]\nextend-select = ["DL309"]\n')
    assert states()["DL309"] == "on"
    assert states("--start-method", "fork")["DL201"] == "off"
    lines = run("--explain")[1].splitlines()
    assert "DL301 on     persistent-workers-without-workers: `persistent_workers=True` needs worker" in "\n".join(lines)
    assert next(line for line in lines if line.startswith("DL301")).endswith(" [fix: safe]")
    found = re.fullmatch(
        r"(\d+) rules: (\d+) on, 0 off, (\d+) opt-in\. DL000, DL001, DL999 are the linter's own\.", lines[-2]
    )
    assert found and int(found[1]) == int(found[2]) + int(found[3])
    assert f"# {found[2]} of {found[1]} rules: " in run("--show-settings")[1]


@pytest.mark.skipif(os.name == "nt", reason="PAGER is a command of a shell")
@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        ({"PAGER": "head -n 3"}, 3),
        ({"PAGER": "cat"}, 0),
        ({"PAGER": ""}, 0),
        ({"PAGER": "no-such-pager --plain"}, 0),
        ({"PAGER": "LINES=9 head -n 3"}, 3),
        ({"PAGER": "head -n 3", "CI": "true"}, 0),
        ({"PAGER": "head -n 3", "NO_PAGER": "1"}, 0),
        ({"PAGER": "head -n 3", "TERM": "dumb"}, 0),
    ],
)
def test_long_pages_go_through_a_pager(
    variables: dict[str, str], lines: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_PAGER", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(terminal, "height", lambda: 20)
    terminal.show_paged(["one"] * 30)
    assert capfd.readouterr().out.count("one") == (lines or 30)
    terminal.show_paged(["one"] * 10)
    assert capfd.readouterr().out.count("one") == 10


PAGER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(1)
print(len(sys.stdin.readlines()), "lines")
"""
PAGED = "from dataloader_lint.cli import terminal; terminal.height = lambda: 20; terminal.show_paged(['one'] * 30)"


@pytest.mark.skipif(os.name == "nt", reason="PAGER is a command of a shell")
def test_ctrl_c_is_for_the_pager() -> None:
    """Else the prompt comes back while the pager still reads keys from the same terminal."""
    write("pager.py", PAGER)
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_PAGER")}
    environment |= {"TERM": "xterm", "PAGER": f"{sys.executable} pager.py"}
    command = [sys.executable, "-c", PAGED]
    with processes.started(command, env=environment) as process:
        assert process.next_line() == "ready"
        time.sleep(0.2)  # until the text is written
        os.kill(process.pid, signal.SIGINT)
        assert process.next_line() == "30 lines"
        assert process.wait() == 0


def test_files_that_would_be_linted() -> None:
    for name in ("b.py", "a.py", "sub/c.pyi", "sub/skip.py", ".venv/d.py", "note.txt"):
        write(name, "")
    assert run("--show-files", "--exclude", "skip.py,.venv") == (0, "a.py\nb.py\nsub/c.pyi\n", "")
    code, out, err = run("--show-files", "gone", "a.py")
    assert (code, out, err) == (2, "a.py\n", "dataloader-lint: no such file or directory: gone\n")


def test_an_empty_path_is_not_the_whole_folder() -> None:
    """What a script gets from a variable that is not set: `dataloader-lint --fix "$FILE"`."""
    write("a.py", BAD)
    assert run("--fix", "")[0] == 2
    assert Path("a.py").read_text() == BAD


def test_quiet() -> None:
    write("a.py", BAD)
    write("b.py", "")
    code, out, err = run(*ONLY, "--quiet", "--output-format", "concise")
    assert (code, len(out.splitlines()), err) == (1, 1, "")
    assert run("--quiet", "b.py") == (0, "", "")
    Path("empty").mkdir()
    assert run("-q", "empty") == (0, "", "")
    assert run("-q", "gone") == (2, "", "dataloader-lint: no such file or directory: gone\n")
    assert run("-q", "-v")[::2] == (2, "dataloader-lint: --quiet cannot be used with --verbose\n")


def test_verbose() -> None:
    write("a.py", BAD)
    write("pkg/b.py", "")
    code, out, err = run("--select", "DL301,DL302", "--verbose", "--output-format", "json")
    assert code == 1
    assert out == run("--select", "DL301,DL302", "--output-format", "json")[1]
    lines = err.splitlines()
    assert lines[0] == (
        'settings: select = ["DL301", "DL302"], output-format = "json" (those of each file: --show-settings)'
    )
    assert lines[1] == "rules: DL301 DL302 (2)"
    assert sorted(re.sub(r"^ *\d+\.\d ms  ", "", line) for line in lines[2:-1]) == ["a.py", str(Path("pkg", "b.py"))]
    assert re.fullmatch(r"2 files in \d+\.\d\d s", lines[-1])
    assert run("-v", "--isolated", "pkg")[2].startswith(
        "settings: defaults (those of each file: --show-settings)\nrules: DL101 "
    )
    code, _, err = run(*ONLY, "-v", "--fix")
    assert code == 0
    assert err.splitlines()[-1].startswith("2 files in ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    code, script, err = run("--completion", shell)
    assert (code, err) == (0, "")
    for word in ("dataloader-lint", "output-format", "json-lines", "write-baseline"):
        assert word in script
    if shutil.which(shell) is None:
        return
    path = write("completion", script)
    processes.run([shell, "-n", str(path)], check=True)
    write("train.py", "")
    for typed, wanted in {
        "--output-f": ["--output-format", "--output-file"],
        "--output-format js": ["json", "json-lines"],
        "--explain DL30": [code for code in found_rules() if code.startswith("DL30")],
        "--baseline tra": ["train.py"],
        "tra": ["train.py"],
    }.items():
        if shell != "zsh":  # whose completion only works on a terminal
            assert sorted(completed(shell, script, typed.split())) == sorted(wanted)


def completed(shell: str, script: str, words: list[str]) -> list[str]:
    """What a shell offers for the last of some words behind the name of the command."""
    if shell == "fish":
        ask = f"source ./completion; complete -C 'dataloader-lint {' '.join(words)}'"
    else:
        function = re.search(r"complete .*-F (\S+)", script)
        assert function is not None
        ask = (
            f"source ./completion; COMP_WORDS=(dataloader-lint {' '.join(words)}); COMP_CWORD={len(words)}; "
            f"{function[1]} dataloader-lint; printf '%s\n' \"${{COMPREPLY[@]}}\""
        )
    done = processes.run([shell, "-c", ask], check=True)
    return [line.partition("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("option", "library", "extra"),
    [(["--completion", "bash"], "shtab", "completion"), (["--watch"], "watchfiles", "watch")],
)
def test_a_library_that_is_not_installed_is_named(
    option: list[str], library: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    assert cli.main(option) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.endswith(f"need{'s' if extra == 'watch' else ''} {library}: pip install 'dataloader-lint[{extra}]'\n")


def test_options_that_make_no_sense_together() -> None:
    write("a.py", "")
    for options in (
        ["--show-files", "--watch"],
        ["--watch", "--fix"],
        ["--add-noqa", "--fix"],
        ["--write-baseline", "x", "--diff"],
        ["--output-file", "x", "--diff"],
        ["--baseline", "x", "--add-noqa"],
        ["--config", "x.toml", "--isolated"],
    ):
        code, out, err = run(*options, "a.py")
        assert (code, out) == (2, "")
        assert err.startswith("dataloader-lint: ")
        assert err.count("\n") == 1
    assert not Path("x").exists()


def test_the_list_of_rules_has_an_option_of_its_own() -> None:
    assert run("--list-rules") == run("--explain")


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("setup.cfg", "[dataloader-lint]\nselect = DL3\n", "[dataloader-lint] of setup.cfg is not read"),
        ("tox.ini", "[tool:dataloader-lint]\n", "[tool:dataloader-lint] of tox.ini is not read"),
        ("dataloader-lint.toml", "", "dataloader-lint.toml is not read: pass --config dataloader-lint.toml"),
        ("setup.cfg", "[flake8]\ndl-start-method = spawn\n", ""),
    ],
)
def test_settings_that_nobody_reads_are_named(name: str, text: str, part: str) -> None:
    write("a.py", "")
    write(name, text)
    code, out, err = run("a.py")
    assert (code, out) == (0, "All checks passed! 1 file, no DataLoader or Dataset in it.\n")
    assert err.count("\n") == bool(part)
    assert part in err
    assert run("--isolated", "a.py")[2] == ""
    assert run("--quiet", "a.py")[2] == ""
