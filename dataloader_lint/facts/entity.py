"""The kinds of things that rules look at. Free of LibCST, so that listing the rules stays cheap."""

from __future__ import annotations

from enum import Enum


class Entity(Enum):
    """What a rule's `check` is called with, once for each of them in the linted file."""

    MODULE = "module"  # facts.analysis.Analysis: the whole file
    DATASET = "dataset"  # facts.datasets.datasets.Dataset
    LOADER = "loader"  # facts.infer.loader_calls.Loader
    TRANSFER = "transfer"  # facts.transfers.batches.Transfer
