"""Shows which functions of the three rooms decide nothing in real code: what they cost in lines, room by room.

    python -m benchmarks.tail                            the pinned packages
    python -m benchmarks.tail --over ~/checkouts         and each folder in ~/checkouts
    python -m benchmarks.tail --only timm --functions 40

A function decides something if it gives different answers: a predicate both True and False, any other function
anything but nothing (None, an empty container, zero, unknown). One that is annotated to return None only has to run.
One that is never called, or always answers the same, decides nothing in these code bases; its fixtures may still need
it, and so may a code base that is not among them. This is a report to read, not a verdict.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, GeneratorType
from typing import TYPE_CHECKING

from benchmarks import processes
from benchmarks.findings_diff import UsageError, choose
from benchmarks.options import say
from benchmarks.tables import table

if TYPE_CHECKING:
    from dataloader_lint.semantics.values.values import Value

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dataloader_lint"
ROOMS = ("semantics", "pipeline", "rules")
SECONDS = 3600  # for one code base
LINT = ("--isolated", "--no-cache", "-j", "1", "--exit-zero", "--select", "DL", "--preview", "--quiet")
DECIDES = "decides"
WAYS = ("never called", "never true", "always true", "always nothing")
# Bits of the answers that a function gave.
NOTHING, TRUE, FALSE, SOMETHING = 1, 2, 4, 8

# By file and qualified name.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a room, with its lines, those of nested functions among them."""

    file: str
    name: str
    lines: int
    returns: str  # its annotation

    @property
    def home(self) -> str:
        """The room, and in it the rule, `_shared` or folder."""
        parts = Path(self.file).parts
        depth = 3 if parts[0] == "rules" else 2
        return "/".join(parts[:depth]).removesuffix(".py")

    def way(self, answers: int) -> str:
        """How it decides nothing, or that it decides something."""
        if not answers:
            return "never called"
        if self.returns == "None":
            return DECIDES
        if self.returns in ("bool", "bool | None") and answers & (TRUE | FALSE):
            return DECIDES if answers & TRUE and answers & FALSE else "always true" if answers & TRUE else "never true"
        return DECIDES if answers & (SOMETHING | TRUE) else "always nothing"


