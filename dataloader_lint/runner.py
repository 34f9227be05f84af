"""Many files → diagnostics, one after the other."""

from __future__ import annotations

import os

from dataloader_lint.gate import may_matter
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import Found, discover, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.facts.analysis import Session


def lint_paths(paths: Iterable[str | os.PathLike[str]], settings: Settings | None = None) -> list[Diagnostic]:
    """Lint files, and the Python files in directories; sorted by file and place.

    Raises FileNotFoundError for a path that does not exist, before anything is linted.
    """
    settings = settings or Settings()
    found = discover([os.fspath(path) for path in paths], settings)
    if found.missing:
        raise FileNotFoundError(f"no such file or directory: {', '.join(found.missing)}")
    return lint_found(found, settings)


def lint_found(found: Found, settings: Settings) -> list[Diagnostic]:
    """Lint what discovery came up with; what could not be looked at is a DL000 each."""
    diagnostics: list[Diagnostic] = []
    for path, why in found.unreadable:
        diagnostics.extend(_cannot_read(path, why, settings))
    run = Run(settings)
    for path in found.files:
        diagnostics.extend(run.lint_file(path))
    diagnostics.sort(key=lambda one: one.sort_key)
    return diagnostics


class Run:
    """What the files of one run share: the settings, and the session with the modules opened so far.

    A worker process has one of its own, made from the settings alone.
    """

    __slots__ = ("_session", "_settings")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._session: Session | None = None

    def lint_file(self, path: str) -> list[Diagnostic]:
        """Lint one file. Does not raise: whatever goes wrong is a diagnostic."""
        try:
            with open(path, "rb") as stream:
                source = stream.read()
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
            return lint_source(source, path, self._settings, self._session)
        except Exception as error:
            return crashed(path, "the engine", error, self._settings)


def _cannot_read(path: str, why: str, settings: Settings) -> list[Diagnostic]:
    from dataloader_lint.linter import unreadable

    return unreadable(path, f"cannot be read: {why}", "", settings)
