"""Handles that the main process keeps in a global or a class attribute, and that forked workers read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.forked import is_forked
from dataloader_lint.pipeline.workers.start_methods import asks_for_spawn
from dataloader_lint.rules.processes._shared.calls_in_workers import WorkerCall, calls_in_workers
from dataloader_lint.rules.processes.dl205_handle_opened_in_init.closing import is_closed_locally
from dataloader_lint.rules.processes.dl205_handle_opened_in_init.handles import OPENING, is_safe_forked, kind_of
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import CHOOSING_MODULES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import NONE, CallResult, Class, Evaluator, Frame

# What breaks in a forked worker though only the main process opened it. A pool of threads that it has not used works.
_BREAKING = frozenset({"archive", "lock table", "offset", "pool", "position"})
_STARTED_ON_USE = "concurrent.futures."
# What reads nothing: functions that are given a handle, and methods and attributes of it.
_READING_NOTHING = frozenset({"bool", "hasattr", "id", "isinstance", "len", "print", "register", "repr", "str", "type"})
_TOUCHING_NOTHING = frozenset(
    {
        "close",
        "fileno",
        "flush",
        "infolist",
        "max_readers",
        "namelist",
        "path",
        "release",
        "sync",
        "write",
        "writelines",
    }
)
_BEFORE_WORKERS = frozenset({"__init__", "__len__", "__post_init__"})


@dataclass(frozen=True, slots=True, eq=False)
class GlobalHandle:
    """The call that opens a handle, the global or class attribute that keeps it, and a use of it in worker code.

    `kind` is the qualified name of what opens it. `opener` is the method of a Dataset that has it opened in the main
    process, though workers would open their own; empty if only the main process opens it.
    """

    node: cst.Call
    name: str
    kind: str
    use: WorkerCall
    opener: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Store:
    """A binding of a global, or of an attribute in the body of a class, to a call that may open a handle."""

    binding: Binding
    call: cst.Call
    label: str
    siblings: list[Binding]


def global_handles(reach: DatasetFlow, module: ModuleFacts) -> list[GlobalHandle]:
    """Returns the handles opened in this module that forked workers get by a global, each at a use that breaks."""
    stores = list(_stores(reach.ev, module))
    if not stores or asks_for_spawn(reach.ev, module):
        return []
    found = []
    for store in stores:
        kind = _breaking_kind(reach.ev, store)
        opener = _opener(reach, module, store) if kind else None
        use = _use(reach, module, store) if opener is not None else None
        if use is not None and opener is not None:
            found.append(GlobalHandle(store.call, store.label, kind, use, opener))
    return sorted(found, key=lambda one: module.tree.order(one.node))


def _stores(ev: Evaluator, module: ModuleFacts) -> Iterator[_Store]:
    """The bindings that may keep a handle, without those of names that are closed or set to None again."""
    opening = [call for name in OPENING for call in module.calls_named(name)]
    kept = {id(call): call for call in opening if isinstance(module.tree.parent(call), cst.Assign | cst.AnnAssign)}
    scopes = [module.root, *module.classes] if kept else []
    for scope in scopes:
        for name, bindings in bindings_of(scope).items():
            stored = [(each, kept[id(each.value)]) for each in bindings if id(each.value) in kept and not each.path]
            stored = [(each, call) for each, call in stored if each.kind is Kind.VALUE]
            if not stored or any(is_closed_locally(call, module) for _, call in stored):
                continue
            if any(
                each.scope.is_function and ev.binding(each, ev.frame_of(each.scope)) == (NONE,) for each in bindings
            ):
                continue
            owner = scope.node.name.value + "." if isinstance(scope.node, cst.ClassDef) else ""
            binding, call = stored[0]
            yield _Store(binding, call, owner + name, bindings)


def _breaking_kind(ev: Evaluator, store: _Store) -> str:
    """What opens a handle that breaks in forked workers; empty for others."""
    for value in ev.values(store.call, ev.frame_of(function_scope(store.binding.scope))):
        kind = kind_of(ev, value)
        is_breaking = row(kind).shared in _BREAKING and not kind.startswith(_STARTED_ON_USE)
        if is_breaking and not is_safe_forked(ev, value, kind):
            return kind
    return ""


def _opener(reach: DatasetFlow, module: ModuleFacts, store: _Store) -> str | None:
    """Who has the main process open the handle: empty for its own code, or a method of a Dataset; None for nobody."""
    names = reach.workers.names_containing(module, [store.call])
    in_workers = {id(each.scope) for each in reach.workers.functions_inside(module, names)}
    setters = {id(scope): scope for each in store.siblings if (scope := function_scope(each.scope)).is_function}
    if not in_workers.isdisjoint(setters):
        own = function_scope(store.binding.scope)
        is_alone = len(setters) == 1 and id(own) in setters
        return _early_user(reach, own, store) if is_alone and own.is_function else None
    home = function_scope(store.binding.scope)
    return "" if not home.is_function or _early_method(reach, home) or reach.ev.callers(home) else None


def _early_user(reach: DatasetFlow, getter: Scope, store: _Store) -> str | None:
    """The method of a Dataset that runs before workers start and calls what opens a handle on first use."""
    tree = getter.module.tree
    name = store.binding.name
    on_first_use = any(
        isinstance(above, cst.If) and name in tree.words(above.test).split() and "pid" not in tree.words(above.test)
        for above in tree.ancestors(store.call)
    )
    if not on_first_use:
        return None
    methods = (_early_method(reach, function_scope(frame.scope)) for _, frame, _ in reach.ev.callers(getter))
    return next(filter(None, methods), None)


def _early_method(reach: DatasetFlow, scope: Scope) -> str:
    """The name of a method of a Dataset that the main process runs before workers start; empty for other functions."""
    klass = classes.class_of(scope)
    name = scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else ""
    is_early = name in _BEFORE_WORKERS and klass is not None
    return name if is_early and klass and reach.workers.is_dataset(Class(klass, reach.ev.frame_of(klass))) else ""


def _use(reach: DatasetFlow, module: ModuleFacts, store: _Store) -> WorkerCall | None:
    """The first use of a handle in code that forked workers run, in this module or in one that imports it."""
    name = store.binding.name

    def form(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> str:
        values = ev.values(node, frame)
        return name if any(isinstance(each, CallResult) and each.call is store.call for each in values) else ""

    names = [name, *_getters(module, name)]
    for each in (module, *reach.ev.project.importers(module, names, CHOOSING_MODULES)):
        reading = [use for use in _uses(each, names) if _is_read(use, each.tree)]
        for found in calls_in_workers(reach, each, reading, form) if reading else ():
            if is_forked(reach, found.function):
                return found
    return None


def _getters(module: ModuleFacts, name: str) -> Iterator[str]:
    """The functions of a module that return the global of a name."""
    for scope in module.root.inner:
        if isinstance(scope.node, cst.FunctionDef) and any(
            isinstance(each.value, cst.Name) and each.value.value == name for each in scope.own(cst.Return)
        ):
            yield scope.node.name.value


def _uses(module: ModuleFacts, names: list[str]) -> Iterator[cst.BaseExpression]:
    """The expressions `name`, `self.name`, `module.name` and, where it is called, `name()`, in document order."""
    tree = module.tree
    by_name: list[cst.Name | cst.Attribute] = [use for name in names for use in tree.named(tree.module, name)]
    by_name += (each for each in tree.find(tree.module, cst.Attribute) if each.attr.value in names)
    for named in sorted(by_name, key=tree.order):
        call = tree.parent(named)
        yield call if isinstance(call, cst.Call) and call.func is named else named


def _is_read(use: cst.BaseExpression, tree: Tree) -> bool:
    """True if an expression that stands for a handle is read from, or given to what may read from it."""
    above = tree.parent(use)
    if isinstance(above, cst.Subscript):
        return above.value is use
    if isinstance(above, cst.For | cst.CompFor):
        return above.iter is use
    taken_by = tree.parent(above) if isinstance(above, cst.Arg | cst.Attribute) else None
    if not isinstance(taken_by, cst.Call):
        return False
    if isinstance(above, cst.Attribute):
        return taken_by.func is above and above.attr.value not in _TOUCHING_NOTHING
    return last_name(taken_by.func) not in _READING_NOTHING
