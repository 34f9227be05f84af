"""Objects of the main process that forked workers use, and whose threads are missing there."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.forked import is_forked
from dataloader_lint.pipeline.workers.start_methods import asks_for_spawn
from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall, calls_in_workers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import names_where, row
from dataloader_lint.semantics.syntax.expressions import last_name, positional_of
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Evaluator, Frame

_PACKAGES = frozenset(name.partition(".")[0] for name in names_where(lambda call: call.forked))
# The protocols of fsspec whose file systems are asynchronous.
_PROTOCOLS = frozenset({"abfs", "abfss", "adl", "az", "gcs", "gs", "http", "https", "s3", "s3a"})
# Methods that ask the threads of the object, by how it fails.
_METHODS = {
    "loop": frozenset(
        {"cat", "cat_file", "cat_ranges", "exists", "find", "get_file", "glob", "info", "isdir", "isfile", "ls", "open"}
    ),
    "pool": frozenset({"filter", "group_by", "join", "partition_by", "sample", "sort", "unique"}),
}
_NAMES = frozenset().union(*_METHODS.values())
_AT_ONCE = ("__init__", "__post_init__")


def forked_threads(reach: DatasetFlow, module: ModuleFacts) -> list[WorkerCall]:
    """The functions of a module that use such an object in workers that may be forked, each at the first such call."""
    if not _imports_any(module) or asks_for_spawn(reach.ev, module):
        return []
    candidates = [
        call for call in module.all_calls() if isinstance(call.func, cst.Attribute) and last_name(call.func) in _NAMES
    ]
    found = calls_in_workers(reach, module, candidates, _failure) if candidates else []
    return [each for each in found if is_forked(reach, each.function)]


def _imports_any(module: ModuleFacts) -> bool:
    return any(
        binding.kind is Kind.IMPORT and not binding.level and binding.imported.partition(".")[0] in _PACKAGES
        for scope in module.root.descend()
        for bindings in bindings_of(scope).values()
        for binding in bindings
    )


def _failure(ev: Evaluator, call: cst.Call, frame: Frame) -> str:
    """How a call fails in a forked worker, if the main process made the object that it is called on; else empty."""
    func = cst.ensure_type(call.func, cst.Attribute)
    if not _is_from_main_process(func.value, frame):
        return ""
    for value in ev.values(func.value, frame):
        if not isinstance(value, CallResult) or value.call is None or value.frame is None:
            continue
        failure = row(value.library).forked
        if func.attr.value not in _METHODS.get(failure, ()):
            continue
        if value.library == "fsspec.filesystem" and not _is_asynchronous(ev, value.call, value.frame):
            continue
        return failure
    return ""


def _is_asynchronous(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    first = positional_of(call)[:1]
    found = ev.values(first[0], frame) if first else ()
    return any(isinstance(each, Const) and each.value in _PROTOCOLS for each in found)


def _is_from_main_process(node: cst.BaseExpression, frame: Frame) -> bool:
    """True for `self.files`, which only the constructor binds, and for a global of the module."""
    tree = frame.scope.module.tree
    if isinstance(node, cst.Name):
        bound = bindings_of(tree.root).get(node.value, ())
        is_global = bool(bound) and node.value not in bindings_of(frame.scope)
        return is_global and all(each.kind is Kind.VALUE for each in bound)
    klass = classes.class_of(frame.scope)
    if klass is None or not isinstance(node, cst.Attribute) or dotted(node.value) != classes.receiver_name(frame.scope):
        return False
    made = frame.receiver.by if isinstance(frame.receiver, CallResult) else None
    owners = [klass, *([made.scope] if isinstance(made, Class) else ())]
    methods = [each.method for owner in owners for each in classes.attribute_bindings(owner).get(node.attr.value, ())]
    return bool(methods) and all(_runs_at_once(each) for each in methods)


def _runs_at_once(method: Scope) -> bool:
    function = function_scope(method).node
    return isinstance(function, cst.FunctionDef) and function.name.value in _AT_ONCE
