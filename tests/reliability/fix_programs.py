"""Programs with pitfalls, fixed, and run before and after under a stand-in for torch: what does a fix change?

    python -m reliability.fix_programs FIRST COUNT [--unsafe] [--show]      (in tests/)

A safe fix must leave everything as it is that a program prints and copies, and the error that ends it; only the errors
that the rules are about may go. An unsafe fix may change that, but brings no name, type or syntax error.
"""

from __future__ import annotations

import io
import json
import keyword
import re
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import processes
from dataloader_lint.engine.fixer import fix_source
from reliability.fix_more_scenes import SCENES
from reliability.fix_places import Chance
from reliability.fix_scenes import Files
from reliability.relayout import relaid
from reliability.sweep import EVERY_RULE

RUNNER = Path(__file__).parent / "run_fix_programs.py"
SETTINGS = (("cuda", "fork"), ("cuda", "spawn"), ("mps", "fork"), ("", "fork"))
# The errors that the fixes are there for.
PITFALLS = re.compile(
    r"persistent_workers option needs|prefetch_factor option could|multiprocessing_context can only"
    r"|requires timeout == 0"
    r"|mutually exclusive|takes 0 positional arguments but 1 was given|Can't pickle|Can't get local object"
    r"|cannot be pickled|exited unexpectedly|context has already been set|bootstrapping phase|cannot pickle"
)
# A test that wants one error, and had another one.
_STILL_FAILS = re.compile("DID NOT RAISE|not raised")
NEW_ERRORS = ("NameError", "SyntaxError", "TypeError", "UnboundLocalError")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_MAIN = re.compile(r"^( *)def main\(\):", re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}|<function [^>]*>|<locals>\.[\w<>.]*")


@dataclass(slots=True)
class Program:
    """The files of a program before and after its fixes, by their names, and what was fixed by code."""

    seed: int
    before: dict[str, bytes]
    after: dict[str, bytes] = field(default_factory=dict)
    fixed: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    ran: bool = False

    def __str__(self) -> str:
        shown = [f"seed {self.seed}, fixed {dict(self.fixed)}"]
        for name, text in self.before.items():
            shown += [f"--- {name}", text.decode()]
            if self.after.get(name, text) != text:
                shown += [f"+++ {name}, fixed", self.after[name].decode()]
        return "\n".join([*shown, *self.complaints])


def written(seed: int) -> Files:
    """The files of a program, by their names; `main.py` is the one that is run."""
    chance = Chance(seed)
    return chance.of(*SCENES)(chance)


def fixed(program: Program, folder: Path, unsafe: bool) -> None:
    """Fix a program as the command does, and check what can be seen without running it."""
    program.after, program.fixed = _apply(program.before, folder / "after", unsafe)
    if program.after == program.before:
        return
    again, _ = _apply(program.after, folder / "again", unsafe)
    if again != program.after:
        program.complaints.append("NOT IDEMPOTENT")
    for name, text in program.before.items():
        program.complaints += [f"{name}: {each}" for each in harm(text, program.after[name])]


def _apply(files: dict[str, bytes], folder: Path, unsafe: bool) -> tuple[dict[str, bytes], Counter[str]]:
    folder.mkdir(parents=True)
    (folder / "setup.cfg").touch()
    for name, text in files.items():
        (folder / name).write_bytes(text)

    counts: Counter[str] = Counter()
    for name in sorted(files):
        source = (folder / name).read_bytes()
        result = fix_source(source, str(folder / name), EVERY_RULE, unsafe=unsafe)
        counts.update(result.fixed)
        (folder / name).write_bytes(result.source)
    return {name: (folder / name).read_bytes() for name in files}, counts