def main(arguments: Sequence[str] | None = None) -> int:
    """Lint each code base in a process that watches, and print the tables. Exit code 2: one could not be linted."""
    parser = argparse.ArgumentParser(prog="tail", description="Show which functions decide nothing in real code.")
    parser.add_argument("--over", action="append", default=[], type=Path, metavar="FOLDER", help="code bases, too")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this code base (repeatable)")
    parser.add_argument("--functions", type=int, default=30, metavar="N", help="how many functions to name (30)")
    parser.add_argument("--watch", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.watch is not None:
        options.into.write_text(json.dumps(watched(options.watch)), encoding="utf-8")
        return 0
    try:
        code_bases = choose(options.over, options.only)
    except UsageError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    answers: Counter[Name] = Counter()
    failed = 0
    for code_base in code_bases:
        found = _answers_in(code_base.folder)
        failed += found is None
        say(f"{code_base.name}: {'failed' if found is None else f'{len(found)} functions ran'}")
        for name, bits in (found or {}).items():
            answers[name] |= bits
    print("\n".join(report(list(functions()), answers, options.functions)))
    return 2 if failed else 0


def functions() -> Iterator[Function]:
    """The functions and methods of the rooms, without those nested in functions."""
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            file = path.relative_to(PACKAGE).as_posix()
            yield from _functions_in(ast.parse(path.read_text(encoding="utf-8")).body, file, "")


def _functions_in(body: Sequence[ast.stmt], file: str, inside: str) -> Iterator[Function]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions_in(node.body, file, f"{inside}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns) if node.returns is not None else ""
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if not _is_declared_only(node):
                yield Function(file, f"{inside}{node.name}", lines, returns)


def _is_declared_only(node: ast.FunctionDef) -> bool:
    """True for a method of a protocol: `...` behind the docstring, if there is one."""
    last = node.body[-1]
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)


def watched(folder: Path) -> list[tuple[str, str, int]]:
    """Lint a code base in this process; the answers of each function by file and name, as bits."""
    from dataloader_lint.cli import main as lint
    from dataloader_lint.semantics.values.values import UNKNOWN

    bits: defaultdict[CodeType, int] = defaultdict(int)
    rooms = tuple(str(PACKAGE / room) for room in ROOMS)
    ours: dict[CodeType, bool] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event != "return":
            return
        code = frame.f_code
        is_ours = ours.get(code)
        if is_ours is None:
            is_ours = ours[code] = code.co_filename.startswith(rooms)
        if is_ours:
            bits[code] |= _bit(argument, UNKNOWN)

    sys.setprofile(note)
    try:
        sys.stdout, out = sys.stderr, sys.stdout
        lint([*LINT, str(folder)])
    finally:
        sys.setprofile(None)
        sys.stdout = out
    found: Counter[Name] = Counter()
    for code, answers in bits.items():
        file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
        found[file, code.co_qualname] |= answers
    return [(file, name, answers) for (file, name), answers in found.items()]


def _bit(answer: object, unknown: Value) -> int:
    """What an answer is; nothing of the linter's own is called to find out."""
    if answer is True:
        return TRUE
    if answer is False:
        return FALSE
    if answer is None or answer is unknown or (isinstance(answer, int | float) and not answer):
        return NOTHING
    if isinstance(answer, GeneratorType):  # what it yields is noted when it is asked
        return NOTHING
    if isinstance(answer, str | bytes | tuple | list | dict | set | frozenset):
        is_unknown = isinstance(answer, tuple) and len(answer) == 1 and answer[0] is unknown
        return NOTHING if not answer or is_unknown else SOMETHING
    return SOMETHING


def _answers_in(folder: Path) -> dict[Name, int] | None:
    """What `watched` finds in a process of its own; None if that fails."""
    with tempfile.TemporaryDirectory(prefix="tail-") as place:
        into = Path(place, "answers.json")
        program = [sys.executable, "-m", "benchmarks.tail", "--watch", str(folder), "--into", str(into)]
        done = processes.run(program, cwd=ROOT, seconds=SECONDS)
        if done.returncode:
            say(done.stderr[-2000:])
            return None
        return {(file, name): bits for file, name, bits in json.loads(into.read_text(encoding="utf-8"))}


def report(all_functions: Sequence[Function], answers: Counter[Name], most: int) -> Iterator[str]:
    """The lines of the report: by room, by folder or rule, and the longest functions that decide nothing."""
    ways = {each: each.way(answers[each.file, each.name]) for each in all_functions}
    yield _by(lambda each: Path(each.file).parts[0], "Room", ways)
    yield ""
    yield _by(lambda each: each.home, "Folder or rule", ways)
    yield ""
    idle = sorted((each for each in ways if ways[each] != DECIDES), key=lambda each: (-each.lines, each.file))
    rows = [[f"`{each.file}`", f"`{each.name}`", str(each.lines), ways[each]] for each in idle[:most]]
    yield table(["File", "Function", "Lines", "In these code bases"], rows)


def _by(group: Callable[[Function], str], title: str, ways: Mapping[Function, str]) -> str:
    """Lines of functions by group, the groups with most idle lines first, and all of them."""
    lines: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each, way in ways.items():
        for name in (group(each), "all"):
            lines[name][way] += each.lines
    idle = {name: sum(found[way] for way in WAYS) for name, found in lines.items()}
    rows = []
    for name in sorted(lines, key=lambda name: (name == "all", -idle[name], name)):
        found = lines[name]
        share = f"{100 * idle[name] / found.total():.0f}%"
        rows.append([name, str(found.total()), *(str(found[way]) for way in WAYS), str(idle[name]), share])
    return table([title, "Lines of functions", *WAYS, "decide nothing", ""], rows)


if __name__ == "__main__":
    sys.exit(main())
