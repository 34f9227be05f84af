"""Cheap checks of where functions and objects come from, before worker code follows them."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.evaluate import Evaluation
from dataloader_lint.semantics.libraries.short_names import CALLING
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import CallResult, Class, Frame

# Callables that call a function given to them, now or later.
_CALLING_FUNCTIONS = CALLING | {"apply_along_axis", "apply_async", "partial", "run", "submit", "tree_map", "vectorize"}


def may_be_function(ev: Evaluation, node: cst.BaseExpression, call: cst.Call, frame: Frame) -> bool:
    """True if an argument of a library call may be a function of the project, judged by its syntax."""
    kind = type(node)
    if kind is cst.Lambda:
        return True
    if kind is not cst.Name and kind is not cst.Attribute:
        return False
    if last_name(call.func) in _CALLING_FUNCTIONS:
        return True
    module = frame.scope.module
    if kind is cst.Attribute:
        return ev.project.defines(module, last_name(node))
    assert isinstance(node, cst.Name)
    return any(_binds_function(ev, module, each) for each in resolve(node, module.tree))


def _binds_function(ev: Evaluation, module: ModuleFacts, binding: Binding) -> bool:
    if binding.kind is Kind.FUNCTION:
        return True
    if binding.kind is Kind.IMPORT:
        return binding.member is not None and ev.project.defines(module, binding.member)
    return binding.kind is Kind.VALUE and isinstance(binding.value, cst.Lambda | cst.Attribute | cst.Name | cst.Call)


def is_unresolved_parameter(ev: Evaluation, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if an expression derives from a parameter that no known call supplies: `self.transform`, a plain parameter.

    Where the project constructs the object for a loader, the worker code of that loader's module follows it.
    """
    while True:
        if isinstance(node, cst.Name):
            return _is_plain_parameter(ev, node, frame)
        if isinstance(node, cst.Attribute):
            if isinstance(node.value, cst.Name) and _is_plain_attribute(ev, node.value.value, node.attr.value, frame):
                return True
            node = node.value
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            return False


def _is_plain_parameter(ev: Evaluation, node: cst.Name, frame: Frame) -> bool:
    if frame.args is not None or node.value == classes.receiver_name(frame.scope):
        return False
    found = resolve(node, frame.scope.module.tree)
    return bool(found) and all(each.scope is frame.scope and _is_unresolved(ev, each) for each in found)


def _is_plain_attribute(ev: Evaluation, owner: str, name: str, frame: Frame) -> bool:
    """True if `self.name` is bound only to constructor parameters, for an object whose constructor call is unknown."""
    receiver = frame.receiver
    if not isinstance(receiver, CallResult) or receiver.call is not None or not isinstance(receiver.by, Class):
        return False
    if owner != classes.receiver_name(frame.scope):
        return False
    bound: list[classes.AttributeBinding] = []
    for base in ev.bases(receiver.by).classes:
        if name in classes.methods_of(base.scope):
            return False
        bound.extend(classes.attribute_bindings(base.scope).get(name, ()))
    return bool(bound) and all(
        isinstance(each.value, cst.Name)
        and each.kind is Kind.VALUE
        and not each.path
        and all(
            binding.scope is each.method and _is_unresolved(ev, binding)
            for binding in resolve(each.value, each.method.module.tree)
        )
        for each in bound
    )


def _is_unresolved(ev: Evaluation, binding: Binding) -> bool:
    """True if a parameter has no default and no annotation that may name a class of the project."""
    param = binding.node
    if binding.kind is not Kind.PARAMETER or not isinstance(param, cst.Param) or param.star == "**":
        return False
    if param.default is not None and not (isinstance(param.default, cst.Name) and param.default.value == "None"):
        return False
    module = binding.scope.module
    words = module.tree.words(param.annotation).split() if param.annotation is not None else []
    return not any(ev.project.may_define_class(module, word) for word in words)
