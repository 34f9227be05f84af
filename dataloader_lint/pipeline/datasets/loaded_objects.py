"""Objects loaded from files, whose type only their use shows.

`pickle.load`, `torch.load` and the like return anything. What is asked for the id of a record, for the name of a file,
or for its own keys is a dict.
"""

from __future__ import annotations

from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.values.values import CallResult, ItemOf, Value


def is_loaded(value: Value) -> bool:
    """True for an object loaded from a file, or an item of it: `pickle.load(file)["scans"]`."""
    while isinstance(value, ItemOf) and isinstance(value.index, str):
        value = value.of
    return isinstance(value, CallResult) and row(value.library).gives in ("config", "object")
