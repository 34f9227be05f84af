"""The kinds of entities that rules check. Free of LibCST, so that listing the rules stays cheap."""

from __future__ import annotations

from enum import Enum


class Entity(Enum):
    """The argument of a rule's `check`, which is called once per entity in the linted file."""

    # facts.analysis.Analysis: the whole file. It is right for what a fact finds as such, once for the file: functions
    # in workers, callbacks, what Datasets keep, loops over epochs, pairs of a loader and a move. Each of these has a
    # class of its own with all that the rule says about it, from the property of Analysis that the rule reads; an
    # entity for it would name that property a second time. It is right as well for a rule that reads settings.
    MODULE = "module"
    DATASET = "dataset"  # facts.object_state.dataset.Dataset
    LOADER = "loader"  # facts.infer.loader_calls.Loader, also for the options of a trainer
    TRANSFER = "transfer"  # facts.transfers.batches.Transfer
