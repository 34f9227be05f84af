"""One file of JSON for each project and choice of settings, with the findings of its files and what these rest on.

Findings rest on what the file holds, and on answers to questions about other files (`semantics.project.dependencies`).
Where no file or folder that answers came from has changed, all of them hold. Otherwise the questions are asked again,
and what rests on an answer that is another one now is forgotten.
"""

from __future__ import annotations

import json
import os
import time

from dataloader_lint.cache import plain, same_code
from dataloader_lint.cache.engine import engine, seal
from dataloader_lint.cache.folder import Folder, UnusableError
from dataloader_lint.semantics.project.dependencies import CONTENT, behind, resting_on
from dataloader_lint.semantics.project.texts import Texts
from dataloader_lint.source.projects import Roots, contents_of
from dataloader_lint.source.states import FolderState, State, current, current_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from dataloader_lint.cache.same_code import Cited, Code
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.semantics.project.answers import Answers
    from dataloader_lint.semantics.project.dependencies import Asked, Dependencies
    from dataloader_lint.semantics.project.texts import Parts


_TEXTS = " texts"  # ends the keys of what texts say


class Known:
    """The cached entry of one file: its findings, the hash of its content, and where findings name places."""

    __slots__ = ("cited", "diagnostics", "digest")

    def __init__(self, diagnostics: list[Diagnostic], digest: str, cited: list[Cited] | None = None) -> None:
        self.diagnostics = diagnostics
        self.digest = digest
        self.cited = cited


class Cache:
    """The stores of a run, and what they share: which files and folders there are, and what is in them.

    `folder` is the cache directory. `warn` is called with one line where the folder, or a file in it, must not be used.
    """

    def __init__(self, folder: str, roots: Roots, warn: Callable[[str], None] | None = None) -> None:
        self._path = folder
        self._warn = warn
        self._folder: Folder | None = None
        self._is_refused = False
        self.roots = roots
        self.started = time.time_ns()
        self._listed: dict[str, list[str]] = {}
        self._states: dict[str, State] = {}
        self._folders: dict[str, FolderState] = {}
        self._stores: dict[tuple[str, str], Store] = {}
        self._texts: dict[str, Texts] = {}

    def store(self, root: str, settings_key: str, dependencies: Dependencies, answers: Callable[[], Answers]) -> Store:
        """The findings of one project under one choice of settings.

        `answers` gives what questions can be asked again, which is only called for where something has changed.
        """
        key = (root, settings_key)
        if key not in self._stores:
            self._stores[key] = Store(self, root, settings_key, dependencies, answers)
        return self._stores[key]

    def save(self) -> None:
        """Write what is new. A folder that cannot be written is left as it is."""
        for store in self._stores.values():
            store.save()
        for context, texts in self._texts.items():
            if texts.has_new:
                self.write(_texts_key(context), json.dumps(texts.used, separators=(",", ":")).encode())
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def read(self, key: str) -> bytes:
        """What the folder holds for a key; nothing where it cannot or must not be read, or is damaged."""
        folder = self._opened(make=False)
        if folder is None:
            return b""
        try:
            found, _, content = (folder.read(_name_for(key)) or b"").partition(b"\n")
        except UnusableError as error:
            self._complain(f"{error}; what it should hold is worked out again")
            return b""
        return content if found == seal(key, content) else b""

    def write(self, key: str, content: bytes) -> None:
        """Put a file for a key into the folder, if that can and may be done."""
        folder = self._opened(make=True)
        if folder is not None:
            folder.write(_name_for(key), seal(key, content) + b"\n" + content)

    def texts(self, context: str) -> Texts:
        """What the texts of a context say, as far as earlier runs have worked it out: that holds while a text does.

        What looks wrong is worked out again.
        """
        if context not in self._texts:
            self._texts[context] = Texts(_texts_from(self.read(_texts_key(context))))
        return self._texts[context]

    def _opened(self, *, make: bool) -> Folder | None:
        if self._folder is None and not self._is_refused:
            try:
                self._folder = Folder(self._path, make=make)
            except UnusableError as error:
                self._is_refused = True
                self._complain(f"{error}; findings are not cached")
            except OSError:
                self._is_refused = make
        return self._folder

    def _complain(self, message: str) -> None:
        if self._warn is not None:
            self._warn(f"warning: {message}")

    def files(self, root: str) -> list[str]:
        """The Python files and the notebooks of a project."""
        if root not in self._listed:
            files, notebooks = contents_of(root)
            self._listed[root] = files + notebooks
        return self._listed[root]

    def state(self, path: str, before: State | None = None) -> State:
        """The state of a file; it is only read where its stamps are not those of an earlier run."""
        if path not in self._states:
            self._states[path] = current(path, before)
        return self._states[path]

    def folder_state(self, path: str, before: FolderState) -> FolderState:
        """The state of a folder; it is only listed where its stamps are not those of an earlier run."""
        if path not in self._folders:
            self._folders[path] = current_folder(path, before)
        return self._folders[path]

    def final_state(self, path: str, dependencies: Dependencies) -> State:
        """The state of a file when it was read in this run; of one that was not read, its state now."""
        read = dependencies.disk.files.get(path)
        return self.state(path) if read is None else read.agreed(self._states.get(path))


