"""How much a container of samples matters: its level, what the message says of its size, and its cause.

All containers of one class are one cause, that of the base where a base declares or reads one of them.
"""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import libcst as cst

from dataloader_lint.diagnostics import Level
from dataloader_lint.pipeline.dataset_class import dataset_class
from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.rules.memory._shared.consumers import Readers, WorkersOf
from dataloader_lint.rules.memory._shared.dataset import StoringDataset, storing
from dataloader_lint.rules.memory._shared.estimates import (
    Estimate,
    estimate,
    is_for_evaluation,
    size_text,
    subclasses_of,
)
from dataloader_lint.rules.memory._shared.mutations import added_to
from dataloader_lint.rules.wording import by_default
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.size_classes import Size, size_of
from dataloader_lint.semantics.values.values import Class, constant

_LONGEST = 160  # of a message
_PLAIN = 4  # times the threshold where the name of a data set is all that is known, and its elements are small
_SELECTING = frozenset({"filter", "sample", "choice", "choices", "islice", "subset"})


class Stored(Protocol):
    """A container of samples, as rules report it."""

    @property
    def node(self) -> Node: ...
    @property
    def name(self) -> str: ...
    @property
    def binding(self) -> AttributeBinding: ...
    @property
    def count(self) -> int | None: ...
    @property
    def bytes_each(self) -> int | None: ...
    @property
    def use(self) -> FieldUse: ...


@dataclass(frozen=True, slots=True)
class Weight:
    """The level of one container, and the words of its message: `size` about each worker, `why` of a note.

    `sizes` are such words from the longest to the shortest; `others` says that some more containers are as large, and
    `is_small` that all of them take less than the setting asks for.
    `base` is the class of another file that must change.
    """

    level: Level
    cause: str
    workers: WorkersOf
    sizes: tuple[str, ...] = ()
    why: str = ""
    others: str = ""
    is_small: bool = False
    base: Class | None = None
    steps: tuple[Step, ...] = ()

    @property
    def advice(self) -> str:
        """What to do where another class must change; empty otherwise."""
        return f"change it in `{self.base.node.name.value}`" if self.base is not None else ""

    def message(self, subject: str, notes: SequenceOf[str], advice: str) -> str:
        """The problem: `subject` is the container with its kind, `notes` what is said of one whose size is unknown.

        With the advice it stays within what a message may have: of several `notes` the last one is the shortest.
        """
        if self.base is not None:
            return f"{subject}, which `{self.base.node.name.value}` keeps for all its subclasses"
        if self.why:
            return f"{subject}, {self.why}"
        ways = [f"{subject}{self.others}, {size}" for size in self.sizes] or [f"{subject}{note}" for note in notes]
        return next((each for each in ways if len(f"{each}; {advice}") <= _LONGEST), ways[-1])


def weigh(dataset: StoringDataset, stored: SequenceOf[Stored], file: File) -> list[Weight]:
    """The weight of each container of a class that a rule reports."""
    cause = _cause(dataset, stored)
    groups: dict[int, _Group] = {}
    for each in stored:
        owner = dataset.owner_of(each.binding)
        groups.setdefault(id(owner.scope), _Group(dataset, owner, file)).stored.append(each)
    return [_weight(dataset, each, groups[id(dataset.owner_of(each.binding).scope)], cause) for each in stored]


class _Group:
    """The containers that one class binds, and what they come to together."""

    def __init__(self, dataset: StoringDataset, owner: Class, file: File) -> None:
        self.dataset = dataset
        self.owner = owner
        self.file = file
        self.stored: list[Stored] = []

    @cached_property
    def guess(self) -> Estimate | None:
        """How much memory they take, if that can be told."""
        sizes = [each.bytes_each for each in self.stored if self.has_sample_each(each)]
        return estimate(self.dataset.ev, self.file.settings, self.owner, self._subclasses, sizes)

    def has_sample_each(self, stored: Stored) -> bool:
        """True if it can be as long as the data set; in another object only what the index of a sample asks for."""
        home = classes.class_of(stored.binding.method) or stored.binding.method
        is_own = any(each.scope is home for each in self.dataset.bases.classes)
        return is_own or stored.use.indexed >= IndexDep.PLACE

    @cached_property
    def are_selected(self) -> bool:
        """True if one of them may hold only some of the samples."""
        return any(_is_selected(self.dataset, each) for each in self.stored)

    @cached_property
    def are_for_evaluation(self) -> bool:
        """True if they are read where nothing is trained: in tests, or for validation."""
        return is_test(self.file.module) or is_for_evaluation(self.dataset.ev, self.owner, self._subclasses)

    @cached_property
    def large(self) -> frozenset[int]:
        """The `id` of those that take at least half of what the largest one takes."""
        sizes = [(_bytes(each), each) for each in self.stored if self.has_sample_each(each)]
        largest = max((size for size, _ in sizes), default=0)
        return frozenset(id(each) for size, each in sizes if 2 * size >= largest)

    @cached_property
    def _subclasses(self) -> list[str]:
        return subclasses_of(self.dataset.ev, self.owner, {each.binding.name for each in self.stored})


