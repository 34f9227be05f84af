"""What a run reports: plain frozen data that crosses processes and goes into the cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Safety(Enum):
    """A `SAFE` fix changes nothing but the pitfall; an `UNSAFE` one may change behavior and needs a human to agree."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Level(Enum):
    """What a finding costs, worst first: the order of the members is the order of summaries and of `--fail-on`.

    A `NOTE` is true, but small, of unknown size, or without an effect that anybody saw. It fails a run only if the
    settings say so.
    """

    ERROR = "error"  # raises, hangs, or gives wrong data
    WARNING = "warning"  # fails where workers are spawned: macOS, Windows and, from Python 3.14 on, Linux
    MEMORY = "memory"
    SPEED = "speed"
    OPINION = "opinion"  # a matter of policy
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst level."""
        return _RANKS[self]


_MOST_LINES = 5  # of the other places of a finding, in its message
_RANKS = {level: rank for rank, level in enumerate(Level)}


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: `line` counts from 1, `column` from 0, in characters of the decoded text."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the text from `start` up to `end` by `content`; an insertion where both are equal.

    In a notebook the positions are those in `cell`, counted from 1 as `Diagnostic.cell` is.
    """

    start: Position
    end: Position
    content: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair: all `edits` belong together and do not overlap; `title` says in the imperative what they do."""

    safety: Safety
    title: str
    edits: tuple[TextEdit, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of the chain that leads to a finding: what is known at a place, which may be in another file.

    In a notebook `position` lies in `cell`, as that of a `Diagnostic` does.
    """

    filename: str
    position: Position
    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Another place of the same cause, in the same file. Its fields mean what they mean in a `Diagnostic`."""

    filename: str
    start: Position
    end: Position
    statement_lines: tuple[int, int]
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a cause, at the place that must change. Its other places are `places`.

    `cause` is what findings of one rule in one file have in common if they have one cause, such as the name of a class;
    it is empty where a finding stands for itself.

    `problem` says what is wrong and why it hurts, `advice` what to do. `because` is the chain of steps that shows it,
    from cause to harm; two findings that differ in it alone are the same. `no_fix` says in a few words why there is no
    `fix`, if the rule has fixes for others; it is known where fixes were asked for. `statement_lines` are the first and
    the last line of the statement around the finding: a `# noqa` on either one suppresses it. `level` says what it
    costs.

    In a notebook `cell` is the number of the cell, counted from 1 over all cells, those without code among them, and
    lines are counted within it. It is None in other files, and for what concerns a notebook as a whole.
    """

    filename: str
    start: Position
    end: Position
    code: str
    problem: str
    advice: str
    statement_lines: tuple[int, int]
    fix: Fix | None = None
    cell: int | None = None
    because: tuple[Reason, ...] = field(default=(), compare=False)
    level: Level = field(default=Level.ERROR, compare=False)
    cause: str = field(default="", compare=False)
    places: tuple[Place, ...] = field(default=(), compare=False)
    no_fix: str = field(default="", compare=False)

    @property
    def message(self) -> str:
        """Problem and advice as one sentence."""
        return f"{self.problem}; {self.advice}" if self.advice else self.problem

    @property
    def whole_message(self) -> str:
        """The message with the lines of the other places, for reports with one line a finding."""
        return f"{self.message} ({self.also})" if self.also else self.message

    @property
    def also(self) -> str:
        """Where the other places are: "and lines 95, 97"; empty if there are none."""
        lines: dict[str, None] = {}
        for place in self.places:
            elsewhere = f"{place.cell}:" if place.cell != self.cell else ""
            if place.cell != self.cell or place.start.line != self.start.line:
                lines[f"{elsewhere}{place.start.line}"] = None
        shown = list(lines)[:_MOST_LINES]
        more = f" and {len(lines) - len(shown)} more" if len(lines) > len(shown) else ""
        return f"and line{'s' if len(lines) > 1 else ''} {', '.join(shown)}{more}" if lines else ""

    @property
    def sort_key(self) -> tuple[str, int, Position, str, str]:
        """Orders diagnostics by file, place and code, so that every run prints the same."""
        return (self.filename, self.cell or 0, self.start, self.code, self.problem)


@dataclass(frozen=True, slots=True)
class FixResult:
    """What came of fixing one file.

    `fixed` counts the fixes that were applied, by code. `remaining` are the findings of the new text, each with its
    `fix` where there is one that was not applied (an unsafe one that was not asked for). `dropped` are those whose fix
    was tried and did not hold; the others without a `fix` say in `no_fix` why, if their rule has fixes.
    """

    source: bytes
    fixed: dict[str, int]
    remaining: list[Diagnostic]
    dropped: list[Diagnostic]
