"""Dataset classes with what construction stores in them, and which loaders read it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import libcst as cst

from dataloader_lint.pipeline.dataset_class import DatasetClass
from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.instances import may_construct
from dataloader_lint.pipeline.workers.worker_steps import loader_of_class
from dataloader_lint.rules.memory._shared import constructed, consumers
from dataloader_lint.rules.memory._shared.read_places import first_read
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import CallResult, Class


@dataclass(frozen=True, slots=True, eq=False)
class StoringDataset(DatasetClass):
    """A Dataset class with what rules about its memory ask: who reads it, and what construction stores in it."""

    @property
    def is_unread(self) -> bool:
        """True if no visible code reads it through a loader that has workers, or may get some. Expensive."""
        return consumers.is_unread(self.reach, self.klass)

    @property
    def is_read_by_own_code(self) -> bool:
        """True if it derives from no Dataset, and no code reads it through a loader. Expensive."""
        return not dataset_kind(self.ev, self.klass) and self.is_unread

    @property
    def has_no_workers_yet(self) -> bool:
        """True if all visible loaders that may read it surely start no workers: none copies it now. Expensive."""
        return consumers.has_no_workers_yet(self.reach, self.klass)

    def workers_for(self, binding: AttributeBinding) -> consumers.WorkersOf:
        """The workers that get what a binding stores, as far as they are known. Expensive."""
        return consumers.workers_of(self.reach, self.owner_of(binding), partial(self._may_run, binding))

    def owner_of(self, binding: AttributeBinding) -> Class:
        """The class whose code has a binding: this one, or a base of it."""
        home = classes.class_of(binding.method) or binding.method
        return next((each for each in self.bases.classes if each.scope is home), self.klass)

    def _may_run(self, binding: AttributeBinding, loader: Loader, if_unknown: bool = True) -> bool:
        return may_construct(self.ev, self.klass, loader, binding.node, binding.method, if_unknown)

    @property
    def objects_in_workers(self) -> list[CallResult]:
        """Its objects as the visible loaders that may have workers get them, or one of which nothing is known."""
        return consumers.objects_in_workers(self.reach, self.klass) or [self.self_value]

    def steps_to(self, use: FieldUse, binding: AttributeBinding) -> tuple[Step, ...]:
        """Where worker code reads what a binding gives an attribute, and a loader of an object that runs it."""
        place = first_read(use, binding)
        read = (Step(place.scope.module, place.node, f"{_called(place.scope)} reads it here"),) if place else ()
        fits = [partial(self._may_run, binding, if_unknown=each) for each in (False, True)]
        loader = loader_of_class(self.reach, self.klass, fits=fits)
        return (*read, *(loader_steps.made(loader, "num_workers") if loader is not None else ()))

    def bound(self) -> dict[str, list[AttributeBinding]]:
        """Where construction binds the attributes of the object, by attribute, in the order of construction."""
        return constructed.fields_of(self.ev, self.klass, self.bases, self.construction, self.reads)


def _called(scope: Scope) -> str:
    """What the user calls a function that workers run."""
    if not isinstance(scope.node, cst.FunctionDef):
        return "worker code"
    klass = classes.class_of(scope)
    owner = f"{klass.node.name.value}." if klass is not None and isinstance(klass.node, cst.ClassDef) else ""
    return f"`{owner}{scope.node.name.value}`"


def storing(dataset: DatasetClass) -> StoringDataset:
    """The same Dataset with what rules about its memory ask."""
    return StoringDataset(dataset.klass, dataset.bases, dataset.ev, dataset.construction, dataset.reads, dataset.reach)


def storing_datasets(file: File) -> list[StoringDataset]:
    """The Datasets of a file."""
    return file.once(_storing_datasets)


def _storing_datasets(file: File) -> list[StoringDataset]:
    return [storing(each) for each in file.datasets]
