"""Reads that no worker reaches, because the objects that workers get do not meet a condition."""

from __future__ import annotations

from dataloader_lint.pipeline.datasets.field_uses import FieldUse
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached, way_to
from dataloader_lint.semantics.evaluation import attributes


def is_reached_in_workers(dataset: StoringDataset, use: FieldUse) -> bool:
    """True if a worker may come to one of the places that read an attribute, as far as conditions there are known."""
    if not all(
        way_to(each.node, each.scope) is not None and classes.class_of(each.scope) is not None for each in use.places
    ):
        return True
    if not use.places:
        return True
    objects = dataset.objects_in_workers
    return any(
        is_reached(dataset.ev, place.node, attributes.method_frame(dataset.ev, place.scope, each), with_options=True)
        for place in use.places
        for each in objects
    )
