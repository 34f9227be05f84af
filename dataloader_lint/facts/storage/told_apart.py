"""What `isinstance` tells of a value: in the `else` of `isinstance(rows, dict)` it is no dict."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.datasets.uses import Place, Use
from dataloader_lint.facts.evaluation.branches import tests_around
from dataloader_lint.facts.evaluation.classes import AttributeBinding
from dataloader_lint.facts.evaluation.forms import Form
from dataloader_lint.facts.evaluation.narrowing import TypeTest, asked, asked_on_the_way
from dataloader_lint.facts.evaluation.values import Frame

_TYPES = {Form.DICT: frozenset({"dict", "Mapping"}), Form.LIST: frozenset({"list", "tuple", "Sequence"})}
_ARRAYS = frozenset({"DataFrame", "Series", "Tensor", "ndarray"})
_NO_OTHER = _ARRAYS.union(*_TYPES.values())


def is_told_apart(binding: AttributeBinding, form: Form) -> bool:
    """Whether a test around a binding says that what is bound has not this form."""
    if not isinstance(binding.value, cst.Name | cst.Attribute):
        return False
    tree = binding.method.module.tree
    bound = tree.spelling(binding.value)
    return any(
        not _allows(form, told) and tree.spelling(told.of) == bound
        for test, wanted in tests_around(binding.node, Frame(binding.method))
        for told in asked(test, wanted, tree)
    )


def as_read(use: Use, name: str, form: Form) -> Use:
    """How worker code reads an attribute while it has this form: where no test on the way says that it has not."""
    return use.only(lambda place: not _is_read_as_other(place, name, form)) if form in _TYPES else use


def _is_read_as_other(place: Place, name: str, form: Form) -> bool:
    return any(
        not _allows(form, told)
        for told in asked_on_the_way(place.node, place.scope)
        if isinstance(told.of, cst.Attribute) and told.of.attr.value == name and isinstance(told.of.value, cst.Name)
    )


def _allows(form: Form, told: TypeTest) -> bool:
    """Whether a value of which a test tells the type may have a form."""
    own = _TYPES[form]
    if not told.answer:  # what is no tuple may still be a list
        return (own - {"tuple"}).isdisjoint(told.names)
    return not own.isdisjoint(told.names) or not told.names <= _NO_OTHER
