"""Attributes that hold an object of another kind than a list or dict, whatever a parameter brings now and then."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Mapping, Opaque, Sequence, Values

_ATTRIBUTES = frozenset().union(*map(dir, (list, tuple, set, dict, Counter, OrderedDict, defaultdict, deque)))


def is_non_container(dataset: StoringDataset, binding: AttributeBinding, values: Values) -> bool:
    """True if an attribute keeps what a parameter brings, and that is an object of the project or of another kind.

    So it is where one call passes such an object, and where the class asks it for what no list or dict has.
    """
    if not isinstance(binding.value, cst.Name):
        return False
    found = bindings_of(binding.method).get(binding.value.value, ())
    if not any(each.kind is Kind.PARAMETER for each in found):
        return False
    if any(isinstance(value, CallResult) and isinstance(value.by, Class) for value in values):
        return True
    is_container = any(isinstance(value, Sequence | Mapping | Opaque) for value in values)
    return is_container and _has_other_attributes(dataset, binding.name)


def _has_other_attributes(dataset: StoringDataset, name: str) -> bool:
    """`self.pages.width`."""
    return any(name in _asked(scope) for scope in (*dataset.construction, *dataset.reads.functions))


def _asked(scope: Scope) -> frozenset[str]:
    """The attributes of its object that a method asks for what no list or dict has."""
    return scope.module.tree.once(("asked", id(scope)), lambda: frozenset(_ask(scope)))


def _ask(scope: Scope) -> Iterator[str]:
    own = classes.receiver_name(scope)
    for node in scope.within(cst.Attribute):
        held = node.value
        if isinstance(held, cst.Attribute) and isinstance(held.value, cst.Name) and held.value.value == own:
            if node.attr.value not in _ATTRIBUTES:
                yield held.attr.value
