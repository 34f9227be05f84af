"""From the runs before and after a fix to a verdict on a finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.doctor import words
from dataloader_lint.doctor.prove.measures import Loader, Measure, different, same_batches

_LEAST_BYTES = 2_000_000  # of all workers, that a fix must save in each pair
_LEAST_SHARE = 0.05
# Rules about samples that are wrong: what their fix is there for is another batch.
_ABOUT_SAMPLES = frozenset({"DL205", "DL211", "DL601", "DL602", "DL603", "DL609", "DL613"})


class Kind(Enum):
    """What came of a trial, the most useful first."""

    CONFIRMED = "confirmed"
    BREAKS = "breaks"
    NO_EFFECT = "no effect here"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a finding.

    `bytes` are saved by all `workers` together, `seconds` are the time of a batch before and after; None where it was
    not measured, or makes no difference.
    """

    finding: Diagnostic
    kind: Kind
    text: str
    pairs: int = 0
    bytes: int | None = None
    workers: int = 0
    seconds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Trials:
    """The runs of a program before and after one fix, as pairs; and, if there was one, a pair with spawned workers."""

    before: tuple[Measure, ...]
    after: tuple[Measure, ...]
    spawned: tuple[Measure, Measure] | None = None


def judge(finding: Diagnostic, trials: Trials) -> Verdict:
    """The verdict on a finding, from at least one pair."""
    pairs = len(trials.after)
    fails, failed = (
        next((each.error for each in several if each.error), "") for several in (trials.after, trials.before)
    )
    if fails and not failed:
        return Verdict(finding, Kind.BREAKS, f"with the fix the program raises {_short(fails)}", pairs)
    if failed and not fails and all(each.error for each in trials.before):
        return Verdict(finding, Kind.CONFIRMED, f"the program raises {_short(failed)}; with the fix it runs", pairs)
    if fails:
        return Verdict(finding, Kind.NOT_TRIED, f"the program raises {_short(fails)}, with the fix and without", pairs)
    codes = {each.exit_code for each in trials.before}
    other = [each.exit_code for each in trials.after if each.exit_code not in codes]
    if other and not failed:
        return Verdict(finding, Kind.BREAKS, f"with the fix the program ends with exit code {other[0]}", pairs)
    return _by_samples(finding, trials) or _by_spawning(finding, trials) or _by_numbers(finding, trials)


def _by_samples(finding: Diagnostic, trials: Trials) -> Verdict | None:
    """The verdict if the batches are other ones after the fix: that breaks the program, or is the point."""
    pairs = len(trials.after)
    comparable = same_batches(trials.before)
    for name in comparable:
        one = trials.before[0].loaders[name]
        changed, count = max(different(one, each.loaders.get(name)) for each in trials.after)
        if not changed:
            continue
        what = f"{changed} of {words.several(count, 'batch')} of `{name}` are other ones"
        kinds = {each.loaders[name].kind for each in trials.after if name in each.loaders} - {one.kind}
        if kinds:
            what += f" ({min(kinds)} in place of {one.kind})"
        if finding.code in _ABOUT_SAMPLES:
            return Verdict(finding, Kind.CONFIRMED, f"{what}, which is the point", pairs)
        return Verdict(finding, Kind.BREAKS, f"with the fix {what}", pairs)
    if finding.code in _ABOUT_SAMPLES and comparable:
        return Verdict(finding, Kind.NO_EFFECT, "all batches are the same with the fix", pairs)
    return None


def _by_spawning(finding: Diagnostic, trials: Trials) -> Verdict | None:
    """The verdict on a finding about spawned workers, of a program that forks them."""
    if trials.spawned is None:
        return None
    before, after = trials.spawned
    if before.error and not after.error:
        text = f"where workers are spawned the program raises {_short(before.error)}; with the fix it runs"
        return Verdict(finding, Kind.CONFIRMED, text, 1)
    if before.error:
        text = f"where workers are spawned it raises {_short(after.error)} with the fix, too"
        return Verdict(finding, Kind.NO_EFFECT, text, 1)
    return Verdict(finding, Kind.NO_EFFECT, "it runs with spawned workers as well", 1)


