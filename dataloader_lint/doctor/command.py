"""The command `dataloader-lint doctor SCRIPT -- ARGUMENTS`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from dataloader_lint.doctor.across_ranks import Group
from dataloader_lint.doctor.compare import (
    Broken,
    Limits,
    NoReportError,
    Numbers,
    broken,
    load,
    numbers_of,
    share,
    size,
    table,
)
from dataloader_lint.doctor.output_ci import github, junit
from dataloader_lint.doctor.prove.command import Recorder, RefusedError, prove_script
from dataloader_lint.doctor.prove.record import measured, read_if_there
from dataloader_lint.doctor.prove.scratch import TooLargeError, root_of
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.script import Script, examine_script
from dataloader_lint.doctor.trying import try_slowest
from dataloader_lint.doctor.watching import STALL, UnsupportedTorchError
from dataloader_lint.output.text import fitted
from dataloader_lint.source.pyproject import RECORD

CLEAN, FOUND, ERROR = 0, 1, 2
_FORMATS = ("text", "json", "html", "sarif", "junit", "github")
_ABOUT = """Run a script, watch every DataLoader that it iterates, and say which line of the code explains what was
measured. This runs your code. The report comes when the script ends, when the time is over, at Ctrl-C, and when a
worker dies."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as the linter does, below how it is called."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise SystemExit(_complain(message))


def parser() -> argparse.ArgumentParser:
    """The parser of the command's options."""
    made = _Parser("dataloader-lint doctor", description=_ABOUT)
    made.add_argument("script", help="the Python script to run")
    made.add_argument("arguments", nargs="*", help="its arguments, after --")
    made.add_argument(
        "--seconds", type=float, default=120.0, metavar="N", help="end the script after N seconds (default: 120)"
    )
    made.add_argument(
        "--batches", type=int, default=0, metavar="N", help="end it after N batches of one loader (default: no limit)"
    )
    made.add_argument("--to-end", action="store_true", help="let the script run to its end, however long that takes")
    made.add_argument(
        "--stall",
        type=float,
        default=STALL,
        metavar="N",
        help=f"give up a loader that has no batch for N seconds (default: {STALL:.0f}; 0: never)",
    )
    made.add_argument(
        "--try",
        action="store_true",
        dest="trials",
        help="run the script again up to its slowest loader, iterate that with other settings, and say what helps",
    )
    gate = made.add_argument_group("limits: exit code 1 where one is broken, and not for symptoms")
    gate.add_argument("--compare", metavar="FILE", help="show the numbers beside those of an earlier report as JSON")
    gate.add_argument(
        "--max-memory-growth",
        type=size,
        metavar="SIZE",
        help="the most that a worker may hold more than in that report, or than at its start, such as 200MB",
    )
    gate.add_argument(
        "--max-wait", type=share, metavar="SHARE", help="the most of its time that a loop may wait, such as 20%%"
    )
    prove = made.add_argument_group("proofs: what each finding costs this program, and what its fix changes")
    prove.add_argument(
        "--prove",
        action="store_true",
        help="run the script in copies of its project, as it is and with the fix of each finding, and say what differs",
    )
    prove.add_argument(
        "--limit", type=float, default=600.0, metavar="N", help="begin no further run after N seconds (default: 600)"
    )
    prove.add_argument("--write", metavar="FILE", help="write the fixes that are confirmed into a diff")
    prove.add_argument("--baseline", metavar="FILE", help="write the other findings into a baseline")
    made.add_argument(
        "--record",
        action="store_true",
        help="record what findings were measured to cost, for later runs of the linter (--prove always does)",
    )
    made.add_argument(
        "--measured",
        metavar="FILE",
        help=f"the record, with --record or --prove (default: {RECORD}, beside the baseline or in the project)",
    )
    made.add_argument(
        "--output-format",
        choices=_FORMATS,
        metavar="FORMAT",
        default="text",
        help=f"{', '.join(_FORMATS)} (default: text)",
    )
    made.add_argument("--output-file", metavar="FILE", help="write the report into a file")
    made.add_argument("--ascii", action="store_true", help="draw plots with ASCII characters")
    return made


