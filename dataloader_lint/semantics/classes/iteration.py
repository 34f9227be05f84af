"""Elements of objects of the project when they are iterated: wrappers and subclasses of loaders."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Values,
    merge,
    part,
)


def element_of_object(ev: Evaluator, value: CallResult, klass: Class) -> Values:
    """The elements of an object of a project class: one that iterates over a loader yields its batches.

    A loader subclass with its own `__iter__` counts as a loader where that is too complex to follow.
    """
    bases = ev.bases(klass)
    if any(library in DATASET_BASES or library in ITERABLE_BASES for library in bases.libraries):
        return part(ItemOf(value))
    iterate = classes.find_method(ev, bases.classes, "__iter__")
    following = classes.find_method(ev, bases.classes, "__next__")
    is_loader = any(library in LOADERS for library in bases.libraries)
    if (is_loader and iterate is None) or any(_moves(ev, each) for each in bases.classes):
        return part(ItemOf(value))
    found: list[Values] = []
    for each in ev.run(iterate, ev.method_frame(iterate.scope, value)) if iterate is not None else (value,):
        if isinstance(each, CallResult) and each.by == value.by and following is not None:  # it is its own iterator
            found.append(ev.run(following, ev.method_frame(following.scope, value)))
        elif each != value:
            found.append(ev.element(each))
    elements = merge(*found)
    return part(ItemOf(value)) if not elements or (is_loader and UNKNOWN in elements) else elements


def _moves(ev: Evaluator, klass: Class) -> bool:
    """True if a class moves something to a device: what it yields may be on the device already.

    `batch[key] = batch[key].cuda()` leaves the batch in its name, also in a function that a method calls.
    """
    for method in classes.methods_of(klass.scope).values():
        if _has_move(method):
            return True
        frame = ev.frame_of(method)
        if any(_runs_move(ev, call, frame) for call in method.own(cst.Call)):
            return True
    return False


def _runs_move(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    if not isinstance(call.func, cst.Name):
        return False
    return any(isinstance(callee, Function) and _has_move(callee.scope) for callee in ev.values(call.func, frame))


def _has_move(scope: Scope) -> bool:
    return any(
        type(call.func) is cst.Attribute and call.func.attr.value in ("cuda", "to") for call in scope.within(cst.Call)
    )
