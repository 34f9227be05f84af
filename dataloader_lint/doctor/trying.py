"""`--try`: a second run of the script, up to its slowest loader, which is iterated with other settings there."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from statistics import median

from dataloader_lint.doctor.prove.scratch import scratch_of
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.script import Script, run
from dataloader_lint.doctor.trials import with_gains


def try_slowest(script: Script, report: Report, records: Sequence[LoaderRecord]) -> None:
    """Run a script again, in a copy of its project, up to the loader that was waited for longest, and try that.

    What helps is noted in the report.
    """
    several = zip(records, report.loaders, strict=True)
    record, one = max(several, key=lambda pair: pair[0].waited + pair[0].started)
    step = median(record.steps) if record.steps else 0.0
    target = {"place": [*record.place], "dataset": record.dataset, "step": step}
    with scratch_of(script, {}) as scratch:
        below = os.path.relpath(os.path.realpath(record.place[0]), scratch.root)
        if not below.startswith(os.pardir):
            target["place"] = [os.path.join(os.path.realpath(scratch.folder), below), record.place[1]]
        there = dataclasses.replace(scratch.script, seconds=0.0, batches=0)
        ran = run(there, {"try": target}, stdout=sys.stderr)
    report.trials = ran.trials
    report.tried = f"{one.name}, whose loop waits for data {one.wait_share:.0%} of the time"
    with_gains(one, report.trials)
