"""`dataloader-lint doctor --prove`: what is written and shown."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.doctor import words
from dataloader_lint.doctor.prove.patches import all_patched, as_diff, silenced_line
from dataloader_lint.doctor.prove.proving import Proof, prove
from dataloader_lint.doctor.prove.record import NotOursError, dumped, read_if_there
from dataloader_lint.doctor.prove.scratch import root_of
from dataloader_lint.doctor.prove.verdicts import Kind, Verdict
from dataloader_lint.doctor.script import Script
from dataloader_lint.engine import baseline
from dataloader_lint.source.pyproject import RECORD

_SILENT = (Kind.NO_EFFECT, Kind.NOT_TRIED)


class RefusedError(Exception):
    """A file must not be written; the message says which, and why."""


def prove_script(script: Script, options: argparse.Namespace) -> bool:
    """Try the fixes of a script's findings, show the verdicts, and write what was asked for; True if one is confirmed.

    Raises RefusedError before anything runs where a file is there that is not of the kind that would be written.
    """
    root = root_of(script.path)
    folder = os.path.dirname(os.path.abspath(options.baseline)) if options.baseline else root
    record = options.measured or os.path.join(folder, RECORD)
    with _refused(record):
        dumped([], _lines_of, root, read_if_there(record))
    before = read_if_there(options.write) if options.write else ""
    if before and not before.startswith("--- "):
        raise RefusedError(f"{options.write} is there, and is no diff")
    if options.baseline and os.path.exists(options.baseline):
        with _refused(options.baseline):
            baseline.load(read_if_there(options.baseline))
    proof = prove(script, options.limit, _tell)
    confirmed = [each for each in proof.verdicts if each.kind is Kind.CONFIRMED]
    texts, overlapping = all_patched([each.finding for each in confirmed])
    for line in _lines(proof, overlapping):
        print(line)
    if options.write:
        _write(options.write, as_diff(texts, root))
    if options.baseline:
        rest = [each.finding for each in proof.verdicts if each.kind is not Kind.CONFIRMED]
        _write(options.baseline, _baseline(options.baseline, rest))
    if proof.verdicts:
        where = os.path.dirname(os.path.abspath(record))
        _write(record, dumped(proof.verdicts, _lines_of, where, read_if_there(record)))
    sys.stdout.flush()
    return bool(confirmed)


@contextlib.contextmanager
def _refused(path: str) -> Iterator[None]:
    try:
        yield
    except (NotOursError, baseline.DamagedBaselineError) as error:
        raise RefusedError(f"{path} is there, and is {error}") from None


def _baseline(path: str, findings: Sequence[Diagnostic]) -> str:
    """The text of a baseline with these findings, and with those of other files that it has already."""
    folder = os.path.dirname(os.path.abspath(path))
    entries = baseline.entries_of(findings, _lines_of, folder)
    text = read_if_there(path)
    names = {name for name, _, _ in entries}
    before = baseline.load(text) if text else {}
    kept = [entry for entry, count in before.items() for _ in range(count) if entry[0] not in names]
    return baseline.dump([*kept, *entries])


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"Written: {words.path(path)}")


def _tell(what: str) -> None:
    print(f"dataloader-lint: {what}", file=sys.stderr, flush=True)


def _lines(proof: Proof, overlapping: Sequence[Diagnostic]) -> Iterator[str]:
    counts = {kind: sum(each.kind is kind for each in proof.verdicts) for kind in Kind}
    shown = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    took = f"{words.several(proof.runs, 'run')}, {words.seconds(proof.seconds)}"
    yield f"{words.several(len(proof.verdicts), 'finding')} in the files that ran: {shown or 'none'} ({took})"
    if proof.stopped:
        yield proof.stopped
    for each in proof.verdicts:
        yield ""
        yield from _verdict(each, each.finding in overlapping)


def _verdict(one: Verdict, overlaps: bool) -> Iterator[str]:
    finding = one.finding
    yield f"{words.place((finding.filename, finding.start.line))} {finding.code} {one.kind.value}"
    parts = [finding.message, one.text]
    if finding.fix is not None:
        parts.append(f"fix ({finding.fix.safety.value}): {finding.fix.title}")
    if overlaps:
        parts.append("its fix overlaps another one, and is not in the diff")
    if one.kind in _SILENT:
        line = silenced_line(finding)
        parts += [f"to silence it, line {line}"] if line else []
    for part in parts:
        yield from (f"    {line}" for line in wrap(part, 96, break_on_hyphens=False, break_long_words=False))


def _lines_of(one: Diagnostic) -> list[str]:
    try:
        with open(one.filename, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
