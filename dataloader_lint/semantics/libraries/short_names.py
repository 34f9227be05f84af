"""What functions and methods of a name do, for calls whose receiver or module is unknown.

Each set answers one question. Where the qualified name of a function is known, the rows of `models/` say
more (see `calls.py`); `short` gives the names of the rows that hold something.
"""

from __future__ import annotations

from collections.abc import Callable

from dataloader_lint.semantics.libraries.calls import names_where
from dataloader_lint.semantics.libraries.rows import Call


def short(holds: Callable[[Call], object]) -> frozenset[str]:
    """Returns the last parts of the qualified names of which something holds."""
    return frozenset(name.rpartition(".")[2] for name in names_where(holds))


# The result has the very elements of the first argument, in some order.
SAME_ELEMENTS = frozenset({"frozenset", "list", "reversed", "set", "sorted", "tuple"})
# Iterating over the result gives the elements of the first argument, alone or with their numbers.
YIELDING_ELEMENTS = SAME_ELEMENTS | {"enumerate", "iter", "tqdm", "trange"} | short(lambda call: call.yields_argument)

# Methods and functions that take elements out of a container.
REMOVING = frozenset({"clear", "discard", "heappop", "heappushpop", "pop", "popitem", "popleft", "remove"})

# Functions that call their first argument for each element of the others, and wait for the results or yield them.
MAPPING = frozenset({"imap", "imap_unordered", "map", "process_map", "starmap", "thread_map", "tmap"})

# Functions that call a function which they are given, and are done with it when they return.
CALLING = MAPPING | {"apply", "filter", "for_each", "groupby", "max", "min", "reduce", "sort", "sorted", "sum"}

# Functions that make an array or a tensor of the elements of their first argument.
MAKING_ARRAYS = short(lambda call: call.from_elements) | {"LongTensor", "as_tensor", "from_numpy"}

# Methods of an array, a column or a list that give one with the same elements in the same places.
COPYING = frozenset({"astype", "copy", "to_list", "to_numpy", "tolist"})

# Classes of arrays and tables.
ARRAY_TYPES = frozenset({"DataFrame", "Series", "Tensor", "memmap", "ndarray"})

# Functions and methods that list files: those that take a pattern, and those that take a folder.
GLOBBING = frozenset({"glob", "iglob", "rglob"})
LISTING_FILES = GLOBBING | {"iterdir", "listdir", "scandir", "walk"}

# Builtins that look at an object and keep nothing of it.
INSPECTING = frozenset({"bool", "float", "int", "isinstance", "len", "print", "repr", "str", "type"})
