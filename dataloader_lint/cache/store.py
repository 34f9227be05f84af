"""One file of JSON for each project and choice of settings.

A finding is taken from there while the file that it is in, and every file that facts about it may rest on, holds what
it held; and while the project holds the same files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from importlib.util import find_spec

from dataloader_lint.cache.folder import Folder, UnusableError
from dataloader_lint.diagnostics import Diagnostic, Fix, Position, Safety, TextEdit
from dataloader_lint.source.projects import files_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# A file written this shortly before it was looked at may be written again without its time stamp telling.
_RACY = 3_000_000_000  # nanoseconds

# What a file was when its content was last looked at: time stamp and size, and the hash of the content.
State = tuple[int, int, str]


class Known:
    """What is kept of one file: its findings, the files that they rest on, and words sought in all files for them."""

    __slots__ = ("diagnostics", "fed_by", "sought")

    def __init__(self, diagnostics: list[Diagnostic], fed_by: list[str], sought: list[str]) -> None:
        self.diagnostics = diagnostics
        self.fed_by = fed_by
        self.sought = sought


class Cache:
    """The stores of a run, and what they share: which files there are, and what is in them.

    `folder` is where they are kept. `warn` is called with one line where the folder, or a file in it, must not be used.
    """

    def __init__(self, folder: str, warn: Callable[[str], None] | None = None) -> None:
        self._path = folder
        self._warn = warn
        self._folder: Folder | None = None
        self._is_refused = False
        self.engine = _engine()
        self._listed: dict[str, list[str]] = {}
        self._states: dict[str, State | None] = {}
        self._stores: dict[tuple[str, str], Store] = {}
        self._started = time.time_ns()

    def store(self, root: str, settings_key: str) -> Store:
        """The findings of one project under one choice of settings."""
        key = (root, settings_key)
        if key not in self._stores:
            self._stores[key] = Store(self, root, settings_key)
        return self._stores[key]

    def save(self) -> None:
        """Write what is new. A folder that cannot be written is left as it is."""
        for store in self._stores.values():
            store.save()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def read(self, name: str) -> bytes:
        """What a file of the folder holds; nothing where it cannot or must not be read."""
        folder = self._opened(make=False)
        if folder is None:
            return b""
        try:
            return folder.read(name) or b""
        except UnusableError as error:
            self._complain(f"{error}; what it should hold is worked out again")
            return b""

    def write(self, name: str, content: bytes) -> None:
        """Put a file into the folder, if that can and may be done."""
        folder = self._opened(make=True)
        if folder is not None:
            folder.write(name, content)

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
        """The Python files of a project."""
        if root not in self._listed:
            self._listed[root] = files_of(root)
        return self._listed[root]

    def state(self, path: str, before: State | None = None) -> State | None:
        """The state of a file; its content is only looked at where its time stamp or its size tell nothing."""
        if path not in self._states:
            self._states[path] = self._look_at(path, before)
        return self._states[path]

    def _look_at(self, path: str, before: State | None) -> State | None:
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                return None
            stamp = (status.st_mtime_ns, status.st_size)
            if before is not None and stamp == before[:2] and stamp[0] < self._started - _RACY:
                return before
            with open(path, "rb") as stream:
                return (*stamp, hashlib.sha256(stream.read()).hexdigest())
        except OSError:
            return None


class Store:
    """The findings of one project under one choice of settings."""

    def __init__(self, cache: Cache, root: str, settings_key: str) -> None:
        self._cache = cache
        self._root = root
        about = f"{cache.engine} {root!r} {settings_key}"
        self._key = hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()
        self._name = f"{self._key[:40]}.json"
        self._states: dict[str, State] = {}
        self._known: dict[str, Known] = {}
        self._is_new = False
        self._load()

    def get(self, path: str) -> list[Diagnostic] | None:
        """The findings of a file, where they are known and still hold."""
        known = self._known.get(os.path.abspath(path))
        if known is None:
            return None
        return [_renamed(one, path) for one in known.diagnostics]

    def put(self, path: str, diagnostics: list[Diagnostic], fed_by: Iterable[str], sought: Iterable[bytes]) -> None:
        """Keep what was found in a file, what it rests on, and which words were looked for in the whole project."""
        full = os.path.abspath(path)
        feeding = sorted(set(fed_by) | {full})
        words = {part for word in sought for part in re.findall(r"\w+", word.decode("utf-8", "replace"))}
        self._known[full] = Known(diagnostics, feeding, sorted(words))
        self._is_new = True

    def save(self) -> None:
        """Write what is new."""
        if not self._is_new:
            return
        listed = self._cache.files(self._root)
        for path in {*listed, *(each for known in self._known.values() for each in known.fed_by)}:
            state = self._cache.state(path)
            if state is not None:
                self._states[path] = state
        names = list(self._states)
        number = {path: place for place, path in enumerate(names)}
        body = {
            "listed": [number[path] for path in listed if path in number],
            "states": [[path, *self._states[path]] for path in names],
            "known": [
                [
                    number[path],
                    [_plain(one) for one in known.diagnostics],
                    [number[each] for each in known.fed_by],
                    known.sought,
                ]
                for path, known in self._known.items()
                if all(each in number for each in known.fed_by)
            ],
        }
        content = json.dumps(body, separators=(",", ":")).encode()
        self._cache.write(self._name, _seal(self._key, content) + b"\n" + content)

    def _load(self) -> None:
        body = _unsealed(self._cache.read(self._name), self._key)
        if body is None:
            return
        names = [path for path, *_ in body["states"]]
        if {names[each] for each in body["listed"]} != set(self._cache.files(self._root)):
            return  # what an import leads to, and who imports a file, may be something else now
        words: set[str] = set()
        changed: set[str] = set()
        for path, stamp, size, digest in body["states"]:
            state = self._cache.state(path, (stamp, size, digest))
            if state is not None:
                self._states[path] = state
            self._is_new = self._is_new or state != (stamp, size, digest)
            if state is None or state[2] != digest:
                changed.add(path)
                words.update(_words(path))
        for place, plain, feeding, sought in body["known"]:
            fed_by = [names[each] for each in feeding]
            is_same = changed.isdisjoint(fed_by) and words.isdisjoint(sought)
            if is_same and (not words or words.isdisjoint(_module_names(fed_by))):
                self._known[names[place]] = Known([_diagnostic(one) for one in plain], fed_by, sought)


def _words(path: str) -> list[str]:
    """All words in a file: by one of them it may have come to import, or to hold, what matters to another file."""
    try:
        with open(path, "rb") as stream:
            return [word.decode("utf-8", "replace") for word in re.findall(rb"\w+", stream.read())]
    except OSError:
        return []


def _module_names(paths: Iterable[str]) -> set[str]:
    """The words by which a file would import one of some others."""
    found: set[str] = set()
    for path in paths:
        folder, name = os.path.split(path)
        found.update((os.path.basename(folder), os.path.splitext(name)[0]))
    return found


def _engine() -> str:
    """What finds: LibCST and this program, by the stamps of their files, so that it holds for who works on them too."""
    parser = find_spec("libcst")
    homes = [
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        *(parser.submodule_search_locations or [] if parser else []),
    ]
    stamps = hashlib.sha256()
    for home in homes:
        for folder, folders, names in os.walk(home):
            folders[:] = sorted(name for name in folders if name != "__pycache__") if home == homes[0] else []
            for name in sorted(names):
                status = os.stat(os.path.join(folder, name))
                stamps.update(f"{name} {status.st_mtime_ns} {status.st_size}\n".encode())
    return stamps.hexdigest()


def _seal(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + content).hexdigest().encode()


def _unsealed(sealed: bytes, key: str) -> dict[str, Any] | None:
    seal, _, content = sealed.partition(b"\n")
    if seal != _seal(key, content):
        return None
    try:
        body: dict[str, Any] = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return body


def _plain(one: Diagnostic) -> list[Any]:
    fix = one.fix and [
        one.fix.safety.value,
        one.fix.title,
        [[*_places(each.start, each.end), each.content, each.cell] for each in one.fix.edits],
    ]
    places = _places(one.start, one.end)
    return [one.filename, *places, one.code, one.problem, one.advice, list(one.statement_lines), fix, one.cell]


def _places(start: Position, end: Position) -> list[int]:
    return [start.line, start.column, end.line, end.column]


def _diagnostic(plain: list[Any]) -> Diagnostic:
    filename, line, column, end_line, end_column, code, problem, advice, lines, fix, cell = plain
    start, end = Position(line, column), Position(end_line, end_column)
    mended = None
    if fix is not None:
        edits = tuple(TextEdit(Position(a, b), Position(c, d), content, where) for a, b, c, d, content, where in fix[2])
        mended = Fix(Safety(fix[0]), fix[1], edits)
    return Diagnostic(filename, start, end, code, problem, advice, (lines[0], lines[1]), mended, cell)


def _renamed(one: Diagnostic, path: str) -> Diagnostic:
    """The same finding under the path by which the file is called this time."""
    if one.filename == path:
        return one
    from dataclasses import replace

    return replace(one, filename=path)
