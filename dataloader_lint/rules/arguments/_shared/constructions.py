"""A loader as its callers construct it: with the keywords that a function forwards, or the constants of a subclass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.semantics.callers.parameters import entered_by
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.errors.expected_errors import is_error_expected
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import MADE_FRAMES, MADE_HOPS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import bindings_of, resolve
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame

_ERRORS = ("AssertionError", "ValueError")


@dataclass(frozen=True, slots=True, eq=False)
class MadeLoader:
    """A loader with what one way to get to its call gives it; `by` names the function or class that does."""

    loader: Loader
    by: str

    @property
    def suffix(self) -> str:
        """What a message adds; empty for the loader as it stands."""
        return f", as `{self.by}` makes it" if self.by else ""


def as_made(loader: Loader) -> Iterator[MadeLoader]:
    """The loader as written, then as callers that forward keywords construct it, then as subclasses do.

    The constructor of a subclass of a loader is looked at where that is constructed.
    """
    yield MadeLoader(loader, "")
    if loader.is_written_here and loader.frame.args is None and last_name(loader.call.func) != "__init__":
        yield from _by_callers(loader)
        yield from _by_subclasses(loader)


def _by_callers(loader: Loader) -> Iterator[MadeLoader]:
    passes_rest = _passes_rest_on(loader.call, loader.frame.scope)
    if passes_rest or _read_from_object(loader):
        for frame, by in _frames(loader.ev, loader.frame.scope, 0):
            made = frame.receiver
            if passes_rest or (isinstance(made, CallResult) and made.call is not None):
                yield MadeLoader(replace(loader, frame=frame), by)


def _frames(ev: Evaluator, scope: Scope, hops: int) -> Iterator[tuple[Frame, str]]:
    """The frames in which calls run a function, through functions that pass their own keywords on."""
    if hops >= MADE_HOPS or not isinstance(scope.node, cst.FunctionDef):
        return
    for call, frame, callees in ev.callers(scope)[:MADE_FRAMES]:
        if is_error_expected(ev, call, frame, _ERRORS, at_use=True):
            continue
        outer = [(frame, _name(frame.scope))]
        if _passes_rest_on(call, frame.scope):
            outer = list(_frames(ev, frame.scope, hops + 1))
        for around, by in outer:
            for callee in callees:
                inner = entered_by(ev, scope, callee, call, around)
                if inner is not None:
                    yield inner, by


def _name(scope: Scope) -> str:
    return scope.node.name.value if isinstance(scope.node, cst.FunctionDef | cst.ClassDef) else "the module"


def _passes_rest_on(call: cst.Call, scope: Scope) -> bool:
    """True if a call passes on the `**kwargs` of the function that it stands in."""
    rest = scope.node.params.star_kwarg if isinstance(scope.node, cst.FunctionDef) else None
    return rest is not None and any(
        arg.star == "**"
        and isinstance(arg.value, cst.Name)
        and any(each.node is rest for each in resolve(arg.value, scope.module.tree))
        for arg in call.args
    )


def _by_subclasses(loader: Loader) -> Iterator[MadeLoader]:
    """The loader that a method makes, for each subclass in the file that sets what it takes from `self`."""
    method = loader.frame.scope
    owner = classes.class_of(method)
    used = _read_from_object(loader)
    module = method.module
    for scope in module.classes if used else ():
        if scope is owner or not used.intersection(bindings_of(scope)) or scope.parent is not module.root:
            continue
        klass = Class(scope, loader.ev.frame_of(scope))
        bases = loader.ev.bases(klass).classes
        found = classes.find_method(loader.ev, bases, _name(method))
        if found is not None and found.scope is method:
            frame = loader.ev.method_frame(method, CallResult(klass, None, None))
            yield MadeLoader(replace(loader, frame=frame), klass.node.name.value)


def _read_from_object(loader: Loader) -> set[str]:
    """The attributes of `self` that a loader's call in a method mentions."""
    method = loader.frame.scope
    if classes.class_of(method) is None:
        return set()
    own = classes.receiver_name(method)
    return {
        node.attr.value
        for node in method.module.tree.find(loader.call, cst.Attribute)
        if isinstance(node.value, cst.Name) and node.value.value == own
    }
