"""What a run of the doctor comes to, as plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor.memory import Growth
from dataloader_lint.doctor.pickling import Pickled
from dataloader_lint.doctor.records import Settings
from dataloader_lint.doctor.sizes import Attribute

_EXACT = frozenset({"error", "pickling", "ignored"})  # kinds whose titles hold no measured numbers
_ADDRESS = re.compile(r"at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that was measured and costs something.

    `title` says what in one sentence with its numbers, `advice` what to do or look at. `codes` are the rules that find
    such causes, `findings` what they report in the user's files; `names` are the attributes that they should be about.
    With `needs_finding` it is no symptom unless a finding explains it; with `is_exact` only one at its `place` does.
    `gain` says what is lost, at most. `rank` orders symptoms: the lower, the worse; among equal ranks the larger
    `weight` comes first: bytes, or seconds of the loop.
    """

    kind: str
    title: str
    advice: str
    codes: tuple[str, ...]
    rank: int
    weight: float = 0.0
    findings: tuple[Diagnostic, ...] = ()
    place: tuple[str, int] | None = None
    names: tuple[str, ...] = ()
    needs_finding: bool = False
    is_exact: bool = False
    gain: str = ""
    loader: str = ""  # which one, if there are several

    @property
    def key(self) -> str:
        """What tells it from other symptoms, and is the same in another run of the program."""
        exact = self.title if self.kind in _EXACT else ", ".join((*self.codes, *self.names))
        return _ADDRESS.sub("at an address", f"{self.kind}: {exact}")


@dataclass(frozen=True, slots=True)
class Cleared:
    """A finding that the measurement shows to be cheap here, and why."""

    finding: Diagnostic
    reason: str


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker process: bytes of its own over batches, and its growth in bytes per sample."""

    number: int
    pid: int
    round: int
    points: tuple[tuple[int, int], ...]
    growth: Growth | None
    threads: int
    exit_code: int | None


@dataclass(slots=True)
class LoaderReport:
    """All about one loader. Times are in seconds, sizes in bytes; None means that it was not measured."""

    name: str
    place: tuple[str, int]
    settings: Settings
    batches: int
    epochs: int
    seconds: float
    wait: float
    step: float
    startup: float | None
    fetch: float | None
    collate: float | None
    workers: list[Worker]
    attributes: list[Attribute]
    touched: dict[str, int]
    pickles: dict[str, Pickled]
    batch_bytes: int
    batch_tensors: int
    shm_size: int | None
    shm_lowest: int | None
    descriptors: int | None
    descriptor_limit: int | None
    has_accelerator: bool | None = None
    symptoms: list[Symptom] = field(default_factory=list)
    cleared: list[Cleared] = field(default_factory=list)

    @property
    def wait_share(self) -> float:
        """The part of the loop's time that it waits for batches, from 0 to 1."""
        return self.wait / (self.wait + self.step) if self.wait + self.step > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting: the ratio of its time to that of the loader as it is, its lowest and highest, over pairs of runs.

    The time is that of an epoch of `length` batches, from `batches` that were taken in each run.
    """

    setting: str
    ratio: float
    low: float
    high: float
    pairs: int
    batches: int
    length: int
    error: str = ""

    @property
    def helps(self) -> bool:
        """True if it was faster in each of several pairs, by 5 % at least."""
        return not self.error and self.pairs > 1 and self.high < 0.95

    @property
    def measured(self) -> str:
        """What was measured, with the spread."""
        pairs = "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"
        spread = f"{self.low:.2f} to {self.high:.2f} over {pairs} of {self.batches} batches"
        return f"{self.ratio:.2f} times the time for an epoch of {self.length:,} ({spread})"

    def __str__(self) -> str:
        if self.error:
            return f"{self.setting}: failed, {self.error}"
        costs = self.pairs > 1 and self.low > 1.05
        effect = "helps" if self.helps else "costs" if costs else "makes no clear difference"
        return f"{self.setting}: {effect}, {self.measured}"


@dataclass(slots=True)
class Measured:
    """What was measured, what it means, and where the cause is."""

    loaders: list[LoaderReport] = field(default_factory=list)
    symptoms: list[Symptom] = field(default_factory=list)
    error: str = ""
    stopped: str = ""
    trials: list[Trial] = field(default_factory=list)
    tried: str = ""  # which loader, and how long its loop waits
    not_measured: list[str] = field(default_factory=list)

    @property
    def all_symptoms(self) -> list[Symptom]:
        """Those of the program and of all loaders, the worst first; what several loaders share is there once."""
        several = [*self.symptoms, *(each for one in self.loaders for each in one.symptoms)]
        distinct = {(each.kind, each.title): each for each in reversed(several)}
        return sorted(distinct.values(), key=lambda each: (each.rank, -each.weight))

    @property
    def codes(self) -> set[str]:
        """The codes of all findings that explain a symptom."""
        return {one.code for each in self.all_symptoms for one in each.findings}
