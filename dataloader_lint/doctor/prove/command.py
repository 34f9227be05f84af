"""`dataloader-lint doctor --prove`: what is written and shown."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor import words
from dataloader_lint.doctor.prove.patches import all_patched, as_diff, silenced_line
from dataloader_lint.doctor.prove.proving import Proof, prove
from dataloader_lint.doctor.prove.record import NotOursError, dumped, lines_of, read_if_there
from dataloader_lint.doctor.prove.scratch import root_of
from dataloader_lint.doctor.prove.verdicts import Kind, Verdict
from dataloader_lint.doctor.script import Script
from dataloader_lint.engine import baseline
from dataloader_lint.source.pyproject import RECORD

_WIDTH = 100
_MOST_ROWS = 20  # of the table: one screen


class RefusedError(Exception):
    """A file must not be written; the message says which, and why."""


class Recorder:
    """Writes the record of what was measured. Raises RefusedError, before anything runs, for a file that is none."""

    def __init__(self, path: str) -> None:
        self._path = path
        with _refused(path):
            dumped([], lines_of, os.path.dirname(os.path.abspath(path)), read_if_there(path))

    def write(self, verdicts: Sequence[Verdict]) -> None:
        """Write what is known of these findings, and keep what is known of others."""
        if verdicts:
            folder = os.path.dirname(os.path.abspath(self._path))
            _write(self._path, dumped(verdicts, lines_of, folder, read_if_there(self._path)))


def prove_script(script: Script, options: argparse.Namespace) -> bool:
    """Try the fixes of a script's findings, show the verdicts, and write what was asked for; True if one is confirmed.

    Raises RefusedError before anything runs where a file is there that is not of the kind that would be written.
    """
    root = root_of(script.path)
    folder = os.path.dirname(os.path.abspath(options.baseline)) if options.baseline else root
    recorder = Recorder(options.measured or os.path.join(folder, RECORD))
    before = read_if_there(options.write) if options.write else ""
    if before and not before.startswith("--- "):
        raise RefusedError(f"{options.write} is there, and is no diff")
    if options.baseline and os.path.exists(options.baseline):
        with _refused(options.baseline):
            baseline.load(read_if_there(options.baseline))
    proof = prove(script, options.limit, _tell)
    confirmed = [each for each in proof.verdicts if each.kind is Kind.CONFIRMED]
    texts, overlapping = all_patched([each.finding for each in confirmed])
    text = as_json(proof) if options.output_format == "json" else "\n".join(report_lines(proof, overlapping))
    if options.output_file:
        with open(options.output_file, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text)
    if options.write:
        _write(options.write, as_diff(texts, root))
    if options.baseline:
        rest = [each.finding for each in proof.verdicts if each.kind is not Kind.CONFIRMED]
        _write(options.baseline, _baseline(options.baseline, rest))
    recorder.write(proof.verdicts)
    sys.stdout.flush()
    return bool(confirmed)


@contextlib.contextmanager
def _refused(path: str) -> Iterator[None]:
    try:
        yield
    except (NotOursError, baseline.DamagedBaselineError) as error:
        raise RefusedError(f"{path} is there, and is {error}") from None
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror or error}") from None


def _baseline(path: str, findings: Sequence[Diagnostic]) -> str:
    """The text of a baseline with these findings, and with those of other files that it has already."""
    folder = os.path.dirname(os.path.abspath(path))
    entries = baseline.entries_of(findings, lines_of, folder)
    text = read_if_there(path)
    names = {name for name, _, _ in entries}
    before = baseline.load(text) if text else {}
    kept = [entry for entry, count in before.items() for _ in range(count) if entry[0] not in names]
    return baseline.dump([*kept, *entries])


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    _tell(f"written: {words.path(path)}")


def _tell(what: str) -> None:
    print(f"dataloader-lint: {what}", file=sys.stderr, flush=True)


def report_lines(proof: Proof, overlapping: Sequence[Diagnostic]) -> Iterator[str]:
    """The report: a line for each finding, then what is known of each."""
    counts = {kind: sum(each.kind is kind for each in proof.verdicts) for kind in Kind}
    shown = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    took = f"{words.several(proof.runs, 'run')}, {words.seconds(proof.seconds)}"
    yield f"{words.several(len(proof.verdicts), 'finding')} in the files that ran: {shown or 'none'} ({took})"
    if proof.stopped:
        yield proof.stopped
    if proof.verdicts:
        yield ""
        yield from _table(proof.verdicts)
    for each in proof.verdicts:
        yield ""
        yield from _verdict(each, each.finding in overlapping)


def _table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A line for each of the first verdicts, as wide as a screen."""
    rows = [(each.kind.value, _place(each), each.text) for each in verdicts[:_MOST_ROWS]]
    kinds, places = (max(len(row[column]) for row in rows) for column in (0, 1))
    for kind, place, text in rows:
        yield _shortened(f"{kind:<{kinds}}  {place:<{places}}  ", _WIDTH, text)
    if len(verdicts) > _MOST_ROWS:
        yield f"... and {len(verdicts) - _MOST_ROWS} more"


def _shortened(head: str, width: int, text: str) -> str:
    """A head and as much of a text as there is room for."""
    room = max(20, width - len(head))
    return head + (text if len(text) <= room else f"{text[: room - 3].rstrip()}...")


def _place(one: Verdict) -> str:
    return f"{words.place((one.finding.filename, one.finding.start.line))} {one.finding.code}"


def _verdict(one: Verdict, overlaps: bool) -> Iterator[str]:
    finding = one.finding
    yield f"{_place(one)} {one.kind.value}"
    parts = [finding.message, one.text]
    if one.numbers:
        parts.append(f"before -> after: {one.numbers}")
    if finding.fix is not None:
        parts.append(f"fix ({finding.fix.safety.value}): {finding.fix.title}")
    if overlaps:
        parts.append("its fix overlaps another one, and is not in the diff")
    line = silenced_line(finding) if one.kind is Kind.NO_EFFECT else ""
    parts += [f"to silence it, line {line}"] if line else []
    for part in parts:
        yield from (f"    {line}" for line in wrap(part, 96, break_on_hyphens=False, break_long_words=False))


def as_json(proof: Proof) -> str:
    """The verdicts as one JSON object."""
    findings = [
        {
            "filename": each.finding.filename,
            "row": each.finding.start.line,
            "code": each.finding.code,
            "message": each.finding.message,
            "verdict": each.kind.value,
            "text": each.text,
            "pairs": each.pairs,
            "bytes": each.bytes,
            "workers": each.workers,
            "seconds_per_batch": [*each.seconds] if each.seconds is not None else None,
            "numbers": each.numbers,
            "fix": each.finding.fix.title if each.finding.fix is not None else None,
        }
        for each in proof.verdicts
    ]
    whole = {"stopped": proof.stopped, "runs": proof.runs, "seconds": round(proof.seconds, 1), "findings": findings}
    return json.dumps(whole, indent=2, ensure_ascii=False)
