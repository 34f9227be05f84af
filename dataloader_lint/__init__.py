"""A linter for PyTorch DataLoader pitfalls, built on LibCST.

Public API: `lint_paths` and `lint_source`, which return `Diagnostic`s, `fix_source`, which repairs a file's bytes, and
`Settings` to choose the rules. They are imported when first asked for, so that importing the package costs nothing.
"""

# Not even `__future__` is imported here: with `python -m dataloader_lint` that of the working directory would be run,
# before `__main__` takes the directory from the path.
TYPE_CHECKING = False  # importing `typing` would cost more than all of a run over a file without DataLoaders
if TYPE_CHECKING:
    from dataloader_lint.fixer import fix_source
    from dataloader_lint.linter import lint_source
    from dataloader_lint.runner import lint_paths
    from dataloader_lint.settings import Settings

__version__ = "0.1.0"
__all__ = ["Settings", "__version__", "fix_source", "lint_paths", "lint_source"]


def __getattr__(name: str) -> object:
    if name == "fix_source":
        from dataloader_lint.fixer import fix_source

        return fix_source
    if name == "lint_source":
        from dataloader_lint.linter import lint_source

        return lint_source
    if name == "lint_paths":
        from dataloader_lint.runner import lint_paths

        return lint_paths
    if name == "Settings":
        from dataloader_lint.settings import Settings

        return Settings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