def _by_numbers(finding: Diagnostic, trials: Trials) -> Verdict:
    pairs = [(a, b) for a, b in zip(trials.before, trials.after, strict=False) if not a.error and not b.error]
    texts: list[str] = []
    saved = _memory_saved(pairs)
    workers = max((each.workers for a, _ in pairs for each in a.loaders.values()), default=0)
    if saved is not None:
        share = f"{words.size(min(saved))} to {words.size(max(saved))}"
        texts.append(f"-{words.size(median(saved))} over {words.several(workers, 'worker')} ({share})")
    seconds: tuple[float, float] | None = None
    for when, get in (("", _whole), (" from the second epoch on", _later)):
        times = _times(pairs, get)
        ratios = [after / before for before, after in times]
        if len(ratios) == len(pairs) and _all_below(ratios):
            ratio, spread = 1 / median(ratios), f"{1 / max(ratios):.1f} to {1 / min(ratios):.1f}"
            texts.append(f"{ratio:.1f} x faster{when} ({spread})")
            seconds = seconds or (median(a for a, _ in times), median(b for _, b in times))
    if texts and len(pairs) > 1:
        text = f"{', '.join(texts)}, in each of {len(pairs)} pairs"
        total = round(median(saved)) if saved is not None else None
        return Verdict(finding, Kind.CONFIRMED, text, len(pairs), total, workers, seconds)
    if len(pairs) < 2:
        return Verdict(finding, Kind.NOT_TRIED, "there was time for one pair only", len(pairs))
    return Verdict(finding, Kind.NO_EFFECT, _unclear(pairs, finding), len(pairs), 0, workers)


def _unclear(pairs: Sequence[tuple[Measure, Measure]], finding: Diagnostic) -> str:
    ratios = [after / before for before, after in _times(pairs, _whole)]
    if not ratios:
        return "no loader was iterated in both programs"
    differences = [_sum(a, _held) - _sum(b, _held) for a, b in pairs]
    text = f"the time of a batch is {min(ratios):.2f} to {max(ratios):.2f} times that before"
    if finding.level in (Level.MEMORY, Level.NOTE) and any(differences):
        text += f", and workers hold {words.size(min(differences))} to {words.size(max(differences))} less"
    return text


def _memory_saved(pairs: Sequence[tuple[Measure, Measure]]) -> list[int] | None:
    """The bytes that all workers hold less after the fix, by pairs; None if that is not so in each of them."""
    found = [(_sum(a, _held), _sum(b, _held)) for a, b in pairs]
    saved = [before - after for before, after in found]
    enough = all(x >= max(_LEAST_BYTES, _LEAST_SHARE * before) for x, (before, _) in zip(saved, found, strict=True))
    return saved if saved and enough and all(after for _, after in found) else None


def _times(
    pairs: Sequence[tuple[Measure, Measure]], get: Callable[[Loader], float | None]
) -> list[tuple[float, float]]:
    found = []
    for a, b in pairs:
        names = [name for name in a.loaders if name in b.loaders]
        before = [get(a.loaders[name]) for name in names]
        after = [get(b.loaders[name]) for name in names]
        if names and None not in before and None not in after:
            found.append((sum(each or 0 for each in before), sum(each or 0 for each in after)))
    return [(before, after) for before, after in found if before > 0]


def _whole(one: Loader) -> float | None:
    return one.seconds / one.batches if one.batches else None


def _later(one: Loader) -> float | None:
    return one.later


def _held(one: Loader) -> float:
    return one.memory


def _sum(one: Measure, get: Callable[[Loader], float]) -> int:
    return round(sum(get(each) for each in one.loaders.values()))


def _all_below(ratios: Sequence[float]) -> bool:
    return bool(ratios) and max(ratios) < 1 - _LEAST_SHARE


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."