def harm(before: bytes, after: bytes) -> Iterator[str]:
    """What a fix did to a text that it must not do, whatever the program does."""
    if before == after:
        return
    try:
        compile(after, "after", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        yield f"DOES NOT COMPILE: {error}"
        return
    if lost := Counter(_comments(before)) - Counter(_comments(after)):
        yield f"COMMENTS LOST: {dict(lost)}"
    alone = [Counter(re.findall(rb"\r\n|\r|\n", each)) for each in (before, after)]
    if set(alone[1]) - set(alone[0]):
        yield "OTHER NEWLINES"
    if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
        yield "BYTE ORDER MARK"


def _comments(source: bytes) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source.decode("utf-8-sig").replace("\r\n", "\n")).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


# Names that fixes bring, taken already.


def hazards(program: Program, files: Files, chance: Chance) -> Files | None:
    """The same program with a name that its fix has brought in use for something else; None where it brought none."""
    brought = [
        (name, word)
        for name in files
        for word in sorted(_words(program.after[name]) - _words(program.before[name]))
        if not word.startswith("__") and not keyword.iskeyword(word)
    ]
    if not brought:
        return None
    name, word = chance.of(*brought)
    text, made = files[name], dict(files)
    anchor = "def decorated(function):"
    first, shown = f"{word} = 'mine'", f"print({word})"
    top = chance.of(
        first,
        f"import os as {word}",
        f"def {word}(*args):\n    return 'mine'\n",
        f"for {word} in 'ab': pass",
        f"if len(sys.argv) < 9:\n    {word} = 'mine'",
        f"globals()['{word}'] = 'mine'",
        "from stars import *",
        f"with contextlib.nullcontext('mine') as {word}: pass",
        f"class {word}: pass",
        f"import builtins\n\nbuiltins.{word} = 'mine'",
        f"def binds():\n    global {word}\n    {word} = 'mine'\n\n\nbinds()",
        f"try:\n    {word}\nexcept NameError:\n    {word} = 'was free'",
        f"exec(\"{word} = 'mine'\")",
    )
    kind = chance.randrange(6)
    made["stars.py"] = f"{word} = 'from a star'\n"
    if kind < 2 and anchor in text:
        made[name] = text.replace(anchor, f"{top}\n\n\n{anchor}", 1) + f"\n{shown}\n"
    elif kind == 2:
        made[name] = text + f"\n{first}\n{shown}\n"
    elif kind == 3 and "def main():" in text:
        made[name] = _MAIN.sub(rf"\1def main({word}='mine'):\n\1    {shown}", text, count=1)
    elif kind == 4 and "def main():" in text:
        made[name] = _MAIN.sub(rf"\1def main():\n\1    {first}\n\1    {shown}", text, count=1)
    elif name != "main.py" and f"from {name[:-3]} import *" in files["main.py"]:
        star = f"from {name[:-3]} import *"
        made["main.py"] = files["main.py"].replace(star, f"{first}\n{star}\n{shown}", 1)
    elif anchor in text:
        made[name] = text.replace(anchor, f"{top}\n\n\n{anchor}", 1)
    else:
        return None
    return made


def _words(text: bytes) -> set[str]:
    return set(_WORD.findall(text.decode()))


# Running.


def outcomes(jobs: Sequence[tuple[str, str, dict[str, str]]], seconds: float) -> list[list[Any]]:
    """What each program comes to, in a process that has its own group and ends with it."""
    questions = "".join(json.dumps(job) + "\n" for job in jobs)
    done = processes.run([sys.executable, "-I", RUNNER], input=questions, seconds=seconds)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(jobs)
    return found


