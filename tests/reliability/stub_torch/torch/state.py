"""What the stand-in remembers, of the process that it is in."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

noted: list[tuple[Any, ...]] = []
"""The copies that were asked for, in their order."""
pending: list[Callable[[], None]] = []
"""Copies that nobody has waited for."""
start_method = ""
chance = random.Random(0)
initial = 0


def note(*what: Any) -> None:
    noted.append(what)


def accelerator() -> str:
    return os.environ.get("STUB_ACCELERATOR", "")


def has_races() -> bool:
    return os.environ.get("STUB_RACES", "1") == "1"


def synchronize() -> None:
    while pending:
        pending.pop(0)()


def seed(value: int) -> None:
    global initial
    initial = value
    chance.seed(value)


def start_again() -> None:
    """As in a process that has just been started."""
    global start_method
    noted.clear()
    pending.clear()
    start_method = ""
    seed(0)
