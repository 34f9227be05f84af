"""The fixtures in `tests/fixtures/DLxxx/`: found, read, changed without changing what should be reported, and linted.

A unit is one file, or a folder `project_*` whose files belong together. In it

    loader = DataLoader(data, persistent_workers=True)  # expect: DL301

says that DL301 starts on that line, and nowhere without such a comment; a finding with several places starts on each.
A file called `silent*.py` has none: each of its cases starts with a comment `# silent: reason`.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dataloader_lint.diagnostics import Diagnostic

FIXTURES = Path(__file__).parent / "fixtures"
EXPECT = re.compile(r"# expect: (DL\d{3}(?:, DL\d{3})*)$", re.MULTILINE)
# With a suppression of another linter before the marker, if there is one: a line has only one.
SUPPRESSIBLE = re.compile(rb"(?:# noqa[:] (?P<others>[A-Z0-9, ]+?) +)?# expect: (?P<ours>DL[DL0-9, ]+)")
SILENT = re.compile(r"^\s*# silent: \S", re.MULTILINE)

# (path inside the unit, line, code)
Place = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Unit:
    """What is linted at once."""

    code: str
    path: Path

    @property
    def name(self) -> str:
        """How the test run calls it."""
        return self.path.relative_to(FIXTURES).as_posix()

    @property
    def root(self) -> Path:
        """The folder that places are relative to."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def files(self) -> list[Path]:
        """Its Python files."""
        return sorted(self.path.rglob("*.py")) if self.path.is_dir() else [self.path]

    def expected(self) -> list[Place]:
        """What the marker comments ask for."""
        places: list[Place] = []
        for file in self.files:
            inside = file.relative_to(self.root).as_posix()
            for number, line in enumerate(read_source(file).splitlines(), start=1):
                if marker := EXPECT.search(line):
                    places += [(inside, number, code) for code in marker[1].split(", ")]
        return sorted(places)

    def differences(self, diagnostics: Iterable[Diagnostic]) -> str:
        """What is missing and what is unexpected, each with its line of source and its message; empty if nothing."""
        found = list(diagnostics)
        wanted, reported = Counter(self.expected()), Counter(places(found, self.root))
        lines: list[str] = []
        for word, places_of_word in (("missing", wanted - reported), ("unexpected", reported - wanted)):
            for file, number, code in sorted(places_of_word):
                source = read_source(self.root / file).splitlines()[number - 1 : number]
                lines.append(f"{word} {code} at {file}:{number}: {''.join(source).strip()}")
                messages = {one.problem for one in found if (file, number, code) in places([one], self.root)}
                lines += [f"    {message}" for message in sorted(messages)] if word == "unexpected" else []
        return "\n".join(lines)

    def silent_cases(self) -> int:
        """How many cases say that they must stay silent, and why."""
        return sum(len(SILENT.findall(read_source(file))) for file in self.files if file.name.startswith("silent"))

    def rewritten(self, folder: Path, change: Callable[[bytes], bytes]) -> Unit:
        """Copies the unit into a folder with every file's bytes changed.

        A file has the same ones beside it, as what they say decides on some findings.
        """
        others = [*self.path.rglob("requirements*.txt"), *self.path.glob("setup.cfg")] if self.path.is_dir() else []
        if not self.path.is_dir():
            shutil.copytree(self.path.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for file in (*self.files, *others):
            copy = folder / self.path.name / file.relative_to(self.path) if self.path.is_dir() else folder / file.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(change(file.read_bytes()) if file.suffix == ".py" else file.read_bytes())
        return Unit(self.code, folder / self.path.name)


def read_source(file: Path) -> str:
    """Reads a fixture; one that is no UTF-8 on purpose has its markers in ASCII all the same."""
    return file.read_text(encoding="utf-8-sig", errors="replace")


def suppressed(source: bytes) -> bytes:
    """Turns every marker into a `# noqa` of the same codes."""

    def comment(found: re.Match[bytes]) -> bytes:
        return b"# noqa: " + b", ".join(codes for codes in (found["others"], found["ours"]) if codes)

    return SUPPRESSIBLE.sub(comment, source)


def find_units() -> list[Unit]:
    """Finds every unit of every rule."""
    units: list[Unit] = []
    for folder in sorted(FIXTURES.glob("DL*")):
        paths = [*folder.glob("*.py"), *(path for path in folder.glob("project_*") if path.is_dir())]
        units += [Unit(folder.name, path) for path in sorted(paths)]
    return units


def places(diagnostics: Iterable[Diagnostic], root: Path) -> list[Place]:
    """Reduces diagnostics to what the markers can say, with the other places of their causes."""
    return sorted(
        (Path(found.filename).resolve().relative_to(root.resolve()).as_posix(), place.start.line, found.code)
        for found in diagnostics
        for place in (found, *found.places)
    )
