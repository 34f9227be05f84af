"""Module globals and class attributes that the parent process sets at run time and worker code reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.worker_processes import never_pickled
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.project.imports import Imports
from dataloader_lint.semantics.project.scripts import is_notebook_file
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Value

_PRINTING = frozenset({"debug", "info", "log", "logger", "logging", "print", "warn", "warning", "write"})
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
    only_prints: bool  # whether the value decides on nothing but what is printed


def stale_globals(reach: DatasetFlow, module: ModuleFacts) -> list[StaleGlobal]:
    """Returns what this module sets too late for spawned workers, once per name, at the first such statement."""
    if is_notebook_file(module):  # spawned workers import nothing from it
        return []
    late = {name: found for name, found in _late_bindings(reach.ev, module) if found}
    if not late:
        return []
    readers: dict[str, WorkerFunction] = {}
    only_prints: dict[str, bool] = {}
    set_by_workers: set[str] = set()
    for function in reach.workers.functions_inside(module, late):
        node = function.scope.node
        if isinstance(node, cst.FunctionDef) and is_guarded(node, module.tree):
            continue  # spawned workers cannot find it by name
        set_by_workers |= _globals_of(function.scope)
        for name in late:
            reads = _reads_of_global(function, name, module, reach.ev)
            if reads and _may_be_spawned(reach, function, module):
                only_prints[name] = only_prints.get(name, True) and all(_guards_print(each, module) for each in reads)
                readers.setdefault(name, function)
    found = []
    for name, bindings in late.items():
        if name in readers and name not in set_by_workers:
            at_import = [each for each in bindings_of(module.root)[name] if each not in bindings]
            setter = bindings[0].scope
            label = setter.node.name.value if isinstance(setter.node, cst.FunctionDef) else ""
            found.append(StaleGlobal(bindings[0].node, name, label, readers[name], bool(at_import), only_prints[name]))
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


def _reads_of_global(function: WorkerFunction, name: str, module: ModuleFacts, ev: Evaluator) -> list[cst.Name]:
    """Where a function reads a name of its module, unless that is never reached: `if False:`."""
    scope = function.scope
    if scope.module is not module:
        return []
    tree = module.tree
    body = scope.node.body  # type: ignore[attr-defined]
    return [
        node
        for node in tree.named(body, name)
        if any(binding.name == name and _is_global(binding, module) for binding in resolve(node, tree))
        and is_reached(ev, node, function.frame)
    ]


def _guards_print(read: cst.Name, module: ModuleFacts) -> bool:
    """True if a value is read in the test of an `if` that does nothing but print: `if rank == 0: print(...)`."""
    tree = module.tree
    test = next((above for above in tree.ancestors(read) if isinstance(above, cst.If)), None)
    if test is None or test.orelse is not None or not tree.is_inside(read, test.test):
        return False
    lines = [line for line in test.body.body if isinstance(line, cst.SimpleStatementLine)]
    calls = [each.value if isinstance(each, cst.Expr) else None for line in lines for each in line.body]
    is_plain = len(lines) == len(test.body.body) or not isinstance(test.body, cst.IndentedBlock)
    return is_plain and all(isinstance(call, cst.Call) and _PRINTING.intersection(_words(call)) for call in calls)


def _words(call: cst.Call) -> set[str]:
    return set(dotted(call.func).split("."))


def _is_global(binding: Binding, module: ModuleFacts) -> bool:
    return any(each is binding for each in bindings_of(module.root).get(binding.name, ()))


def _may_be_spawned(reach: DatasetFlow, function: WorkerFunction, module: ModuleFacts) -> bool:
    """True if workers that run a function may be spawned, as far as the known loaders of its Dataset show.

    Loaders of programs that neither import the module nor are imported by it never get its objects.
    """
    receiver: Value | None = function.path[0].frame.receiver
    if isinstance(receiver, CallResult) and isinstance(receiver.by, Class) and reach.workers.is_dataset(receiver.by):
        loaders = reach.loaders_of(receiver.by)
        imports = Imports(reach.ev.project)
        near = [each for each in loaders if _shares_program(each.frame.scope.module, module, imports)]
        return not never_pickled(near) if near or not loaders else False
    return True


def _shares_program(one: ModuleFacts, other: ModuleFacts, imports: Imports) -> bool:
    return one is other or imports.reaches([one], {other.path}) or imports.reaches([other], {one.path})
