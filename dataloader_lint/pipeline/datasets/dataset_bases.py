"""Which classes derive from a Dataset of torch, or from one that a library defines."""

from __future__ import annotations

import sys

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.catalogue import FOREIGN
from dataloader_lint.semantics.libraries.datasets import (
    CALLED_WITH_INDEX,
    DATASET_BASES,
    DATASET_LIBRARIES,
    DATASET_PACKAGES,
    ITERABLE_BASES,
    OTHER_DATASETS,
)
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import Class, Evaluator


def is_dataset_base(name: str) -> bool:
    """True if a class of a library is a Dataset of torch."""
    if name in DATASET_BASES or name in ITERABLE_BASES:
        return True
    package, _, last = name.rpartition(".")
    if any(package == known or package.startswith(f"{known}.") for known in DATASET_PACKAGES):
        return last != "Dataset"
    return last.endswith("Dataset") and name.partition(".")[0] in DATASET_LIBRARIES


def is_iterable_base(name: str) -> bool:
    """True if a class of a library is an IterableDataset of torch."""
    return name in ITERABLE_BASES or (name.endswith("IterableDataset") and is_dataset_base(name))


def dataset_kind(ev: Evaluator, klass: Class) -> str:
    """`map`, `iterable`, or an empty string for a class that does not derive from a Dataset of torch."""
    libraries = ev.bases(klass).libraries
    if any(is_iterable_base(name) for name in libraries):
        return "iterable"
    if any(is_dataset_base(name) for name in libraries):
        return "map"
    return "map" if any(_is_called_dataset(name) for name in libraries) and _is_indexed(ev, klass) else ""


def _is_called_dataset(name: str) -> bool:
    """True if nothing is known of a library's class but that it is called a Dataset."""
    top, _, _ = name.partition(".")
    is_unknown = top not in _KNOWN and top not in FOREIGN and top not in OTHER_DATASETS
    return is_unknown and name.endswith("Dataset") and not name.endswith("IterableDataset")


# Of Python itself, and of libraries whose Datasets have rows.
_KNOWN = sys.stdlib_module_names | {name.partition(".")[0] for name in DATASET_BASES}


def _is_indexed(ev: Evaluator, klass: Class) -> bool:
    """True if a class defines how a sample is found beside torch, and is not a container used without a loader."""
    found = ev.bases(klass).classes
    return (
        classes.find_method(ev, found, "__getitem__") is not None
        and any(imports_torch(each.scope.module) for each in found)
        and not is_container(ev, klass)
    )


def imports_torch(module: ModuleFacts) -> bool:
    """True if a module imports torch or a part of it at the top."""
    bound = (each for bindings in bindings_of(module.root).values() for each in bindings)
    return any(each.kind is Kind.IMPORT and each.imported.partition(".")[0] == "torch" for each in bound)


def indexed_methods(libraries: tuple[str, ...]) -> tuple[str, ...]:
    """The methods that some base classes of libraries call with the index of a sample."""
    return tuple(
        name
        for prefix, names in CALLED_WITH_INDEX.items()
        if any(library.startswith(prefix) for library in libraries)
        for name in names
    )


def is_container(ev: Evaluator, klass: Class) -> bool:
    """True if a class that looks like a Dataset has special methods of lists and dicts, which no Dataset needs.

    Examples are lists of events and sentences of words: they are not meant for a loader.
    """
    return any(not _CONTAINER_METHODS.isdisjoint(classes.methods_of(each.scope)) for each in ev.bases(klass).classes)


_CONTAINER_METHODS = frozenset(
    f"__{name}__" for name in ("call", "contains", "delitem", "iter", "next", "or", "setitem")
)
