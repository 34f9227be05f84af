"""How worker code reads the attributes of a Dataset: records per attribute and for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.semantics.syntax.tree import Scope

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True, eq=False)
class AccessSite:
    """An expression of worker code that reads an attribute, the function that contains it, and how it reads."""

    node: cst.BaseExpression
    scope: Scope
    indexed: IndexDep = IndexDep.NONE
    itself: IndexDep = IndexDep.NONE
    queried: IndexDep = IndexDep.NONE
    is_iterated: bool = False
    is_sampled: bool = False


@dataclass(slots=True)
class FieldUse:
    """How worker code reads one attribute."""

    indexed: IndexDep = IndexDep.NONE  # of it, or of an element of it under a key that is the same for all samples
    itself: IndexDep = IndexDep.NONE  # the same, of the attribute itself only
    queried: IndexDep = IndexDep.NONE  # a method of the attribute gets an argument of this dependence
    is_length: bool = False
    is_iterated: bool = False  # each of its elements becomes one sample
    is_named: bool = False  # it is indexed with a constant string
    is_sampled: bool = False  # an element of it is sampled at random
    places: list[AccessSite] = field(default_factory=list)
    lengths: list[AccessSite] = field(default_factory=list)  # where its length gives the length of the Dataset

    @property
    def is_read_per_sample(self) -> bool:
        """True if it is read per sample, or for the number of samples."""
        levels = (self.indexed, self.itself, self.queried)
        return any(levels) or self.is_length or self.is_iterated or self.is_sampled

    def add(self, place: AccessSite) -> None:
        """Adds an expression that reads it."""
        self.places.append(place)
        self.indexed = max(self.indexed, place.indexed)
        self.itself = max(self.itself, place.itself)
        self.queried = max(self.queried, place.queried)
        self.is_iterated |= place.is_iterated
        self.is_sampled |= place.is_sampled

    def measure(self, place: AccessSite) -> None:
        """Adds an expression that takes the length of the Dataset from it."""
        self.lengths.append(place)
        self.is_length = True

    def only(self, wanted: Callable[[AccessSite], bool]) -> FieldUse:
        """The part of this use that happens at the wanted access sites."""
        found = FieldUse(is_named=self.is_named)
        for place in filter(wanted, self.places):
            found.add(place)
        for place in filter(wanted, self.lengths):
            found.measure(place)
        return found


@dataclass(slots=True)
class FieldUses:
    """How worker code uses all attributes of a Dataset, and the functions that worker code runs."""

    uses: dict[str, FieldUse] = field(default_factory=dict)
    functions: list[Scope] = field(default_factory=list)
    is_stream: bool = False
    following: Scope | None = None  # the `__next__` of a stream

    def of(self, name: str) -> FieldUse:
        return self.uses.get(name, FieldUse())
