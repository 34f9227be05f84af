"""The files of a project as texts: who imports whom, and which words stand where, read without parsing any of them."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain

from dataloader_lint.facts.project.dataset_names import DatasetNames
from dataloader_lint.facts.project.disk import Disk
from dataloader_lint.facts.project.notebook_code import notebook_code
from dataloader_lint.facts.project.outline import (
    Outline,
    Statement,
    mentioned_by_each_other,
    outline,
    statements,
    that_lead_to,
    that_mention,
    words_of,
)
from dataloader_lint.gate import LOADING, Gate, may_lead_on

_PACKAGE = f"{os.sep}__init__.py"  # hands names on, maybe under other ones
# Patterns begin with what they look for, and not with `^` or `\b`, which makes them much faster; for that, texts
# get a line end in front of them.
_IMPORTED = re.compile(
    rb"\n[ \t]*(?:from(?!\w)[ \t]*+([.\w]+)[ \t]+import(?:[ \t]*\(([^)]*)|[ \t]+([\w, \t]+))?"
    rb"|import[ \t]+([\w., \t]+))"
)
_FIRST = re.compile(rb"[ \t]*(\w*)")
_DEFINED = re.compile(rb"def(?<=\bdef)[ \t]+([\w\x80-\xff]+)")
_METHODS_CALLED = re.compile(rb"\.([\w\x80-\xff]+)\s*\(")
_BASES = re.compile(rb"\n[ \t]*class\s[^:(\n]*\(([^:]*)")
_AT_THE_TOP = re.compile(rb"\n(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)?([\w\x80-\xff]+)")
# What stands in a file that expects an error from what it calls.
_EXPECTING = (b"raises", b"Raises", b"RAISES", b"except", b"suppress")
_COLLATING = re.compile(rb"collate_fn[\"']?\s*[=:]([^\n]{1,120})")
# Leaves words and opening brackets as they are; what else is no space becomes the end of a line.
_CALLS = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or chr(byte) in "_(" else ord(" " if chr(byte).isspace() else "\n")
    for byte in range(256)
)
# Functions that run without being called by their own names, so that a call of one says nothing; b"" is no function.
_NOT_BY_NAME = frozenset(
    {b"", b"__call__", b"__enter__", b"__exit__", b"__getitem__", b"__init__", b"__iter__", b"forward"}
)


class Source:
    """A file of the project as text. What follows from the text is worked out when it is first asked for."""

    __slots__ = (
        "_called",
        "_calls",
        "_mentioned",
        "_outline",
        "_statements",
        "_using",
        "_words",
        "makes_loaders",
        "path",
        "text",
    )

    def __init__(self, path: str, text: bytes, about: AbstractSet[str]) -> None:
        self.path = path
        self.text = text
        # Whether it may define a Dataset or make a loader, were it through a function of another file.
        self.makes_loaders = LOADING in about or b"oader" in text
        self._called: dict[str, frozenset[bytes]] = {}
        self._calls: list[tuple[bytes, frozenset[bytes]]] | None = None
        self._mentioned: dict[bytes, list[bytes]] | None = None
        self._outline: Outline | None = None
        self._statements: list[Statement] = []
        self._using: dict[AbstractSet[bytes], frozenset[bytes]] = {}
        self._words: frozenset[bytes] | None = None

    def imported(self, known: AbstractSet[bytes]) -> set[bytes]:
        """The parts of the names of the modules that it imports, and what it imports from packages.

        `known` are the names of the project's files and folders: `torch.utils.data` is none of its modules, even where
        a folder of it is called `data`.
        """
        found: list[bytes] = []
        for module, in_brackets, names, modules in _IMPORTED.findall(_joined(self.text)):
            if module.startswith(b".") or module.partition(b".")[0] in known:
                found += (module, in_brackets, names)
            found += (each for each in modules.split(b",") if (first := _FIRST.match(each)) and first[1] in known)
        return set(words_of(b" ".join(found)))

    @property
    def words(self) -> frozenset[bytes]:
        """All words in it, those in strings and comments among them."""
        if self._words is None:
            self._words = frozenset().union(*(each.words for each in self._parts()))
        return self._words

    @property
    def calls_by_function(self) -> list[tuple[bytes, frozenset[bytes]]]:
        """Each function's name, and the names of what is called between its head and that of the next one.

        Ahead of them what is called above the first one, under no name.
        """
        if self._calls is None:
            plain = self.text.translate(_CALLS)
            self._calls = []
            name, start = b"", 0
            for head in _DEFINED.finditer(self.text):
                self._calls.append((name, _called_in(plain[start : head.start()])))
                name, start = head[1], head.end()
            self._calls.append((name, _called_in(plain[start:])))
        return self._calls

    def called(self, kind: str) -> frozenset[bytes]:
        """The names by which it calls something: a "function", a "method", or a "class", by its subclasses too."""
        if kind not in self._called:
            if kind == "method":
                found = frozenset(_METHODS_CALLED.findall(self.text))
            else:
                found = frozenset().union(*(called for _, called in self.calls_by_function))
            if kind == "class":  # subclasses call its constructor
                found |= frozenset(words_of(b" ".join(_BASES.findall(b"\n" + self.text))))
            self._called[kind] = found
        return self._called[kind]

    @property
    def outline(self) -> Outline:
        """The names at its top, each with the words around what binds it."""
        if self._outline is None:
            self._outline = outline(self.text, self._parts())
        return self._outline

    def that_use(self, wanted: AbstractSet[bytes]) -> frozenset[bytes]:
        """The names at its top that mention one of the wanted names, directly or through each other."""
        found = self._using.get(wanted)
        if found is None:
            direct = that_mention(self.outline, wanted)
            if direct and self._mentioned is None:
                self._mentioned = mentioned_by_each_other(self.outline)
            found = self._using[wanted] = frozenset(that_lead_to(self._mentioned or {}, direct))
        return found

    def _parts(self) -> list[Statement]:
        if not self._statements:
            self._statements = statements(self.text)
        return self._statements


def _names_in(context: str, paths: list[str]) -> set[bytes]:
    """What modules of a project can be called: its folders, its files, and itself."""
    root = context.rstrip(os.sep)
    names = {part for folder in {os.path.dirname(path) for path in paths} for part in folder[len(root) :].split(os.sep)}
    stems = {os.path.basename(path).removesuffix(".py") for path in paths}
    return {name.encode("utf-8", "surrogateescape") for name in {os.path.basename(root), *names, *stems}}


def _names_of(path: str) -> set[bytes]:
    """What those who import the module of a file name: itself, or its package, which hands names of its modules on."""
    folder, file = os.path.split(path)
    own = {os.path.basename(folder)}
    if file != "__init__.py":
        own.add(os.path.splitext(file)[0])
    return {part.encode("utf-8", "surrogateescape") for part in own}


def _shared(one: list[str], other: list[str]) -> int:
    """How many folders two paths, given in parts, have in common from the root on."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (mine, its) in enumerate(pairs) if mine != its), min(len(one), len(other)))


