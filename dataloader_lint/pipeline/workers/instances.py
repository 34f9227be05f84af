"""The individual objects of a Dataset class that loaders get, with their constructor arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import libcst as cst

from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.pipeline.workers.constructor_steps import Step, bare, steps_of
from dataloader_lint.semantics.control.reachability import from_last_passed, is_reached, way_to
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import (
    Argument,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    constant,
    merge,
)


def harms_one(ev: Evaluator, klass: Class, loaders: list[Loader], harms: Callable[[CallResult, Loader], bool]) -> bool:
    """True if a loader may get an object of a class, or of a subclass, that `harms` is true of.

    Objects that are only known to be of the class may be any, and so may those of a class without loaders.
    """
    if not loaders:
        return True
    for loader in loaders:
        for value in loader.values("dataset"):
            made = list(wrapped_datasets(ev, value))
            if not made or any(each.call is None or each.frame is None for each in made):
                return True
            own = [each for each in made if isinstance(each.by, Class) and _is_a(ev, each.by, klass)]
            if any(harms(each, loader) for each in own) or not own:
                return True
    return False


def may_construct(
    ev: Evaluator, klass: Class, loader: Loader, node: Node, method: Scope, if_unknown: bool = True
) -> bool:
    """False only if no object that a loader gets runs a statement of `method` while it is constructed.

    `Clips(table, mode="train")` does not run what stands under `if mode == "test":` in the constructor. `if_unknown`
    is the answer for a loader that may get other objects as well, or only such.
    """
    is_constructor = isinstance(method.node, cst.FunctionDef) and method.node.name.value == "__init__"
    if is_constructor and way_to(node, method) is None:
        return True
    own: list[CallResult] = []
    for value in loader.values("dataset"):
        if isinstance(value, Const):
            continue  # `val_set = None`: no loader is made of that
        made = list(wrapped_datasets(ev, value))
        if not made or any(each.call is None or each.frame is None for each in made):
            if if_unknown:
                return True
            continue
        own += (each for each in made if isinstance(each.by, Class) and _is_a(ev, each.by, klass))
    return (not own and if_unknown) or any(_constructs(ev, each, node, method) for each in own)


def _constructs(ev: Evaluator, made: CallResult, node: Node, method: Scope) -> bool:
    assert isinstance(made.by, Class)
    entered = _construction(ev, made).get(id(method), ())
    if not entered:  # called under a condition that this object does not meet, or in a way that is not followed
        return id(method) not in _construction(ev, bare(made.by, ev), is_bare=True)
    return any(is_reached(ev, node, _with_known_arguments(ev, step.frame), with_options=True) for step in entered)


def _construction(ev: Evaluator, made: CallResult, is_bare: bool = False) -> dict[int, list[Step]]:
    """The steps of an object's construction by the `id` of their functions; worked out once for each object."""
    assert isinstance(made.by, Class) and made.frame is not None
    key = ("construction", 0 if is_bare else id(made.call), id(made.by.scope))
    known = made.frame.dicts.get(key)
    if isinstance(known, _Construction):
        return known.steps

    def work_out() -> dict[int, list[Step]]:
        found: dict[int, list[Step]] = {}
        for step in steps_of(ev, made, with_length=True):
            found.setdefault(id(step.scope), []).append(step)
        return found

    steps, is_final = ev.settled(work_out)
    if is_final:
        made.frame.dicts[key] = _Construction(made, steps)
    return steps


@dataclass(frozen=True, slots=True, eq=False)
class _Construction:
    made: CallResult  # held for its `id`
    steps: dict[int, list[Step]]


def _with_known_arguments(ev: Evaluator, frame: Frame) -> Frame:
    """The frame of a call, with the constants that known conditions leave for the names that it is given.

    `mode = "test"` under `if not is_train:`, in a function that is called with `is_train=True`, is not passed.
    """
    known: dict[str, Argument] = {}
    for name, given in (frame.args or {}).items():
        node, where = given.node, given.frame
        if not isinstance(node, cst.Name) or where is None or node not in where.scope.module.tree:
            continue
        bindings = resolve(node, where.scope.module.tree)
        if len(bindings) > 1 and all(each.scope is where.scope for each in bindings):
            reached = [each for each in bindings if is_reached(ev, each.node, where, with_options=True)]
            left = from_last_passed(reached, node, where, partial(_answer, ev, where))
            value = constant(merge(*(ev.binding(each, where, node) for each in left)))
            if value is not None:
                known[name] = Argument(node, where, value)
    if not known:
        return frame
    return replace(frame, args={**(frame.args or {}), **known}, memo={}, ways={}, dicts={})


def _answer(ev: Evaluator, frame: Frame, test: cst.BaseExpression) -> bool | None:
    return truth(ev.values(test, frame))


def _is_a(ev: Evaluator, made: Class, klass: Class) -> bool:
    return any(each.scope is klass.scope for each in ev.bases(made).classes)


def reaches(ev: Evaluator, node: Node, frame: Frame, made: CallResult) -> bool:
    """False only if a condition in a method of the Dataset excludes a node for one object."""
    return is_reached(ev, node, of_object(frame, made), with_options=True)


def of_object(frame: Frame, made: CallResult) -> Frame:
    """The frame of a method of a Dataset, entered for one object instead of another or any object of its class."""
    receiver = frame.receiver
    if not isinstance(receiver, CallResult) or not isinstance(receiver.by, Class) or not isinstance(made.by, Class):
        return frame
    if receiver.call is not None and receiver.by.scope is not made.by.scope:
        return frame  # a method of a helper
    return replace(frame, receiver=made, memo={}, ways={})
