"""Lints and repairs real files one after another and notes what came of each: `python sweep.py FOLDER [STEP [FIRST]]`.

It runs as a process of its own, because a file that overflows the stack of LibCST's native parser kills it. Every rule
is asked about every file, of which the gate lets few through in a real run; each file is a project of its own here.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from dataloader_lint.engine import fixer, linter
from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.engine.linter import examine
from dataloader_lint.gate import LOADING
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE, found_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.decoding import UnreadableError, decode

# All Datasets are large, as there is no fix for what costs little memory.
EVERY_RULE = Settings(extend_select=tuple(found_rules()), samples=(("*", 10_000_000),))
_NOWHERE = "/nonexistent"  # so that no other file is opened


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one file came to. `unreadable` and `crashes` are messages, `broken_by_fix` is one where a fix did harm.

    `megabytes` is the most memory that the process has held so far, all files before this one included.
    """

    path: str
    seconds: float
    megabytes: int
    findings: int
    unreadable: str
    crashes: list[str]
    fixed: int
    broken_by_fix: str


def probe(path: Path) -> Outcome:
    """Lint a file with every rule, whatever the gate says, and apply every repair, the unsafe ones too."""
    start = time.perf_counter()
    filename = f"{_NOWHERE}/{path.name}"
    source = path.read_bytes()
    try:
        text = decode(source)
    except UnreadableError as error:
        return Outcome(str(path), time.perf_counter() - start, _megabytes(), 0, error.problem, [], 0, "")
    examined = examine(text, filename, EVERY_RULE)
    crashes = [one.problem for one in examined.diagnostics if one.code == INTERNAL_ERROR]
    unreadable = next((one.problem for one in examined.diagnostics if one.code == UNREADABLE_FILE), "")
    fixed, harm = 0, ""
    if examined.builders:
        result = fix_source(source, filename, EVERY_RULE, unsafe=True)
        fixed = sum(result.fixed.values())
        crashes += [one.problem for one in result.remaining if one.code == INTERNAL_ERROR]
        harm = harm_of(source, result.source)
    seconds = round(time.perf_counter() - start, 3)
    return Outcome(str(path), seconds, _megabytes(), len(examined.diagnostics), unreadable, crashes, fixed, harm)


def ask_every_rule() -> None:
    """For the rest of this process, take every file for one about loading, so that no rule is spared any."""
    linter.subjects = lambda *_: frozenset({LOADING})
    fixer.may_matter = lambda *_: True


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def harm_of(before: bytes, after: bytes) -> str:
    """Why a repaired file does not compile any more; empty where it does, or never did."""
    return "" if _complaint(before) else _complaint(after)


def _complaint(source: bytes) -> str:
    try:
        compile(source, "file", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def files_below(folder: Path) -> list[Path]:
    """Every file called like Python below a folder, sorted; without what pip has put into the standard library's."""
    below = (path for path in folder.rglob("*.py") if "site-packages" not in path.relative_to(folder).parts)
    return sorted(path for path in below if path.is_file())


def outcomes(folder: Path, step: int = 1, first: int = 0) -> Iterator[Outcome]:
    """What every `step`th file below a folder comes to."""
    for path in files_below(folder)[first::step]:
        yield probe(path)


if __name__ == "__main__":
    ask_every_rule()
    for one in outcomes(Path(sys.argv[1]), *map(int, sys.argv[2:])):
        print(json.dumps(asdict(one)), flush=True)
