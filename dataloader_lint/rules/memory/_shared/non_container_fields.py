"""Attributes that hold an object of another kind than a list or dict, even if some callers pass a list."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.field_attributes import attributes_of_field
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from dataloader_lint.semantics.values.values import CallResult, Class, Mapping, Opaque, Sequence, Values

_ATTRIBUTES = frozenset().union(*map(dir, (list, tuple, set, dict, Counter, OrderedDict, defaultdict, deque)))


def is_non_container(dataset: StoringDataset, binding: AttributeBinding, values: Values) -> bool:
    """True if an attribute stores a parameter that is an object of the project, or of another library class.

    That is where one call passes such an object, or where the class reads an attribute that no list or dict has.
    """
    if not isinstance(binding.value, cst.Name):
        return False
    found = bindings_of(binding.method).get(binding.value.value, ())
    if not any(each.kind is Kind.PARAMETER for each in found):
        return False
    if any(isinstance(value, CallResult) and isinstance(value.by, Class) for value in values):
        return True
    is_container = any(isinstance(value, Sequence | Mapping | Opaque) for value in values)
    # `self.pages.width`
    return is_container and bool(attributes_of_field(dataset, binding.name) - _ATTRIBUTES)
