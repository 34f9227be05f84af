"""From the runs before and after a fix to a verdict on a finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import median

from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.doctor import words
from dataloader_lint.doctor.prove.measures import Loader, Measure, different, different_loss, same_batches

_LEAST_BYTES = 2_000_000  # of all workers, that a fix must save in each pair
_LEAST_SHARE = 0.05
_MOST = 4  # times the size of an attribute, that its fix can save in a process: its objects lie on pages with others
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
    not measured, or makes no difference. `numbers` are those of the runs before and after, in words.
    """

    finding: Diagnostic
    kind: Kind
    text: str
    pairs: int = 0
    bytes: int | None = None
    workers: int = 0
    seconds: tuple[float, float] | None = None
    numbers: str = ""


@dataclass(frozen=True, slots=True)
class Trials:
    """The runs of a program before and after one fix, as pairs; and, if there was one, a pair with spawned workers.

    `plain` are all runs of the program as it is, and `symptom` what one of them says of the finding, with its `key`.
    `held` are the bytes of the attribute that the finding is about, or None if they were not measured.
    """

    before: tuple[Measure, ...]
    after: tuple[Measure, ...]
    spawned: tuple[Measure, Measure] | None = None
    plain: tuple[Measure, ...] = ()
    symptom: str = ""
    key: str = ""
    held: int | None = None

    @property
    def is_cured(self) -> bool:
        """True if each run before the fix has the symptom, and none after it."""
        has = [self.key in each.symptoms for each in self.before]
        return bool(self.key) and all(has) and not any(self.key in each.symptoms for each in self.after)

    @property
    def known(self) -> tuple[Measure, ...]:
        """The runs of the program as it is, by which is told what differs from one run to the next anyway."""
        return self.plain or self.before


def judge(finding: Diagnostic, trials: Trials) -> Verdict:
    """The verdict on a finding, from at least one pair."""
    pairs = len(trials.after)
    fails, failed = (
        next((each.error for each in several if each.error), "") for several in (trials.after, trials.known)
    )
    if fails and not failed:
        return Verdict(finding, Kind.BREAKS, f"with the fix the program raises {_short(fails)}", pairs)
    if failed and not fails and all(each.error for each in trials.before):
        return Verdict(finding, Kind.CONFIRMED, f"the program raises {_short(failed)}; with the fix it runs", pairs)
    if fails:
        if trials.is_cured:
            text = f"{trials.symptom}: no more with the fix, and something else raises {_short(fails)}"
            return Verdict(finding, Kind.CONFIRMED, text, pairs)
        return Verdict(finding, Kind.NOT_TRIED, f"the program raises {_short(fails)}, with the fix and without", pairs)
    codes = {each.exit_code for each in trials.known}
    other = [each.exit_code for each in trials.after if each.exit_code not in codes]
    if other and not failed:
        return Verdict(finding, Kind.BREAKS, f"with the fix the program ends with exit code {other[0]}", pairs)
    found = _by_samples(finding, trials) or _by_spawning(finding, trials) or _by_numbers(finding, trials)
    if found.kind is Kind.NO_EFFECT and trials.is_cured and len(trials.before) > 1:
        found = replace(found, kind=Kind.CONFIRMED, text=f"{trials.symptom}: no more with the fix, {_same(trials)}")
    return replace(found, numbers=in_words(list(zip(trials.before, trials.after, strict=False))))


