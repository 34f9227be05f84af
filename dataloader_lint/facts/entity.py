"""The kinds of entities that rules check. Free of LibCST, so that listing the rules stays cheap."""

from __future__ import annotations

from enum import Enum


class Entity(Enum):
    """The argument of a rule's `check`, which is called once per entity in the linted file."""

    MODULE = "module"  # facts.analysis.Analysis: the whole file
    DATASET = "dataset"  # facts.datasets.datasets.Dataset
    LOADER = "loader"  # facts.infer.loader_calls.Loader
