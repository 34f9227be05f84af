"""`--try`: a second run of the script, up to its slowest loader, which is iterated with other settings there."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from statistics import median

from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.report import Report
from dataloader_lint.doctor.script import Script, run
from dataloader_lint.doctor.trials import with_gains


def try_slowest(script: Script, report: Report, records: Sequence[LoaderRecord]) -> None:
    """Run a script again, up to the loader that was waited for longest; try that, and note in the report what helps."""
    several = zip(records, report.loaders, strict=True)
    record, one = max(several, key=lambda pair: pair[0].waited + pair[0].started)
    step = median(record.steps) if record.steps else 0.0
    target = {"place": [*record.place], "dataset": record.dataset, "step": step}
    ran = run(dataclasses.replace(script, seconds=0.0, batches=0), {"try": target}, stdout=sys.stderr)
    report.trials = ran.trials
    report.tried = f"{one.name}, whose loop waits for data {one.wait_share:.0%} of the time"
    with_gains(one, report.trials)
