"""Samples that can be None in a loader whose default collate function has to build a batch of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.instances import harms_one, of_object
from dataloader_lint.rules.samples.dl604_sample_can_be_none.none_results import is_reached_for_data, none_places
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope
from dataloader_lint.semantics.values.values import Class, Const, Evaluator, Frame, Value

_TORCH = LOADERS["torch.utils.data.DataLoader"]


@dataclass(frozen=True, slots=True, eq=False)
class MissingSample:
    """A statement of `__getitem__` that returns None as the sample, and a loader that cannot collate it."""

    statement: Node
    klass: Class
    loader: Loader
    how: str  # "returns None here", "returns None after this handler", ...

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made that collates the samples."""
        return loader_steps.made(self.loader, "collate_fn")

    @property
    def name(self) -> str:
        return self.klass.node.name.value


def missing_samples(reach: DatasetFlow, module: ModuleFacts) -> Iterator[MissingSample]:
    """Yields the places in `__getitem__` methods of a module that return None to a loader with torch's collate_fn."""
    for klass in reach.workers.datasets(module):
        method = classes.methods_of(klass.scope).get("__getitem__")
        if method is None:
            continue
        frame = reach.ev.frame_of(method)
        places = list(none_places(reach.ev, method, frame))
        loaders = (
            [each for each in reach.loaders_of(klass) if _collates_results(reach.ev, each, method)] if places else []
        )
        for place in places:
            loader = next((each for each in loaders if _may_get(reach.ev, klass, each, place.node, frame)), None)
            if loader is not None:
                yield MissingSample(place.node, klass, loader, place.how)


def _may_get(ev: Evaluator, klass: Class, loader: Loader, node: Node, frame: Frame) -> bool:
    """False if every object that a loader gets is known to skip a place of its `__getitem__`."""
    return harms_one(ev, klass, [loader], lambda made, _: is_reached_for_data(ev, node, of_object(frame, made)))


def _collates_results(ev: Evaluator, loader: Loader, method: Scope) -> bool:
    """True if a loader collates the results of the method with torch's default function."""
    collate, size = loader.known("collate_fn"), loader.values("batch_size")
    if collate is None or collate.value is not None or loader.kind is not _TORCH or not loader.is_reached:
        return False
    if any(isinstance(each, Const) and each.value is None for each in size):
        return False  # without batches, nothing is collated
    return any(_samples_come_from(ev, value, method) for value in loader.values("dataset"))


def _samples_come_from(ev: Evaluator, value: Value, method: Scope) -> bool:
    """True if the samples of a Dataset are the results of the method, directly or through wrappers of torch."""
    for made in wrapped_datasets(ev, value):
        assert isinstance(made.by, Class)
        found = classes.find_method(ev, ev.bases(made.by).classes, "__getitem__")
        if found is not None and found.scope is method:
            return True
    return False