class Store:
    """The findings of one project under one choice of settings."""

    def __init__(
        self,
        cache: Cache,
        root: str,
        settings_key: str,
        dependencies: Dependencies,
        answers: Callable[[], Answers],
    ) -> None:
        self._cache = cache
        self._dependencies = dependencies
        self._answers = answers
        dependencies.disk.load_texts = cache.texts
        self._key = f"{engine()} {root!r} {settings_key}"
        self._known: dict[str, Known] = {}
        self._is_new = False
        # Of an earlier run, and as it was, what the answers came from.
        self._listed: dict[str, list[str]] = {}
        self._states: dict[str, State] = {}
        self._folders: dict[str, FolderState] = {}
        self._found: dict[str, bool] = {}
        self._roots: dict[str, str] = {}
        self._codes: dict[str, Code] = {}
        self._contents = same_code.Contents()
        self._asked = b"{}"
        try:
            self._load()
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # a damaged file
            self._known.clear()

    def get(self, path: str) -> list[Diagnostic] | None:
        """The findings of a file, where they are known and still hold."""
        known = self._known.get(os.path.abspath(path))
        if known is None:
            return None
        return [_renamed(one, path) for one in known.diagnostics]

    def put(self, path: str, diagnostics: list[Diagnostic]) -> None:
        """Keep what was found in a file, which was read in this run."""
        full = os.path.abspath(path)
        self._known[full] = Known(diagnostics, self._cache.final_state(full, self._dependencies).digest)
        self._is_new = True

    def save(self) -> None:
        """Write what is new."""
        if not self._is_new:
            return
        self._take_in_asked()
        needed = behind(self._known, self._dependencies.asked)
        asked = {path: each for path in sorted(needed) if (each := self._dependencies.asked.get(path))}
        roots = {folder: self._root_of(folder) for folder in {os.path.dirname(path) for path in needed}}
        projects = set(roots.values())
        contexts = {folder: self._cache.roots.context_in(folder) for folder in roots}
        listed = {context: self._cache.files(context) for context in sorted(filter(None, set(contexts.values())))}
        is_ours = _Ours(projects, set(self._dependencies.roots.values()))
        disk = self._dependencies.disk
        files = {path for path in (*self._states, *disk.files) if is_ours(path)}.union(needed, *listed.values())
        states = {path: self._cache.final_state(path, self._dependencies) for path in sorted(files)}
        folders = {path: state for path, state in self._folders.items() if path not in disk.folders}
        folders.update((path, each.agreed(self._folders.get(path))) for path, each in disk.folders.items())
        number = {path: place for place, path in enumerate(states)}
        codes = self._codes_of(states, [*asked, *(path for path, known in self._known.items() if known.diagnostics)])
        body = {
            "states": [[path, *state] for path, state in states.items()],
            "folders": [[path, *state] for path, state in sorted(folders.items()) if is_ours(path)],
            "found": {**self._found, **disk.found},
            "roots": roots,
            "contexts": contexts,
            "listed": {root: [number[path] for path in paths] for root, paths in listed.items()},
            "codes": [[number[path], *code] for path, code in codes.items()],
            "known": [
                [
                    number[path],
                    known.digest,
                    [plain.plain(one) for one in known.diagnostics],
                    self._cited_by(path, known, states),
                ]
                for path, known in self._known.items()
                if known.digest == states[path].digest
            ],
        }
        lines = (body, {path: plain.plain_asked(each) for path, each in asked.items()})
        content = b"\n".join(json.dumps(line, separators=(",", ":")).encode() for line in lines)
        self._cache.write(self._key, content)

    def _codes_of(self, states: dict[str, State], paths: list[str]) -> dict[str, Code]:
        """The code of files that something may rest on; what was read for an earlier run is not read again."""
        found: dict[str, Code] = {}
        for path in dict.fromkeys(paths):
            state, code = states[path], self._codes.get(path)
            if code is None or code.text != state.digest:
                content = self._contents.of(path, state)
                about = self._answers().about
                code = same_code.code_in(path, content, state.digest, about) if content is not None else None
            if code is not None:
                found[path] = code
        return found

    def _cited_by(self, path: str, known: Known, states: dict[str, State]) -> list[Cited]:
        if known.cited is None:
            known.cited = same_code.cited_by(path, known.diagnostics, states, self._contents)
        return known.cited

    def _root_of(self, folder: str) -> str:
        return self._roots.get(folder) or self._dependencies.roots.get(folder) or self._cache.roots.of(folder)

    def _take_in_asked(self) -> None:
        """Have what was asked in an earlier run count in this one."""
        for path, each in json.loads(self._asked).items():
            self._dependencies.add(path, plain.asked_from(each))
        self._asked = b"{}"

    def _load(self) -> None:
        content = self._cache.read(self._key)
        if not content:
            return
        first, _, asked = content.partition(b"\n")
        body = json.loads(first)
        before = {path: State(*state) for path, *state in body["states"]}
        names = list(before)
        states = {path: self._cache.state(path, state) for path, state in before.items()}
        folders_before = {path: FolderState(*state) for path, *state in body["folders"]}
        folders = {path: self._cache.folder_state(path, state) for path, state in folders_before.items()}
        self._is_new = states != before or folders != folders_before
        self._codes = {names[place]: same_code.Code(*code) for place, *code in body["codes"]}
        same = self._with_same_code(before, states)
        known: dict[str, Known] = {}
        for place, digest, several, cited in body["known"]:
            path = names[place]
            if digest != states[path].digest and not (path in same and digest == before[path].digest):
                continue
            found = [plain.diagnostic(one) for one in several]
            here = same_code.moved(found, [same_code.Cited(*each) for each in cited], path, same)
            if here is not None:
                known[path] = Known(here[0], states[path].digest, here[1])
        is_same = (
            all(self._cache.files(root) == [names[each] for each in paths] for root, paths in body["listed"].items())
            and all(state.digest == before[path].digest for path, state in states.items())
            and all(state.digest == folders_before[path].digest for path, state in folders.items())
            and all(os.path.isdir(path) == is_there for path, is_there in body["found"].items())
            and all(self._cache.roots.of(folder) == root for folder, root in body["roots"].items())
            and all(self._cache.roots.context_in(folder) == each for folder, each in body["contexts"].items())
        )
        if is_same:
            self._known, self._asked = known, asked
            self._states, self._folders = states, folders
            self._found, self._roots = body["found"], body["roots"]
        else:
            self._is_new = True
            before_asked = {path: plain.asked_from(each) for path, each in json.loads(asked).items()}
            for path in same:
                if before_asked.get(path, {}).get(CONTENT) == before[path].digest:
                    before_asked[path][CONTENT] = states[path].digest
            self._keep_what_holds(known, before_asked)

    def _with_same_code(self, before: dict[str, State], now: dict[str, State]) -> dict[str, bytes]:
        """The files in which only comments and blank lines have changed, with what they hold now."""
        if all(state.digest == before[path].digest for path, state in now.items()):
            return {}
        return same_code.with_same_code(before, now, self._codes, self._answers().about, self._contents)

    def _keep_what_holds(self, known: dict[str, Known], asked: dict[str, Asked]) -> None:
        """Keep the findings that rest on answers which are the same now."""
        answers = self._answers()
        changed = [path for path, each in asked.items() if not answers.hold(path, each)]
        gone = resting_on(changed, asked)
        self._known = {path: each for path, each in known.items() if path not in gone}


