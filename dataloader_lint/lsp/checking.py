"""A document as it stands in the editor → its findings and what fixes them. Nothing here raises, or knows of LSP."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.facts.project.kept import Kept
from dataloader_lint.facts.session import Session
from dataloader_lint.fixer import fix_source, with_fixes
from dataloader_lint.linter import lint_source
from dataloader_lint.reports import crashed
from dataloader_lint.settings import Settings
from dataloader_lint.source import parsing
from dataloader_lint.source.decoding import UnreadableError, decode, encoding_of
from dataloader_lint.source.discovery import is_left_out
from dataloader_lint.source.notebooks import SUFFIX
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile
from dataloader_lint.source.trees import Trees

# The most text whose trees are cached, in characters; a tree takes some sixty times as many bytes.
_ROOM = 3_000_000
_TREES = Trees(_ROOM)
_KEPT = Kept(_ROOM)


@dataclass(frozen=True, slots=True)
class Document:
    """A file with the text that it has in the editor, which may not be saved yet.

    `folder` is the one that is open in the editor and holds the file; empty where there is none.
    """

    path: str
    text: str
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What linting a document came to. `trouble` says why the project's settings could not be used, if so."""

    document: Document
    settings: Settings
    found: tuple[Diagnostic, ...]
    trouble: str


def keep_trees() -> None:
    """Parse no text twice in a row, from now on in the whole process."""
    parsing.keep_trees(_TREES)


def check(document: Document, others: Iterable[Document]) -> Checked:
    """Lint a document; names that it imports are looked for in the `others` that are open before the disk.

    What the settings exclude is not linted: editors open library code to show a definition. Neither are notebooks:
    editors send their cells one by one, so that nothing is known about what comes from the others.
    """
    settings, trouble = _settings(document)
    if document.path.endswith(SUFFIX) or is_left_out(
        document.path, document.folder or os.path.dirname(document.path), settings
    ):
        return Checked(document, settings, (), trouble)
    try:
        with _session(settings, others) as session:
            found = lint_source(document.text, document.path, settings, session)
    except Exception as error:
        found = crashed(document.path, "the engine", error, settings)
    return Checked(document, settings, tuple(found), trouble)


def fixes(checked: Checked, others: Iterable[Document]) -> dict[Diagnostic, Diagnostic]:
    """For each finding with a fix that was tried and holds, the same finding with its `fix`."""
    document = checked.document
    source = _as_saved(document.text)
    if source is None or not checked.found:
        return {}
    try:
        with _session(checked.settings, others) as session:
            found = with_fixes(source, document.path, checked.settings, session)
    except Exception:  # the findings stand as they are; what fails here fails in `--fix` too, which reports it
        return {}
    fixable = {(one.code, one.start, one.end): one for one in found if one.fix is not None}
    return {one: fixable[key] for one in checked.found if (key := (one.code, one.start, one.end)) in fixable}


def fixed(checked: Checked, others: Iterable[Document]) -> str:
    """The text of a document after all safe fixes."""
    document = checked.document
    source = _as_saved(document.text)
    if source is None:
        return document.text
    try:
        with _session(checked.settings, others) as session:
            result = fix_source(source, document.path, checked.settings, session)
        return decode(result.source) if result.fixed else document.text
    except Exception:
        return document.text


def _settings(document: Document) -> tuple[Settings, str]:
    """The settings of the project around a document, and what is wrong with them."""
    roots = (document.folder,) if document.folder else ()
    try:
        return SettingsByFile(Settings(options=(), roots=roots)).of_file(document.path), ""
    except ConfigurationError as error:
        return Settings(roots=roots), str(error)


@contextlib.contextmanager
def _session(settings: Settings, others: Iterable[Document]) -> Iterator[Session]:
    """A new session, as what was inferred from a text does not hold for the next, with unsaved texts of others."""
    _TREES.begin()
    answers = _KEPT.begin(settings)
    session = Session(settings, None, answers.dependencies, answers, _KEPT)
    try:
        for other in others:
            with contextlib.suppress(UnreadableError):  # half-typed: what was saved last is the better guess
                session.project.have_unsaved(other.path, other.text)
        yield session
    finally:
        _KEPT.rest()


def _as_saved(text: str) -> bytes | None:
    """The bytes of a text in the encoding that it declares; None where it cannot be written so."""
    try:
        encoding = encoding_of(text.encode())
        return text.encode(encoding)
    except (SyntaxError, UnicodeError):
        return None
