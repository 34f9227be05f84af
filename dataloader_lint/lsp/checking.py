"""A document as it stands in the editor → its findings and what fixes them. Nothing here raises, or knows of LSP."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.fixer import fix_source, with_fixes
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.engine.reports import crashed
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.interrupts import StoppedError, was_forced
from dataloader_lint.semantics.project.answers import Answers
from dataloader_lint.semantics.project.dependencies import Asked
from dataloader_lint.semantics.project.kept_modules import Kept
from dataloader_lint.settings import Settings
from dataloader_lint.source import parsing
from dataloader_lint.source.decoding import UnreadableError, decode, encoding_of
from dataloader_lint.source.discovery import is_left_out
from dataloader_lint.source.notebooks import SUFFIX, changed_cells, read
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile
from dataloader_lint.source.trees import Trees

# The most text whose trees are cached, in characters; a tree takes some sixty times as many bytes.
_ROOM = 3_000_000
_TREES = Trees(_ROOM)
_KEPT = Kept(_ROOM)


@dataclass(frozen=True, slots=True)
class Document:
    """A file with the text that it has in the editor, which may not be saved yet; of a notebook its JSON.

    `folder` is the one that is open in the editor and holds the file; empty where there is none.
    """

    path: str
    text: str
    folder: str = ""

    @property
    def is_notebook(self) -> bool:
        """True if the text is the JSON of a notebook."""
        return self.path.endswith(SUFFIX)


@dataclass(frozen=True, slots=True)
class Checked:
    """What linting a document came to. `trouble` says why the project's settings could not be used, if so.

    `unsaved` are the documents that counted instead of their files, `asked` what was asked of the project, with the
    answers; None for what is excluded. `cited` are hashes of the other files that findings name lines of.
    """

    document: Document
    settings: Settings
    found: tuple[Diagnostic, ...]
    trouble: str
    unsaved: tuple[Document, ...] = ()
    asked: Mapping[str, Asked] | None = field(default=None, compare=False)
    cited: Mapping[str, str] = field(default_factory=dict, compare=False)


def keep_trees() -> None:
    """Parse no text twice in a row, from now on in the whole process."""
    parsing.keep_trees(_TREES)


def check(document: Document, unsaved: Iterable[Document]) -> Checked:
    """Lint a document; for it and for others the `unsaved` ones count instead of their files.

    What the settings exclude is not linted: editors open library code to show a definition.
    """
    unsaved = tuple(unsaved)
    settings, trouble = _settings(document)
    if _is_left_out(document, settings):
        return Checked(document, settings, (), trouble, unsaved, None)
    asked: Mapping[str, Asked] = {}
    cited: Mapping[str, str] = {}
    try:
        with _session(settings, unsaved) as (session, answers):
            found = lint_source(document.text, document.path, settings, session)
            asked = answers.dependencies.asked
            cited = _cited(document, found, answers)
    except Exception as error:
        found = crashed(document.path, "the engine", error, settings)
    return Checked(document, settings, tuple(found), trouble, unsaved, asked, cited)


def check_again(before: Checked, unsaved: Iterable[Document]) -> Checked:
    """What linting the same document comes to after changes elsewhere.

    It is linted once more only where an answer that its findings rest on is another one now.
    """
    unsaved = tuple(unsaved)
    document, settings = before.document, before.settings
    is_as_before = _settings(document) == (settings, before.trouble) and _is_left_out(document, settings) == (
        before.asked is None
    )
    if not is_as_before:
        return check(document, unsaved)
    asked_before = before.asked or {}
    try:
        with _session(settings, unsaved) as (session, answers):
            session.project.overlay(os.path.abspath(document.path), document.text)
            is_same = all(answers.hold(path, asked) for path, asked in asked_before.items())
            is_same = is_same and _cited(document, before.found, answers) == before.cited
    except Exception:  # whatever it was, linting reports it
        is_same = False
    if not is_same:
        return check(document, unsaved)
    return replace(before, unsaved=unsaved)


def fixes(checked: Checked) -> dict[Diagnostic, Diagnostic]:
    """For each finding with a fix that was tried and holds, the same finding with its `fix`."""
    document = checked.document
    source = _as_saved(document)
    if source is None or not checked.found:
        return {}
    try:
        with _session(checked.settings, checked.unsaved) as (session, _):
            found = with_fixes(source, document.path, checked.settings, session)
    except Exception:  # the findings stand as they are; what fails here fails in `--fix` too, which reports it
        return {}
    fixable = {_key(one): one for one in found if one.fix is not None}
    return {one: fixable[key] for one in checked.found if (key := _key(one)) in fixable}


def fixed(checked: Checked) -> dict[int | None, str]:
    """The texts that all safe fixes change: that of a file by None, those of a notebook by the numbers of its cells."""
    document = checked.document
    source = _as_saved(document)
    if source is None:
        return {}
    try:
        with _session(checked.settings, checked.unsaved) as (session, _):
            result = fix_source(source, document.path, checked.settings, session)
        if document.is_notebook:
            return {number: new for number, _, new in changed_cells(source, result.source)}
        return {None: decode(result.source)} if result.fixed else {}
    except Exception:
        return {}


def code_cells(content: bytes | str) -> tuple[str, ...] | None:
    """The texts of the Python cells of a notebook; None where it is none."""
    try:
        notebook = read(content)
    except UnreadableError:
        return None
    return tuple(cell.text for cell in notebook.cells) if notebook is not None else None


def _cited(document: Document, found: Iterable[Diagnostic], answers: Answers) -> dict[str, str]:
    """Hashes of the other files that findings name: a comment moves their lines, but changes no answer."""
    paths = {reason.filename for one in found for reason in one.because} - {document.path}
    return {path: answers.dependencies.disk.digest(path) for path in sorted(paths)}


def _key(one: Diagnostic) -> tuple[object, ...]:
    return one.code, one.cell, one.start, one.end


def _is_left_out(document: Document, settings: Settings) -> bool:
    return is_left_out(document.path, document.folder or os.path.dirname(document.path), settings)


def _settings(document: Document) -> tuple[Settings, str]:
    """The settings of the project around a document, and what is wrong with them."""
    roots = (document.folder,) if document.folder else ()
    try:
        return SettingsByFile(Settings(options=(), roots=roots)).of_file(document.path), ""
    except ConfigurationError as error:
        return Settings(roots=roots), str(error)


@contextlib.contextmanager
def _session(settings: Settings, unsaved: Iterable[Document]) -> Iterator[tuple[Session, Answers]]:
    """A new session, as what was inferred from a text does not hold for the next, in which unsaved texts count."""
    held = ((os.path.abspath(one.path), _held(one)) for one in unsaved)
    contents = {path: content for path, content in held if content is not None}
    _TREES.begin()
    answers = _KEPT.begin(settings, contents)
    try:
        yield Session(settings, None, answers.dependencies, answers, _KEPT), answers
    except StoppedError:
        if was_forced():
            _KEPT.clear()
        raise
    finally:
        _KEPT.rest()


@lru_cache(maxsize=256)
def _held(document: Document) -> bytes | None:
    """What a document holds for others; None where it is half-typed: what was saved last is the better guess."""
    content = _as_saved(document)
    if content is None or len(document.text) > parsing.MAX_LENGTH:
        return None
    if document.is_notebook:
        return content if code_cells(content) is not None else None
    try:
        parsing.tree_of(document.text)
    except UnreadableError:
        return None
    return content


def _as_saved(document: Document) -> bytes | None:
    """The bytes of a text in the encoding that it declares; None where it cannot be written so."""
    text = document.text
    if document.is_notebook:
        return text.encode("utf-8", "surrogatepass")
    try:
        encoding = encoding_of(text.encode())
        return text.encode(encoding)
    except (SyntaxError, UnicodeError):
        return None
