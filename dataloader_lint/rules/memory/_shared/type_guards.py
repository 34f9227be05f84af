"""Type guards: in the `else` of `isinstance(rows, dict)` a value is not a dict."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import AccessSite, FieldUse
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.control.narrowing import TypeTest, asked_on_the_way, type_test
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.libraries.short_names import ARRAY_TYPES
from dataloader_lint.semantics.values.size_classes import Size
from dataloader_lint.semantics.values.values import Frame

_TYPES = {Size.DICT: frozenset({"dict", "Mapping"}), Size.LIST: frozenset({"list", "tuple", "Sequence"})}
_NO_OTHER = ARRAY_TYPES.union(*_TYPES.values())


def is_excluded_by_guard(binding: AttributeBinding, size: Size) -> bool:
    """True if a test around a binding says that what is bound has not this form."""
    if not isinstance(binding.value, cst.Name | cst.Attribute):
        return False
    tree = binding.method.module.tree
    bound = tree.spelling(binding.value)
    return any(
        not _allows(size, one) and tree.spelling(one.of) == bound
        for test, wanted in enclosing_tests(binding.node, Frame(binding.method))
        for one in type_test(test, wanted, tree)
    )


def reads_of_size(use: FieldUse, name: str, size: Size) -> FieldUse:
    """How worker code reads an attribute while it has this form: where no test on the way says that it has not."""
    return use.only(lambda place: not _is_read_as_other(place, name, size)) if size in _TYPES else use


def _is_read_as_other(place: AccessSite, name: str, size: Size) -> bool:
    return any(
        not _allows(size, one)
        for one in asked_on_the_way(place.node, place.scope)
        if isinstance(one.of, cst.Attribute) and one.of.attr.value == name and isinstance(one.of.value, cst.Name)
    )


def _allows(size: Size, one: TypeTest) -> bool:
    """True if a value of which a test tells the type may have a form."""
    own = _TYPES[size]
    if not one.answer:  # what is no tuple may still be a list
        return (own - {"tuple"}).isdisjoint(one.names)
    return not own.isdisjoint(one.names) or not one.names <= _NO_OTHER
