"""What `isinstance` tells of a value: in the `else` of `isinstance(rows, dict)` it is no dict."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.branches import on_the_way, tests_around
from dataloader_lint.facts.classes import AttributeBinding
from dataloader_lint.facts.forms import Form
from dataloader_lint.facts.names import dotted
from dataloader_lint.facts.reads import Place, Use
from dataloader_lint.facts.values import Frame

_TYPES = {Form.DICT: frozenset({"dict", "Mapping"}), Form.LIST: frozenset({"list", "tuple", "Sequence"})}
_ARRAYS = frozenset({"DataFrame", "Series", "Tensor", "ndarray"})
_NO_OTHER = _ARRAYS.union(*_TYPES.values())


def is_told_apart(binding: AttributeBinding, form: Form) -> bool:
    """Whether a test around a binding says that what is bound has not this form."""
    if not isinstance(binding.value, cst.Name | cst.Attribute):
        return False
    told = binding.method.module.tree.spelling(binding.value)
    tests = tests_around(binding.node, Frame(binding.method))
    return any(
        not _allows(form, names, answer)
        for test, wanted in tests
        for of, names, answer in _asked(test, wanted)
        if binding.method.module.tree.spelling(of) == told
    )


def as_read(use: Use, name: str, form: Form) -> Use:
    """How worker code reads an attribute while it has this form: where no test on the way says that it has not."""
    return use.only(lambda place: not _is_read_as_other(place, name, form)) if form in _TYPES else use


def _is_read_as_other(place: Place, name: str, form: Form) -> bool:
    return any(
        not _allows(form, names, answer)
        for condition in on_the_way(place.node, place.scope)
        for of, names, answer in _asked(condition.test, condition.wanted)
        if isinstance(of, cst.Attribute) and of.attr.value == name and isinstance(of.value, cst.Name)
    )


def _allows(form: Form, names: frozenset[str], answer: bool) -> bool:
    """Whether a value may have a form that is (or is not, as answered) of one of some types."""
    own = _TYPES[form]
    if not answer:
        return own.isdisjoint(names)
    return not own.isdisjoint(names) or not names <= _NO_OTHER


def _asked(test: cst.BaseExpression, answer: bool) -> Iterator[tuple[cst.BaseExpression, frozenset[str], bool]]:
    """What a test asks the type of, the types, and whether it is of one of them where the answer is this one."""
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, answer = test.expression, not answer
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And if answer else cst.Or):
        yield from _asked(test.left, answer)
        yield from _asked(test.right, answer)
    elif isinstance(test, cst.Call) and dotted(test.func) == "isinstance" and len(test.args) == 2:
        types = test.args[1].value
        each = [part.value for part in types.elements] if isinstance(types, cst.Tuple) else [types]
        yield test.args[0].value, frozenset(dotted(one).rpartition(".")[2] for one in each), answer
    elif isinstance(test, cst.Comparison) and len(test.comparisons) == 1:  # type(rows) is list
        sign, other = test.comparisons[0].operator, test.comparisons[0].comparator
        if isinstance(test.left, cst.Call) and dotted(test.left.func) == "type" and len(test.left.args) == 1:
            if isinstance(sign, cst.Equal | cst.Is | cst.NotEqual | cst.IsNot):
                answer = answer is isinstance(sign, cst.Equal | cst.Is)
                yield test.left.args[0].value, frozenset({dotted(other).rpartition(".")[2]}), answer
