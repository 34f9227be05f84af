"""In a terminal no word is broken: what is longer than a line is continued on the next one."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import sys
import termios

import pytest

from benchmarks import processes
from commands import ROOT, terminal

COLUMNS = 80
EXAMPLE = str(ROOT / "examples" / "train_pitfalls.py")
# Addresses and commands stay whole, to be copied, and so do lines of source.
_WHOLE = re.compile(r"docs: https://\S+|\s*\d+ \|.*|    dataloader-lint .*|\S+")


def lines_of(*arguments: str, columns: int = COLUMNS) -> list[str]:
    """What a terminal of so many columns gets, without colors and progress."""
    command = [sys.executable, "-m", "dataloader_lint", *arguments]
    with terminal() as (handle, shown):
        fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "NO_PAGER": "1"}
        processes.run(command, stdout=handle, stderr=handle, env=environment)
    return shown.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        [EXAMPLE],
        ["--full", EXAMPLE],
        ["--select", "all", "--full", EXAMPLE],
        ["--statistics", EXAMPLE],
        ["--show-settings", EXAMPLE],
        ["--explain"],
        ["--explain", "memory grows each epoch"],
        ["--explain", "nothing that a rule, a message or a symptom says"],
        ["--help"],
        ["--select", "DL1x"],
        ["--config", "start-method = 'a start method that nobody has heard of before'"],
        ["doctor", "--help"],
        ["doctor"],
    ],
    ids=" ".join,
)
def test_no_word_is_broken(arguments: list[str]) -> None:
    shown = lines_of(*arguments)
    assert shown
    assert [line for line in shown if len(line) > COLUMNS and not _WHOLE.fullmatch(line)] == []


def test_help_begins_with_what_to_type() -> None:
    shown = lines_of("--help")
    assert all(f"dataloader-lint {word}" in "\n".join(shown[:8]) for word in ("src/", "--explain", "doctor"))


def test_nothing_is_lost() -> None:
    for arguments in (["--show-settings", EXAMPLE], ["--select", "DL1x"]):
        narrow, wide = (lines_of(*arguments, columns=columns) for columns in (COLUMNS, 2000))
        assert len(narrow) > len(wide)
        plain = [" ".join(" ".join(line.removeprefix("# ") for line in lines).split()) for lines in (narrow, wide)]
        assert plain[0] == plain[1]


def test_elsewhere_a_message_is_one_line() -> None:
    done = processes.run([sys.executable, "-m", "dataloader_lint", "--select", "DL1x"])
    assert done.stderr.count("\n") == 1 and len(done.stderr) > COLUMNS