def compared(programs: list[Program], folder: Path, unsafe: bool, everywhere: bool = False) -> None:
    """Run programs that were changed before and after, and note the differences."""
    jobs: list[tuple[str, str, dict[str, str]]] = []
    meant: list[tuple[Program, str]] = []
    for program in programs:
        for kind, files in (("before", program.before), ("after", program.after)):
            place = folder / str(program.seed) / kind
            place.mkdir(parents=True)
            for name, text in files.items():
                (place / name).write_bytes(text)
        chosen = SETTINGS if everywhere else (SETTINGS[0], Chance(program.seed).of(*SETTINGS[1:]))
        for accelerator, method in chosen:
            environment = {"STUB_ACCELERATOR": accelerator, "STUB_START_METHOD": method}
            for kind, races in (("before", "1"), ("before", "0"), ("after", "1")):
                if (kind, races) == ("before", "0") and not any(
                    b"non_blocking" in each for each in program.before.values()
                ):
                    continue
                job = environment | {"STUB_RACES": races}
                jobs.append((str(folder / str(program.seed) / kind), "main.py", job))
                meant.append((program, f"{kind} {accelerator} {method}"))
    by_setting: dict[tuple[int, str], list[list[Any]]] = {}
    named = {program.seed: program for program in programs}
    for (program, label), found in zip(meant, outcomes(jobs, 20 + 2 * len(jobs)), strict=True):
        found[0], found[2] = _ADDRESS.sub("_", found[0]), _ADDRESS.sub("_", found[2])
        by_setting.setdefault((program.seed, label), []).append(found)
    for (seed, label), before in by_setting.items():
        if not label.startswith("before"):
            continue
        after = by_setting[seed, label.replace("before", "after", 1)][0]
        named[seed].ran |= not before[0][2]
        if label.endswith("spawn"):  # the first error hides those that workers which start would have come to
            before = [*before, *by_setting.get((seed, label.replace("spawn", "fork")), [])]
        problem = _bad(before, after) if unsafe else _difference(before, after)
        if problem:
            named[seed].complaints.append(f"{problem} ({label.removeprefix('before ')})\n{before}\n{after}")


def _difference(before: list[list[Any]], after: list[Any]) -> str:
    if after in before:
        return ""
    printed, noted, error = before[0]
    if PITFALLS.search(error):
        # What `finally` does comes behind what the error kept from happening.
        is_longer = _is_within(printed.splitlines(), after[0].splitlines()) and _is_within(noted, after[1])
        if is_longer and (not after[2] or PITFALLS.search(after[2]) or _STILL_FAILS.search(after[2])):
            return ""
    return "DIFFERENT"


def _is_within(few: list[Any], many: list[Any]) -> bool:
    """True if all of the first come in the second, in the same order."""
    rest = iter(many)
    return all(each in rest for each in few)


def _bad(before: list[list[Any]], after: list[Any]) -> str:
    kind, old = after[2].partition(":")[0], {each[2].partition(":")[0] for each in before}
    return "NEW ERROR" if kind in NEW_ERRORS and kind not in old and not PITFALLS.search(after[2]) else ""


def tried(seeds: range, folder: Path, unsafe: bool, everywhere: bool = False) -> list[Program]:
    """Make programs, fix them, and run those that changed; with each the same one where its names are taken."""
    found: list[Program] = []
    for seed in seeds:
        files = written(seed)
        chance = Chance(seed + 1)
        plain = Program(seed * 2, {name: relaid(text, chance) for name, text in files.items()})
        fixed(plain, folder / "fixing" / str(plain.seed), unsafe)
        found.append(plain)
        taken = hazards(plain, files, chance) if plain.fixed else None
        if taken is not None:
            other = Program(seed * 2 + 1, {name: relaid(text, chance) for name, text in taken.items()})
            fixed(other, folder / "fixing" / str(other.seed), unsafe)
            found.append(other)
    compared([each for each in found if each.after != each.before], folder / "running", unsafe, everywhere)
    return found


def summary(programs: list[Program]) -> str:
    """What came of programs, in one line."""
    changed = [each for each in programs if each.after != each.before]
    codes = sum((each.fixed for each in programs), Counter[str]())
    return (
        f"{len(programs)} programs, {len(changed)} fixed, {sum(each.ran for each in changed)} of them ran before, "
        f"{sum(bool(each.complaints) for each in programs)} with complaints; {dict(sorted(codes.items()))}"
    )


if __name__ == "__main__":
    start, count = map(int, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as work:
        every = tried(range(start, start + count), Path(work), "--unsafe" in sys.argv, "--everywhere" in sys.argv)
    for one in every:
        if one.complaints and "--show" in sys.argv:
            print(one, "\n" + "=" * 100)
    print(summary(every))
