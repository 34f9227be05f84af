"""Which functions cannot be pickled, so that no process that is spawned gets them."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.project.scripts import is_notebook_file
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import CallResult, Function, Value

MEMOISING = ("functools.cache", "functools.lru_cache")


def is_plain(scope: Scope) -> bool:
    """True if a function stands at module level, with no decorator that could make something else of it."""
    node = scope.node
    return isinstance(node, cst.FunctionDef) and not node.decorators and scope.parent is scope.module.root


def is_local(scope: Scope) -> bool:
    """True if a function is defined inside another one, so that no import can find it by its name."""
    return (
        isinstance(scope.node, cst.FunctionDef)
        and classes.class_of(scope) is None
        and scope.parent is not None
        and scope.parent.function is not None
    )


def is_unpicklable(value: Value) -> bool:
    """True if a pickle of the value fails: a lambda, a local function, a memoising wrapper made by a call."""
    if isinstance(value, Function):
        if isinstance(value.node, cst.Lambda):
            return True
        # A wrapper that took over another function's name is looked up, and may well be found, under that.
        return is_local(value.scope) and not any(name.endswith("wraps") for name in classes.decorator_names(value.node))
    return (
        isinstance(value, CallResult)
        and value.library in MEMOISING
        and value.frame is not None
        and value.frame.scope.is_function  # at module level the name may find the wrapper itself
        and value.call is not None
        and _wraps_function(value)
    )


def is_notebooks_own(value: Value) -> bool:
    """True if it is a plain function of a notebook, which can be pickled, but not be found by a spawned worker."""
    return isinstance(value, Function) and is_plain(value.scope) and is_notebook_file(value.scope.module)


def _wraps_function(value: CallResult) -> bool:
    assert value.call is not None
    return len(value.call.args) > 0 and value.call.args[0].keyword is None and bool(dotted(value.call.args[0].value))
