"""The bar on long runs: on a terminal, on standard error, and gone at the end."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from commands import BAD, ONLY, here, run, terminal, write
from dataloader_lint.cli import progress

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
IMPATIENT = "import sys; from dataloader_lint.cli import main, progress; progress._PATIENCE = 0; sys.exit(main())"


def on_a_terminal(*arguments: str, patient: bool = False, **environment: str) -> tuple[str, str]:
    """What a terminal gets as standard error, and what a pipe gets as standard output; by default as of a long run."""
    command = [sys.executable, *(["-m", "dataloader_lint"] if patient else ["-c", IMPATIENT]), *arguments]
    with terminal() as (handle, shown):
        done = processes.run(command, stderr=handle, env={**os.environ, "TERM": "xterm", **environment})
    return shown.decode(), done.stdout


@pytest.fixture
def many_files(here: Path) -> None:
    for number in range(12):
        write(str(here / f"a{number:02}.py"), "from torch.utils.data import DataLoader\n")


@pytest.mark.usefixtures("many_files")
def test_a_long_run_shows_how_far_it_has_come() -> None:
    shown, out = on_a_terminal()
    assert out == "All checks passed!\n"
    assert "/12 a" in shown
    assert shown.endswith("\r\x1b[K")
    assert "\n" not in shown


@pytest.mark.usefixtures("many_files")
def test_nothing_where_nobody_looks() -> None:
    assert run() == (0, "All checks passed!\n", "")
    assert on_a_terminal("--quiet") == ("", "")
    assert on_a_terminal(TERM="dumb")[0] == ""
    assert on_a_terminal("a01.py")[0] == ""


@pytest.mark.usefixtures("many_files")
def test_a_diff_is_not_printed_over_the_bar() -> None:
    write("b.py", BAD)
    write("c.py", BAD)
    shown, out = on_a_terminal(*ONLY, "--diff")
    assert out.count("+loader = DataLoader(data, num_workers=0)") == 2
    made = "  fix 2 DL301 persistent-workers-without-workers\r\n"
    assert shown.endswith(f"\r\x1b[KWould fix 2 problems; 0 would remain.\r\n{made}")


def test_a_short_run_shows_nothing() -> None:
    write("a.py", "")
    write("b.py", "")
    assert on_a_terminal(patient=True) == ("", "All checks passed! 2 files, no DataLoader or Dataset in them.\n")


def test_what_the_bar_looks_like(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    bar = progress.Bar(4, stream)
    bar("a.py", 0.5)
    bar.clear()
    assert stream.getvalue() == ""
    now[0] = 1.5
    bar("b\x1b.py", 1.0)
    assert stream.getvalue() == "\r[" + "#" * 10 + "." * 10 + "] 2/4 b\\x1b.py\x1b[K"
    bar("c.py", 0.0)  # too soon for another picture
    assert stream.getvalue().count("\r") == 1
    now[0] = 2.0
    bar(str(Path("x" * 200, "d.py")), 0.5)
    picture = stream.getvalue().rpartition("\r")[2]
    assert picture.startswith("[" + "#" * 20 + "] 4/4 ...xxx")
    assert picture.endswith(f"x{os.sep}d.py\x1b[K")
    assert len(picture.removesuffix("\x1b[K")) < 80
    bar.end()
    bar.end()
    assert stream.getvalue().endswith("d.py\x1b[K\r\x1b[K")