def _called_in(plain: bytes) -> frozenset[bytes]:
    """The words that stand before brackets, in a text that was translated by `_CALLS`."""
    before = [piece.rstrip(b" ") for piece in plain.split(b"(")]
    before.pop()  # behind the last bracket
    return frozenset(piece.rsplit(None, 1)[-1] for piece in before if piece[-1:] not in (b"", b"\n"))


class Sources:
    """The files of one context that may hold what facts about other files depend on, in the order of their paths.

    `context` is what `source.projects.Roots.context_of` gives: a project, or a part of a very large one.
    """

    def __init__(self, context: str, gate: Gate, disk: Disk) -> None:
        self._all: list[Source] = []
        self._by_path: dict[str, Source] = {}
        self.dataset_names = DatasetNames(gate.words)
        self._defined: set[bytes] = set()
        self._naming: dict[bytes, set[int]] = {}  # the files that import a module, by a part of its name
        self._importing: dict[str, list[Source]] = {}
        self._with_text: dict[bytes, bool] = {}
        self._leading: dict[tuple[frozenset[bytes], int], frozenset[bytes]] = {}
        self._collating: set[bytes] | None = None
        self._beside_loaders: set[bytes] | None = None
        paths = disk.files_of(context)
        self._paths = frozenset(paths)
        known = self._known = _names_in(context, paths)
        self._context, self._gate, self._disk = context, gate, disk
        self._may_expect: list[str] = []
        self._expecting: list[tuple[Source, set[bytes]]] | None = None
        self._read_notebooks: list[tuple[Source, set[bytes]]] | None = None
        for path in paths:
            text = disk.read(path)
            if text is None:
                continue
            self._defined.update(_DEFINED.findall(text))
            self.dataset_names.add(text)
            about = gate.subjects(path, text)
            if about or may_lead_on(text) or (path.endswith(_PACKAGE) and b" as " in text):
                source = Source(path, text.removeprefix(codecs.BOM_UTF8), about)
                for part in source.imported(known):
                    self._naming.setdefault(part, set()).add(len(self._all))
                self._all.append(source)
                self._by_path[path] = source
            elif any(word in text for word in _EXPECTING):
                self._may_expect.append(path)

    @property
    def _calling_notebooks(self) -> list[tuple[Source, set[bytes]]]:
        """The notebooks of the context, each with what it imports."""
        if self._read_notebooks is None:
            self._read_notebooks = [(each, each.imported(self._known)) for each in self._notebooks()]
        return self._read_notebooks

    def _notebooks(self) -> Iterator[Source]:
        """The notebooks of the context, with the code of their cells; they cannot be imported, but call others."""
        for path in self._disk.notebooks_of(self._context):
            content = self._disk.read(path)
            about = self._gate.subjects(path, content) if content is not None else frozenset()
            code = notebook_code(content) if content is not None and about else None
            if code is not None:
                yield Source(path, code.encode("utf-8", "surrogatepass"), about)

    def outline_of(self, path: str, text: bytes) -> Outline:
        """What the names at the top of a file mention that holds this text, or will once it is saved."""
        source = self._by_path.get(path)
        return source.outline if source is not None and source.text == text else outline(text, statements(text))

    def holds_file(self, path: str) -> bool:
        """True if it is a file of the project, whose folders may be skipped."""
        return path in self._paths

    def has(self, path: str, text: bytes) -> bool:
        """True if a file that may matter to others holds this text."""
        source = self._by_path.get(path)
        return source is not None and source.text == text

    def importing(self, path: str, words: frozenset[bytes]) -> list[Source]:
        """The files that may import the module of a file, and hold one of the words; nearest first.

        Projects in folders side by side often have modules of the same name, each for its own scripts.
        """
        return [source for source in self._importing_file(path) if not words.isdisjoint(source.words)]

    def _importing_file(self, path: str) -> list[Source]:
        found = self._importing.get(path)
        if found is None:
            folders = path.split(os.sep)
            parts = _names_of(path)
            numbers: set[int] = set().union(*(self._naming.get(part, ()) for part in parts))
            found = [self._all[number] for number in sorted(numbers) if self._all[number].path != path]
            found += (each for each, imported in self._calling_notebooks if not imported.isdisjoint(parts))
            found.sort(key=lambda source: -_shared(folders, source.path.split(os.sep)))
            self._importing[path] = found
        return found

    def expecting(self, path: str, name: bytes) -> list[str]:
        """The files about no subject that may import the module of a file, hold a word, and may expect errors."""
        if self._expecting is None:
            texts = ((each, self._disk.read(each)) for each in self._may_expect)
            spared = (Source(each, text.removeprefix(codecs.BOM_UTF8), frozenset()) for each, text in texts if text)
            self._expecting = [(each, each.imported(self._known)) for each in spared]
        parts = _names_of(path)
        return [
            each.path
            for each, imported in self._expecting
            if each.path != path and name in each.text and not imported.isdisjoint(parts) and name in each.words
        ]

    def with_word(self, word: str) -> Iterator[Source]:
        """The files that hold a word."""
        text = word.encode()
        return (source for source in self._all if text in source.text and text in source.words)

    def hold(self, text: bytes) -> bool:
        """True if any file holds a text, be it in a comment."""
        if text not in self._with_text:
            several = (*self._all, *(each for each, _ in self._calling_notebooks))
            self._with_text[text] = any(text in source.text for source in several)
        return self._with_text[text]

    def make_loaders_beside(self, name: str) -> bool:
        """True if a file that may make loaders defines this name at its top, or is itself called so."""
        if self._beside_loaders is None:
            makers = [source for source in self._all if source.makes_loaders]
            paths = {part for source in makers for part in source.path.encode().split(os.sep.encode())}
            stems = {part.removesuffix(b".py") for part in paths}
            self._beside_loaders = stems.union(*(_AT_THE_TOP.findall(b"\n" + source.text) for source in makers))
        return name.encode() in self._beside_loaders

    def leading_to(self, wanted: frozenset[bytes], levels: int) -> frozenset[bytes]:
        """The names of functions that call one of the wanted ones, through so many others at most."""
        key = (wanted, levels)
        if key not in self._leading:
            calls = [each for source in self._all for each in source.calls_by_function]
            found: set[bytes] = set()
            new = set(wanted)
            for _ in range(levels):
                new = {name for name, called in calls if name not in found and not called.isdisjoint(new)}
                new -= _NOT_BY_NAME
                found |= new
            self._leading[key] = frozenset(found)
        return self._leading[key]

    def define(self, name: str) -> bool:
        """True if a file of the project defines a function of that name; all files count, whatever they hold."""
        return name.encode() in self._defined

    def is_collating(self, name: str) -> bool:
        """True if a name stands right behind `collate_fn` anywhere: `collate_fn=name`."""
        if self._collating is None:
            behind = [each for source in self._all for each in _COLLATING.findall(source.text)]
            self._collating = set(words_of(b" ".join(behind)))
        return name.encode() in self._collating


def _joined(text: bytes) -> bytes:
    """A text with continued lines in one, behind a line end."""
    return b"\n" + (text.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ") if b"\\" in text else text)


def imports_in(text: bytes) -> Iterator[tuple[str, list[str]]]:
    """The modules that a text imports, as they are written there, each with what it imports from it by name."""
    for module, in_brackets, names, modules in _IMPORTED.findall(_joined(text)):
        if module:
            members = [words_of(each)[:1] for each in (in_brackets or names).split(b",")]
            yield module.decode(errors="replace"), [word.decode(errors="replace") for word in chain(*members)]
        for each in modules.split(b","):
            yield from ((found.decode(errors="replace"), []) for found in each.split()[:1])