def main(given: Sequence[str]) -> int:
    """Run the command: 0 without symptoms, 1 with some, 2 where the script cannot be run."""
    own, rest = list(given), []
    if "--" in own:
        cut = own.index("--")
        own, rest = own[:cut], own[cut + 1 :]
    options = parser().parse_args(own)
    if not os.path.isfile(options.script):
        return _complain(f"no such script: {options.script}")
    refused = _not_together(options)
    if refused:
        return _complain(refused)
    group = Group.of(os.environ)
    if group is not None and options.prove:
        return _complain("--prove starts the program itself: call it without torchrun")
    script = Script(
        options.script,
        (*options.arguments, *rest),
        seconds=0.0 if options.to_end else options.seconds,
        batches=options.batches,
        stall=options.stall,
    )
    limits = _limits(options)
    try:
        if options.prove:
            return FOUND if prove_script(script, options) else CLEAN
        recorder = Recorder(options.measured or os.path.join(root_of(script.path), RECORD)) if options.record else None
        before = load(read_if_there(options.compare)) if options.compare else None
        report, ran = examine_script(script, group)
        if options.trials and ran.seen.records:
            try_slowest(script, report, ran.seen.records)
        over = broken(limits, report, before)
        _show(report, options, over, before, group)
        # Of several ranks one speaks for all: each would replace what the others wrote.
        if recorder is not None and (group is None or group.rank == 0):
            recorder.write(measured(report))
    except NoReportError as error:
        return _complain(f"{options.compare} is {error}")
    except (UnsupportedTorchError, RefusedError, TooLargeError) as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"cannot write the report: {error.strerror or error}")
    if ran.stopped.endswith("so it was killed."):
        return ERROR
    if limits != Limits():
        return FOUND if over else CLEAN
    # torchrun ends all ranks as soon as one of them fails, and their reports with them.
    return FOUND if report.all_symptoms and group is None else CLEAN


def _not_together(options: argparse.Namespace) -> str:
    """Which options do nothing with the others, in words; "" if all of them do something."""
    gates = ("compare", "max_memory_growth", "max_wait")
    proofs = ("write", "baseline")
    given = {name: getattr(options, name) for name in (*gates, *proofs)}
    names = [name for name, is_given in (("--try", options.trials), ("--record", options.record)) if is_given]
    names += [f"--{name.replace('_', '-')}" for name in gates if given[name] is not None]
    if options.prove and names:
        return f"{names[0]} does nothing with --prove"
    if options.prove and options.output_format not in ("text", "json"):
        return f"--prove writes text or json, and not {options.output_format}"
    if options.measured is not None and not (options.prove or options.record):
        return "--measured needs --record or --prove"
    if not options.prove:
        return next((f"--{name} needs --prove" for name in proofs if given[name] is not None), "")
    return ""


def _limits(options: argparse.Namespace) -> Limits:
    return Limits(options.max_memory_growth, options.max_wait)


def _show(
    report: Report,
    options: argparse.Namespace,
    over: Sequence[Broken],
    before: Sequence[Numbers] | None,
    group: Group | None,
) -> None:
    only_limits = _limits(options) != Limits() or group is not None
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    if options.output_format == "text":
        lines = [f"Rank {group.rank} of {group.ranks} (counted from 0)", ""] if group is not None else []
        lines += [each.text for each in over]
        if before is not None:
            lines += ["Before and now:", *table(before, numbers_of(report)), ""]
        text = "\n".join([*lines, report.text(ascii_only=options.ascii or not encoding.startswith("utf"))])
    elif options.output_format == "junit":
        text = junit(report, over, only_limits=only_limits)
    elif options.output_format == "github":
        text = "\n".join(github(report, over, only_limits=only_limits))
    else:
        text = {"json": report.to_json, "html": report.to_html, "sarif": report.to_sarif}[options.output_format]()
    if options.output_file:
        stem, suffix = os.path.splitext(options.output_file)
        path = f"{stem}.rank{group.rank}{suffix}" if group is not None else options.output_file
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text, flush=True)


def _complain(message: str) -> int:
    for line in fitted(f"dataloader-lint: {message}", sys.stderr):
        print(line, file=sys.stderr)
    sys.stderr.flush()
    return ERROR
