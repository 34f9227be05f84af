"""One file of a project as text: its imports and words, read without parsing it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain

from dataloader_lint.gate import LOADING
from dataloader_lint.semantics.project.outline import (
    Outline,
    mentioned_by_each_other,
    outline_as_text,
    outline_from_text,
    outline_of,
    that_lead_to,
    that_mention,
    words_of,
)
from dataloader_lint.semantics.project.texts import TextParts

# Patterns begin with what they look for, and not with `^` or `\b`, which makes them much faster; for that, texts
# get a line end in front of them.
_IMPORTED = re.compile(
    rb"\n[ \t]*(?:from(?!\w)[ \t]*+([.\w]+)[ \t]+import(?:[ \t]*\(([^)]*)|[ \t]+([\w, \t]+))?"
    rb"|import[ \t]+([\w., \t]+))"
)
_FIRST = re.compile(rb"[ \t]*(\w*)")
_IMPORTED_BY_TEXT = re.compile(rb"import_module\(\s*+[\"'](\w++)([\w.]*+)[\"']")
# What loads modules by names and paths that are put together, and the line that it stands on with the next one.
_LOADING_MODULES = (
    b"SourceFileLoader(",
    b"__import__(",
    b"import_module(",
    b"load_source(",
    b"spec_from_file_location(",
)
_LOADED = re.compile(
    rb"(?:SourceFileLoader|__import__|import_module|load_source|spec_from_file_location)"
    rb"\(([^\n]{0,200}(?:\n[^\n]{0,200})?)"
)
_TEXTS = re.compile(rb"[\"']([^\"'\n]{1,200})[\"']")
_DEFINED = re.compile(rb"def(?<=\bdef)[ \t]+([\w\x80-\xff]+)")
_METHODS_CALLED = re.compile(rb"\.([\w\x80-\xff]+)\s*\(")
_BASES = re.compile(rb"\n[ \t]*class\s[^:(\n]*\(([^:]*)")
_AT_THE_TOP = re.compile(rb"\n(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)?([\w\x80-\xff]+)")
_COLLATING = re.compile(rb"collat\w*[\"']?\s*[=:]([^\n]{1,120})")
# Leaves words and opening brackets as they are; what else is no space becomes the end of a line.
_CALLS = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or chr(byte) in "_(" else ord(" " if chr(byte).isspace() else "\n")
    for byte in range(256)
)


class Source:
    """A file of the project as text. What follows from the text is worked out when it is first asked for.

    `makes_loaders` is True if it may define a Dataset or make a loader, were it through a function of another file.
    `same` has each word of the files of a project once, as most stand in many of them.
    """

    __slots__ = (
        "_called",
        "_calls",
        "_mentioned",
        "_outline",
        "_parts",
        "_same",
        "_using",
        "_words",
        "makes_loaders",
        "path",
    )

    def __init__(
        self, path: str, parts: TextParts, *, makes_loaders: bool, same: dict[bytes, bytes] | None = None
    ) -> None:
        self.path = path
        self._same = {} if same is None else same
        self.makes_loaders = makes_loaders
        self._parts = parts
        self._called: dict[str, frozenset[bytes]] = {}
        self._calls: list[tuple[bytes, frozenset[bytes]]] | None = None
        self._mentioned: dict[bytes, list[bytes]] | None = None
        self._outline: Outline | None = None
        self._using: dict[AbstractSet[bytes], frozenset[bytes]] = {}
        self._words: frozenset[bytes] | None = None

    @property
    def text(self) -> bytes:
        """The text, without a byte order mark."""
        return self._parts.text.removeprefix(codecs.BOM_UTF8)

    def _part(self, what: str, work_out: Callable[[bytes], bytes]) -> bytes:
        return self._parts.get(what, lambda text: work_out(text.removeprefix(codecs.BOM_UTF8)))

    def imported(self, known: AbstractSet[bytes]) -> set[bytes]:
        """The parts of the names of the modules that it imports, and what it imports from packages.

        `known` are the names of the project's files and folders: `torch.utils.data` is none of its modules, even where
        a folder of it is called `data`.
        """
        found: set[bytes] = set()
        for line in self._part("imported", _imported).split(b"\n"):
            top, _, words = line.partition(b" ")
            if top == b"." or top in known:
                found.update(words.split())
        return found

    @property
    def words(self) -> frozenset[bytes]:
        """All words in it, those in strings and comments among them."""
        if self._words is None:
            words = self._part("words", lambda text: b" ".join(set(words_of(text)))).split()
            self._words = frozenset(map(self._same.setdefault, words, words))
        return self._words

    @property
    def calls_by_function(self) -> list[tuple[bytes, frozenset[bytes]]]:
        """Each function's name, and the names of what is called between its head and that of the next one.

        Ahead of them what is called above the first one, under no name.
        """
        if self._calls is None:
            lines = (line.partition(b" ") for line in self._part("calls", _calls).split(b"\n"))
            parts = ((name, called.split()) for name, _, called in lines)
            self._calls = [(name, frozenset(map(self._same.setdefault, called, called))) for name, called in parts]
        return self._calls

    def called(self, kind: str) -> frozenset[bytes]:
        """The names by which it calls something: a "function", a "method", or a "class", by its subclasses too."""
        if kind not in self._called:
            if kind == "method":
                found = frozenset(
                    self._part("methods", lambda text: b" ".join(set(_METHODS_CALLED.findall(text)))).split()
                )
            else:
                found = frozenset().union(*(called for _, called in self.calls_by_function))
            if kind == "class":  # subclasses call its constructor
                bases = self._part("bases", lambda text: b" ".join(words_of(b" ".join(_BASES.findall(b"\n" + text)))))
                found |= frozenset(bases.split())
            self._called[kind] = found
        return self._called[kind]

    @property
    def outline(self) -> Outline:
        """The names at its top, each with the words around what binds it."""
        if self._outline is None:
            kept = self._part("outline", lambda text: outline_as_text(outline_of(text)))
            self._outline = outline_from_text(kept)
        return self._outline

    @property
    def names_at_the_top(self) -> list[bytes]:
        """The names that it may bind at its top."""
        return self._part("top", lambda text: b" ".join(set(_AT_THE_TOP.findall(b"\n" + text)))).split()

    @property
    def collating(self) -> list[bytes]:
        """The words right behind a name that speaks of it: `collate_fn=name`, `collate = partial(name, key)`."""
        return self._part("collating", lambda text: b" ".join(words_of(b" ".join(_COLLATING.findall(text))))).split()

    def that_use(self, wanted: AbstractSet[bytes]) -> frozenset[bytes]:
        """The names at its top that mention one of the wanted names, directly or through each other."""
        found = self._using.get(wanted)
        if found is None:
            direct = that_mention(self.outline, wanted)
            if direct and self._mentioned is None:
                self._mentioned = mentioned_by_each_other(self.outline)
            found = self._using[wanted] = frozenset(that_lead_to(self._mentioned or {}, direct))
        return found


def source_of(path: str, text: bytes, about: AbstractSet[str] = frozenset()) -> Source:
    """The file with this text, of which the gate says what it is about."""
    return Source(path, TextParts(lambda _: text), makes_loaders=makes_loaders_in(text, about))


def makes_loaders_in(text: bytes, about: AbstractSet[str]) -> bool:
    """True if a file with this text, of which the gate says what it is about, may make loaders."""
    return LOADING in about or b"oader" in text


def _imported(text: bytes) -> bytes:
    """The imports in lines: the first part of a module's name, or a dot for one that is relative; then all words."""
    found: dict[bytes, list[bytes]] = {}
    for module, in_brackets, names, modules in _IMPORTED.findall(_joined(text)):
        if module:
            top = b"." if module.startswith(b".") else module.partition(b".")[0]
            found.setdefault(top, []).extend((module, in_brackets, names))
        for each in modules.split(b","):
            first = _FIRST.match(each)
            if first is not None and first[1]:
                found.setdefault(first[1], []).append(each)
    for first, rest in _IMPORTED_BY_TEXT.findall(text):
        found.setdefault(first, []).append(first + rest)
    if any(word in text for word in _LOADING_MODULES):
        parts = (part for arguments in _LOADED.findall(text) for part in _TEXTS.findall(arguments))
        found.setdefault(b".", []).extend(parts)
    return b"\n".join(b" ".join((top, *set(words_of(b" ".join(texts))))) for top, texts in found.items())


def _calls(text: bytes) -> bytes:
    """The functions in lines: the name, then what it calls."""
    plain = text.translate(_CALLS)
    lines = []
    name, start = b"", 0
    for head in _DEFINED.finditer(text):
        lines.append(b" ".join((name, *_called_in(plain[start : head.start()]))))
        name, start = head[1], head.end()
    lines.append(b" ".join((name, *_called_in(plain[start:]))))
    return b"\n".join(lines)


def _called_in(plain: bytes) -> frozenset[bytes]:
    """The words that stand before brackets, in a text that was translated by `_CALLS`."""
    before = [piece.rstrip(b" ") for piece in plain.split(b"(")]
    before.pop()  # behind the last bracket
    return frozenset(piece.rsplit(None, 1)[-1] for piece in before if piece[-1:] not in (b"", b"\n"))


def defined_functions(text: bytes) -> bytes:
    """The names of all functions."""
    return b" ".join(set(_DEFINED.findall(text)))


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
