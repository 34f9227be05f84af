"""Programs that tests and benchmarks start: nothing of them can make a run wait forever."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from benchmarks.processes import run, run_bytes, started

ROOT = Path(__file__).parent.parent
# Where else processes may be started: the helper itself; what pygls starts for an editor; and programs that run only
# below the helper, in the group that it kills.
ALLOWED = {
    "benchmarks/processes.py",
    "tests/lsp_editor.py",
    "tests/reliability/run_fix_programs.py",
    "tests/reliability/run_programs.py",
    "tests/reliability/stub_torch/torch/utils/data/workers.py",
    "tests/test_processes.py",
}
STARTERS = {
    "subprocess": {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"},
    "pty": {"spawn", "fork"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
# A worker that outlives its parent and holds whatever that has handed on: what a DataLoader worker did that was started
# as its parent ended.
OUTLIVED = "import os, time\nprint('started', flush=True)\nif os.fork() == 0:\n    time.sleep({seconds})\n"


def alive(pid: int) -> bool:
    """True if a process runs; one that ended and that nobody waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    """True if a process ends soon."""
    limit = time.monotonic() + 10
    while alive(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not alive(pid)


def test_a_child_that_outlives_its_parent_holds_nothing_up() -> None:
    script = OUTLIVED.format(seconds=60)
    with pytest.raises(subprocess.TimeoutExpired):  # what the helper is for: a pipe waits for the child
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=2)
    start = time.monotonic()
    done = run([sys.executable, "-c", script])
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\n", "")
    assert time.monotonic() - start < 30


@pytest.mark.skipif(sys.platform != "linux", reason="a look at /proc")
@pytest.mark.parametrize("fate", ["ends", "fails", "hangs"])
def test_what_was_started_besides_is_killed(fate: str) -> None:
    script = f"""
import os, signal, sys, time
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    time.sleep(60)
print(child, flush=True)
if {fate!r} == "fails":
    sys.exit(3)
if {fate!r} == "hangs":
    time.sleep(60)
"""
    with started([sys.executable, "-c", script]) as running:
        child = int(running.next_line())
        if fate != "hangs":
            assert running.wait() == (3 if fate == "fails" else 0)
        assert alive(child)
    assert gone(child)
    assert gone(running.pid)


def test_what_hangs_is_ended_and_shows_its_stacks() -> None:
    script = "import time\ndef wait_forever():\n    time.sleep(60)\nprint('so far', flush=True)\nwait_forever()\n"
    with pytest.raises(TimeoutError, match=r"(?s)killed at its time limit\nso far.*in wait_forever"):
        run([sys.executable, "-c", script], seconds=2)


def test_what_hangs_and_does_not_listen_is_ended() -> None:
    script = "import signal, time\nsignal.signal(signal.SIGABRT, signal.SIG_IGN)\ntime.sleep(60)\n"
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        run([sys.executable, "-c", script], seconds=1)
    assert time.monotonic() - start < 30


def test_a_test_that_fails_leaves_nothing_behind() -> None:
    with pytest.raises(AssertionError), started([sys.executable, "-c", "import time; time.sleep(60)"]) as running:
        raise AssertionError
    assert running.process.returncode == -signal.SIGKILL


def test_a_step_of_ci_is_guarded() -> None:
    guard = [sys.executable, "-m", "benchmarks.processes"]
    slow = "import time; print('begun', flush=True); time.sleep(60)"
    done = run([*guard, "2", sys.executable, "-c", slow], cwd=ROOT)
    assert (done.returncode, done.stdout) == (124, "begun\n")
    assert "killed at its time limit" in done.stderr
    assert "Current thread" in done.stderr
    assert run([*guard, "60", sys.executable, "-c", "raise SystemExit(3)"], cwd=ROOT).returncode == 3


@pytest.mark.thorough
@pytest.mark.parametrize("options", [[], ["-n", "1"]])
def test_one_hung_test_fails_and_the_others_go_on(tmp_path: Path, options: list[str]) -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    assert 0 < config["timeout"] < 7200
    (tmp_path / "pytest.ini").write_text(f"[pytest]\ntimeout = 3\ntimeout_method = {config['timeout_method']}\n")
    (tmp_path / "test_hung.py").write_text(
        "import os, time\n"
        "def test_before(): pass\n"
        "def test_hangs():\n"
        "    reader, writer = os.pipe()\n"
        "    os.read(reader, 1)  # as of a pipe that a stray process holds open\n"
        "def test_after(): pass\n"
    )
    done = run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "."], cwd=tmp_path)
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "os.read(reader, 1)" in done.stdout


def test_lines_are_given_as_they_come() -> None:
    script = "import time\nfor each in 'ab':\n    print(each, flush=True)\n    time.sleep(0.2)\nprint('half', end='')"
    with started([sys.executable, "-c", script]) as running:
        assert [running.next_line(), running.next_line()] == ["a", "b"]
        with pytest.raises(EOFError):
            running.next_line()
    with started([sys.executable, "-c", "import time; time.sleep(60)"]) as running, pytest.raises(TimeoutError):
        running.next_line(seconds=0.2)


def test_input_and_output_of_any_size() -> None:
    script = "import sys; content = sys.stdin.buffer.read(); sys.stdout.buffer.write(content + content)"
    content = os.urandom(300_000)
    assert run_bytes([sys.executable, "-c", script], input=content).stdout == content * 2
    assert run([sys.executable, "-c", script], input="ä").stdout == "ää"
    assert run([sys.executable, "-c", script]).stdout == ""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run([sys.executable, "-c", "raise SystemExit('the reason')"], check=True)
    assert "the reason" in caught.value.__notes__[0]


def starts(source: str) -> list[str]:
    """What in a source text starts processes by other means than the helper."""
    tree = ast.parse(source)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, name = node.func.value, node.func.attr
            if isinstance(owner, ast.Name) and (name in STARTERS.get(owner.id, ()) or _is_spawn(owner.id, name)):
                found.append(f"{owner.id}.{name}")
            elif name == "start_io":
                found.append(name)
        elif isinstance(node, ast.ImportFrom):
            names = {each.name for each in node.names}
            found += [f"from {node.module} import {name}" for name in names & STARTERS.get(node.module or "", set())]
        elif isinstance(node, ast.Import):
            found += [
                f"import {each.name} as {each.asname}" for each in node.names if each.name in STARTERS and each.asname
            ]
    return found


def _is_spawn(owner: str, name: str) -> bool:
    return owner == "os" and name.startswith(("spawn", "exec"))


def test_nothing_starts_processes_by_other_means() -> None:
    folders = [ROOT / name for name in ("tests", "benchmarks", "docs")]
    files = [path for folder in folders for path in folder.rglob("*.py") if "fixtures" not in path.parts]
    found = {
        str(path.relative_to(ROOT)): starts(path.read_text("utf-8")) for path in files if ".cache" not in path.parts
    }
    assert {name: calls for name, calls in found.items() if calls and name not in ALLOWED} == {}
    assert {name for name in ALLOWED if not found[name]} == set()


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['x'], timeout=1)",
        "p = subprocess.Popen(['x'])",
        "from subprocess import check_output",
        "import subprocess as sp",
        "os.system('x')",
        "os.spawnv(0, 'x', [])",
        "pty.spawn('x')",
        "await asyncio.create_subprocess_exec('x')",
        "client.start_io('x')",
    ],
)
def test_other_means_are_noticed(source: str) -> None:
    assert starts(f"async def test():\n    {source}")
