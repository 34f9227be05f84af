"""The runs of `--prove`: rounds of the program as it is and with each fix in it, one after the other."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.doctor import words
from dataloader_lint.doctor.diagnosis import HELD, diagnose, held_by
from dataloader_lint.doctor.own_files import own_files
from dataloader_lint.doctor.prove.measures import Measure, measure_of
from dataloader_lint.doctor.prove.patches import findings_in, patched
from dataloader_lint.doctor.prove.scratch import Scratch, scratch_of
from dataloader_lint.doctor.prove.verdicts import Kind, Trials, Verdict, judge
from dataloader_lint.doctor.script import Ran, Script, run
from dataloader_lint.doctor.sizes import Attribute
from dataloader_lint.doctor.symptoms.ranks import MEMORY, SPEED

_PAIRS = 3
_OFTEN = 3  # runs with a fix, after which the program runs as it is once more
_DIGESTS = 2_000
_SECONDS = 20.0  # of the loop in the first run, which says how many batches the others take
_VAGUE = frozenset({"waiting", "threads", "workers"})  # symptoms that many causes may have
_AT_ONCE = frozenset({"ignored", "late-limit"})  # symptoms of time without a time
_SPAWNED = {"start_method": "spawn"}
_NO_FIX = "it has no fix of the tool's"
_Key = tuple[str, int, str]
_Cure = tuple[str, str]  # the key of a symptom, and its title
_LONGER = 4.0  # times that another run may take


@dataclass(slots=True)
class Proof:
    """What came of all findings. `stopped` says why some were not tried to the end."""

    verdicts: list[Verdict] = field(default_factory=list)
    stopped: str = ""
    runs: int = 0
    batches: int = 0
    seconds: float = 0.0


class _OverError(Exception):
    """There is no more time, or the user has asked for an end."""


@dataclass(slots=True)
class _Candidate:
    """A finding with a fix: its patched file, and its runs, each with the one of the program as it was before it."""

    finding: Diagnostic
    text: bytes
    before: list[Measure] = field(default_factory=list)
    after: list[Measure] = field(default_factory=list)
    spawned: tuple[Measure, Measure] | None = None
    symptom: str = ""
    key: str = ""
    held: int | None = None

    @property
    def is_settled(self) -> bool:
        """True if more pairs say nothing new: it has been tried with spawned workers, or one of the two fails."""
        return self.spawned is not None or any(each.error for each in (*self.before, *self.after))

    def verdict(self, plain: Sequence[Measure]) -> Verdict:
        """What came of it until now; `plain` are all runs of the program as it is."""
        if not self.after:
            text = f"there was no time for its fix; {self.symptom}" if self.symptom else "there was no time for it"
            return Verdict(self.finding, Kind.NOT_TRIED, text)
        before, after = tuple(self.before), tuple(self.after)
        trials = Trials(before, after, self.spawned, tuple(plain), self.symptom, self.key, self.held)
        return judge(self.finding, trials)


def prove(script: Script, limit: float, tell: Callable[[str], None]) -> Proof:
    """Try the fix of each finding in the files that a script runs, for so many seconds, or until Ctrl-C.

    `tell` is called with a line before each run. Raises UnsupportedTorchError and TooLargeError.
    """
    runs = _Runs(script, limit, tell)
    proof = Proof()
    candidates: list[_Candidate] = []
    others: list[Verdict] = []
    spawned: list[Diagnostic] = []  # that have no fix, and are about spawned workers
    try:
        first, findings, seen, keys = runs.first()
        for one in findings:
            known = seen.get(_key(one))
            if one.fix is None and one.level is Level.WARNING and known is None:
                spawned.append(one)
            elif one.fix is None:
                reason = f"{_NO_FIX} ({one.no_fix})" if one.no_fix else _NO_FIX
                others.append(known or Verdict(one, Kind.NOT_TRIED, reason + runs.held_by(one)))
            else:
                text = patched(Path(one.filename).read_bytes(), one.fix.edits)
                key, symptom = keys.get(_key(one), ("", ""))
                candidates.append(_Candidate(one, text, symptom=symptom, key=key, held=runs.bytes_of(one)))
        if spawned and not first.error:
            others += runs.spawned(spawned)
            spawned = []
        runs.of(candidates, first)
    except _OverError as over:
        proof.stopped = str(over)
    except KeyboardInterrupt:
        proof.stopped = "It was stopped by Ctrl-C."
    others += [Verdict(one, Kind.NOT_TRIED, _NO_FIX) for one in spawned]
    proof.verdicts = [*(each.verdict(runs.plain) for each in candidates), *others]
    order = list(Kind)
    proof.verdicts.sort(key=lambda one: (order.index(one.kind), -(one.bytes or 0), one.finding.sort_key))
    proof.runs, proof.batches, proof.seconds = runs.count, runs.batches, runs.spent
    return proof


class _Runs:
    """Runs a program in copies of its project, within a time."""

    def __init__(self, script: Script, limit: float, tell: Callable[[str], None]) -> None:
        self._script = dataclasses.replace(script, variables={**script.variables, "PYTHONHASHSEED": "0"})
        self._began = time.monotonic()
        self._limit = limit
        self._longest = 0.0
        self._tell = tell
        self.batches = script.batches
        self.count = 0
        self.plain: list[Measure] = []  # of the program as it is
        self._attributes: list[Attribute] = []

    @property
    def spent(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self._began

    def first(self) -> tuple[Measure, list[Diagnostic], dict[_Key, Verdict], dict[_Key, _Cure]]:
        """The program as it is, the findings in the files that it imports, what its symptoms say of them, their keys.

        Afterwards all runs take as many batches.
        """
        self._tell("the program as it is")
        with scratch_of(self._script, {}) as scratch:
            # What the program does before its first batch takes as long as it takes.
            there = dataclasses.replace(scratch.script, seconds=self._script.seconds or self._limit)
            loop = min(self._script.seconds or _SECONDS, _SECONDS)
            ran = self._run(there, {"seconds": 0.0, "loop_seconds": loop})
            files = [scratch.original(each) for each in (*ran.seen.modules, scratch.script.path)]
            findings = findings_in(own_files(each for each in files if each))
            verdicts, keys = _of_symptoms(ran, scratch, findings)
        self._attributes = [
            attribute for each in ran.seen.records if each.contents for attribute in each.contents.attributes
        ]
        reached = max((each.batches for each in ran.seen.records), default=0)
        if ran.seen.is_enough and reached:  # by its time or by its batches
            self.batches = min(self.batches or reached, reached)
        return measure_of(ran), findings, verdicts, keys

    def spawned(self, findings: Sequence[Diagnostic]) -> list[Verdict]:
        """What a run with spawned workers says of findings about these, which have no fix."""
        self._check_time()
        self._tell("the program with spawned workers")
        with scratch_of(self._script, {}) as scratch:
            seconds = _LONGER * max(self._longest, _SECONDS)
            there = dataclasses.replace(scratch.script, seconds=seconds, batches=self.batches)
            ran = self._run(there, _SPAWNED)
            seen, _ = _of_symptoms(ran, scratch, findings)
        found = []
        for one in findings:
            known = seen.get(_key(one))
            if known is not None and known.kind is Kind.CONFIRMED:
                found.append(Verdict(one, Kind.CONFIRMED, f"where workers are spawned, {known.text}", 1))
            elif measure_of(ran).error:
                error = measure_of(ran).error
                found.append(Verdict(one, Kind.NOT_TRIED, f"{_NO_FIX}; where workers are spawned it raises {error}", 1))
            else:
                found.append(Verdict(one, Kind.NO_EFFECT, "it runs with spawned workers as well", 1))
        return found

    def held_by(self, one: Diagnostic) -> str:
        """What the attribute that a finding is about was measured to hold, in words; "" if it was not."""
        held = held_by(one, self._attributes)
        return f"; it holds {words.size(held.size)} in {words.several(held.objects, 'object')}" if held else ""

    def bytes_of(self, one: Diagnostic) -> int | None:
        """The bytes of the attribute that a finding is about; None if they were not measured."""
        held = held_by(one, self._attributes)
        return held.size if held else None

    def of(self, candidates: Sequence[_Candidate], first: Measure) -> None:
        """Rounds over all candidates; the program as it is runs before the first and after every few of them."""
        self.plain.append(first)
        if not candidates:
            return
        # Two runs say what differs from one to the next anyway.
        before, age = self._as_it_is("the program as it is, again"), 0
        for number in range(_PAIRS):
            for each in candidates:
                if each.is_settled or len(each.after) < number:
                    continue
                if age >= _OFTEN or (number and not age):
                    before, age = self._as_it_is(f"round {number + 1}: the program as it is"), 0
                age += 1
                name = f"{os.path.basename(each.finding.filename)}:{each.finding.start.line} {each.finding.code}"
                texts = {each.finding.filename: each.text}
                after = self._measured(texts, f"round {number + 1}: {name} fixed")
                each.before.append(before)
                each.after.append(after)
                if each.finding.level is Level.WARNING and not (before.error or after.error):
                    plain = self._measured({}, "the program with spawned workers", _SPAWNED)
                    each.spawned = plain, self._measured(texts, f"{name} fixed, with spawned workers", _SPAWNED)
            age = 0

    def _as_it_is(self, what: str) -> Measure:
        self.plain.append(self._measured({}, what))
        return self.plain[-1]

    def _measured(self, texts: Mapping[str, bytes], what: str, plan: Mapping[str, Any] | None = None) -> Measure:
        self._check_time()
        self._tell(what)
        with scratch_of(self._script, texts) as scratch:
            seconds = _LONGER * max(self._longest, _SECONDS)
            there = dataclasses.replace(scratch.script, seconds=seconds, batches=self.batches)
            return measure_of(self._run(there, plan))

    def _check_time(self) -> None:
        if self.spent + self._longest > self._limit:
            raise _OverError(f"It was stopped after {self.spent:.0f} seconds (--limit).")

    def _run(self, script: Script, plan: Mapping[str, Any] | None = None) -> Ran:
        start = time.monotonic()
        ran = run(script, {"digests": _DIGESTS, "seeds": True, **(plan or {})}, stdout=sys.stderr)
        self._longest = max(self._longest, time.monotonic() - start)
        self.count += 1
        if ran.is_interrupted:
            raise KeyboardInterrupt
        return ran


def _key(one: Diagnostic) -> _Key:
    return os.path.realpath(one.filename), one.start.line, one.code


def _of_symptoms(
    ran: Ran, scratch: Scratch, findings: Sequence[Diagnostic]
) -> tuple[dict[_Key, Verdict], dict[_Key, _Cure]]:
    """What the symptoms of a run say of these findings, by their places in the user's files; vague ones are hints.

    A symptom speaks of the likeliest of them. The keys are those of symptoms that a fix takes away at once, if it is
    right.
    """
    wanted = {_key(one) for one in findings}

    def there(one: Diagnostic) -> Diagnostic | None:
        """The finding in the user's file, if it is one of these."""
        name = scratch.original(one.filename)
        found = dataclasses.replace(one, filename=name) if name is not None else None
        return found if found is not None and _key(found) in wanted else None

    seen = ran.seen
    report = diagnose(
        seen.records,
        error=seen.error,
        raised=seen.raised,
        machine=seen.machine,
        script=scratch.script.path,
        files=seen.files,
    )
    rows = [(each, 0) for each in report.symptoms]
    rows += [(each, loader.settings.num_workers) for loader in report.loaders for each in loader.symptoms]
    several: list[Verdict] = []
    hints: list[Verdict] = []
    keys: dict[_Key, _Cure] = {}
    for each, workers in sorted(rows, key=lambda row: (row[0].rank, -row[0].weight)):
        own = [one for one in map(there, each.findings) if one is not None]
        if each.kind in _VAGUE:
            hints += [Verdict(one, Kind.NOT_TRIED, f"{_NO_FIX}; {each.title}") for one in own]
            continue
        if each.rank not in (MEMORY, SPEED) or each.kind in _AT_ONCE:
            for one in own:
                keys.setdefault(_key(one), (each.key, each.title))
        # The bytes of a symptom are those of its finding, if it has one only.
        held = round(each.weight) if each.kind in HELD and len(each.findings) == 1 and workers else None
        several += [Verdict(one, Kind.CONFIRMED, each.title, 0, held, workers) for one in own[:1]]
    cleared = []
    for loader in report.loaders:
        # Its workers may hold more, though not because of what is so small.
        apart = ": no effect of its own here" if any(each.kind in HELD for each in loader.symptoms) else ""
        cleared += [(there(each.finding), each.reason + apart) for each in loader.cleared]
    several += [Verdict(one, Kind.NO_EFFECT, reason) for one, reason in cleared if one is not None]
    found: dict[_Key, Verdict] = {}
    for verdict in (*several, *hints):
        found.setdefault(_key(verdict.finding), verdict)
    return found, keys
