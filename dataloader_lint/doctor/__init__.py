"""What a running DataLoader says, and the line of code that explains it. Runs the user's code; the linter never does.

Needs torch and the extra `doctor`. `examine` iterates a loader for a while, `watch` looks on while a loop of the
program does, and `assert_worker_safe` is for tests of Datasets.
"""

from dataloader_lint.doctor.check import assert_worker_safe
from dataloader_lint.doctor.examining import examine, watch
from dataloader_lint.doctor.measured import LoaderReport, Symptom
from dataloader_lint.doctor.report import Report

__all__ = ["LoaderReport", "Report", "Symptom", "assert_worker_safe", "examine", "watch"]
