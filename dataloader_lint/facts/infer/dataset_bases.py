"""Which classes derive from a Dataset of torch, or from one that a library defines."""

from __future__ import annotations

from dataloader_lint.facts.infer.values import Class, Evaluator
from dataloader_lint.facts.libraries.datasets import DATASET_BASES, DATASET_PACKAGES, ITERABLE_BASES


def is_dataset_base(name: str) -> bool:
    """True if a class of a library is a Dataset of torch."""
    if name in DATASET_BASES or name in ITERABLE_BASES:
        return True
    package, _, last = name.rpartition(".")
    return any(package == known or package.startswith(f"{known}.") for known in DATASET_PACKAGES) and last != "Dataset"


def dataset_kind(ev: Evaluator, klass: Class) -> str:
    """`map`, `iterable`, or an empty string for a class that does not derive from a Dataset of torch."""
    libraries = ev.bases(klass).libraries
    if any(name in ITERABLE_BASES for name in libraries):
        return "iterable"
    return "map" if any(is_dataset_base(name) for name in libraries) else ""
