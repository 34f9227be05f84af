"""Symptoms that end a program, or will where workers are started in another way."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Iterator, Sequence

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Symptom
from dataloader_lint.doctor.memory import growth_of
from dataloader_lint.doctor.records import LoaderRecord, Raised
from dataloader_lint.doctor.symptoms.ranks import FAILS, FEWEST, MEMORY, PORTABILITY
from dataloader_lint.rules.messages import Answer, answer

_NOT_FORKED = "where workers are not forked (macOS, Windows, Python 3.14)"
_MOST_PARTS = 5
_IN_WORKER = "Original Traceback"
_ABOUT_IMPORTS = frozenset({"DL206", "DL210", "DL211"})
# What ends an iteration from outside, so that no worker is to blame for it.
_TOLD = ("KeyboardInterrupt", "SystemExit", "Enough", "GeneratorExit")
_MANY = 16  # batches, and descriptors


def errors(error: str, raised: Sequence[Raised], methods: Collection[str] = ()) -> Iterator[Symptom]:
    """The exception that ended the program, and those of its loaders that it caught.

    `methods` are the ways in which its loaders started workers.
    """
    is_forked = bool(methods) and set(methods) == {"fork"}
    if error:
        yield _error(f"the program ended with {_last_line(error)}", error, 20.0, None, is_forked)
    seen = {_last_line(error)}
    for each in raised:
        if _last_line(each.text) in seen:
            continue
        seen.add(_last_line(each.text))
        yield _error(f"a loader raised {_last_line(each.text)}", each.text, 15.0, each.place, is_forked)


def _error(title: str, text: str, weight: float, place: tuple[str, int] | None, is_forked: bool) -> Symptom:
    # What a worker raised stands last, below words that fit any exception of a worker.
    found = (answer(_last_line(text)) if _IN_WORKER in text else None) or answer(text)
    advice = found.symptom.page if found is not None and found.symptom is not None else "see its traceback"
    return Symptom("error", title, advice, _codes(found, is_forked), FAILS, weight, place=place)


def _codes(found: Answer | None, is_forked: bool) -> tuple[str, ...]:
    """The rules of an answer; where all workers are forked, without those about importing the script again."""
    codes = tuple(each.rule.code for each in found.rules) if found is not None else ()
    return tuple(each for each in codes if each not in _ABOUT_IMPORTS) if is_forked else codes


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1][:300] if text.strip() else ""


def pickling(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Parts of the Dataset and of the functions that cannot be pickled, each by its path."""
    is_forked = report.settings.start_method == "fork"
    for name, result in report.pickles.items():
        codes = {
            "collate_fn": ("DL201", "DL202"),
            "worker_init_fn": ("DL203",),
        }.get(name, ("DL204", "DL205", "DL208", "DL602"))
        when = _NOT_FORKED if is_forked else "here, and no worker starts"
        rank = PORTABILITY if is_forked or record.settings.num_workers == 0 else FAILS
        for each in result.failures[:_MOST_PARTS]:
            title = f"`{each.path or name}` cannot be pickled {when}: {each.error}"
            advice = "move functions to the top level of a module, and open handles in the worker"
            names = tuple(reversed(re.findall(r"\.([A-Za-z_]\w*)", each.path)))
            # A finding about another lambda is about another loader, or another part of this one.
            yield Symptom(
                "pickling",
                title,
                advice,
                codes,
                rank,
                place=each.place,
                names=names,
                needs_finding=record.settings.num_workers == 0,
                is_exact=each.place is not None and "<lambda>" in each.error,
            )


