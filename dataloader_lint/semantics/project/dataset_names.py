"""Names of classes that may be Datasets, found in the text: most classes then need no evaluation.

It over-approximates; what it finds is then checked in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from dataloader_lint.semantics.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.semantics.project.outline import words_of

# Patterns that begin with a line end are much faster than those with `^`; texts get one in front of them for it.
_CLASS = re.compile(rb"\n[ \t]*class[ \t]+([\w\x80-\xff]+)[ \t]*")
_CONTINUED = re.compile(rb"\\(?:\r\n|\r|\n)")
_BLANKS = re.compile(rb"[ \t]*")
_END_OF_HEAD = re.compile(rb"[^\n:]*:")
_READ_BY_INDEX = re.compile(rb"def[ \t]+__(?:getitem|getitems|iter)__\b")
_FROM_DATASETS = re.compile(rb"from[ \t]+(?=[\w.]*datasets)[\w.]+[ \t]+import[ \t]*(\([^)]*|[^\n]*)")
_SAME = re.compile(rb"\n([\w\x80-\xff]+)[ \t]*=[ \t]*([\w.\x80-\xff]+)[ \t]*(?=[\n#])")
_TABLE = re.compile(rb"\n([\w\x80-\xff]+)[ \t]*=[ \t]*\{([^{}]*)\}")
_KNOWN = frozenset(name.rpartition(".")[2].encode() for name in (*DATASET_BASES, *ITERABLE_BASES)) | {b"datasets"}


class DatasetNames:
    """Collects the classes of files, and tells which of them may be Datasets by their names and those of their bases.

    `added` are names that the settings make Datasets.
    """

    def __init__(self, added: Iterable[bytes] = ()) -> None:
        self._sure: set[bytes] = {*_KNOWN, *added}
        self._found: set[bytes] = set(self._sure)
        self._bases: dict[bytes, set[bytes]] = {}  # what would make a name that of a Dataset, if it were one
        self._is_settled = False

    def add(self, text: bytes) -> None:
        """Take in the classes of one more file."""
        self.take_in(said_of_classes(text))

    def take_in(self, said: bytes) -> None:
        """Take in what `said_of_classes` gives."""
        for line in said.split(b"\n"):
            kind, *words = line.split() or [b""]
            if kind == b"sure":
                self._note(self._sure, words)
            elif kind == b"found":
                self._note(self._found, words)
            elif kind == b"bases" and words:
                self._note(self._bases.setdefault(words[0], set()), words[1:])

    def _note(self, known: set[bytes], new: Iterable[bytes]) -> None:
        """Most files that are added again say nothing new, and then the answers still hold."""
        before = len(known)
        known.update(new)
        if len(known) > before:
            self._is_settled = False

    def __contains__(self, name: bytes) -> bool:
        if not self._is_settled:
            self._settle()
        return name in self._found

    def knows(self, name: bytes) -> bool:
        """True if it is the name of a class of the files, or another name for something in them."""
        return name in self._bases

    def is_subclass(self, name: bytes) -> bool:
        """True if a class may derive from a Dataset, not only look like one."""
        return not self._sure.isdisjoint(self.behind(name))

    def deriving_from(self, others: DatasetNames) -> set[bytes]:
        """The names of these that may be Datasets where the others are known as well."""
        found = {name for name in self._bases if name in self or any(base in others for base in self._bases[name])}
        while new := {name for name, bases in self._bases.items() if name not in found and not bases.isdisjoint(found)}:
            found |= new
        return found

    def _settle(self) -> None:
        self._found |= self._sure
        below: dict[bytes, list[bytes]] = {}
        for name, bases in self._bases.items():
            for base in bases:
                below.setdefault(base, []).append(name)
        new = self._found
        while new:
            new = {name for base in new for name in below.get(base, ())} - self._found
            self._found |= new
        self._is_settled = True

    def behind(self, name: bytes) -> set[bytes]:
        """The names by which the answer for one may change: its own and those of its bases; none if it is unknown."""
        found: set[bytes] = set()
        todo = [name] if name in self._bases else []
        for each in todo:  # grows while it is gone through
            if each not in found:
                found.add(each)
                todo.extend(self._bases.get(each, ()))
        return found


def said_of_classes(text: bytes) -> bytes:
    """What a file says of classes, in lines for `DatasetNames.take_in`: names, behind what is said of them."""
    if b"class" not in text:
        return b""
    text = _in_lines(text)
    lines: list[list[bytes]] = []
    subscripted: set[bytes] = set()
    for name, bases, is_read in _classes(text):
        if b"ataset" in bases:
            lines.append([b"sure", name])
        elif is_read:
            lines.append([b"found", name])
        lines.append([b"bases", name, *words_of(bases)])
        if b"[" in bases:
            subscripted.update(words_of(bases))
    for name, classes in _TABLE.findall(text) if subscripted else ():
        if name in subscripted:  # class Images(SOURCES[source])
            lines.append([b"bases", name, *words_of(classes)])
    if b"datasets" in text:
        lines += ([b"sure", *words_of(names)] for names in _FROM_DATASETS.findall(text))
    # class Rows(Base), where the import says `BaseDataset as Base`
    lines += ([b"sure", name] for name, other in _renamed(text) if other.endswith(b"Dataset"))
    lines += ([b"bases", name, *words_of(other)] for name, other in (*_renamed(text), *_SAME.findall(text)))
    return b"\n".join(b" ".join(line) for line in lines)


def classes_in(text: bytes) -> set[bytes]:
    """The names of the classes of a file."""
    return set(_CLASS.findall(_in_lines(text)))


def _in_lines(text: bytes) -> bytes:
    """A text whose lines all begin with a line end, and end with nothing else; no line is continued or holds a feed."""
    if b"\\" in text:
        text = _CONTINUED.sub(b" ", text)
    return b"\n" + text.replace(b"\f", b"").replace(b"\r", b"\n")


def _classes(text: bytes) -> Iterator[tuple[bytes, bytes, bool]]:
    """Each class with what stands between the parentheses, and whether its objects can be read like a sequence."""
    heads = list(_heads(text))
    is_read = _READ_BY_INDEX.search(text) is not None
    ends = [*(start for _, _, start, _ in heads[1:]), len(text)]
    for (name, bases, _, behind), end in zip(heads, ends, strict=False):  # without heads there is still an end
        yield name, bases, is_read and _READ_BY_INDEX.search(text, behind, end) is not None


def _heads(text: bytes) -> Iterator[tuple[bytes, bytes, int, int]]:
    """The heads of classes: the name, what stands between the parentheses, where the head begins and where it ends."""
    end = 0
    closing = {b"[": _Next(text, b"]"), b"(": _Next(text, b")")}
    for found in _CLASS.finditer(text):
        if found.start() < end:  # in the parentheses of the one before
            continue
        place, bases = found.end(), b""
        for bracket, after in closing.items():
            last = after.place(place) if text.startswith(bracket, place) else -1
            if last >= 0:
                bases = text[place + 1 : last] if bracket == b"(" else b""
                place = _blanks_end(text, last + 1)
        behind = _END_OF_HEAD.match(text, place)
        if behind is None:
            behind, bases = _END_OF_HEAD.match(text, found.end()), b""
        if behind is not None:
            end = behind.end()
            yield found[1], bases, found.start(), end


def _blanks_end(text: bytes, place: int) -> int:
    found = _BLANKS.match(text, place)
    assert found is not None
    return found.end()


class _Next:
    """Where a sign stands next, for places that only grow: no part of the text is looked at twice."""

    def __init__(self, text: bytes, sign: bytes) -> None:
        self._text = text
        self._sign = sign
        self._found = 0

    def place(self, start: int) -> int:
        """The first place from `start` on; -1 where there is none."""
        if 0 <= self._found < start:
            self._found = self._text.find(self._sign, start)
        return self._found


def _renamed(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The pairs of `x as y`, the new name first."""
    parts = text.split(b" as ")
    for before, after in pairwise(parts):
        old, new = before.rpartition(b"\n")[2].split(), words_of(after.partition(b"\n")[0])
        if old and new:
            yield new[0], old[-1]
