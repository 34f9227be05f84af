"""`--watch`: lint, and again whenever a file changes, until it is interrupted."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import partial

from dataloader_lint.cli.options import Options, UsageError, read_options
from dataloader_lint.cli.terminal import complain
from dataloader_lint.source.discovery import EXCLUDED_FOLDERS, SUFFIXES

_SETTINGS = ("pyproject.toml", ".gitignore")
_PULSE = 200  # milliseconds between two looks at whether something has changed


def watch(options: Options, given: list[str], lint: Callable[[Options], int]) -> int:
    """Does not return; KeyboardInterrupt ends it. Settings are read again each time, from the arguments as `given`.

    Raises UsageError where a path does not exist or watchfiles is not installed.
    """
    try:
        import watchfiles
    except ImportError:
        raise UsageError("--watch needs watchfiles: pip install 'dataloader-lint[watch]'") from None
    for path in options.paths:
        if not os.path.exists(path):
            raise UsageError(f"no such file or directory: {path}")
    folders = [path for path in options.paths if os.path.isdir(path)]
    files = {os.path.abspath(path) for path in options.paths} - {os.path.abspath(path) for path in folders}
    # Editors replace files, so what is watched is the folder. Named files alone need no look below theirs.
    roots = sorted({*map(os.path.abspath, folders), *map(os.path.dirname, files)})
    is_wanted = partial(_is_wanted, tuple(os.path.abspath(path) for path in folders), files)
    is_first = True
    # The watcher is at work before the first run, and notes what changes while one goes on.
    for changes in watchfiles.watch(
        *roots,
        watch_filter=lambda _change, path: is_wanted(path),
        recursive=bool(folders),
        yield_on_timeout=True,
        rust_timeout=_PULSE,
    ):
        if changes or is_first:
            is_first = False
            _round(given, lint)
    raise KeyboardInterrupt


def _round(given: list[str], lint: Callable[[Options], int]) -> None:
    if sys.stdout.isatty():
        print("\x1b[2J\x1b[H", end="")
    try:
        options = read_options(given)
        lint(options)
        if not options.quiet:
            print("Watching for changes; press Ctrl-C to end.", file=sys.stderr, flush=True)
    except UsageError as error:  # such as a pyproject.toml that is being edited
        complain(str(error))
    gc.collect()  # the command turns the collector off for its one run, and this is many


def _is_wanted(folders: tuple[str, ...], files: set[str], path: str) -> bool:
    """True if a change of this file can change the report."""
    path = os.path.abspath(path)
    if path in files:
        return True
    if not path.endswith(SUFFIXES) and os.path.basename(path) not in _SETTINGS:
        return False
    for folder in folders:
        if path.startswith(folder.rstrip(os.sep) + os.sep):
            return not set(path[len(folder) :].split(os.sep)) & set(EXCLUDED_FOLDERS)
    return False
