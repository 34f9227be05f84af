"""Calls in worker code: whether they run for each sample, on something that no sample changes, and keep the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import called_by_library_constructors
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import Dep, Dependence
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.syntax.definitions import enclosing_definitions
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator

_CACHES = ("cache", "lru_cache", "cached", "cached_property", "lazy_property", "memoize", "cachedmethod")


def dependence_on_sample(ev: Evaluator, function: WorkerFunction) -> Dependence:
    """What expressions of a worker function depend on, where the argument from the loader is the sample."""
    entry = function.path[0].scope
    assert isinstance(entry.node, cst.FunctionDef | cst.Lambda)
    own = classes.receiver_name(entry) if classes.class_of(entry) is not None else ""
    roots = {id(param): Dep.SAMPLE for param in parameters(entry.node) if param.name.value != own}
    return Dependence(ev, roots, [each.scope for each in function.path])


def runs_in_construction(workers: Workers, scope: Scope) -> bool:
    """True if a function is the constructor of a Dataset, or is called by a library's: it does not run per sample."""
    home = classes.class_of(scope)
    if home is None or not isinstance(scope.node, cst.FunctionDef):
        return False
    klass = Class(home, workers.ev.frame_of(home))
    if not workers.is_dataset(klass):
        return False
    run = called_by_library_constructors(workers.ev, workers.ev.bases(klass))
    return scope.node.name.value == "__init__" or any(each.scope is scope for each in run)


def runs_for_each(function: WorkerFunction) -> str:
    """What a function runs for again and again: each `sample` of a map-style Dataset or each `batch`; else empty."""
    entry = function.path[0]
    node = entry.scope.node
    if entry.argument:
        return "batch" if entry.argument == "collate_fn" else ""
    name = node.name.value if isinstance(node, cst.FunctionDef) else ""
    return {"__getitem__": "sample", "__getitems__": "batch"}.get(name, "")


def calls_for_each(
    workers: Workers, module: ModuleFacts, names: Iterable[str]
) -> Iterator[tuple[WorkerFunction, frozenset[int]]]:
    """The worker functions that run for each sample or batch, with the `id`s of the calls in question.

    These are the calls of a module whose last part is one of `names`, but not those of constructors.
    """
    calls = [
        call
        for name in sorted(names)
        for call in module.calls_named(name)
        if not runs_in_construction(workers, function_scope(module.tree.scope_of(call)))
    ]
    around = enclosing_definitions(module, calls)
    if not around:
        return
    wanted = frozenset(map(id, calls))
    for function in workers.functions_inside(module, workers.names_that_use(module, around)):
        if runs_for_each(function):
            yield function, wanted


def has_one_sample(workers: Workers, function: WorkerFunction) -> bool:
    """True if `__len__` returns 1: the Dataset has no second sample for which the file would be read again."""
    receiver = function.path[0].frame.receiver
    if not isinstance(receiver, CallResult) or not isinstance(receiver.by, Class):
        return False
    method = classes.find_method(workers.ev, workers.ev.bases(receiver.by).classes, "__len__")
    found = [each.value for each in method.scope.own(cst.Return)] if method is not None else []
    return bool(found) and all(isinstance(each, cst.Integer) and each.evaluated_value <= 1 for each in found)


def is_cached(call: cst.Call, function: WorkerFunction) -> bool:
    """True if the result may be cached for later samples, or the call is under a condition that suggests it."""
    for each in function.path:
        node = each.scope.node
        if isinstance(node, cst.FunctionDef) and any(
            name.rpartition(".")[2] in _CACHES for name in classes.decorator_names(node)
        ):
            return True
        sites = [call] if each is function else calls_to_next(each, function)
        if sites and all(_is_conditional_or_stored(site, each) for site in sites):
            return True
    return False


def calls_to_next(caller: WorkerFunction, function: WorkerFunction) -> list[cst.Call]:
    """The calls in a function on the call path that lead to the next one; empty if it is not called by name."""
    path = function.path
    node = path[path.index(caller) + 1].scope.node
    name = node.name.value if isinstance(node, cst.FunctionDef) else ""
    return [call for call in caller.scope.within(cst.Call) if last_name(call.func) == name]


def _is_conditional_or_stored(call: cst.Call, function: WorkerFunction) -> bool:
    """True if a call is under a condition that is no plain setting, or its result is stored."""
    if any(not _is_flag(test) for test, _ in enclosing_tests(call, function.frame)):
        return True
    return _is_stored(call, function.module.tree)


def _is_flag(test: cst.BaseExpression) -> bool:
    """True for `self.train`: a setting of the object, without a lookup."""
    return isinstance(test, cst.Attribute) and isinstance(test.value, cst.Name)


def _is_stored(call: cst.Call, tree: Tree) -> bool:
    """True if the result is stored in an attribute, a container or a global, directly or through a local name."""
    statement = next((above for above in tree.ancestors(call) if isinstance(above, cst.Assign | cst.AnnAssign)), None)
    if statement is None:
        return False
    targets = [each.target for each in statement.targets] if isinstance(statement, cst.Assign) else [statement.target]
    if not all(isinstance(target, cst.Name | cst.Tuple) for target in targets):
        return True
    names = {target.value for target in targets if isinstance(target, cst.Name)}
    scope = tree.scope_of(call)
    if any(item.name.value in names for each in scope.own(cst.Global) for item in each.names):
        return True
    for assign in scope.own(cst.Assign):
        if any(isinstance(each.target, cst.Attribute | cst.Subscript) for each in assign.targets):
            if last_name(assign.value) in names:
                return True
    return False