def _by_samples(finding: Diagnostic, trials: Trials) -> Verdict | None:
    """The verdict if batches or losses are other ones after the fix: that breaks the program, or is the point."""
    pairs = len(trials.after)
    comparable = same_batches(trials.known)
    is_point = finding.code in _ABOUT_SAMPLES
    loss = different_loss(trials.known, trials.after)
    for name in comparable:
        one = trials.before[0].loaders[name]
        changed, count = max(different(one, each.loaders.get(name)) for each in trials.after)
        if not changed:
            continue
        what = f"{changed} of {words.several(count, 'batch')} of `{name}` are other ones"
        kinds = {each.loaders[name].kind for each in trials.after if name in each.loaders} - {one.kind}
        if kinds:
            what += f" ({min(kinds)} in place of {one.kind})"
        what += f", and {loss}" if loss else ""
        if is_point:
            return Verdict(finding, Kind.CONFIRMED, f"{what}, which is the point", pairs)
        if len(trials.known) < 2:  # they may be other ones in each run
            return Verdict(finding, Kind.NOT_TRIED, f"{what}, and there was time for one pair only", pairs)
        return Verdict(finding, Kind.BREAKS, f"with the fix {what}", pairs)
    if is_point and comparable:
        return Verdict(finding, Kind.NO_EFFECT, "all batches are the same with the fix", pairs)
    if loss and not is_point and len(trials.known) > 1:
        same = " from the same batches" if comparable else ""
        return Verdict(finding, Kind.BREAKS, f"with the fix {loss}{same}", pairs)
    return None


def _same(trials: Trials) -> str:
    """What is the same with the fix and without, in words."""
    parts = ["batches"] if same_batches(trials.known) else []
    parts += ["losses"] if trials.known[0].losses and all(each.losses for each in trials.after) else []
    return f"the same {' and '.join(parts)}" if parts else "batches that cannot be compared"


def _by_spawning(finding: Diagnostic, trials: Trials) -> Verdict | None:
    """The verdict on a finding about spawned workers, of a program that forks them."""
    if trials.spawned is None:
        return None
    before, after = trials.spawned
    if before.error and not after.error:
        text = f"where workers are spawned the program raises {_short(before.error)}; with the fix it runs"
        return Verdict(finding, Kind.CONFIRMED, f"{text}, with {_same(trials)}", 1)
    if before.error and trials.is_cured:
        text = f"{trials.symptom}: no more with the fix, and something else raises {_short(after.error)}"
        return Verdict(finding, Kind.CONFIRMED, text, 1)
    if before.error:
        text = f"where workers are spawned it raises {_short(after.error)}, with the fix and without"
        return Verdict(finding, Kind.NOT_TRIED, text, 1)
    return Verdict(finding, Kind.NO_EFFECT, "it runs with spawned workers as well", 1)


def _by_numbers(finding: Diagnostic, trials: Trials) -> Verdict:
    pairs = [(a, b) for a, b in zip(trials.before, trials.after, strict=False) if not a.error and not b.error]
    texts: list[str] = []
    saved = _memory_saved(pairs)
    workers = max((each.workers for a, _ in pairs for each in a.loaders.values()), default=0)
    running = max((sum(each.workers for each in a.loaders.values()) for a, _ in pairs), default=0)
    foreign = ""
    if saved is not None and _is_more_than(saved, trials.held, running):
        foreign, saved = _foreign(saved, trials.held), None
    if saved is not None:
        share = f"{words.size(min(saved))} to {words.size(max(saved))}"
        texts.append(f"-{words.size(median(saved))} over {words.several(workers, 'worker')} ({share})")
    peaks = _peak_saved(pairs)
    if peaks is not None and _is_more_than(peaks, trials.held, 1):
        foreign, peaks = foreign or _foreign(peaks, trials.held), None
    if peaks is not None:
        share = f"{words.size(min(peaks))} to {words.size(max(peaks))}"
        texts.append(f"-{words.size(median(peaks))} in the main process ({share})")
    seconds: tuple[float, float] | None = None
    for when, get in (("", _whole), (" from the second epoch on", _later)):
        times = _times(pairs, get)
        ratios = [after / before for before, after in times]
        if len(ratios) == len(pairs) and _all_below(ratios) and _are_apart(times):
            ratio, spread = 1 / median(ratios), f"{1 / max(ratios):.1f} to {1 / min(ratios):.1f}"
            texts.append(f"{ratio:.1f} x faster{when} ({spread})")
            seconds = seconds or (median(a for a, _ in times), median(b for _, b in times))
    if texts and len(pairs) > 1:
        text = f"{', '.join(texts)}, in each of {len(pairs)} pairs, with {_same(trials)}"
        total = round(median(saved)) if saved is not None else None
        return Verdict(finding, Kind.CONFIRMED, text, len(pairs), total, workers, seconds)
    if len(pairs) < 2:
        return Verdict(finding, Kind.NOT_TRIED, "there was time for one pair only", len(pairs))
    return Verdict(finding, Kind.NO_EFFECT, foreign or _unclear(pairs, finding), len(pairs), 0, workers)


