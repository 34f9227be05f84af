"""Phrases that the messages of several rules share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

# Where workers are started by spawn or forkserver unless the program asks for something else.
SPAWN_PLATFORMS = "macOS, Windows, Python 3.14+"
_PICKLING_FAILS = "pickling it for workers fails"
PICKLING_FAILS = f"{_PICKLING_FAILS} ({SPAWN_PLATFORMS})"
# A class or function of a notebook is pickled by name, and spawned workers look for it in a `__main__` without it.
NOT_IN_WORKERS = f"spawned workers cannot import it ({SPAWN_PLATFORMS})"
MOVE_OUT_OF_NOTEBOOK = "import it from a .py file"

# Why a finding has no fix.
IN_OTHER_FILE = "it is written in another file"
HOLDS_UNPICKLABLE = "it captures what cannot be pickled"


def has_number_of_workers(loader: Loader) -> bool:
    """False for a loader whose number of workers is left out, and 0 then: nobody asked for workers yet."""
    return loader.is_passed("num_workers") is not False or bool(loader.kind.defaults.get("num_workers"))


def pickling_fails(loader: Loader) -> str:
    """The effect on a loader; one without a number of workers works until there are some."""
    return PICKLING_FAILS if has_number_of_workers(loader) else f"{_PICKLING_FAILS} once `num_workers > 0`"


def define_function(is_in_notebook: bool, what: str = "it") -> str:
    """The advice for a lambda, or for several of them."""
    place = f"in a .py file and import {what}" if is_in_notebook else "at module level"
    return f"define {what} with `def` {place}"


def move_function(is_in_notebook: bool) -> str:
    """The advice for a nested function."""
    return f"move it to {'a .py file' if is_in_notebook else 'module level'} and use `partial`"


def by_default(label: str) -> str:
    """Names what a default belongs to: " (`--workers`)" for "the default of `--workers`"; empty if nothing does."""
    return f" ({label.removeprefix('the default of ')})" if label else ""


def no_workers(is_passed: bool, label: str = "", option: str = "num_workers") -> str:
    """Says that a loader has no workers, and by which default, if any. `option` is the argument for their number."""
    return f"`{option}` is 0{by_default(label)}" if is_passed or label else f"`{option}` defaults to 0"


def what_raises(loader: Loader, options: Sequence[str]) -> str:
    """What raises for options that need workers; of a trainer's options only `prefetch_factor` is checked at once."""
    is_accepted = loader.kind.spellings and "prefetch_factor" not in options
    return "the trainer" if is_accepted else f"`{loader.name}`"


def without_platforms(problem: str) -> str:
    """A message without the platforms that spawn workers, for programs whose settings say that they do."""
    return problem.replace(f" ({SPAWN_PLATFORMS})", "")
