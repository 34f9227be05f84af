"""What is known of how worker code reads one attribute of a Dataset, and all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dataloader_lint.facts.datasets.index_dep import IndexDep
from dataloader_lint.facts.syntax.tree import Scope

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True, eq=False)
class AccessSite:
    """One expression of worker code that reads an attribute, the function it stands in, and how it reads."""

    node: cst.BaseExpression
    scope: Scope
    indexed: IndexDep = IndexDep.NONE
    itself: IndexDep = IndexDep.NONE
    queried: IndexDep = IndexDep.NONE
    is_iterated: bool = False
    is_sampled: bool = False


@dataclass(slots=True)
class FieldUse:
    """How one attribute is read by worker code."""

    indexed: IndexDep = IndexDep.NONE  # it, or what stands in it under the same key for all samples
    itself: IndexDep = IndexDep.NONE  # the same of it alone
    queried: IndexDep = IndexDep.NONE  # a method of the attribute is called with something of this level
    is_length: bool = False
    is_iterated: bool = False  # one sample is made of each of its elements
    is_named: bool = False  # a constant string is a key of it
    is_sampled: bool = False  # any of its elements is picked by chance
    places: list[AccessSite] = field(default_factory=list)
    lengths: list[AccessSite] = field(default_factory=list)  # where it is measured for the length of the Dataset

    @property
    def is_of_samples(self) -> bool:
        """Whether it is read for a sample, or for how many there are."""
        levels = (self.indexed, self.itself, self.queried)
        return any(levels) or self.is_length or self.is_iterated or self.is_sampled

    def add(self, place: AccessSite) -> None:
        """Counts one more place that reads it."""
        self.places.append(place)
        self.indexed = max(self.indexed, place.indexed)
        self.itself = max(self.itself, place.itself)
        self.queried = max(self.queried, place.queried)
        self.is_iterated |= place.is_iterated
        self.is_sampled |= place.is_sampled

    def measure(self, place: AccessSite) -> None:
        """Counts one more place that takes the length of the Dataset from it."""
        self.lengths.append(place)
        self.is_length = True

    def only(self, wanted: Callable[[AccessSite], bool]) -> FieldUse:
        """The same use as far as it happens at some of the places."""
        found = FieldUse(is_named=self.is_named)
        for place in filter(wanted, self.places):
            found.add(place)
        for place in filter(wanted, self.lengths):
            found.measure(place)
        return found


@dataclass(slots=True)
class FieldUses:
    """All uses of a Dataset's attributes in worker code, by attribute, and the functions that worker code runs."""

    uses: dict[str, FieldUse] = field(default_factory=dict)
    functions: list[Scope] = field(default_factory=list)
    is_stream: bool = False
    following: Scope | None = None  # the `__next__` of a stream

    def of(self, name: str) -> FieldUse:
        return self.uses.get(name, FieldUse())
