"""What the names at the top of a file mention, told from its bytes: a look at many files that parses none of them.

It says rather too much than too little; what it leads to is then looked at in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TypeVar

_STATEMENT = re.compile(rb"^(?=[^\s#)\]}])", re.MULTILINE)
_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=[^=]", re.MULTILINE)
_HEAD = re.compile(rb"(?:async[ \t]+)?(?:def|class)\b")
_IMPORT = re.compile(rb"(?:from|import)\b")
_WORD = re.compile(rb"[^\W\d]\w*")

W = TypeVar("W", str, bytes)
Outline = dict[bytes, frozenset[bytes]]


def outline(source: bytes) -> Outline:
    """The names that a module binds at its top, each with all words in the statements that bind it."""
    found: dict[bytes, frozenset[bytes]] = {}
    ahead = b""
    for statement in _STATEMENT.split(source):
        if statement.startswith(b"@"):
            ahead += statement
            continue
        words = frozenset(_WORD.findall(ahead + statement))
        if _IMPORT.match(statement):
            names: Iterable[bytes] = words
        else:
            names = {match[0] or match[1] for match in _DEFINED.findall(statement)}
        for name in names:
            found[name] = found[name] | words if name in found else words
        ahead = b""
    return found


def defined(source: bytes) -> frozenset[bytes]:
    """The names that a module defines at its top, without those that it imports."""
    found: set[bytes] = set()
    for statement in _STATEMENT.split(source):
        if _IMPORT.match(statement):
            continue
        names = (match[1] or match[2] for match in _DEFINED.finditer(statement))
        found.update(islice(names, 1) if _HEAD.match(statement) else names)
    return frozenset(found)


def that_use(mentions: Mapping[W, AbstractSet[W]], wanted: Iterable[W]) -> set[W]:
    """The names that mention one of the wanted words, directly or through each other."""
    found: set[W] = set()
    sought = set(wanted)
    while sought:
        more = {
            name
            for name, words in mentions.items()
            if name not in found and (name in sought or not words.isdisjoint(sought))
        }
        found |= more
        sought = more  # what mentions the others is found already
    return found
