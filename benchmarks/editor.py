"""What editing costs: a scripted editor in front of the language server, over standard input and output.

`python -m benchmarks.editor FOLDER FILE` opens a file of a project, types, moves the cursor and asks for quick fixes.
Keys are sent as VS Code sends them: each is a change of the place where it was typed. For each kind of question it
prints how long the answer took, in milliseconds: the median, the 95th percentile and the longest; then the CPU time of
the server for a key. `--against CHECKOUT` measures the server of another checkout in turn with this one.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
from lsprotocol import types

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from lsp_editor import Editor, editor  # the editor of the tests

KEYSTROKES, MOVES, FIXES = 200, 50, 20
# Keys in a line that is typed; the last one begins the next line.
LINE = 40
# The pause after the last of some keys, in seconds: long enough that the server works out fixes ahead.
REST = 5.0


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds until an answer is there."""
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


def row(name: str, times: list[float]) -> str:
    """A line of the table."""
    return f"{name:<28}{len(times):>4}{statistics.median(times):>10.0f}{late(times):>10.0f}{max(times):>10.0f}"


def late(times: list[float]) -> float:
    """The 95th percentile."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


CPU, KEY = "CPU of the server for a key", "key, to the findings"
MOVE, QUICK_FIX = "cursor move, to the actions", "quick fix"


def cpu_of(me: Editor) -> float:
    """CPU milliseconds of the server so far."""
    assert me.client._server is not None
    times = psutil.Process(me.client._server.pid).cpu_times()
    return float(times.user + times.system) * 1000


async def play(me: Editor, path: Path, keystrokes: int) -> dict[str, list[float]]:
    """Edit a file; return for each kind of question how long the answers took."""
    text = path.read_text(encoding="utf-8")
    uri = me.open(path, text)
    found = {"open": [await timed(lambda: me.said(uri, 1))]}

    typed: list[float] = []
    before = cpu_of(me)
    place = _end(text)
    for number in range(keystrokes):
        is_last = number % LINE == LINE - 1
        version = me.edit(uri, (types.Range(place, place), "\n" if is_last or not number else "x"))
        is_below = is_last or not number
        place = types.Position(place.line + is_below, 0 if is_below else place.character + 1)
        typed.append(await timed(lambda version=version: me.said(uri, version)))  # type: ignore[misc]
    found[KEY] = typed
    found[CPU] = [(cpu_of(me) - before) / max(keystrokes, 1)]

    shown = await me.said(uri, me.type(uri, text))
    await asyncio.sleep(REST)
    lines = text.count("\n")
    places = [types.Position(number * lines // MOVES, 0) for number in range(MOVES)]
    moves = [await timed(lambda place=place: me.actions(uri, types.Range(place, place))) for place in places]  # type: ignore[misc]
    found[MOVE] = moves

    ranges = [shown[number % len(shown)].range for number in range(FIXES)] if shown else []
    asked = [await timed(lambda each=each: me.actions(uri, each, ["quickfix"])) for each in ranges]  # type: ignore[misc]
    if asked:
        found[QUICK_FIX] = asked
    everything = await me.actions(uri, types.Range(places[0], places[-1]), ["source.fixAll"])
    if everything:
        found["edit for all findings"] = [await timed(lambda: me.resolved(everything[0]))]
    return found


def _end(text: str) -> types.Position:
    """Where a text ends that editors show."""
    lines = text.splitlines(keepends=True)
    is_open = bool(lines) and not lines[-1].endswith("\n")
    return types.Position(len(lines) - is_open, len(lines[-1]) if is_open else 0)


async def measure(folder: Path, path: Path, keystrokes: int, checkout: Path | None = None) -> dict[str, list[float]]:
    """Start a server in a folder and edit a file of it; the server of another checkout where one is named."""
    async with editor(folder, resolves=["edit"], site=[str(checkout)] if checkout is not None else []) as me:
        return await play(me, path, keystrokes)


def main() -> None:
    """Print the table for the file that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editor", description=__doc__)
    parser.add_argument("folder", type=Path, help="the project that is open")
    parser.add_argument("file", type=Path, help="the file that is edited")
    parser.add_argument("--keystrokes", type=int, default=KEYSTROKES, metavar="N", help="how many (%(default)s)")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="measure the server there in turn")
    parser.add_argument("--turns", type=int, default=1, metavar="N", help="how often each is measured (%(default)s)")
    chosen = parser.parse_args()
    servers = {"here": None} if chosen.against is None else {"there": chosen.against.resolve(), "here": None}
    found: dict[str, dict[str, list[float]]] = {name: {} for name in servers}
    for _ in range(chosen.turns):
        for server, checkout in servers.items():
            measured = asyncio.run(measure(chosen.folder.resolve(), chosen.file.resolve(), chosen.keystrokes, checkout))
            for name, times in measured.items():
                found[server].setdefault(name, []).extend(times)
    for server, several in found.items():
        print(f"{f'ms, {server}':<28}{'n':>4}{'median':>10}{'95 %':>10}{'longest':>10}")
        for name, times in several.items():
            print(row(name, times))


if __name__ == "__main__":
    main()
