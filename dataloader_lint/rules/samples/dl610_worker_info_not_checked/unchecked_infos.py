"""Unguarded uses of `get_worker_info()`, which returns None in the main process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import WORKER_INFO
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Evaluator,
    Function,
    Library,
    Method,
    Partial,
    Value,
)

_FUNCTION_NAME = WORKER_INFO.rpartition(".")[2]


@dataclass(frozen=True, slots=True, eq=False)
class UncheckedInfo:
    """`get_worker_info().id`, or `info.id` for an alias of it, in code that the main process may run too."""

    use: cst.Attribute
    function: WorkerFunction

    @property
    def attribute(self) -> str:
        return self.use.attr.value


def unchecked_infos(workers: Workers, module: ModuleFacts) -> Iterator[UncheckedInfo]:
    """Yields the first use in each function of a module that runs for a Dataset or as a collate_fn."""
    calls = module.calls_named(_FUNCTION_NAME)
    if not calls:
        return
    uses: dict[int, cst.Attribute] = {}
    names: set[str] = set()
    for scope in {id(scope): scope for call in calls for scope in (_function_of(module.tree, call),)}.values():
        use = next(_unguarded_uses(workers.ev, scope), None)
        if use is not None:
            uses[id(scope)] = use
            names.add(_outermost_name(scope))
    if not uses:
        return
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        if id(function.scope) in uses and not _is_surely_in_worker(workers, function):
            yield UncheckedInfo(uses.pop(id(function.scope)), function)


def _is_surely_in_worker(workers: Workers, function: WorkerFunction) -> bool:
    """True if only workers run a function: as a worker_init_fn, or for loaders with a literal number of workers."""
    entry = function.path[0]
    if entry.argument != "collate_fn":
        return entry.argument == "worker_init_fn"
    given = [
        loader.known("num_workers")
        for loader in workers.loaders(entry.module)
        if any(_runs(workers.ev, value, entry.scope) for value in loader.values("collate_fn"))
    ]
    return bool(given) and all(known is not None and bool(known.value) and not known.default for known in given)


def _runs(ev: Evaluator, value: Value, scope: Scope) -> bool:
    """True if calling a value runs a function: itself, a `partial` of it, an object with this `__call__`."""
    if isinstance(value, Partial):
        return _runs(ev, value.callee, scope)
    if isinstance(value, Method):
        return value.function.scope is scope
    if isinstance(value, CallResult) and isinstance(value.by, Class):
        called = classes.find_method(ev, ev.bases(value.by).classes, "__call__")
        return called is not None and called.scope is scope
    return isinstance(value, Function) and value.scope is scope


def _function_of(tree: Tree, node: Node) -> Scope:
    return function_scope(tree.scope_of(node))


def _outermost_name(scope: Scope) -> str:
    found = ""
    current: Scope | None = scope
    while current is not None:
        if isinstance(current.node, cst.FunctionDef | cst.ClassDef):
            found = current.node.name.value
        current = current.parent
    return found


def _unguarded_uses(ev: Evaluator, scope: Scope) -> Iterator[cst.Attribute]:
    """Yields the unguarded uses in a function."""
    tree = scope.module.tree
    frame = ev.frame_of(scope)
    if _has_test(scope):
        return
    for node in scope.within(cst.Attribute):
        owner = node.value
        bindings: list[Binding] = []
        if isinstance(owner, cst.Name):
            bindings = resolve(owner, tree)
            if any(binding.scope is not scope or binding.kind is not Kind.VALUE for binding in bindings):
                continue
        calls = [owner] if isinstance(owner, cst.Call) else [binding.value for binding in bindings]
        if calls and all(
            isinstance(call, cst.Call) and ev.values(call.func, frame) == (Library(WORKER_INFO),) for call in calls
        ):
            yield node


def _has_test(scope: Scope) -> bool:
    """True if anything in a function tests the worker info, or catches exceptions around its use.

    The analysis does not match tests to uses: one test shows that the author considered None.
    """
    tree = scope.module.tree
    tests_and_calls: list[Node] = []
    for inner in (scope, *(each for each in scope.descend() if each is not scope)):
        tests: list[cst.If | cst.While | cst.Assert]
        tests = [*inner.own(cst.If), *inner.own(cst.While), *inner.own(cst.Assert)]
        tests_and_calls.extend(each.test for each in tests)
        for call in inner.own(cst.Call):
            if isinstance(call.func, cst.Name) and call.func.value in ("getattr", "hasattr", "isinstance", "bool"):
                tests_and_calls.append(call)
    found = {name.value for node in tests_and_calls for name in tree.find(node, cst.Name)}
    found |= {name.value for node in _tests_in_expressions(scope) for name in tree.find(node, cst.Name)}
    called = {attribute.attr.value for node in tests_and_calls for attribute in tree.find(node, cst.Attribute)}
    if _FUNCTION_NAME in found or _FUNCTION_NAME in called:
        return True
    assigns: list[cst.Assign | cst.NamedExpr] = [*scope.own(cst.Assign), *scope.own(cst.NamedExpr)]
    for assign in assigns:
        value = assign.value
        targets = [each.target for each in assign.targets] if isinstance(assign, cst.Assign) else [assign.target]
        if isinstance(value, cst.Call) and any(
            isinstance(target, cst.Name) and target.value in found for target in targets
        ):
            if last_name(value.func) == _FUNCTION_NAME:
                return True
    return any(True for statement in _tries(scope) for _ in tree.find(statement.body, cst.Attribute))


def _tests_in_expressions(scope: Scope) -> Iterator[Node]:
    """Yields the tests of `a if test else b`, `a and b`, `not a`, comparisons and `match` statements."""
    tree = scope.module.tree
    body = scope.node.body  # type: ignore[attr-defined]
    for node in tree.walk(body):
        if isinstance(node, cst.IfExp):
            yield node.test
        elif isinstance(node, cst.BooleanOperation):
            yield node.left
        elif isinstance(node, cst.Comparison):
            yield node
        elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            yield node
        elif isinstance(node, cst.Match):
            yield node.subject


def _tries(scope: Scope) -> Iterator[cst.Try]:
    tree = scope.module.tree
    body = scope.node.body  # type: ignore[attr-defined]
    return (node for node in tree.walk(body) if isinstance(node, cst.Try) and node.handlers)
