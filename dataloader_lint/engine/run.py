"""What the files of one run share, and what is done with each of them. Loaded on every start, like `runner`."""

from __future__ import annotations

import gc
import os

from dataloader_lint.gate import DERIVED, ON_ITS_OWN, SPARED, Gate
from dataloader_lint.settings import Settings
from dataloader_lint.source.confinement import refuse_outside
from dataloader_lint.source.discovery import reason
from dataloader_lint.source.projects import Roots, contents_of
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dataloader_lint.cache.store import Cache, Store
    from dataloader_lint.diagnostics import Diagnostic, FixResult
    from dataloader_lint.pipeline.session import Session
    from dataloader_lint.semantics.project.answers import Answers
    from dataloader_lint.semantics.project.dependencies import Dependencies, Sent
    from dataloader_lint.source.states import State

    ProjectKey = tuple[tuple[str, ...], ...]


class Run:
    """What the files of one run share: the settings, and sessions with the modules opened so far.

    A worker process has one of its own, made from the settings and from the `gates` of the one that started it, which
    know what files are about by the words that settings add. `fixes` says what diagnostics tell about their repairs:
    nothing (""), how they would look ("shown"), or those that were tried and hold ("tried"). `warn` is called with one
    line where the folder of the cache must not be used. With `is_noting`, as with a cache, it is taken down what
    findings rest on.
    """

    __slots__ = (
        "_answers",
        "_by_file",
        "_cache",
        "_cache_folder",
        "_dependencies",
        "_is_noting",
        "_loading",
        "_overlay",
        "_roots",
        "_sessions",
        "_warn",
        "fixes",
        "gates",
        "settings",
    )

    def __init__(
        self,
        settings: Settings,
        fixes: str = "",
        cache: str = "",
        gates: dict[tuple[bytes, ...], Gate] | None = None,
        warn: Callable[[str], None] | None = None,
        *,
        is_noting: bool = False,
        overlay: Mapping[str, bytes] | None = None,
    ) -> None:
        self.settings = settings
        self._overlay = overlay or {}
        self.fixes = fixes
        self.gates = {} if gates is None else gates
        self._by_file = SettingsByFile(settings)
        self._sessions: dict[ProjectKey, Session] = {}
        self._answers: dict[ProjectKey, Answers] = {}  # of projects that have no session yet
        self._cache_folder = cache
        self._warn = warn
        self._cache: Cache | None = None
        self._is_noting = is_noting or bool(cache)
        self._dependencies: dict[ProjectKey, Dependencies] = {}
        self._roots = Roots(settings.roots)
        self._loading: dict[str, bool] = {}

    def lint_file(self, path: str) -> list[Diagnostic]:
        """Lint one file, or remember what was found in it. Does not raise: whatever goes wrong is a diagnostic."""
        known = self.known(path)
        if not isinstance(known, bytes):
            return known
        about = self._gate_for(self._by_file.of_file(path)).subjects(os.path.abspath(path), known)
        found = self.lint_bytes(known, path, about)
        self.keep(path, found)
        return found

    def known(self, path: str) -> list[Diagnostic] | bytes:
        """The findings of a file as far as they are known without parsing it; its content where they are not."""
        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return _cannot_check(path, error, self.settings)
        # Once a file of the run has opened the cache, none that has not changed is even read. A file that cannot matter
        # does not open it, as that would take longer than all else that is done with such a file.
        is_open = self._cache is not None
        remembered = self._store(settings, path).get(path) if is_open else None
        if remembered is not None:
            return remembered
        gate = self._gate_for(settings)
        full = os.path.abspath(path)
        source = b""
        if not gate.turned_away(full):
            try:
                status = (
                    os.stat(path) if self._is_noting else None
                )  # ahead of reading, as what is written later is later
                source = read(path)
            except OSError as error:
                return self.cannot_read(path, reason(error))
            if status is not None and (is_open or gate.subjects(full, source)):
                from dataloader_lint.source.states import file_state

                self._note(full, file_state(status, source), settings)
        about = gate.subjects(full, source)
        if not about:
            if is_open:
                self.keep(path, [])
            return []
        if about == {DERIVED} and not self._mentions_loading(full, gate):
            return []  # not kept: it depends on all other files
        remembered = self._store(settings, path).get(path) if self._cache_folder and not is_open else None
        return source if remembered is None else remembered

    def _mentions_loading(self, path: str, gate: Gate) -> bool:
        """True if a file of the project around `path` is about loading; without one, no class there is a Dataset."""
        context = self._roots.context_of(path)
        if context not in self._loading:
            files = contents_of(context)[0]
            self._loading[context] = any(gate.mentions_loading(each, content) for each in files)
        return self._loading[context]

    def keep(self, path: str, found: list[Diagnostic]) -> None:
        """Remember the findings of a file for the next run, unless something went wrong with it."""
        if not self._cache_folder:
            return
        from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE

        if not any(one.code in (UNREADABLE_FILE, INTERNAL_ERROR) for one in found):
            self._store(self._by_file.of_file(path), path).put(path, found)

    @property
    def for_worker(self) -> tuple[Settings, str, dict[tuple[bytes, ...], Gate], bool]:
        """What the run of a worker process is made from."""
        return self.settings, self.fixes, self.gates, self._is_noting

    def unsent(self) -> dict[ProjectKey, Sent]:
        """What findings rest on, as far as this was not called before: for the process that keeps them."""
        return {key: each.unsent() for key, each in self._dependencies.items()}

    def take_in(self, sent: dict[ProjectKey, Sent]) -> None:
        """Take down what findings of another process rest on."""
        for key, each in sent.items():
            self._dependencies_for(key).take_in(each)

    def too_large(self, elsewhere: Iterable[str] = ()) -> list[str]:
        """The projects of linted files with too many files for each to be seen by all others.

        `elsewhere` are files that other processes linted.
        """
        for path in elsewhere:
            self._roots.context_of(os.path.abspath(path))
        projects = (session.project.answers.too_large for session in self._sessions.values())
        return sorted(self._roots.too_large.union(*projects))

    @property
    def problems(self) -> list[str]:
        """A line for each record of measurements that was found and cannot be used."""
        return self._by_file.problems

    def save(self) -> None:
        """Write the cache for the next run."""
        if self._cache is not None:
            self._cache.save()

    def _store(self, settings: Settings, path: str) -> Store:
        from dataloader_lint.cache.store import Cache

        if self._cache is None:
            self._cache = Cache(self._cache_folder, self._roots, self._warn)
        root = self._roots.of(os.path.dirname(os.path.abspath(path)))
        dependencies = self._dependencies_for(settings.project_key)
        return self._cache.store(
            root, f"{settings.key} {self.fixes}", dependencies, lambda: self._answers_for(settings)
        )

    def _note(self, path: str, state: State, settings: Settings) -> None:
        self._dependencies_for(settings.project_key).disk.note(path, state)

    def _dependencies_for(self, key: ProjectKey) -> Dependencies:
        if key not in self._dependencies:
            from dataloader_lint.semantics.project.dependencies import Dependencies

            self._dependencies[key] = Dependencies(is_noting=self._is_noting)
            self._dependencies[key].disk.unsaved = self._overlay
        return self._dependencies[key]

    def cannot_read(self, path: str, why: str) -> list[Diagnostic]:
        """The one DL000 of a file whose bytes cannot be had, unless its settings ignore that code."""
        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return _cannot_check(path, error, self.settings)
        return cannot_read(path, why, settings)

    def lint_stdin(self, source: bytes, filename: str) -> list[Diagnostic]:
        """Lint what came through standard input, and parse it even if no rule has to look at it."""
        return self.lint_bytes(source, filename) or self._syntax_error(source, filename)

    def syntax_errors(self, paths: Iterable[str]) -> list[Diagnostic]:
        """The DL000 of each file that no rule has to look at and that Python cannot parse."""
        found: list[Diagnostic] = []
        for path in paths:
            try:
                found += self._syntax_error(read(path), path)
            except OSError:
                continue  # reported already
        return found

    def _syntax_error(self, source: bytes, path: str) -> list[Diagnostic]:
        from dataloader_lint.engine.reports import syntax_error

        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError:
            return []  # reported already
        if self._gate_for(settings).subjects(os.path.abspath(path), source):
            return []
        return syntax_error(source, path, settings)

    def lint_bytes(self, source: bytes, path: str, about: frozenset[str] = frozenset()) -> list[Diagnostic]:
        """Lint one file given as its bytes; `about` is what the gate says of them, where it was asked already."""
        try:
            settings = self._by_file.of_file(path)
        except ConfigurationError as error:
            return _cannot_check(path, error, self.settings)
        from dataloader_lint.engine.linter import lint_source
        from dataloader_lint.engine.reports import crashed

        try:
            if self._is_spared(source, path, settings, about):
                return lint_source(source, path, settings, about=frozenset({SPARED}))
            session = self._session_for(settings)
            found = lint_source(source, path, settings, session, fixes=bool(self.fixes), about=about)
            if self.fixes == "tried" and any(one.fix is not None for one in found):
                from dataloader_lint.engine.fixer import with_fixes

                found = with_fixes(source, path, settings, session)
                if not gc.isenabled():
                    gc.collect(0)  # what a try has inferred refers to itself; only what is new is looked through
            return found
        except Exception as error:
            return crashed(path, "the engine", error, settings)

    def _is_spared(self, source: bytes, path: str, settings: Settings, about: frozenset[str]) -> bool:
        """True if no rule has to do with a file, as far as that is found out without what a session needs.

        To load that takes longer than to lint most files. Once there is a session, it is asked.
        """
        if settings.project_key in self._sessions or not about or not about.isdisjoint(ON_ITS_OWN):
            return False
        from dataloader_lint.rules.selection import rules_about, selected_rules
        from dataloader_lint.source.decoding import UnreadableError, decode

        selected = selected_rules(settings)
        if not selected or path.endswith(".ipynb"):
            return False
        try:
            text = decode(source).encode("utf-8", "surrogatepass")
        except UnreadableError:
            return False
        answers, full = self._answers_for(settings), os.path.abspath(path)
        if rules_about(about, selected):
            return not answers.may_be_reached(full, text, about)
        return DERIVED not in about or not answers.may_define_datasets(full, text)

    def fix_bytes(self, source: bytes, path: str, unsafe: bool) -> FixResult:
        """Fix one file given as its bytes. Does not raise: where fixing fails, that is one more diagnostic."""
        from dataloader_lint.diagnostics import FixResult
        from dataloader_lint.engine.fixer import fix_source
        from dataloader_lint.engine.reports import crashed

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
            from dataloader_lint.pipeline.session import Session

            dependencies, answers = (
                self._dependencies_for(settings.project_key),
                self._answers.get(settings.project_key),
            )
            session = Session(settings, self._gate_for(settings), dependencies, answers)
            self._sessions[settings.project_key] = session
        return session

    def _answers_for(self, settings: Settings) -> Answers:
        """What answers questions about files without all that rules need, which takes half a second to load."""
        key = settings.project_key
        session = self._sessions.get(key)
        if session is not None:
            return session.project.answers
        if key not in self._answers:
            from dataloader_lint.semantics.project.answers import Answers

            dependencies = self._dependencies_for(key)
            self._answers[key] = Answers(settings.src, self._gate_for(settings), dependencies, settings.roots)
        return self._answers[key]

    def _gate_for(self, settings: Settings) -> Gate:
        words = settings.extra_words
        if words not in self.gates:
            self.gates[words] = Gate(words)
        return self.gates[words]


def read(path: str) -> bytes:
    refuse_outside(path)
    with open(path, "rb") as stream:
        return stream.read()


def content(path: str) -> bytes:
    """What a file of a project holds; nothing if it cannot be read."""
    try:
        return read(path)
    except OSError:
        return b""


def _cannot_check(path: str, error: ConfigurationError, settings: Settings) -> list[Diagnostic]:
    """A pyproject.toml that has become unusable since the files were looked for."""
    from dataloader_lint.engine.reports import unreadable

    return unreadable(path, f"its settings cannot be used: {error}", "", settings)


def cannot_read(path: str, why: str, settings: Settings) -> list[Diagnostic]:
    from dataloader_lint.engine.reports import unreadable

    return unreadable(path, f"cannot be read: {why}", "", settings)
