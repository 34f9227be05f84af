"""Many files → diagnostics, one after the other."""

from __future__ import annotations

import os

from dataloader_lint.gate import may_matter
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import Found, discover, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.facts.analysis import Session
    from dataloader_lint.fixer import FixResult


def lint_paths(paths: Iterable[str | os.PathLike[str]], settings: Settings | None = None) -> list[Diagnostic]:
    """Lint files, and the Python files in directories; sorted by file and place.

    Raises FileNotFoundError for a path that does not exist, before anything is linted.
    """
    settings = settings or Settings()
    found = discover([os.fspath(path) for path in paths], settings)
    if found.missing:
        raise FileNotFoundError(f"no such file or directory: {', '.join(found.missing)}")
    return lint_found(found, settings)


def lint_found(found: Found, settings: Settings, fixes: str = "") -> list[Diagnostic]:
    """Lint what discovery came up with; what could not be looked at is a DL000 each. `fixes` is as for `Run`."""
    diagnostics: list[Diagnostic] = []
    for path, why in found.unreadable:
        diagnostics.extend(_cannot_read(path, why, settings))
    run = Run(settings, fixes)
    for path in found.files:
        diagnostics.extend(run.lint_file(path))
    diagnostics.sort(key=lambda one: one.sort_key)
    return diagnostics


def fix_found(found: Found, settings: Settings, unsafe: bool, write: Callable[[str, bytes, bytes], None]) -> Fixed:
    """Fix what discovery came up with. `write` gets path, old and new content of every file that changes.

    Where it raises OSError, the file's findings remain as they were, and the error is noted.
    """
    total = Fixed()
    for path, why in found.unreadable:
        total.remaining.extend(_cannot_read(path, why, settings))
    run = Run(settings, "shown")
    for path in found.files:
        try:
            source = _read(path)
        except OSError as error:
            total.remaining.extend(_cannot_read(path, reason(error), settings))
            continue
        before = run.lint_bytes(source, path)
        if all(one.fix is None for one in before):
            total.remaining.extend(before)
            continue
        result = run.fix_bytes(source, path, unsafe)
        if result.source != source:
            try:
                write(path, source, result.source)
            except OSError as error:
                total.errors.append(f"{path}: cannot be written: {reason(error)}")
                total.remaining.extend(before)
                continue
            run = Run(settings, "shown")  # what was known about the file may matter to others
        total.fixed += sum(result.fixed.values())
        total.dropped += len(result.dropped)
        total.remaining.extend(result.remaining)
    total.remaining.sort(key=lambda one: one.sort_key)
    return total


def fix_stdin(source: bytes, filename: str, settings: Settings, unsafe: bool) -> Fixed:
    """Fix what came through standard input; the result is in `source`."""
    total = Fixed()
    run = Run(settings, "shown")
    total.source, total.remaining = source, run.lint_bytes(source, filename)
    if any(one.fix is not None for one in total.remaining):
        result = run.fix_bytes(source, filename, unsafe)
        total.source, total.remaining = result.source, result.remaining
        total.fixed, total.dropped = sum(result.fixed.values()), len(result.dropped)
    return total


class Fixed:
    """What came of fixing: how many repairs were made, how many left out, what remains, what went wrong."""

    __slots__ = ("dropped", "errors", "fixed", "remaining", "source")

    def __init__(self) -> None:
        self.source = b""
        self.fixed = 0
        self.dropped = 0
        self.remaining: list[Diagnostic] = []
        self.errors: list[str] = []


class Run:
    """What the files of one run share: the settings, and the session with the modules opened so far.

    A worker process has one of its own, made from the settings alone. `fixes` says what diagnostics tell about their
    repairs: nothing (""), how they would look ("shown"), or those that were tried and hold ("tried").
    """

    __slots__ = ("_fixes", "_session", "_settings")

    def __init__(self, settings: Settings, fixes: str = "") -> None:
        self._settings = settings
        self._fixes = fixes
        self._session: Session | None = None

    def lint_file(self, path: str) -> list[Diagnostic]:
        """Lint one file. Does not raise: whatever goes wrong is a diagnostic."""
        try:
            source = _read(path)
        except OSError as error:
            return _cannot_read(path, reason(error), self._settings)
        return self.lint_bytes(source, path)

    def lint_bytes(self, source: bytes, path: str) -> list[Diagnostic]:
        """Lint one file whose bytes are at hand."""
        if path.endswith(".ipynb"):
            from dataloader_lint.linter import unreadable

            advice = "export it with `jupyter nbconvert --to script` and lint that"
            return unreadable(path, "this is a notebook, not a Python file", advice, self._settings)
        if not may_matter(source):
            return []
        from dataloader_lint.linter import crashed, lint_source

        try:
            if self._session is None:
                from dataloader_lint.facts.analysis import Session

                self._session = Session()
            found = lint_source(source, path, self._settings, self._session, fixes=bool(self._fixes))
            if self._fixes == "tried" and any(one.fix is not None for one in found):
                from dataloader_lint.fixer import with_fixes

                return with_fixes(source, path, self._settings, self._session)
            return found
        except Exception as error:
            return crashed(path, "the engine", error, self._settings)

    def fix_bytes(self, source: bytes, path: str, unsafe: bool) -> FixResult:
        """Fix one file whose bytes are at hand. Does not raise: where fixing fails, that is one more diagnostic."""
        from dataloader_lint.fixer import FixResult, fix_source
        from dataloader_lint.linter import crashed

        try:
            return fix_source(source, path, self._settings, self._session, unsafe=unsafe)
        except Exception as error:
            found = [*crashed(path, "the fixer", error, self._settings), *self.lint_bytes(source, path)]
            return FixResult(source, {}, found, [])


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _cannot_read(path: str, why: str, settings: Settings) -> list[Diagnostic]:
    from dataloader_lint.linter import unreadable

    return unreadable(path, f"cannot be read: {why}", "", settings)
