"""The objects of a Dataset class that loaders get: what is true of one of them need not be true of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dataloader_lint.facts.datasets.wrappers import wrapped_datasets
from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.reachability import is_reached
from dataloader_lint.facts.infer.values import CallResult, Class, Evaluator, Frame
from dataloader_lint.facts.syntax.tree import Node


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
