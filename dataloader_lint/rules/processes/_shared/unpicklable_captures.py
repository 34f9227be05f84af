"""What a function takes from around it that no pickle can hold, so that binding it by `partial` would not help."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.loaders.picklable import is_unpicklable
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Function, Value


def captures_unpicklable(ev: Evaluator, function: Function) -> bool:
    """True if a function uses a lock, an open file, a lambda or the like of the functions around it."""
    tree = function.scope.module.tree
    own = {id(scope) for scope in function.scope.descend()}
    frame = ev.frame_of(function.scope)
    for name in tree.find(function.node, cst.Name):
        bindings = resolve(name, tree)
        if any(each.scope.is_function and id(each.scope) not in own for each in bindings):
            if any(_is_stuck(value) and value != function for value in ev.values(name, frame)):
                return True
    return False


def has_local_dataset(loader: Loader) -> bool:
    """True if the class of a loader's Dataset is defined in a function: no pickle finds it, whatever else is mended."""
    classes = [value.by for value in loader.values("dataset") if isinstance(value, CallResult)]
    scopes = [each.scope.parent for each in classes if isinstance(each, Class)]
    return any(scope is not None and scope.function is not None for scope in scopes)


def _is_stuck(value: Value) -> bool:
    return is_unpicklable(value) or (isinstance(value, CallResult) and row(value.library).is_handle)
