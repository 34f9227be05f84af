"""What the Datasets of a file store: lists and dicts that grow with the data, bound in that file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dataloader_lint.pipeline.dataset_class import dataset_class
from dataloader_lint.rules.memory._shared.dataset import StoringDataset, storing
from dataloader_lint.rules.memory._shared.plain_fields import plain_storage
from dataloader_lint.rules.memory._shared.sample_storage import SampleStorage, sample_storage
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import SUBCLASS_MODULES
from dataloader_lint.semantics.values.size_classes import Size
from dataloader_lint.semantics.values.values import Class


def sample_lists(dataset: StoringDataset) -> list[SampleStorage]:
    """The Python lists that a Dataset binds in its own file and that are sample storage."""
    return _stored(dataset, Size.LIST)


def sample_dicts(dataset: StoringDataset) -> list[SampleStorage]:
    """The dicts, sets and known holders of them that it binds in its own file and that are sample storage."""
    return _stored(dataset, Size.DICT)


def _stored(dataset: StoringDataset, size: Size) -> list[SampleStorage]:
    tree = dataset.klass.scope.module.tree
    found: dict[tuple[int, str], SampleStorage] = {}
    for each in (*_readers_elsewhere(dataset), dataset):
        for stored in chain(sample_storage(each, size, tree), plain_storage(each, size, tree)):
            if stored.node in tree:
                found.setdefault((id(stored.node), stored.name), stored)
    return list(found.values())


def _readers_elsewhere(dataset: StoringDataset) -> Iterator[StoringDataset]:
    """Classes of other files that inherit a Dataset, where it leaves to them how samples are found or read."""
    if not dataset.bases.complete or not dataset.construction:
        return
    reads_itself = not all(map(classes.is_left_to_subclasses, dataset.reads.functions))
    if reads_itself and not any(map(classes.is_left_to_subclasses, dataset.construction)):
        return
    ev, scope = dataset.ev, dataset.klass.scope
    for module in ev.project.importers(scope.module, [dataset.name], SUBCLASS_MODULES):
        for inheriting in module.classes:
            klass = Class(inheriting, ev.frame_of(inheriting))
            if any(each.scope is scope for each in ev.bases(klass).classes[1:]):
                yield storing(dataset_class(dataset.reach, klass))
