"""Lists of shared objects, the values of another container: `[numbers[name] for name in names]`.

Such a list is as long as the data, but its elements are the same few objects. Workers that read it
touch the reference counts of these few objects only, so that few pages are copied.
"""

from __future__ import annotations

import libcst as cst

from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.mutations import added_to
from dataloader_lint.semantics.libraries.short_names import SAME_ELEMENTS
from dataloader_lint.semantics.limits import SHARED_ELEMENT_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.tree import function_scope
from dataloader_lint.semantics.values.values import Const, Evaluator, Frame, Mapping, Opaque, Sequence, Value


def shares_elements(dataset: StoringDataset, container: Container) -> bool:
    """True if all that a list is made of or gets are numbers that a dict gives the distinct names of something."""
    ev = dataset.ev
    added = added_to(dataset, container.name, container.binding)
    if not added or not _starts_empty(container.value):
        if not _is_made_of_numbers(ev, container.value):
            return False
    return all(_is_number_of_name(ev, node, ev.frame_of(function_scope(scope))) for node, scope in added)


def holds_little(container: Container) -> bool:
    """Elements that every process shares anyway: None, booleans, integers below 257, one string again and again."""
    found = container.elements
    return bool(found) and all(_is_tiny(value) for value in found)


def _is_tiny(value: Value) -> bool:
    if isinstance(value, Opaque):
        return value.kind == "bool"
    if not isinstance(value, Const):
        return False
    return value.value is None or isinstance(value.value, bool) or (isinstance(value.value, int) and value.value < 257)


def _starts_empty(value: Value) -> bool:
    return isinstance(value, Sequence) and value.items == ()


def _is_made_of_numbers(ev: Evaluator, value: Value, depth: int = 0) -> bool:
    """True if a list is a comprehension over such numbers, or what slicing or sorting one gives."""
    if not isinstance(value, Sequence) or value.kind in ("set", "frozenset") or depth > SHARED_ELEMENT_DEPTH:
        return False
    node = value.node
    if isinstance(node, cst.ListComp | cst.GeneratorExp):
        return _is_number_of_name(ev, node.elt, value.frame)
    source = node
    while isinstance(source, cst.Subscript) and isinstance(source.slice[0].slice, cst.Slice):
        source = source.value
    if isinstance(source, cst.Call) and source.args and last_name(source.func) in SAME_ELEMENTS:
        source = source.args[0].value
    values = ev.values(source, value.frame) if source is not node else ()
    found = [each for each in values if each != Const(None)]  # None has no elements at all
    return bool(found) and all(_is_made_of_numbers(ev, each, depth + 1) for each in found)


def _is_number_of_name(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int = 0) -> bool:
    """True if an expression is looked up in a dict that numbers the distinct names of something."""
    if depth > SHARED_ELEMENT_DEPTH:
        return False
    if isinstance(node, cst.Name):
        bindings = resolve(node, frame.scope.module.tree)
        return bool(bindings) and all(
            each.kind is Kind.VALUE
            and not each.path
            and each.value is not None
            and _is_number_of_name(ev, each.value, frame, depth + 1)
            for each in bindings
        )
    if not isinstance(node, cst.Subscript) or not isinstance(node.slice[0].slice, cst.Index):
        return False
    found = ev.values(node.value, frame)
    return bool(found) and all(isinstance(each, Mapping) and _numbers_distinct(ev, each) for each in found)


def _numbers_distinct(ev: Evaluator, mapping: Mapping) -> bool:
    """`{name: number for number, name in enumerate(sorted(set(names)))}`."""
    made = mapping.node
    if not isinstance(made, cst.DictComp) or made.for_in.inner_for_in is not None:
        return False
    call = made.for_in.iter
    if not isinstance(call, cst.Call) or not call.args or last_name(call.func) != "enumerate":
        return False
    return _is_distinct(ev, ev.values(call.args[0].value, mapping.frame))


def _is_distinct(ev: Evaluator, values: tuple[Value, ...], depth: int = 0) -> bool:
    """True if something was made from a set: there would be no need for one if nothing came twice."""
    return bool(values) and depth <= SHARED_ELEMENT_DEPTH and all(_comes_from_set(ev, each, depth) for each in values)


def _comes_from_set(ev: Evaluator, value: Value, depth: int) -> bool:
    if not isinstance(value, Sequence):
        return False
    if value.kind in ("set", "frozenset"):
        return True
    node = value.node
    if not isinstance(node, cst.Call) or not node.args or last_name(node.func) not in SAME_ELEMENTS:
        return False
    return _is_distinct(ev, ev.values(node.args[0].value, value.frame), depth + 1)
