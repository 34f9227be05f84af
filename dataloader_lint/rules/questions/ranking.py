"""Which symptoms a question describes: the phrases of each are compared with the concepts that the question mentions.

A phrase is a conjunction of concepts, `memory grow`; `a|b` stands for either and `!a` for one that must be absent.
`=padding` fits a question that is that word alone. A symptom one of whose phrases is there in full is an answer. Rare
concepts count for more than frequent ones, and so do those that stand close together and leave little of the question
unexplained.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dataloader_lint.rules.questions.concepts import mentions, plain
from dataloader_lint.rules.symptoms import SYMPTOMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataloader_lint.rules.questions.concepts import Mention
    from dataloader_lint.rules.symptoms import Symptom

# Where one of these is mentioned, a question can be about data loading even if it also speaks of other things.
FIELD = frozenset(
    {
        "loader",
        "worker",
        "many_workers",
        "no_workers",
        "dataset",
        "sampler",
        "collate",
        "pin",
        "prefetch",
        "persistent",
        "shared_memory",
        "set_epoch",
        "oom",
    }
)
# Without anything of the field, a question that mentions one of these gets no suggestion either.
ELSEWHERE = frozenset(["model", "outside", "vram"])
# What is mentioned everywhere says nothing about how much of a question a phrase explains.
FRAME = frozenset(
    {
        "training",
        "loader",
        "dataset",
        "gpu",
        "cuda",
        "batch",
        "sample",
        "model",
        "use",
        "result",
        "reading",
        "image",
        "crash",
        "first",
        "set",
        "value",
        "num_workers",
    }
)
NEAR = 70  # characters between the first and the last concept of a phrase that stand close together
FAR = 300
SURE = 0.30  # the share of what is said around a phrase that it has to explain
BESIDE = 0.6  # of the score of the best one: other symptoms that fit about as well
EACH = 0.15  # what each further concept of a phrase adds: it is more to the point
CLOSE = 0.34  # the least of a score that makes an entry worth a suggestion
MOST = 3  # entries that are named
LONGEST = 12  # words of a question in which those of a rule's name count as that name
_WORD = re.compile(r"[a-z_]{3,}")
_SMALL = frozenset(["and", "can", "for", "not", "per", "the", "with", "without"])
_K1, _B = 1.2, 0.6  # the usual parameters of BM25


@dataclass(frozen=True, slots=True)
class Ranked:
    """The symptoms that fit best, the best first. `is_sure` is False for suggestions."""

    symptoms: tuple[Symptom, ...]
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Phrase:
    """The alternatives of which each has to be mentioned, and the concepts of which none may be.

    One that `is_alone` fits only where its words are the whole question.
    """

    wanted: tuple[tuple[str, ...], ...]
    unwanted: frozenset[str]
    is_alone: bool = False


def phrase(text: str) -> Phrase:
    """A phrase from its text."""
    parts = text.removeprefix("=").split()
    wanted = tuple(tuple(part.split("|")) for part in parts if not part.startswith("!"))
    return Phrase(wanted, frozenset(part[1:] for part in parts if part.startswith("!")), text.startswith("="))


def ranked(question: str) -> Ranked:
    """The symptoms that a question describes."""
    text = plain(question)
    found = mentions(text)
    concepts = {each.concept for each in found}
    is_in_field = not FIELD.isdisjoint(concepts)
    is_about_else = "tensorflow" in concepts or ("outside" in concepts and not is_in_field)
    if is_about_else:
        return Ranked((), is_sure=False)
    scores = {at: _fit(phrases, found, concepts, len(text)) for at, phrases in enumerate(all_phrases())}
    complete = sorted((at for at, (score, _) in scores.items() if score > 0), key=lambda at: (-scores[at][0], at))
    if complete and "outside" not in concepts and scores[complete[0]][1] >= SURE:
        best = scores[complete[0]][0]
        beside = [at for at in complete if scores[at][0] >= BESIDE * best]
        return Ranked(tuple(SYMPTOMS[at] for at in beside[:MOST]), is_sure=True)
    if not (is_in_field or complete or (concepts - FRAME and concepts.isdisjoint(ELSEWHERE))):
        return Ranked((), is_sure=False)
    parts = _partial(found, text)
    close = sorted(parts, key=lambda at: (-(parts[at] + (1 if scores[at][0] else 0)), at))
    near = [at for at in close if parts[at] >= CLOSE or scores[at][0]] or [at for at in close if parts[at] > 0]
    return Ranked(tuple(SYMPTOMS[at] for at in near[:MOST]), is_sure=False)


def named_rules(question: str) -> tuple[str, ...]:
    """The codes of the rules all of whose names' words stand in a short question about data loading.

    `can I use CUDA tensors in my dataset` names cuda-tensor-in-dataset. The name with the most words wins.
    """
    text = plain(question)
    concepts = {each.concept for each in mentions(text)}
    if len(text.split()) > LONGEST or FIELD.isdisjoint(concepts) or not concepts.isdisjoint({"outside", "tensorflow"}):
        return ()
    words = set(_words(text))
    there = {code: len(parts) for code, parts in names().items() if parts <= words}
    most = max(there.values(), default=0)
    return tuple(code for code, count in there.items() if count == most)


@cache
def names() -> dict[str, frozenset[str]]:
    """The words of the name of each rule that has at least two, by code."""
    from dataloader_lint.rules.registry import found_rules

    several = {
        code: frozenset(_words(found.rule.name.replace("-", " "))) - _SMALL for code, found in found_rules().items()
    }
    return {code: words for code, words in several.items() if len(words) > 1}


@cache
def all_phrases() -> tuple[tuple[Phrase, ...], ...]:
    """The phrases of each symptom."""
    return tuple(tuple(phrase(text) for text in each.asked) for each in SYMPTOMS)


@cache
def weights() -> dict[str, float]:
    """How much each concept says: the less, the more symptoms there are in whose phrases it stands."""
    counts = Counter(
        concept
        for phrases in all_phrases()
        for concept in {name for each in phrases if not each.is_alone for names in each.wanted for name in names}
    )
    return {concept: math.log(1 + len(SYMPTOMS) / count) for concept, count in counts.items()}


def _weight(concept: str) -> float:
    return weights().get(concept, 1.0)


def _fit(phrases: Sequence[Phrase], found: list[Mention], concepts: set[str], length: int) -> tuple[float, float]:
    """The score of the best phrase that is there in full, and the share that it explains of the question.

    `length` is how many characters the question has.
    """
    best = (0.0, 0.0)
    for each in phrases:
        if not each.unwanted.isdisjoint(concepts):
            continue
        chosen = _closest(each.wanted, found)
        if chosen is None or (each.is_alone and _span(chosen) < length):
            continue
        weight = sum(_weight(one.concept) for one in chosen) * (1 + EACH * (len(chosen) - 1))
        begin, end = min(one.start for one in chosen) - NEAR, max(one.end for one in chosen) + NEAR
        around = [one for one in found if begin <= one.start and one.end <= end]
        share = weight / (weight + _unexplained(around, chosen))
        span = end - begin - 2 * NEAR
        nearness = 1 - 0.5 * min(max(span - NEAR, 0) / FAR, 1)
        best = max(best, (weight * nearness * (0.4 + 0.6 * share), share * nearness))
    return best


def _unexplained(around: Iterable[Mention], chosen: Sequence[Mention]) -> float:
    """The weight of what else is mentioned there. Words that stand for several concepts count once."""
    known = {one.concept for one in chosen} | FRAME
    by_place: dict[int, tuple[str, float]] = {}
    for one in around:
        if one.concept in known or any(one.start < o.end and o.start < one.end for o in chosen):
            continue
        by_place[one.start] = max(by_place.get(one.start, ("", 0.0)), (one.concept, _weight(one.concept)), key=_second)
    return sum(dict(by_place.values()).values())


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


def _closest(wanted: Sequence[tuple[str, ...]], found: list[Mention]) -> list[Mention] | None:
    """A mention for each wanted concept, at places of their own and close together; None if one is not mentioned."""
    best: list[Mention] | None = None
    for anchor in (one for one in found if one.concept in wanted[0]):
        chosen = [anchor]
        for names in wanted[1:]:
            free = [
                one
                for one in found
                if one.concept in names and all(one.end <= o.start or o.end <= one.start for o in chosen)
            ]
            if not free:
                break
            chosen.append(min(free, key=lambda one: abs(one.start - anchor.start)))
        else:
            if best is None or _span(chosen) < _span(best):
                best = chosen
    return best


def _span(chosen: list[Mention]) -> int:
    return max(one.end for one in chosen) - min(one.start for one in chosen)


def _partial(found: list[Mention], text: str) -> dict[int, float]:
    """How close each symptom comes, between 0 and 1: by the concepts of its phrases, and by the words of its page."""
    concepts = {each.concept for each in found}
    by_words = _by_words(text)
    most = max(by_words.values(), default=0.0)
    result: dict[int, float] = {}
    for at, phrases in enumerate(all_phrases()):
        share = 0.0
        for each in phrases:
            if each.is_alone or not each.unwanted.isdisjoint(concepts):
                continue
            parts = [max(_weight(name) for name in names) for names in each.wanted]
            there = [
                part
                for part, names in zip(parts, each.wanted, strict=True)
                if not concepts.isdisjoint(set(names) - FRAME)
            ]
            share = max(share, sum(there) / sum(parts))
        words = by_words.get(at, 0.0) / most if most else 0.0
        result[at] = 0.7 * share + 0.3 * words
    return result


@cache
def documents() -> tuple[Counter[str], ...]:
    """The words of each symptom: of its title, its text, and the names and summaries of its rules."""
    from dataloader_lint.rules.registry import found_rules

    rules = found_rules()
    texts = [
        " ".join(
            [
                f"{each.title} {each.title} {each.page}",
                *(pattern.pattern for pattern in each.messages),
                *(f"{rules[code].rule.name} {rules[code].page.strip().partition(chr(10))[0]}" for code in each.rules),
            ]
        )
        for each in SYMPTOMS
    ]
    return tuple(Counter(_words(plain(text))) for text in texts)


def _by_words(text: str) -> dict[int, float]:
    """The BM25 score of the words of a question for each symptom."""
    several = documents()
    average = sum(each.total() for each in several) / len(several)
    scores: dict[int, float] = {}
    for word in set(_words(text)):
        having = [at for at, each in enumerate(several) if each[word]]
        rarity = math.log(1 + (len(several) - len(having) + 0.5) / (len(having) + 0.5))
        for at in having:
            count, length = several[at][word], several[at].total() / average
            scores[at] = scores.get(at, 0.0) + rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))
    return scores


def _words(text: str) -> Iterable[str]:
    """The words of a plain text, cut to their stems in the simplest way."""
    for word in _WORD.findall(text):
        yield re.sub(r"(?:ings?|ed|es|s|ly)$", "", word) if len(word) > 4 else word
