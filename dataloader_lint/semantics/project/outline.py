"""What the top-level names of a file mention, read from its bytes, so that many files need not be parsed.

It over-approximates; what it finds is then checked in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice, pairwise
from typing import NamedTuple, TypeVar

from dataloader_lint.source.code_text import code_of

# Patterns that begin with a line end are much faster than those with `^`; texts get one in front of them for it.
_STATEMENT = re.compile(rb"\n(?=[^\s#)\]}])")
_DEFINED = re.compile(rb"\n[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)|\n(\w+)[ \t]*(?::[^=\n]*)?=[^=]")
_HEAD = re.compile(rb"\n(?:async[ \t]+)?(?:def|class)\b")
_IMPORT = re.compile(rb"\n(?:from|import)\b")
_INDENTED_IMPORT = re.compile(rb"\n[ \t]+((?:from|import)\b[^\n]*)")
_WORDS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))

W = TypeVar("W", str, bytes)
Outline = dict[bytes, frozenset[bytes]]


class Statement(NamedTuple):
    """A statement at the top of a file: the words in it, and where it stands behind the line end that begins a text."""

    words: frozenset[bytes]
    start: int
    end: int


def words_of(text: bytes) -> list[bytes]:
    """The words of a text, numbers among them, in their order. Several times faster than a regular expression."""
    return text.translate(_WORDS).split()


def statements(source: bytes) -> list[Statement]:
    """The statements at the top of a module, and what stands ahead of the first one."""
    text = b"\n" + source
    plain = text.translate(_WORDS)
    places = [0, *(found.start() for found in _STATEMENT.finditer(text)), len(text)]
    return [Statement(frozenset(plain[start:end].split()), start, end) for start, end in pairwise(places)]


def outline(source: bytes, parts: list[Statement]) -> Outline:
    """The names that a module with these statements binds at its top, each with all words in those that bind it."""
    text = b"\n" + source
    found: dict[bytes, frozenset[bytes]] = {}
    ahead: frozenset[bytes] = frozenset()
    for words, start, end in parts:
        words |= ahead
        if text.startswith(b"\n@", start):
            ahead = words
            continue
        if _IMPORT.match(text, start, end):
            for name, mentioned in _imported(words_of(text[start:end])):
                found[name] = found.get(name, frozenset()) | mentioned
        else:
            names = (match[1] or match[2] for match in _DEFINED.finditer(text, start, end))
            is_one = _HEAD.match(text, start, end) and b"global" not in words
            for name in set(islice(names, 1) if is_one else names):
                found[name] = found[name] | words if name in found else words
        ahead = frozenset()
    return found


def outline_of(source: bytes) -> Outline:
    """The outline of a file that holds this. What comments mention does not count."""
    code = code_of(source) or source
    return outline(code, statements(code))


def outline_as_text(found: Outline) -> bytes:
    """An outline in lines: the names that are bound together, a bar, and the words that they mention."""
    names: dict[frozenset[bytes], list[bytes]] = {}
    for name, words in found.items():
        names.setdefault(words, []).append(name)
    return b"\n".join(b"|".join((b" ".join(several), b" ".join(words))) for words, several in names.items())


def outline_from_text(text: bytes) -> Outline:
    """The outline that `outline_as_text` gave."""
    found: Outline = {}
    for line in text.split(b"\n"):
        names, _, words = line.partition(b"|")
        found.update(dict.fromkeys(names.split(), frozenset(words.split())))
    return found


def _imported(words: list[bytes]) -> Iterator[tuple[bytes, frozenset[bytes]]]:
    """The names that an import binds, each with what it means; its words are given in their order."""
    if words[0] == b"import":  # nobody knows any more which words belong together
        yield from ((name, frozenset(words[1:])) for name in words[1:] if name != b"as")
        return
    names = words[words.index(b"import") + 1 :] if b"import" in words else []
    for place, name in enumerate(names):
        if name == b"as":
            continue
        is_renamed = place > 1 and names[place - 1] == b"as"
        yield name, frozenset({name, names[place - 2]} if is_renamed else {name})


def defined_about(source: bytes, words: AbstractSet[bytes]) -> set[bytes]:
    """The names that a module defines at its top and that lead to one of the words, be it through an import of it."""
    source = code_of(source) or source
    text = b"\n" + source
    parts = statements(source)
    imports = _INDENTED_IMPORT.findall(text)  # under `try` or `if`
    own: set[bytes] = set()
    for _, start, end in parts:
        if _IMPORT.match(text, start, end):
            imports.append(text[start:end])
        else:
            names = (match[1] or match[2] for match in _DEFINED.finditer(text, start, end))
            own.update(islice(names, 1) if _HEAD.match(text, start, end) else names)
    sought = set(words)
    for each in map(words_of, imports):
        if not words.isdisjoint(each):
            sought.update(name for name, _ in _imported(each))
    return own & that_use(outline(source, parts), sought)


def that_use(mentions: Mapping[W, AbstractSet[W]], wanted: Iterable[W]) -> set[W]:
    """The names that mention one of the wanted words, directly or through each other."""
    direct = that_mention(mentions, wanted)
    return that_lead_to(mentioned_by_each_other(mentions), direct) if direct else direct


def that_mention(mentions: Mapping[W, AbstractSet[W]], wanted: Iterable[W]) -> set[W]:
    """The names that are one of the wanted words or mention one directly."""
    sought = frozenset(wanted)
    return {name for name, words in mentions.items() if name in sought or not sought.isdisjoint(words)}


def mentioned_by_each_other(mentions: Mapping[W, AbstractSet[W]]) -> dict[W, list[W]]:
    """What `mentioned_by` returns, for the names themselves only: most words in a file are none of its names."""
    names = frozenset(mentions)
    return mentioned_by({name: names & words for name, words in mentions.items()})


def mentioned_by(mentions: Mapping[W, AbstractSet[W]]) -> dict[W, list[W]]:
    """By word the names that mention it; a name does so itself."""
    found: dict[W, list[W]] = {}
    for name, words in mentions.items():
        found.setdefault(name, []).append(name)
        for word in words:
            found.setdefault(word, []).append(name)
    return found


def that_lead_to(by_word: Mapping[W, list[W]], wanted: Iterable[W]) -> set[W]:
    """What `that_use` gives, of what `mentioned_by` does."""
    found: set[W] = set()
    sought = set(wanted)
    while sought:
        more = {name for word in sought for name in by_word.get(word, ())} - found
        found |= more
        sought = more
    return found