def _is_more_than(saved: Sequence[int], held: int | None, processes: int) -> bool:
    """True if so many processes save more than they can by what an attribute holds, if that was measured."""
    return held is not None and median(saved) > _MOST * held * processes


def _foreign(saved: Sequence[int], held: int | None) -> str:
    return (
        f"it holds {words.size(held or 0)}, and {words.size(median(saved))} less are in use: no effect of its own here"
    )


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
    return saved if saved and enough and _are_apart(found) and all(after for _, after in found) else None


def _peak_saved(pairs: Sequence[tuple[Measure, Measure]]) -> list[int] | None:
    """The bytes that the main process held less at most after the fix, by pairs; None if that is not so in each."""
    saved = [a.peak - b.peak for a, b in pairs]
    enough = all(x >= max(_LEAST_BYTES, _LEAST_SHARE * a.peak) for x, (a, _) in zip(saved, pairs, strict=True))
    is_apart = _are_apart([(a.peak, b.peak) for a, b in pairs])
    return saved if saved and enough and is_apart and all(b.peak for _, b in pairs) else None


def _are_apart(found: Sequence[tuple[float, float]]) -> bool:
    """True if the most after the fix is less than the least before it: pairs alone may differ by noise."""
    return bool(found) and max(after for _, after in found) < min(before for before, _ in found)


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


def in_words(pairs: Sequence[tuple[Measure, Measure]]) -> str:
    """What runs before and after a fix took, with the spread: memory of a worker, batches, start and waits."""
    several = [(a, b) for a, b in pairs if _batches(a) and _batches(b)]
    if not several:
        return ""
    shown = []
    rows: tuple[tuple[str, Callable[[Measure], float], Callable[[float], str]], ...] = (
        ("a worker holds", _per_worker, words.size),
        ("the main process", lambda one: one.peak, words.size),
        ("batches per second", _rate, lambda rate: f"{rate:.{0 if rate >= 100 else 1}f}"),
        ("start", _start, words.seconds),
        ("waits", _wait_share, lambda part: f"{part:.0%}"),
    )
    for name, get, write in rows:
        before, after = [get(a) for a, _ in several], [get(b) for _, b in several]
        if any(before) or any(after):
            shown.append(f"{name} {_spread(before, write)} -> {_spread(after, write)}")
    return "; ".join(shown)


def _spread(values: Sequence[float], write: Callable[[float], str]) -> str:
    low, high = write(min(values)), write(max(values))
    return write(median(values)) + (f" ({low} to {high})" if low != high else "")


def _batches(one: Measure) -> int:
    return sum(each.batches for each in one.loaders.values())


def _per_worker(one: Measure) -> float:
    workers = sum(each.workers for each in one.loaders.values())
    return _sum(one, _held) / workers if workers else 0.0


def _rate(one: Measure) -> float:
    seconds = sum(each.seconds for each in one.loaders.values())
    return _batches(one) / seconds if seconds else 0.0


def _start(one: Measure) -> float:
    return sum(each.start for each in one.loaders.values())


def _wait_share(one: Measure) -> float:
    seconds = sum(each.seconds for each in one.loaders.values())
    seconds -= sum(each.start for each in one.loaders.values())
    return sum(each.wait for each in one.loaders.values()) / seconds if seconds > 0 else 0.0
