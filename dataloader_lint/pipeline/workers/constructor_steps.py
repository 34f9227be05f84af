"""The functions that run while an object is constructed, each in the frame of its call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import calls_on_self
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.limits import CONSTRUCTION_STEPS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame, Library


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A function that constructing an object runs; `before` is the step that calls it, at `site`."""

    scope: Scope
    frame: Frame
    before: Step | None = None
    site: Node | None = None

    @property
    def own(self) -> str:
        """The name of the object in the function, such as `self`."""
        return classes.receiver_name(self.scope)

    def library_bases(self, ev: Evaluator) -> Iterator[cst.Call]:
        """Yields the calls of the constructor of a library's base class."""
        for call in self.scope.own(cst.Call):
            if last_name(call.func) == "__init__" and any(
                isinstance(callee, Library) for callee in ev.values(call.func, self.frame)
            ):
                yield call


def bare(klass: Class, ev: Evaluator) -> CallResult:
    """An object constructed without arguments: its parameters have their defaults or are unknown."""
    call = cst.Call(klass.node.name)
    return CallResult(klass, call, ev.frame_of(klass.scope.module.root))


def steps_of(ev: Evaluator, made: CallResult, with_length: bool = False) -> tuple[Step, ...]:
    """Returns the functions of the object's class that run in the parent before workers start, `__init__` first.

    With `with_length`, what `__len__` runs counts too: a DataLoader calls it before it starts workers.
    """
    if not isinstance(made.by, Class):
        return ()
    bases = ev.bases(made.by)
    names = ("__init__", "__post_init__", "__len__") if with_length else ("__init__", "__post_init__")
    todo: list[Step] = []
    for name in names:
        function = classes.find_method(ev, bases.classes, name)
        if function is not None:
            if name == "__init__" and made.call is not None and made.frame is not None:
                frame = ev.enter(function, made.call, made.frame, made)
            else:
                frame = ev.method_frame(function.scope, made)
            todo.append(Step(function.scope, frame))
    order: list[Step] = []
    while todo and len(order) < CONSTRUCTION_STEPS:
        step = todo.pop(0)
        if any(step.scope is known.scope for known in order):
            continue
        order.append(step)
        todo[:0] = [each for each in _steps_called_by(ev, step, made) if each.site is not None]
    return tuple(order)


def _steps_called_by(ev: Evaluator, step: Step, made: CallResult) -> Iterator[Step]:
    assert isinstance(made.by, Class)
    bases = ev.bases(made.by)
    for function, call in calls_on_self(ev, step.scope, bases):
        if not is_reached(ev, call, step.frame):
            continue
        by_name = call.args and _is_name(call.args[0].value, step.own) and not _is_super(call)
        entered = ev.enter(function, call, step.frame, None if by_name else made)
        frame = replace(entered, receiver=made, memo={}) if by_name else entered  # Base.__init__(self, ...)
        yield Step(function.scope, frame, step, call)
    for node in step.scope.own(cst.Attribute):
        if _is_name(node.value, step.own):
            method = classes.find_method(ev, bases.classes, node.attr.value)
            if method is not None and isinstance(method.node, cst.FunctionDef) and classes.is_property(method.node):
                yield Step(method.scope, ev.method_frame(method.scope, made), step, node)


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return bool(name) and isinstance(node, cst.Name) and node.value == name


def _is_super(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and not isinstance(call.func.value, cst.Name)
