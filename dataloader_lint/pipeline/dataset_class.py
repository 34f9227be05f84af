"""Dataset classes as they are built and read, each seen as one with all its bases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dataloader_lint.pipeline.datasets.construction import construction_of, with_setup_methods
from dataloader_lint.pipeline.datasets.field_uses import FieldUses
from dataloader_lint.pipeline.datasets.reads import reads_of
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import Bases, CallResult, Class, Evaluator


@dataclass(frozen=True, slots=True, eq=False)
class DatasetClass:
    """A class whose objects are read by a DataLoader."""

    klass: Class
    bases: Bases
    ev: Evaluator
    construction: tuple[Scope, ...]  # the functions that making an object runs, in the order in which they are met
    reads: FieldUses  # how worker code reads its attributes
    reach: DatasetFlow

    @property
    def name(self) -> str:
        return self.klass.node.name.value

    @property
    def self_value(self) -> CallResult:
        """An object of the class about whose construction nothing is known."""
        return CallResult(self.klass, None, None)


def dataset_class(reach: DatasetFlow, klass: Class) -> DatasetClass:
    """What is known about a class that is a Dataset."""
    ev = reach.ev
    bases = ev.bases(klass)
    reads = reads_of(ev, klass, bases)
    construction = with_setup_methods(ev, bases, construction_of(ev, bases), reads)
    return DatasetClass(klass, bases, ev, construction, reads, reach)


def datasets_in(reach: DatasetFlow, module: ModuleFacts) -> Iterator[DatasetClass]:
    """The Datasets that a module defines: by their bases, or because an object of theirs reaches a DataLoader."""
    for scope in module.root.descend():
        if not scope.is_class or scope.parent is None:
            continue
        klass = Class(scope, reach.ev.frame_of(scope.parent))
        if reach.workers.is_dataset(klass):
            yield dataset_class(reach, klass)
