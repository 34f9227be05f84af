"""Many files → diagnostics."""

from __future__ import annotations

import os

from dataloader_lint.gate import may_matter
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import Found, discover, reason
from dataloader_lint.source.projects import Roots
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataloader_lint.cache import Cache, Store
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.facts.analysis import Session
    from dataloader_lint.fixer import FixResult


def lint_paths(paths: Iterable[str | os.PathLike[str]], settings: Settings | None = None) -> list[Diagnostic]:
    """Lint files, and the Python files in directories; sorted by file and place.

    Without settings, defaults hold for all files, whatever a pyproject.toml says; `source.pyproject.chosen()` gives
    those of a command line. Raises FileNotFoundError for a path that does not exist, before anything is linted.
    """
    settings = settings or Settings()
    found = discover([os.fspath(path) for path in paths], settings)
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
) -> list[Diagnostic]:
    """Lint what discovery came up with; what could not be looked at is a DL000 each. `fixes` is as for `Run`.

    `progress` is called with the path of each file that is done, and the seconds that it took. `jobs` is how many
    processes may work at once, `cache` the folder in which findings are kept from one run to the next ("": nowhere).
    """
    diagnostics: list[Diagnostic] = []
    for path, why in found.unreadable:
        diagnostics.extend(_cannot_read(path, why, settings))
    run = Run(settings, fixes, cache)
    if jobs > 1 and len(found.files) > 1:
        from dataloader_lint.parallel import lint_in_processes

        diagnostics.extend(lint_in_processes(run, found.files, jobs, progress))
    else:
        for path in _timed(found.files, progress):
            diagnostics.extend(run.lint_file(path))
    run.save()
    diagnostics.sort(key=lambda one: one.sort_key)
    return diagnostics


def fix_found(
    found: Found,
    settings: Settings,
    unsafe: bool,
    write: Callable[[str, bytes, bytes], None],
    progress: Callable[[str, float], None] | None = None,
) -> Fixed:
    """Fix what discovery came up with. `write` gets path, old and new content of every file that changes.

    Where it raises OSError, the file's findings remain as they were, and the error is noted. `progress` is as for
    `lint_found`.
    """
    total = Fixed()
    for path, why in found.unreadable:
        total.remaining.extend(_cannot_read(path, why, settings))
    run = Run(settings, "shown")
    for path in _timed(found.files, progress):
        try:
            source = _read(path)
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
    """What the files of one run share: the settings, and sessions with the modules opened so far.

    A worker process has one of its own, made from the settings alone. `fixes` says what diagnostics tell about their
    repairs: nothing (""), how they would look ("shown"), or those that were tried and hold ("tried").
    """

    __slots__ = ("_by_file", "_cache", "_cache_folder", "_roots", "_sessions", "fixes", "settings")

    def __init__(self, settings: Settings, fixes: str = "", cache: str = "") -> None:
        self.settings = settings
        self.fixes = fixes
        self._by_file = SettingsByFile(settings)
        self._sessions: dict[tuple[tuple[str, ...], ...], Session] = {}
        self._cache_folder = cache
        self._cache: Cache | None = None
        self._roots = Roots()

    def lint_file(self, path: str) -> list[Diagnostic]:
        """Lint one file, or remember what was found in it. Does not raise: whatever goes wrong is a diagnostic."""
        known = self.known(path)
        if not isinstance(known, bytes):
            return known
        found = self.lint_bytes(known, path)
        self.keep(path, found, *self.fed_by(path))
        return found

    def known(self, path: str) -> list[Diagnostic] | bytes:
        """The findings of a file as far as they can be told without parsing it; its content where they cannot."""
        try:
            source = _read(path)
        except OSError as error:
            return self.cannot_read(path, reason(error))
        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return _cannot_check(path, error, self.settings)
        if not may_matter(source, settings.extra_words):
            return []
        remembered = self._store(settings, path).get(path) if self._cache_folder else None
        return source if remembered is None else remembered

    def keep(self, path: str, found: list[Diagnostic], fed_by: Iterable[str], sought: Iterable[bytes]) -> None:
        """Remember the findings of a file for the next run, unless something went wrong with it."""
        if self._cache_folder and not any(one.code in ("DL000", "DL999") for one in found):
            self._store(self._by_file.of_file(path), path).put(path, found, fed_by, sought)

    def fed_by(self, path: str) -> tuple[set[str], set[bytes]]:
        """The files that the findings of a file which was linted rest on, and the words sought in all files."""
        session = self._sessions.get(self._by_file.of_file(path).project_key)
        full = os.path.abspath(path)
        return session.project.fed_by(full) if session is not None else ({full}, set())

    def save(self) -> None:
        """Put what was kept where the next run finds it."""
        if self._cache is not None:
            self._cache.save()

    def _store(self, settings: Settings, path: str) -> Store:
        from dataloader_lint.cache import Cache

        if self._cache is None:
            self._cache = Cache(self._cache_folder)
        root = self._roots.of(os.path.dirname(os.path.abspath(path)))
        return self._cache.store(root, f"{settings.key} {self.fixes}")

    def cannot_read(self, path: str, why: str) -> list[Diagnostic]:
        """The one DL000 of a file whose bytes cannot be had, unless its settings ignore that code."""
        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return _cannot_check(path, error, self.settings)
        return _cannot_read(path, why, settings)

    def lint_bytes(self, source: bytes, path: str) -> list[Diagnostic]:
        """Lint one file whose bytes are at hand."""
        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return _cannot_check(path, error, self.settings)
        if not may_matter(source, settings.extra_words):
            return []
        from dataloader_lint.linter import lint_source
        from dataloader_lint.reports import crashed

        try:
            session = self._session_for(settings)
            found = lint_source(source, path, settings, session, fixes=bool(self.fixes))
            if self.fixes == "tried" and any(one.fix is not None for one in found):
                from dataloader_lint.fixer import with_fixes

                return with_fixes(source, path, settings, session)
            return found
        except Exception as error:
            return crashed(path, "the engine", error, settings)

    def fix_bytes(self, source: bytes, path: str, unsafe: bool) -> FixResult:
        """Fix one file whose bytes are at hand. Does not raise: where fixing fails, that is one more diagnostic."""
        from dataloader_lint.fixer import FixResult, fix_source
        from dataloader_lint.reports import crashed

        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return FixResult(source, {}, _cannot_check(path, error, self.settings), [])
        try:
            return fix_source(source, path, settings, self._session_for(settings), unsafe=unsafe)
        except Exception as error:
            found = [*crashed(path, "the fixer", error, settings), *self.lint_bytes(source, path)]
            return FixResult(source, {}, found, [])

    def _session_for(self, settings: Settings) -> Session:
        """The session of all files whose settings say the same of the project."""
        session = self._sessions.get(settings.project_key)
        if session is None:
            from dataloader_lint.facts.analysis import Session

            session = self._sessions[settings.project_key] = Session(settings)
        return session


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


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _cannot_check(path: str, error: ConfigurationError, settings: Settings) -> list[Diagnostic]:
    """A pyproject.toml that has become unusable since the files were looked for."""
    from dataloader_lint.reports import unreadable

    return unreadable(path, f"its settings cannot be used: {error}", "", settings)


def _cannot_read(path: str, why: str, settings: Settings) -> list[Diagnostic]:
    from dataloader_lint.reports import unreadable

    return unreadable(path, f"cannot be read: {why}", "", settings)
