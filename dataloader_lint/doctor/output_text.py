"""A report as text for a terminal, with small plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Measured, Symptom, Worker
from dataloader_lint.doctor.symptoms.ranks import MEMORY
from dataloader_lint.rules.registry import found_rules

_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.-=+*#@"
_WIDTH = 40
_MOST_WORKERS = 8
_MOST_ATTRIBUTES = 5
_MOST_CLEARED = 8


def emit(report: Measured, *, ascii_only: bool = False, width: int = 100) -> Iterator[str]:
    """Yields the lines of the report."""
    for line in _lines(report, _ASCII_BARS if ascii_only else _BARS, width):
        yield line.encode("ascii", "replace").decode() if ascii_only else line


def _lines(report: Measured, bars: str, width: int) -> Iterator[str]:
    if report.stopped:
        yield report.stopped
        yield ""
    yield from _symptoms(report, width)
    cleared = [each for one in report.loaders for each in one.cleared]
    if cleared:
        yield ""
        yield "Cheap here, as far as was measured:"
        for cheap in cleared[:_MOST_CLEARED]:
            yield f"  {_place(cheap.finding)} {cheap.finding.code}: {cheap.reason}"
    if report.trials:
        yield ""
        yield f"Tried with {report.tried or 'the loader'}, against the loader as it is:"
        yield from (f"  {each}" for each in report.trials)
    for missing in report.not_measured:
        yield f"Not measured: {missing}."
    for one in report.loaders:
        yield ""
        yield from _loader(one, bars)


def _symptoms(report: Measured, width: int) -> Iterator[str]:
    several = report.all_symptoms
    if not several:
        yield (
            "Nothing wrong was measured." if report.loaders else "No DataLoader was iterated, so nothing was measured."
        )
        return
    yield f"{words.several(len(several), 'symptom')}, the worst first:"
    for number, each in enumerate(several, 1):
        yield from _symptom(number, each, width)


def _symptom(number: int, each: Symptom, width: int) -> Iterator[str]:
    room = max(40, width - 4)
    yield ""
    title = f"{each.loader}: {each.title}" if each.loader else each.title
    first, *rest = wrap(title, room, break_on_hyphens=False) or [""]
    yield f"{number:>2}. {first}"
    yield from (f"    {line}" for line in rest)
    for finding in each.findings:
        yield from (f"    {line}" for line in wrap(_shown(finding), room))
    if not each.findings and each.place is not None:
        yield f"    -> {words.place(each.place)}"
    if each.gain:
        yield from (f"    {line}" for line in wrap(words.gain(each.gain), room, break_on_hyphens=False))
    # A finding has advice of its own; what is said of memory is also which attribute holds how much.
    if each.advice and (not each.findings or each.rank == MEMORY):
        yield from (f"    {line}" for line in wrap(each.advice, room, break_on_hyphens=False))
    if not each.findings and each.codes:
        yield f"    No finding explains it; rules about such causes: {', '.join(each.codes)} (--explain CODE)."


def _shown(finding: Diagnostic) -> str:
    opt_in = "" if found_rules()[finding.code].rule.is_on else ", off by default"
    return f"-> {_place(finding)} {finding.code}{opt_in}: {finding.message}"


def _place(finding: Diagnostic) -> str:
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    return f"{words.path(finding.filename)}:{cell}{finding.start.line}"


def _loader(one: LoaderReport, bars: str) -> Iterator[str]:
    settings = one.settings
    how = words.workers(settings.num_workers, settings.start_method)
    yield f"{one.name}, iterated at {words.place(one.place)}: {how}, batch size {settings.batch_size}"
    yield (
        f"  {words.several(one.batches, 'batch')}, {words.several(one.epochs, 'epoch')}, {words.seconds(one.seconds)}"
    )
    yield from _times(one, bars)
    yield from _memory(one, bars)
    sent = one.pickles.get("dataset")
    if sent is not None and not sent.error:
        more = "more than " if sent.is_cut else ""
        tensors = f", and shares {words.size(sent.tensors)} of tensors" if sent.tensors else ""
        yield f"  pickled      {more}{words.size(sent.size)}: what each spawned worker is sent{tensors}"
    for each in [each for each in one.attributes if each.size > 10_000][:_MOST_ATTRIBUTES]:
        count = f"{words.number(each.elements)} " if each.elements is not None else ""
        touched = _touched(one, each.owner, each.name)
        yield f"    {each.path}: {each.kind} {count}{each.element} {words.size(each.size)}{touched}".replace("  ", " ")
    if one.batch_bytes and settings.num_workers:
        ahead = settings.num_workers * (settings.prefetch_factor or 0) * one.batch_bytes
        free = f", least free {words.size(one.shm_lowest)}" if one.shm_lowest is not None else ""
        total = f" of {words.size(one.shm_size)}" if one.shm_size is not None else ""
        yield f"  /dev/shm     up to {words.size(ahead)} ahead ({words.size(one.batch_bytes)} a batch){free}{total}"
    if one.descriptors is not None:
        yield f"  descriptors  {one.descriptors} open, limit {one.descriptor_limit or 'none'}"


def _touched(one: LoaderReport, owner: str, name: str) -> str:
    count = one.touched.get(f"{owner}.{name}")
    return f", read {count} times in the first batches" if count else ""


def _times(one: LoaderReport, bars: str) -> Iterator[str]:
    loop = one.wait + one.step
    if loop > 0 and one.batches:
        full = bars[-1]
        waits = round(20 * one.wait_share)
        bar = full * waits + bars[0] * (20 - waits)
        yield f"  loop         {bar} {one.wait_share:.0%} waiting for data, {words.seconds(one.step)} in the step"
    stages = [("read", one.fetch), ("collate", one.collate)]
    known = [(name, value) for name, value in stages if value is not None]
    if known:
        where = "in a worker" if one.settings.num_workers else "in the main process"
        yield f"  per batch    {', '.join(f'{name} {words.seconds(value)}' for name, value in known)} {where}"
    if one.startup is not None:
        yield f"  start        {words.seconds(one.startup)} until the first batch"


def _memory(one: LoaderReport, bars: str) -> Iterator[str]:
    shown = [each for each in one.workers if each.points and each.number >= 0][:_MOST_WORKERS]
    if not shown:
        return
    top = max(size for each in shown for _, size in each.points)
    yield f"  own memory of workers, over samples (top {words.size(top)})"
    for each in shown:
        yield f"    {each.number} {_plot([size for _, size in each.points], top, bars)} {_ends(each)}"


def _ends(each: Worker) -> str:
    first, last = each.points[0][1], each.points[-1][1]
    threads = f", {each.threads} threads" if each.threads > 1 else ""
    return f"{words.size(first)} to {words.size(last)}{threads}"


def _plot(values: Sequence[int], top: int, bars: str) -> str:
    """One character for each of at most `_WIDTH` values, from zero to the top."""
    step = max(1, -(-len(values) // _WIDTH))
    some = values[::step]
    return "".join(bars[min(len(bars) - 1, int(value / max(1, top) * len(bars)))] for value in some)
