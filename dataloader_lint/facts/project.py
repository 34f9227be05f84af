"""The modules of the project around a file, opened when a name leads there. Nothing is ever imported or run.

Roots are found from the file itself, so that every way of running the linter sees the same project.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dataloader_lint.facts.library import TOP_LEVEL
from dataloader_lint.facts.module import ModuleFacts
from dataloader_lint.facts.outline import Outline, outline, that_use
from dataloader_lint.facts.tree import Scope
from dataloader_lint.gate import LOADING, may_lead_on, subjects
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.parsing import parse
from dataloader_lint.source.projects import Roots, files_of

MAX_BYTES = 1_500_000
_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import|import[ \t]+([\w., \t]+))", re.MULTILINE)

_MEMBERS = re.compile(rb"^[ \t]*from[ \t]+[.\w]+[ \t]+import[ \t]+([\w, \t]+)", re.MULTILINE)

# How something of a name is called.
_CALLS = {
    "class": rb"(?<!class )\b%s\s*\(|^[ \t]*class\s[^:]*\(\s*[^:]*\b%s\b",
    "function": rb"(?<!def )\b%s\s*\(",
    "method": rb"\.%s\s*\(",
}
_WORD = re.compile(rb"[\w\x80-\xff]+")
_COLLATING = re.compile(rb"collate_fn[\"']?\s*[=:]([^\n]{1,120})")


@dataclass(slots=True, eq=False)
class Source:
    """A file of the project as text, with the last parts of what it imports."""

    path: str
    text: bytes
    imported: frozenset[str]
    _outline: Outline | None = None
    _makes_loaders: bool | None = None
    _words: frozenset[bytes] | None = None

    @property
    def words(self) -> frozenset[bytes]:
        """Its words, none of them twice: looking one up costs less than searching the text again and again."""
        if self._words is None:
            self._words = frozenset(_WORD.findall(self.text))
        return self._words

    @property
    def outline(self) -> Outline:
        """What the names at its top mention."""
        if self._outline is None:
            self._outline = outline(self.text)
        return self._outline

    @property
    def makes_loaders(self) -> bool:
        """Whether it may define a Dataset or make a loader, were it through a function of another file."""
        if self._makes_loaders is None:
            self._makes_loaders = b"oader" in self.text or LOADING in subjects(self.text)
        return self._makes_loaders


class Project:
    """Opens and keeps modules. One for a whole run; everything in it can be worked out again from the files.

    `src` are folders in which imported modules are looked for besides those around the importing file; `words` are what
    files may hold to be worth parsing besides what the gate knows.
    """

    def __init__(self, src: tuple[str, ...] = (), words: tuple[bytes, ...] = ()) -> None:
        self._src = src
        self._words = words
        self._modules: dict[str, ModuleFacts | None] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._roots = Roots()
        self._collating: dict[str, set[bytes]] = {}
        self._texts: dict[tuple[str, bytes], bool] = {}
        self._sources: dict[str, list[Source]] = {}
        # By the file that asked: the files that had an answer, and the words that were looked for in all files.
        self._feeding: dict[str, set[str]] = {}
        self._sought: dict[str, set[bytes]] = {}

    def without_modules(self) -> Project:
        """The same project with no module open; what the folders and files are has not changed."""
        emptied = Project(self._src, self._words)
        emptied._found, emptied._roots, emptied._sources = self._found, self._roots, self._sources
        emptied._collating, emptied._texts = self._collating, self._texts
        emptied._feeding, emptied._sought = self._feeding, self._sought
        return emptied

    @property
    def kept(self) -> int:
        """How many characters the open modules have."""
        return sum(facts.text_key[0] for facts in self._modules.values() if facts is not None)

    def module_for(self, path: str, text: str) -> ModuleFacts:
        """The facts of the file that is being linted, whose text may differ from what stands on the disk.

        Raises UnreadableError where the text is not Python.
        """
        full = os.path.abspath(path)
        known = self._modules.get(full)
        if known is not None and known.text_key == _text_key(text):
            return known  # what has been worked out about other modules holds on to its scopes
        facts = self._modules[full] = _facts(full, text)
        return facts

    def open(self, path: str) -> ModuleFacts | None:
        """The facts of another file of the project; None where it cannot be read or parsed."""
        if path not in self._modules:
            self._modules[path] = None  # while it is being opened, and for good if it cannot be
            source = _read(path)
            if source is not None:
                try:
                    self._modules[path] = _facts(path, decode(source))
                except UnreadableError:
                    return None
        return self._modules[path]

    def find(self, dotted: str, module: ModuleFacts, level: int = 0) -> Scope | None:
        """The module scope that `import dotted` (or `from ...dotted import`) means in `module`; None for libraries."""
        path = self.locate(dotted, module, level)
        if path is None:
            return None
        facts = self.open(path)
        return facts.root if facts is not None else None

    def locate(self, dotted: str, module: ModuleFacts, level: int = 0) -> str | None:
        """The file of a module of the project."""
        path = self._locate(dotted, module, level)
        if path is not None:
            self._feeding.setdefault(module.path, set()).add(path)
        return path

    def _locate(self, dotted: str, module: ModuleFacts, level: int) -> str | None:
        folder = os.path.dirname(module.path)
        if level:
            root = self.root_of(folder)
            for _ in range(level - 1):
                if folder == root:
                    return None  # dots may lead anywhere, but not to a module of this project
                folder = os.path.dirname(folder)
            return _module_file(folder, dotted)
        top = dotted.partition(".")[0]
        if top in TOP_LEVEL and module.dotted_name.partition(".")[0] != top:
            return None
        key = (folder, dotted)
        if key not in self._found:
            self._found[key] = next(
                (path for root in self._search_path(folder) if (path := _module_file(root, dotted)) is not None), None
            )
        return self._found[key]

    def submodule(self, scope: Scope, name: str) -> Scope | None:
        """A submodule of a package."""
        if not scope.module.is_package:
            return None
        path = _module_file(os.path.dirname(scope.module.path), name)
        if path is None:
            return None
        self._feeding.setdefault(scope.module.path, set()).add(path)
        facts = self.open(path)
        return facts.root if facts is not None else None

    def root_of(self, folder: str) -> str:
        """The folder that holds the project of the files in a folder."""
        return self._roots.of(folder)

    def _search_path(self, folder: str) -> list[str]:
        """Where an absolute import is looked for: the folders from the file's own up to above the project's root."""
        root = self.root_of(folder)
        found = [folder, *self._src]
        while folder != root and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
            found.append(folder)
        found.append(os.path.join(root, "src"))
        return found

    def importers(self, module: ModuleFacts, names: list[str]) -> list[ModuleFacts]:
        """The modules of the project that import `module` and hold one of `names`, in order of their paths."""
        sources = self._importers(module.path, names)
        return [facts for each in sources if (facts := self.open(each.path)) is not None]

    def callers(self, module: ModuleFacts, names: list[str], kind: str) -> list[ModuleFacts]:
        """The modules of the project that import `module` and call something by one of the names.

        `kind` says what the names are: of a "function", a "method", or a "class" (heirs call its constructor).
        """
        sources = self._importers(module.path, names, _either(names, _CALLS[kind]))
        return [facts for each in sources if (facts := self.open(each.path)) is not None]

    def users(self, module: ModuleFacts, names: Iterable[str], levels: int, limit: int) -> Iterator[ModuleFacts]:
        """The modules that may make loaders and can get at names of a module, directly or through others' names.

        Nearest first; `levels` bounds how far, `limit` how many.
        """
        seen = {module.path}
        level = [(module.path, sorted(names))]
        for _ in range(levels):
            above: list[tuple[str, list[str]]] = []
            for path, wanted in level:
                for user in self._importers(path, wanted):
                    if user.path in seen or len(seen) > limit:
                        continue
                    seen.add(user.path)
                    if user.makes_loaders and (facts := self.open(user.path)) is not None:
                        yield facts
                    using = that_use(user.outline, [name.encode() for name in wanted])
                    above.append((user.path, sorted(name.decode("utf-8", "replace") for name in using)))
            level = above

    def _importers(self, path: str, names: Iterable[str], pattern: re.Pattern[bytes] | None = None) -> Iterator[Source]:
        """The files that import the module of a file and hold one of the names, and what fits the pattern."""
        if path.endswith(".ipynb"):
            return
        folder, file = os.path.split(path)
        # A package hands names of its modules on, so whoever imports the package counts too.
        own = {os.path.basename(folder)}
        if file != "__init__.py":
            own.add(os.path.splitext(file)[0])
        words = {name.encode() for name in names}
        for source in self._scan(self.root_of(folder)):
            if source.path != path and not source.imported.isdisjoint(own):
                if not source.words.isdisjoint(words) and (pattern is None or pattern.search(source.text)):
                    self._feeding.setdefault(path, set()).add(source.path)
                    yield source

    def fed_by(self, path: str) -> tuple[set[str], set[bytes]]:
        """The files that facts about a file may rest on so far, itself among them, and words sought in all files."""
        found = {path}
        todo = [path]
        for each in todo:  # grows while it is gone through
            new = self._feeding.get(each, set()) - found
            found |= new
            todo.extend(new)
        return found, set().union(*(self._sought.get(each, ()) for each in found))

    def holds(self, module: ModuleFacts, text: bytes) -> bool:
        """Whether a file of the project around `module` holds a text, be it in a comment."""
        self._sought.setdefault(module.path, set()).add(text)
        root = self.root_of(os.path.dirname(module.path))
        key = (root, text)
        if key not in self._texts:
            self._texts[key] = any(text in source.text for source in self._scan(root))
        return self._texts[key]

    def is_collating(self, module: ModuleFacts, name: str) -> bool:
        """Whether a name stands right behind `collate_fn` anywhere in the project: `collate_fn=name`."""
        self._sought.setdefault(module.path, set()).add(b"collate_fn")
        root = self.root_of(os.path.dirname(module.path))
        if root not in self._collating:
            self._collating[root] = {
                word
                for source in self._scan(root)
                for behind in _COLLATING.findall(source.text)
                for word in re.findall(rb"\w+", behind)
            }
        return name.encode() in self._collating[root]

    def modules_with(self, module: ModuleFacts, word: str) -> list[ModuleFacts]:
        """The modules of the project around `module` whose text holds a word, itself among them."""
        self._sought.setdefault(module.path, set()).add(word.encode())
        wanted = re.compile(rb"\b" + word.encode() + rb"\b")
        sources = self._scan(self.root_of(os.path.dirname(module.path)))
        paths = [source.path for source in sources if wanted.search(source.text)]
        return [facts for path in paths if (facts := self.open(path)) is not None]

    def _scan(self, root: str) -> list[Source]:
        """The files of the project that pass the gate, with the last parts of what they import; made once."""
        if root not in self._sources:
            found = []
            for path in files_of(root):
                source = _read(path)
                if source is not None and may_lead_on(source, self._words):
                    parts = {
                        part.decode("utf-8", "replace")
                        for match in _IMPORTED.finditer(source)
                        for part in re.findall(rb"\w+", match.group(1) or match.group(2))
                    }
                    parts.update(  # `from . import module`
                        name.decode("utf-8", "replace")
                        for line in _MEMBERS.findall(source)
                        for name in re.findall(rb"\w+", line)
                    )
                    found.append(Source(path, source, frozenset(parts)))
            self._sources[root] = found
        return self._sources[root]


def _either(names: Iterable[str], pattern: bytes) -> re.Pattern[bytes]:
    """A pattern for any of several names; nothing fits where there are none."""
    parts = [pattern.replace(b"%s", re.escape(name.encode())) for name in names]
    return re.compile(b"|".join(parts) or rb"(?!)", re.MULTILINE)


def _facts(path: str, text: str) -> ModuleFacts:
    is_package = os.path.basename(path) == "__init__.py"
    return ModuleFacts(path, _dotted_name(path), is_package, parse(text), _text_key(text))


def _text_key(text: str) -> tuple[int, int]:
    """What tells one text from another without keeping it."""
    return len(text), hash(text)


def _module_file(folder: str, dotted: str) -> str | None:
    """The file of module `dotted` below a folder: a module, a package, or nothing (namespace packages have no file)."""
    base = os.path.join(folder, *dotted.split(".")) if dotted else folder
    package = os.path.join(base, "__init__.py")
    if os.path.isfile(package):
        return package
    return base + ".py" if dotted and os.path.isfile(base + ".py") else None


def _dotted_name(path: str) -> str:
    """`package.module` from the folders with an `__init__.py` above a file."""
    folder, name = os.path.split(path)
    parts = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ".".join(parts)


def _read(path: str) -> bytes | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:  # reading a pipe would wait for ever
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