def _weight(dataset: StoringDataset, stored: Stored, group: _Group, cause: str) -> Weight:
    workers = dataset.workers_for(stored.binding)
    if (found := _base_elsewhere(dataset, group.owner, stored)) is not None:
        base, binding = found
        step = Step(base.scope.module, binding.node, f"`{base.node.name.value}` binds it here; change it there")
        return Weight(Level.NOTE, cause, workers, base=base, steps=(step,))
    if dataset.is_unread and workers.readers is not Readers.WITHOUT_WORKERS:
        return Weight(Level.NOTE, cause, workers, why="read by no DataLoader in sight: nothing is copied")
    if workers.readers is Readers.WITHOUT_WORKERS:
        return Weight(Level.NOTE, cause, workers, why=f"not copied yet: {_without_workers(workers)}")
    if stored.count is not None:
        return Weight(Level.NOTE, cause, workers, why=f"small as it is written: {stored.count} of them", is_small=True)
    guess = group.guess
    if guess is None or not group.has_sample_each(stored):
        return Weight(Level.NOTE, cause, workers)
    count = f", {workers.number} workers" if workers.number > 1 else ""
    text, short = guess.text(group.are_selected), guess.short(group.are_selected)
    if group.are_for_evaluation:
        return Weight(Level.NOTE, cause, workers, (f"for evaluation only: {text}", f"for evaluation only: {short}"))
    sizes = (f"{text}{count}", text, f"{short} ({guess.source})", short)
    threshold = group.file.settings.memory_threshold
    if guess.total < threshold * (_PLAIN if guess.is_plain else 1):
        is_small = guess.total < threshold
        return Weight(
            Level.NOTE,
            cause,
            workers,
            tuple(f"but small: {each}" if is_small else each for each in sizes),
            is_small=is_small,
        )
    if id(stored) not in group.large:
        return Weight(Level.NOTE, cause, workers, sizes)
    others = len(group.large) - 1
    return Weight(Level.MEMORY, cause, workers, sizes, others=f" (and {others} more)" if others else "")


def _bytes(stored: Stored) -> int:
    return 1000 if stored.bytes_each is None else stored.bytes_each


def _without_workers(workers: WorkersOf) -> str:
    """Why nothing is copied: `num_workers` is 0, by a default, or was left out."""
    if workers.loader is None:
        return "the trainer has no workers"
    known = constant(workers.loader.values("num_workers"))
    if workers.loader.is_passed("num_workers") is False:
        return f"`{workers.loader.name}` is made without `num_workers`"
    return f"`num_workers` is 0{by_default(known.default) if known is not None else ''}"


def copies(workers: WorkersOf, is_read: bool) -> str:
    """Who gets a copy, where nobody knows how large it is."""
    if workers.readers is Readers.UNSEEN:
        return "is copied to each worker that reads it" if is_read else "is copied to each spawned worker"
    who = f"each of {workers.number} workers" if workers.number > 1 else "each worker"
    return f"is copied to {who}" if is_read else f"is copied to {who}, if spawned"


def notes_on(workers: WorkersOf, reading: str, size: int | None, before: str = " ") -> list[str]:
    """What is said of a container of unknown length, from the longest way to the shortest.

    ` indexed per sample is copied to each of 4 workers (120 B per item)`.
    """
    copied = copies(workers, bool(reading))
    read = f"{before}{reading}{before.rstrip()}" if reading else ""
    each = "" if size is None else f" ({size_text(size)} per item)"
    return [f"{read} {copied}{each}", f" {copied}{each}", f" {copied}"]


def _cause(dataset: StoringDataset, stored: SequenceOf[Stored]) -> str:
    """The class, or the outermost base that declares or reads one of its containers."""
    names = {each.binding.name for each in stored}
    home = dataset.klass
    for base in dataset.bases.classes:
        if not names.isdisjoint(_attributes_of(base)):
            home = base
    return home.node.name.value


def _attributes_of(klass: Class) -> frozenset[str]:
    """The attributes of the object itself that a class binds or reads."""
    scope = klass.scope

    def work_out() -> frozenset[str]:
        found = set(classes.attribute_bindings(scope))
        for method in classes.methods_of(scope).values():
            own = classes.receiver_name(method)
            for inner in method.descend():
                found |= {each.attr.value for each in inner.own(cst.Attribute) if dotted(each.value) == own}
        return frozenset(found)

    return scope.module.tree.once(("own attributes", id(scope)), work_out)


def _base_elsewhere(dataset: StoringDataset, owner: Class, stored: Stored) -> tuple[Class, AttributeBinding] | None:
    """The base in another file that itself fills what a subclass only binds again, with the binding there."""
    ev, name = dataset.ev, stored.binding.name
    for base in ev.bases(owner).classes[1:]:
        module = base.scope.module
        bindings = classes.attribute_bindings(base.scope).get(name, [])
        if module is owner.scope.module or not bindings:
            continue
        holder = storing(dataset_class(dataset.reach, base))
        for binding in bindings:
            values = attributes.bound(ev, binding, holder.self_value)
            if added_to(holder, name, binding) or any(size_of(ev, each) in _LARGE for each in values):
                return base, binding
    return None


_LARGE = (Size.LIST, Size.DICT, Size.ARRAY)


def _is_selected(dataset: StoringDataset, stored: Stored) -> bool:
    """True if the code keeps only some of the samples: a filter, a slice, a sample, an `if` around what is added."""
    binding = stored.binding
    tree = binding.method.module.tree
    if binding.value is not None and binding.value in tree:
        for each in tree.walk(binding.value):
            if isinstance(each, cst.CompFor) and each.ifs:
                return True
            if isinstance(each, cst.Call) and last_name(each.func) in _SELECTING:
                return True
            if isinstance(each, cst.Slice) and (each.upper is not None or each.step is not None):
                return True
    for added, scope in added_to(dataset, stored.name, binding):
        inner = scope.module.tree
        for above in inner.ancestors(added):
            if isinstance(above, cst.If):
                return True
            if isinstance(above, cst.For | cst.FunctionDef):
                break
    return False
