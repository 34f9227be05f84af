"""A Dataset class as it is built and read, with all its bases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import libcst as cst

from dataloader_lint.facts.datasets.field_uses import FieldUse, FieldUses
from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.classes import AttributeBinding
from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.values import Bases, CallResult, Class, Evaluator
from dataloader_lint.facts.loaders import loader_steps
from dataloader_lint.facts.object_state import constructed, consumers
from dataloader_lint.facts.object_state.read_places import first_read
from dataloader_lint.facts.syntax.steps import Step
from dataloader_lint.facts.syntax.tree import Scope
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow
from dataloader_lint.facts.workers.instances import may_construct
from dataloader_lint.facts.workers.worker_steps import loader_of_class


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A class whose objects are read by the workers of a DataLoader, seen as one with all its bases."""

    klass: Class
    bases: Bases
    ev: Evaluator
    construction: tuple[Scope, ...]  # the functions that making an object runs, in the order in which they are met
    reads: FieldUses
    reach: DatasetFlow

    @property
    def name(self) -> str:
        return self.klass.node.name.value

    @property
    def self_value(self) -> CallResult:
        """An object of the class about whose construction nothing is known."""
        return CallResult(self.klass, None, None)

    @property
    def is_unread(self) -> bool:
        """True if no visible code reads it through a loader that has workers, or may get some. Expensive."""
        return consumers.is_unread(self.reach, self.klass)

    @property
    def has_no_workers_yet(self) -> bool:
        """True if all visible loaders that may read it surely start no workers: none copies it now. Expensive."""
        return consumers.has_no_workers_yet(self.reach, self.klass)

    def has_no_workers_for(self, binding: AttributeBinding) -> bool:
        """The same for what a binding stores: loaders of objects that do not run it do not count. Expensive."""
        return consumers.has_no_workers_yet(self.reach, self.klass, partial(self._may_run, binding))

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
