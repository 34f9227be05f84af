"""What rules are about. Free of LibCST, so that listing the rules stays cheap."""

from __future__ import annotations

from enum import Enum


class Entity(Enum):
    """What a rule is about: `check` is called once for each of these that the file has.

    The rule's function `find` gives them, mostly as objects of a class that stands beside the rule. Rules about all
    loaders or all Datasets of a file need none.
    """

    CALLBACK = "callback"  # a function that a loader is given: `collate_fn`, `worker_init_fn`
    DATASET = "dataset"  # a class whose objects a loader reads
    FILE = "file"  # all of it, for the rules that compare things of different kinds; each says why
    LOADER = "loader"  # a call that constructs a DataLoader, or the options of a trainer that does
    LOOP = "loop"  # a loop over a loader, or over epochs
    SAMPLE = "sample"  # what worker code returns
    SCRIPT = "script"  # the code at the top of a file that runs as a program
    SETTING = "setting"  # a call or assignment that changes something for the whole process
    STORED = "stored object"  # what a Dataset keeps, or what is kept in that
    TRANSFER = "transfer"  # a move of a tensor to a device
    WORKER_CODE = "worker code"  # a place that workers run
