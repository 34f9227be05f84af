"""A linter for PyTorch DataLoader pitfalls, built on LibCST.

The Python API is described in docs/api.md: `lint_paths`, `lint_source`, `fix_source`, `load_settings`, and the types
that they take and give. They are imported when first asked for, so that importing the package costs nothing.
"""

# Not even `__future__` is imported here: with `python -m dataloader_lint` that of the working directory would be run,
# before `__main__` takes the directory from the path.
TYPE_CHECKING = False  # importing `typing` would cost more than all of a run over a file without DataLoaders
if TYPE_CHECKING:
    from dataloader_lint.api import (
        ConfigurationError,
        Diagnostic,
        Fix,
        FixResult,
        Level,
        Place,
        Position,
        Reason,
        Safety,
        Settings,
        TextEdit,
        fix_source,
        lint_paths,
        lint_source,
        load_settings,
    )

__version__ = "0.1.0"
__all__ = [
    "ConfigurationError",
    "Diagnostic",
    "Fix",
    "FixResult",
    "Level",
    "Place",
    "Position",
    "Reason",
    "Safety",
    "Settings",
    "TextEdit",
    "__version__",
    "fix_source",
    "lint_paths",
    "lint_source",
    "load_settings",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        from dataloader_lint import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
