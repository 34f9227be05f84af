"""Many files → diagnostics."""

from __future__ import annotations

import os

from dataloader_lint.engine.run import Run, cannot_read, read
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import Found, discover, reason
from dataloader_lint.source.projects import MAX_FILES, named_folders, outermost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataloader_lint.diagnostics import Diagnostic


def lint_paths(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], settings: Settings | None = None
) -> list[Diagnostic]:
    """Lint files, and the Python files in directories, given as one path or several; sorted by file and place.

    Without settings, defaults hold for all files, whatever a pyproject.toml says; `source.pyproject.chosen()` gives
    those of a command line. Directories among the paths, and those in `settings.roots`, tell which files are one
    project (see `source.projects`). Before anything is linted, raises FileNotFoundError for a path that does not exist,
    TypeError and ValueError for what is no path and for settings that mean nothing.
    """
    from dataloader_lint.source.checks import checked, checked_paths

    settings = checked(settings)
    names = checked_paths(paths)
    settings = settings.replace(roots=outermost((*settings.roots, *named_folders(names))))
    found = discover(names, settings)
    if found.missing:
        raise FileNotFoundError(f"no such file or directory: {', '.join(found.missing)}")
    return lint_found(found, settings)


def lint_found(
    found: Found,
    settings: Settings,
    fixes: str = "",
    progress: Callable[[str, float], None] | None = None,
    *,
    jobs: int = 1,
    cache: str = "",
    warn: Callable[[str], None] | None = None,
) -> list[Diagnostic]:
    """Lint what discovery came up with; what could not be looked at is a DL000 each. `fixes` is as for `Run`.

    `progress` is called with the path of each file that is done, and the seconds that it took. `jobs` is how many
    processes may work at once, `cache` the folder that caches findings between runs ("": nowhere).
    `warn` is called with one line where that folder must not be used, for each record of measurements that cannot be
    used, and for each project that is too large to be seen as a whole.
    """
    diagnostics: list[Diagnostic] = []
    for path, why in found.unreadable:
        diagnostics.extend(cannot_read(path, why, settings))
    run = Run(settings, fixes, cache, warn=warn)
    if jobs > 1 and len(found.files) > 1:
        from dataloader_lint.engine.parallel import lint_in_processes

        diagnostics.extend(lint_in_processes(run, found.files, jobs, progress))
    else:
        for path in _timed(found.files, progress):
            diagnostics.extend(run.lint_file(path))
    run.save()
    diagnostics.extend(run.syntax_errors(found.named))
    if warn is not None:
        _warn(run, run.too_large(), warn)
    diagnostics.sort(key=lambda one: one.sort_key)
    return diagnostics


def fix_found(
    found: Found,
    settings: Settings,
    unsafe: bool,
    write: Callable[[str, bytes, bytes], None],
    progress: Callable[[str, float], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Fixed:
    """Fix what discovery came up with. `write` gets path, old and new content of every file that changes.

    Where it raises OSError, the file's findings remain as they were, and the error is noted. `progress` is as for
    `lint_found`. `warn` is called with one line for each project that is too large to be seen as a whole, and as there.
    """
    total = Fixed()
    too_large: set[str] = set()
    changed: dict[str, bytes] = {}  # what files hold from now on, be it written or only shown
    for path, why in found.unreadable:
        total.remaining.extend(cannot_read(path, why, settings))
    run = Run(settings, "shown")
    for path in _timed(found.files, progress):
        try:
            source = read(path)
        except OSError as error:
            total.remaining.extend(run.cannot_read(path, reason(error)))
            continue
        before = run.lint_bytes(source, path)
        if all(one.fix is None for one in before):
            total.remaining.extend(before)
            continue
        result = run.fix_bytes(source, path, unsafe)
        if result.source != source:
            try:
                write(path, source, result.source)
            except BrokenPipeError:  # of `--diff | head`: nobody reads on
                raise
            except OSError as error:
                total.errors.append(f"{path}: cannot be written: {reason(error)}")
                total.remaining.extend(before)
                continue
            too_large.update(run.too_large())
            changed[os.path.abspath(path)] = result.source
            run = Run(settings, "shown", overlay=changed)  # what was known about the file may matter to others
        total.add(path, result.fixed, len(result.dropped))
        total.remaining.extend(result.remaining)
    total.remaining.extend(run.syntax_errors(found.named))
    total.remaining.sort(key=lambda one: one.sort_key)
    if warn is not None:
        _warn(run, too_large.union(run.too_large()), warn)
    return total


def _warn(run: Run, projects: Iterable[str], warn: Callable[[str], None]) -> None:
    for problem in run.problems:
        warn(f"warning: {problem}")
    for root in sorted(projects):
        warn(f"warning: {root} has more than {MAX_FILES:,} Python files; each is checked with those around it only")


def fix_stdin(source: bytes, filename: str, settings: Settings, unsafe: bool) -> Fixed:
    """Fix what came through standard input; the result is in `source`."""
    total = Fixed()
    run = Run(settings, "shown")
    total.source, total.remaining = source, run.lint_stdin(source, filename)
    if any(one.fix is not None for one in total.remaining):
        result = run.fix_bytes(source, filename, unsafe)
        total.source, total.remaining = result.source, result.remaining
        total.add(filename, result.fixed, len(result.dropped))
    return total


class Fixed:
    """What came of fixing: how many fixes were made, of which rules in which file, what remains, what went wrong."""

    __slots__ = ("by_file", "dropped", "errors", "fixed", "remaining", "source")

    def __init__(self) -> None:
        self.source = b""
        self.fixed = 0
        self.dropped = 0
        self.remaining: list[Diagnostic] = []
        self.errors: list[str] = []
        self.by_file: dict[str, dict[str, int]] = {}

    @property
    def by_code(self) -> dict[str, int]:
        """How many fixes were made, by code."""
        total: dict[str, int] = {}
        for counts in self.by_file.values():
            for code, count in counts.items():
                total[code] = total.get(code, 0) + count
        return total

    def add(self, path: str, fixed: dict[str, int], dropped: int) -> None:
        """Count the fixes of one file, by code, and those that did not hold."""
        self.fixed += sum(fixed.values())
        self.dropped += dropped
        if fixed:
            self.by_file[path] = fixed


def _timed(paths: list[str], progress: Callable[[str, float], None] | None) -> Iterable[str]:
    """The paths, and word to `progress` how long whatever is done with each one took."""
    if progress is None:
        yield from paths
        return
    from time import perf_counter

    for path in paths:
        start = perf_counter()
        yield path
        progress(path, perf_counter() - start)
