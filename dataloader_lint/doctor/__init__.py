"""What a running DataLoader says, and the line of code that explains it. Runs the user's code; the linter never does.

Needs torch and the extra `doctor`. `examine` iterates a loader for a while, `watch` looks on while a loop of the
program does, and `assert_worker_safe` is for tests of Datasets. They are imported when first asked for: the process of
a script that is watched imports this package before the script runs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataloader_lint.doctor.check import assert_worker_safe
    from dataloader_lint.doctor.examining import examine, watch
    from dataloader_lint.doctor.measured import LoaderReport, Symptom
    from dataloader_lint.doctor.report import Report

__all__ = ["LoaderReport", "Report", "Symptom", "assert_worker_safe", "examine", "watch"]

_MODULES = {
    "LoaderReport": "measured",
    "Report": "report",
    "Symptom": "measured",
    "assert_worker_safe": "check",
    "examine": "examining",
    "watch": "examining",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found
