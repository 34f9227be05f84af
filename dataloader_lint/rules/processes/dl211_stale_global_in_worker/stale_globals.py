"""Module globals and class attributes that the parent process sets at run time and worker code reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.worker_processes import never_pickled
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.semantics.project.scripts import is_notebook_file
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Value

# Objects that processes share by design.
_SHARED = ("multiprocessing.", "torch.multiprocessing.")


@dataclass(frozen=True, slots=True, eq=False)
class StaleGlobal:
    """A statement that sets a global in the parent at run time, and a function of worker code that reads it.

    `setter` is the function that contains it, empty for the main guard. `is_bound` is True if importing the module
    binds the name too.
    """

    node: Node
    name: str
    setter: str
    reader: WorkerFunction
    is_bound: bool


def stale_globals(reach: DatasetFlow, module: ModuleFacts) -> list[StaleGlobal]:
    """Returns what this module sets too late for spawned workers, once per name, at the first such statement."""
    if is_notebook_file(module):  # spawned workers import nothing from it
        return []
    late = {name: found for name, found in _late_bindings(reach.ev, module) if found}
    if not late:
        return []
    readers: dict[str, WorkerFunction] = {}
    set_by_workers: set[str] = set()
    for function in reach.workers.functions_inside(module, late):
        node = function.scope.node
        if isinstance(node, cst.FunctionDef) and is_guarded(node, module.tree):
            continue  # spawned workers cannot find it by name
        set_by_workers |= _globals_of(function.scope)
        for name in late:
            if name not in readers and _reads_global(function.scope, name, module) and _may_be_spawned(reach, function):
                readers[name] = function
    found = []
    for name, bindings in late.items():
        if name in readers and name not in set_by_workers:
            at_import = [each for each in bindings_of(module.root)[name] if each not in bindings]
            setter = bindings[0].scope
            label = setter.node.name.value if isinstance(setter.node, cst.FunctionDef) else ""
            found.append(StaleGlobal(bindings[0].node, name, label, readers[name], bool(at_import)))
    return sorted(found, key=lambda one: module.tree.order(one.node))


def _late_bindings(ev: Evaluator, module: ModuleFacts) -> Iterator[tuple[str, list[Binding]]]:
    """Yields the names of a module, with the statements that set them only in the process that runs the script."""
    tree = module.tree
    for name, bindings in bindings_of(module.root).items():
        late = [
            each
            for each in bindings
            if each.kind in (Kind.VALUE, Kind.ELEMENT, Kind.ENTERED, Kind.AUGMENTED)
            and not _is_shared(ev, each)
            and (
                is_guarded(each.node, tree) if each.scope is module.root else _runs_after_import(ev, each.scope, module)
            )
        ]
        yield name, late


def _is_shared(ev: Evaluator, binding: Binding) -> bool:
    values = ev.binding(binding, ev.frame_of(binding.scope))
    return any(isinstance(value, CallResult) and value.library.startswith(_SHARED) for value in values)


def _runs_after_import(ev: Evaluator, scope: Scope, module: ModuleFacts) -> bool:
    """True if a function has known calls, and none of them runs while the module is imported."""
    function = scope.function
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return False
    calls = ev.callers(function)
    return bool(calls) and not any(_is_at_import(call, module) for call, _, _ in calls)


def _is_at_import(call: cst.Call, module: ModuleFacts) -> bool:
    tree = module.tree
    if call not in tree:
        return False
    return not function_scope(tree.scope_of(call)).is_function and not is_guarded(call, tree)


def _globals_of(scope: Scope) -> set[str]:
    """The module globals that a function sets itself."""
    named = {item.name.value for statement in scope.own(cst.Global) for item in statement.names}
    if not named:
        return set()
    bound = bindings_of(scope.module.root)
    return {name for name in named if any(each.scope is scope for each in bound.get(name, ()))}


def _reads_global(scope: Scope, name: str, module: ModuleFacts) -> bool:
    """True if a function reads a name of its module."""
    if scope.module is not module:
        return False
    tree = module.tree
    body = scope.node.body  # type: ignore[attr-defined]
    return any(
        any(binding.name == name and _is_global(binding, module) for binding in resolve(node, tree))
        for node in tree.named(body, name)
    )


def _is_global(binding: Binding, module: ModuleFacts) -> bool:
    return any(each is binding for each in bindings_of(module.root).get(binding.name, ()))


def _may_be_spawned(reach: DatasetFlow, function: WorkerFunction) -> bool:
    """True if workers that run a function may be spawned, as far as the known loaders of its Dataset show."""
    receiver: Value | None = function.path[0].frame.receiver
    if isinstance(receiver, CallResult) and isinstance(receiver.by, Class) and reach.workers.is_dataset(receiver.by):
        return not never_pickled(reach.loaders_of(receiver.by))
    return True