def descriptors(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """File descriptors that batches leave open, or that are nearly all in use."""
    # Of one epoch: others come and go with the workers of each loader, and some with the first batches.
    counts = max(record.descriptors.values(), key=lambda points: points[-1][0] - points[0][0], default=[])
    lasts = len(counts) >= FEWEST and min(counts[-1][0] - counts[0][0], counts[-1][1] - counts[0][1]) >= _MANY
    grown = growth_of(*zip(*counts, strict=True)) if lasts else None
    if grown is not None and grown.low > 0.5 and record.settings.num_workers > 0:
        limit = report.descriptor_limit
        left = (limit - counts[-1][1]) / grown.slope if limit else 0
        until = f"; the limit of {limit} is reached after {words.number(left)} more batches" if limit else ""
        title = f"each batch leaves {grown.slope:.1f} file descriptors open{until}"
        yield Symptom("descriptors", title, "`clone()` what you keep of a batch", ("DL611",), FAILS, grown.slope)
    elif report.descriptors and report.descriptor_limit and report.descriptors > 0.8 * report.descriptor_limit:
        title = f"{report.descriptors} of {report.descriptor_limit} file descriptors were open"
        yield Symptom("descriptors", title, "raise the limit: `ulimit -n 65536`", ("DL611", "DL608"), FAILS)


def shared_memory(record: LoaderRecord, report: LoaderReport) -> Iterator[Symptom]:
    """Batches that wait in /dev/shm: too much for it, or too many."""
    workers, each = record.settings.num_workers, record.batch_bytes
    ahead = workers * (record.settings.prefetch_factor or 0) * each
    if not workers or report.shm_size is None or not ahead:
        return
    lowest = report.shm_lowest if report.shm_lowest is not None else report.shm_size
    if ahead > 0.5 * report.shm_size or lowest < 0.1 * report.shm_size:
        title = (
            f"up to {words.size(ahead)} of batches wait in /dev/shm (prefetched by {workers} workers), which has "
            f"{words.size(report.shm_size)}; the least free was {words.size(lowest)}"
        )
        advice = "a smaller `prefetch_factor` or fewer workers; in docker `--shm-size=8g` or `--ipc=host`"
        yield Symptom("shared-memory", title, advice, ("DL307", "DL608", "DL305"), FAILS, float(ahead))
    elif (record.settings.prefetch_factor or 0) * workers >= 64:
        title = f"{(record.settings.prefetch_factor or 0) * workers} batches are loaded ahead, {words.size(ahead)}"
        yield Symptom("prefetch", title, "a smaller `prefetch_factor`", ("DL307",), MEMORY, float(ahead))


def batches_that_hang(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Batches that cannot be pickled, which torch drops without a word."""
    lines = record.of_kind("unpicklable")
    if lines and record.settings.num_workers > 0:
        title = f"`{lines[0]['path']}` of a batch cannot be pickled, so it never leaves the worker: {lines[0]['error']}"
        yield Symptom("batch", title, "return tensors, arrays, numbers and texts", ("DL213",), FAILS, 10.0)


def nested_processes(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Processes that a worker tried to start."""
    lines = record.of_kind("process")
    if lines:
        title = f"a worker tried to start a process (`{lines[0]['name']}`), which a daemonic process may not"
        yield Symptom("nested", title, "use threads, or do it before workers start", ("DL214",), FAILS, 8.0)


def deaths(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """A worker that was killed, or ended by itself.

    A worker that ends with an exit code of its own while no loader raises has been told to: so it is where a thread
    iterates. Neither counts what ends at Ctrl-C.
    """
    is_told = not record.error or record.error.startswith(_TOLD)
    harmless = (0, -signal.SIGTERM, -signal.SIGINT)
    killed = {
        pid: code for pid, code in record.exit_codes.items() if code not in harmless and not (code > 0 and is_told)
    }
    for pid, code in list(killed.items())[:1]:
        lines = record.workers.get(pid, [])
        memory = [line for line in lines if line["kind"] == "memory"]
        held = f"; it last held {words.size(memory[-1]['own'])} of its own" if memory else ""
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        # As torch puts it, so that the same rules come as for the message. What ends a worker by itself is native code.
        name = (signal.strsignal(-code) or "") if code < 0 else "Aborted"
        is_forked = record.settings.start_method == "fork"
        codes = _codes(answer(f"DataLoader worker (pid {pid}) is killed by signal: {name}."), is_forked)
        advice = "see its traceback"
        if code == -9:
            advice = "check `dmesg -T | grep -i oom` or the container's memory limit"
        elif code > 0 and not lines and not is_forked:
            how += f" while it started ({record.settings.start_method})"
            codes, advice = ("DL206", "DL210", "DL208", "DL202", "DL204"), "see its traceback: it imports the script"
        yield Symptom("death", f"worker {pid} {how}{held}", advice, codes, FAILS, 5.0)