def _name_for(key: str) -> str:
    ending = "texts" if key.endswith(_TEXTS) else "json"
    return f"{seal(key, b'')[:40].decode()}.{ending}"


def _texts_key(context: str) -> str:
    return f"{engine()} {context!r}{_TEXTS}"


def _texts_from(content: bytes) -> dict[str, Parts]:
    """What `Texts` of an earlier run knew; without what looks damaged."""
    try:
        known = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {digest: parts for digest, parts in known.items() if isinstance(parts, dict) and _are_texts(parts)}


def _are_texts(parts: dict[str, object]) -> bool:
    return all(isinstance(each, str) for each in parts.values())


class _Ours:
    """Tells which paths concern some projects: what is in them, and what is in none of the others that were seen."""

    def __init__(self, ours: set[str], all_roots: set[str]) -> None:
        self._ours = tuple(f"{root.rstrip(os.sep)}{os.sep}" for root in ours)
        self._others = tuple(f"{root.rstrip(os.sep)}{os.sep}" for root in all_roots - ours)

    def __call__(self, path: str) -> bool:
        inside = f"{path}{os.sep}"
        return inside.startswith(self._ours) or not inside.startswith(self._others)


def _renamed(one: Diagnostic, path: str) -> Diagnostic:
    """The same finding under the path by which the file is called this time."""
    if one.filename == path:
        return one
    from dataclasses import replace

    return replace(one, filename=path)
