"""The concepts that a text speaks of, and where."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dataloader_lint.rules.questions.lexicon import CONCEPTS

if TYPE_CHECKING:
    from collections.abc import Iterator

_ITEM = re.compile(r"/(?:\\.|[^/\\])+/|\S+")
_WORD = re.compile(r"[^\W\d_]{5,}")
_QUOTES = re.compile("[`'\"*\u2018\u2019\u201c\u201d]")
_ADDRESS = re.compile(r"https?://\S+")
_ACCENT = re.compile("[\u0300-\u036f]")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SEPARATOR = r"[\s_-]*"
# `not GPU memory`: what is ruled out is not what the text is about.
_RULED_OUT = re.compile(r"\b(?:not|rather than|instead of)\s+(?:the\s+|of\s+)?$")
CAN_BE_RULED_OUT = ("vram", "outside", "gpu")
# Concepts whose words contain those of others: GPU memory is no memory of the machine.
CONTAIN = {
    "vram": ("memory", "gpu", "cuda", "grow", "oom"),
    "shared_memory": ("memory", "share"),
    "no_workers": ("low", "many_workers"),
    "loader": ("sample", "dataset", "reading"),
    "grow": ("outside",),
    "files": ("reading", "too_many"),
    "empty_cache": ("memory", "disk", "cuda", "gpu"),
    "persistent": ("worker",),
    "slow": ("hang",),
    "model": ("hang",),
    "whole_data": ("dataset", "sample", "epoch"),
    "ever_slower": ("slow", "slower", "each", "epoch", "over_time"),
    "worker_init_fn": ("worker", "seed"),
    "context": ("worker",),
    "distributed": ("sample", "training"),
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept, and the place in the text of the words that speak of it."""

    concept: str
    start: int
    end: int


def plain(text: str) -> str:
    """A text in lower case, without accents, quotation marks and addresses of the web, and with single spaces."""
    folded = unicodedata.normalize("NFKD", _ADDRESS.sub(" ", text))
    bare = unicodedata.normalize("NFKC", _ACCENT.sub("", folded)).lower()
    return " ".join(_QUOTES.sub("", bare).split())


def mentions(text: str) -> list[Mention]:
    """The concepts that a plain text mentions, in the order of their places. Words with one wrong letter count."""
    text = _WORD.sub(lambda word: _spelled(word[0]), text)
    found = [
        Mention(concept, each.start(), each.end())
        for concept, pattern in patterns().items()
        for each in pattern.finditer(text)
        if concept not in CAN_BE_RULED_OUT or not _RULED_OUT.search(text[: each.start()])
    ]
    inside = [
        each
        for each in found
        if not any(
            each.concept in CONTAIN.get(other.concept, ()) and other.start <= each.start and each.end <= other.end
            for other in found
        )
    ]
    return sorted(inside, key=lambda each: (each.start, each.concept))


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """A pattern for each concept, for plain texts."""
    return {concept: re.compile(pattern) for concept, pattern in sources().items()}


def sources() -> dict[str, str]:
    """The patterns as text, in the syntax that Python and JavaScript share."""
    return {concept: "|".join(_pattern_of(item) for item in _items(words)) for concept, words in CONCEPTS.items()}


def _items(words: str) -> Iterator[str]:
    for item in _ITEM.finditer(words):
        yield item[0]


def _pattern_of(item: str) -> str:
    if item.startswith("/"):
        return f"(?:{item[1:-1]})"
    begins, ends = ("(?<![a-z0-9\u0400-\u04ff])", "(?![a-z0-9\u0400-\u04ff])")
    folded = plain(item.replace("*", "\0")) if not item.startswith("_") else item
    if _CJK.search(item):
        begins = ends = ""
    stem = folded.rstrip("\0")
    escaped = (
        _SEPARATOR.join(re.escape(part).replace(r"\-", "-") for part in stem.split("_")) if stem.strip("_") else stem
    )
    rest = ends if stem == folded else "" if _CJK.search(item) else r"[a-z0-9\u0400-\u04ff]*"
    return f"{begins}{escaped}{rest}"


@cache
def vocabulary() -> frozenset[str]:
    """Words of which a text may have one letter wrong."""
    return frozenset(item for words in CONCEPTS.values() for item in _items(words) if re.fullmatch("[a-z]{6,}", item))


@cache
def _near() -> dict[str, str]:
    """The words of the vocabulary by themselves without one of their letters."""
    return {word[:at] + word[at + 1 :]: word for word in sorted(vocabulary()) for at in range(1, len(word))}


def _spelled(word: str) -> str:
    """The word that is meant, where one letter is wrong, missing, doubled or changed places with its neighbor."""
    if word in vocabulary() or any(pattern.fullmatch(word) for pattern in patterns().values()):
        return word
    if word in _near():
        return _near()[word]
    for at in range(1, len(word)):
        shorter = word[:at] + word[at + 1 :]
        if shorter in vocabulary():
            return shorter
        if shorter in _near() and len(_near()[shorter]) == len(word):
            return _near()[shorter]
    return word
