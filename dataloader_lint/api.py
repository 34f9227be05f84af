"""The Python API: what docs/api.md describes. Everything else may change in any version."""

from __future__ import annotations

import os
from collections.abc import Iterable

from dataloader_lint.diagnostics import Diagnostic, Fix, FixResult, Level, Place, Position, Reason, Safety, TextEdit
from dataloader_lint.engine import linter, runner
from dataloader_lint.settings import Settings
from dataloader_lint.source.pyproject import ConfigurationError, chosen

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
    "fix_source",
    "lint_paths",
    "lint_source",
    "load_settings",
]

Path = str | os.PathLike[str]


def lint_paths(paths: Path | Iterable[Path], settings: Settings | None = None) -> list[Diagnostic]:
    """Lint files, and the Python files and notebooks in directories.

    Args:
        paths: one path or several.
        settings: the settings, or None for the defaults. `load_settings()` gives those of the command line.

    Returns:
        The findings, sorted by file and place. A file that cannot be read or parsed is one finding with code DL000.

    Raises:
        FileNotFoundError: a path does not exist. Nothing has been linted then.
        TypeError: an argument is of another type.
        ValueError: a value in the settings means nothing, such as an unknown rule code.
        ConfigurationError: a pyproject.toml cannot be used, with settings from `load_settings`.
    """
    return runner.lint_paths(paths, settings)


def lint_source(
    source: bytes | str, filename: Path, settings: Settings | None = None, *, fixes: bool = False
) -> list[Diagnostic]:
    """Lint one file whose content is at hand.

    Args:
        source: the bytes of the file, or its text.
        filename: its name in findings, and the place where its imports are searched. The file itself is not read. A
            name that ends in `.ipynb` says that the source is a notebook.
        settings: the settings, or None for the defaults.
        fixes: True if findings are to carry their fixes, as `Diagnostic.fix`.

    Returns:
        The findings, sorted by place.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a value in the settings means nothing, such as an unknown rule code.
    """
    return linter.lint_source(source, filename, settings, fixes=fixes)


def fix_source(source: bytes, filename: Path, settings: Settings | None = None, *, unsafe: bool = False) -> FixResult:
    """Fix one file whose content is at hand. Nothing is written.

    Args:
        source: the bytes of the file. Encoding and line ends stay as they are.
        filename: as in `lint_source`.
        settings: the settings, or None for the defaults.
        unsafe: True to apply unsafe fixes too.

    Returns:
        The fixed source, and what remains.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a value in the settings means nothing, such as an unknown rule code.
    """
    from dataloader_lint.engine import fixer  # it loads LibCST, which takes longer than a run that finds nothing

    return fixer.fix_source(source, filename, settings, unsafe=unsafe)


def load_settings(folder: Path = ".", *, config: Path | None = None) -> Settings:
    """The settings that the command line uses in a folder.

    Args:
        folder: the folder whose nearest pyproject.toml is used. With these settings, `lint_paths` uses for each file
            the pyproject.toml that is nearest to it.
        config: one TOML file to use for all files instead.

    Returns:
        The settings; the defaults if no pyproject.toml has the table `[tool.dataloader-lint]`.

    Raises:
        ConfigurationError: the file cannot be read, is not TOML, or has a key or a value that means nothing.
    """
    return chosen(folder=os.fspath(folder), file=None if config is None else os.fspath(config))
