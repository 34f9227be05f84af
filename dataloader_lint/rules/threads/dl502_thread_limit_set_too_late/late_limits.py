"""Thread limits: those set in worker code, and environment variables that are set too late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.start_methods import start_methods
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import THREAD_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.flow import reaching
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Mapping,
    Method,
    Values,
    constant,
)

_LIMIT = "set_num_threads"


# Which libraries read a variable: torch, numpy and numexpr read it at import, and pandas imports numexpr.
_READERS = {
    "OMP_NUM_THREADS": ("torch", "numpy"),
    "MKL_NUM_THREADS": ("torch", "numpy"),
    "OPENBLAS_NUM_THREADS": ("numpy", "torch"),
    "NUMEXPR_NUM_THREADS": ("numexpr", "pandas"),
}


_STARTERS = (
    "subprocess.",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.system",
    "os.popen",
    "torch.distributed.run.",
    "torch.distributed.launch",
    "torch.distributed.launcher.",
    "torch.distributed.elastic.",
)


# Processes that are not forked import the libraries again, and read the environment at that time.
_UNFORKED = ("spawn", "forkserver")


_PROCESSES = ("Pool", "Process", "ProcessPoolExecutor")


_PROCESS_PACKAGES = ("concurrent.futures", "multiprocessing", "torch.multiprocessing")


@dataclass(frozen=True, slots=True, eq=False)
class LateLimit:
    """A statement that sets a limit in the environment after the import of the library that reads it."""

    node: Node
    variable: str
    library: str
    import_node: Node
    is_movable: bool  # a constant, at module level, and `os` is imported before the library
    block: str  # the function that it stands in, or "main guard"; empty at the top of the module

    @property
    def is_at_import(self) -> bool:
        """True if it runs as soon as the module is imported."""
        return not self.block

    @property
    def statement(self) -> Node:
        """The assignment itself, without the rest of its line."""
        assert isinstance(self.node, cst.SimpleStatementLine)
        return self.node.body[0]


def late_limits(ev: Evaluator, module: ModuleFacts) -> Iterator[LateLimit]:
    """Yields the limits that a module sets too late for itself, in document order."""
    places = sorted(_environment_settings(ev, module), key=lambda place: module.tree.order(place[0]))
    if not places:
        return
    imports = [each for found in bindings_of(module.root).values() for each in found if each.kind is Kind.IMPORT]
    direct = {id(module.tree.scope_of(call)) for call in module.calls_named(_LIMIT)}
    late = [
        (node, variable, binding)
        for node, variables in places
        if id(module.tree.scope_of(node)) not in direct  # the process is limited directly: the variable is for others
        for variable in variables
        if (binding := _import_that_read(module, imports, node, variable)) is not None
    ]
    if not late or _starts_programs(ev, module):
        return
    done: set[int] = set()
    for node, variable, binding in late:
        if id(node) in done:
            continue
        done.add(id(node))
        if not _starts_unforked_after(ev, node, module):  # in time for such processes
            line = module.tree.statement_of(node)
            movable = _is_movable(ev, module, node, line, binding)
            anchor = line if isinstance(line, cst.SimpleStatementLine) else node  # `for name in names: set(name)`
            yield LateLimit(anchor, variable, _package(binding), binding.node, movable, _block_of(node, module))


def _block_of(node: Node, module: ModuleFacts) -> str:
    function = module.tree.scope_of(node).function
    if function is not None:
        return function.node.name.value if isinstance(function.node, cst.FunctionDef) else "lambda"
    return "main guard" if is_guarded(node, module.tree) else ""


def _is_movable(ev: Evaluator, module: ModuleFacts, node: Node, line: Node, reader: Binding) -> bool:
    tree = module.tree
    if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.SimpleString) or len(node.targets) > 1:
        return False
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return False
    if any(isinstance(above, cst.FunctionDef | cst.ClassDef | cst.For | cst.While) for above in tree.ancestors(line)):
        return False
    target = cst.ensure_type(node.targets[0].target, cst.Subscript)
    index = target.slice[0].slice
    if not isinstance(index, cst.Index) or not isinstance(index.value, cst.SimpleString):
        return False
    root = dotted(target.value).partition(".")[0]
    bindings = bindings_of(module.root).get(root, [])
    return any(tree.order(each.node) < tree.order(reader.node) for each in bindings if each.kind is Kind.IMPORT)


def _environment_settings(ev: Evaluator, module: ModuleFacts) -> Iterator[tuple[Node, list[str]]]:
    for scope in module.root.descend():
        for assign in scope.own(cst.Assign):
            for each in assign.targets:
                target = each.target
                if isinstance(target, cst.Subscript) and _is_environment(ev, target.value, scope):
                    index = target.slice[0].slice
                    if isinstance(index, cst.Index):
                        yield assign, _limits_named(ev, index.value, scope)
        for added in scope.own(cst.AugAssign):
            if isinstance(added.operator, cst.BitOrAssign) and _is_environment(ev, added.target, scope):
                yield added, _limits_in(ev, added.value, scope)
        for call in scope.own(cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("setdefault", "update") and call.args:
                if not _is_environment(ev, call.func.value, scope):
                    continue
                first = call.args[0]
                if call.func.attr.value == "setdefault":
                    yield call, _limits_named(ev, first.value, scope)
                else:
                    names = [arg.keyword.value for arg in call.args if arg.keyword is not None]
                    given = _limits_in(ev, first.value, scope) if first.keyword is None else []
                    yield call, [name for name in [*names, *given] if name in _READERS]


def _is_environment(ev: Evaluator, node: cst.BaseExpression, scope: Scope) -> bool:
    if not dotted(node).endswith("environ"):
        return False
    return any(isinstance(each, Library) and each.name == "os.environ" for each in ev.values(node, ev.frame_of(scope)))


def _limits_in(ev: Evaluator, node: cst.BaseExpression, scope: Scope) -> list[str]:
    """The variables that a dict sets which is written out, in place or under a name."""
    found = [each.node for each in ev.values(node, ev.frame_of(scope)) if isinstance(each, Mapping)]
    return [
        name
        for written in found[:1]
        if isinstance(written, cst.Dict)
        for element in written.elements
        if isinstance(element, cst.DictElement)
        for name in _limits_named(ev, element.key, scope)
    ]


def _limits_named(ev: Evaluator, node: cst.BaseExpression, scope: Scope) -> list[str]:
    found = ev.values(node, ev.frame_of(scope))
    if not all(isinstance(each, Const) for each in found):
        return []
    return [str(each.value) for each in found if isinstance(each, Const) and each.value in _READERS]


def _starts_programs(ev: Evaluator, module: ModuleFacts) -> bool:
    """True if the module starts other programs, which inherit the environment that it sets."""
    return any(
        isinstance(each, Library) and each.name.startswith(_STARTERS)
        for call in module.all_calls()
        if dotted(call.func)
        for each in ev.values(call.func, ev.frame_of(module.tree.scope_of(call)))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Site:
    node: Node


def _starts_unforked_after(ev: Evaluator, setting: Node, module: ModuleFacts) -> bool:
    """True if processes that import the libraries again start after a setting: in its function or in later code."""
    is_default = _spawns_by_default(ev, module)
    places: list[tuple[Node, Scope]] = [(setting, function_scope(module.tree.scope_of(setting)))]
    seen: set[int] = set()
    for place, scope in places:
        frame = ev.frame_of(scope)
        with_options = not is_reached(ev, place, frame)  # one option may enable both the setting and the processes
        for call in scope.within(cst.Call):
            if call is not place and reaching(call, [_Site(place)], scope.module.tree):
                if _starts_unforked(ev, call, frame, is_default, 0, with_options):
                    return True
        if isinstance(scope.node, cst.Module):
            # A script is complete; functions of a module can be called by others.
            is_script = is_guarded(place, scope.module.tree)
            if not is_script and any(_may_start_unforked_later(ev, inner, is_default) for inner in scope.descend()):
                return True
        elif id(scope) not in seen and len(seen) < THREAD_DEPTH:
            seen.add(id(scope))
            places.extend((site, frame.scope) for site, frame, _ in ev.callers(scope))
    return False


def _may_start_unforked_later(ev: Evaluator, scope: Scope, is_default: bool) -> bool:
    """True if a function starts such processes, and is called from another module or has no known call."""
    if not isinstance(scope.node, cst.FunctionDef):
        return False
    frame = ev.frame_of(scope)
    if not any(_starts_unforked(ev, call, frame, is_default, THREAD_DEPTH) for call in scope.within(cst.Call)):
        return False
    scopes, seen = [scope], {id(scope)}
    for each in scopes:
        callers = {id(frame.scope): frame.scope for _, frame, _ in ev.callers(each)}
        if not callers or any(caller.module is not scope.module for caller in callers.values()):
            return True
        scopes.extend(caller for key, caller in callers.items() if caller.is_function and key not in seen)
        seen.update(callers)
    return False


def _starts_unforked(
    ev: Evaluator, call: cst.Call, frame: Frame, is_default: bool, depth: int, with_options: bool = False
) -> bool:
    """True if a call starts processes that are not forked, directly or in functions of the project that it runs.

    Processes that only an option enables, as in `if args.gpus > 1`, do not affect a default run.
    """
    if not is_reached(ev, call, frame, with_options):
        return False
    name = last_name(call.func)
    if name in _PROCESSES and isinstance(call.func, cst.Attribute):
        methods = _start_methods_of(ev, ev.values(call.func.value, frame), is_default)
        if methods:
            return methods <= set(_UNFORKED)
    for callee in ev.values(call.func, frame):
        if isinstance(callee, Library):
            if row(callee.name).spawns:
                return constant(_keyword_values(ev, call, frame, "start_method")) != Const("fork")
            package = callee.name.rpartition(".")[0]
            if callee.name.endswith(_PROCESSES) and package in _PROCESS_PACKAGES:
                context = _keyword_values(ev, call, frame, "mp_context") or _keyword_values(ev, call, frame, "context")
                is_default = is_default or _spawns_by_default(ev, frame.scope.module)
                methods = _start_methods_of(ev, context, is_default)
                return methods <= set(_UNFORKED) if methods else is_default
        elif isinstance(callee, Function | Method) and depth < THREAD_DEPTH:
            function = callee.function if isinstance(callee, Method) else callee
            inner = ev.enter(function, call, frame, callee.receiver if isinstance(callee, Method) else None)
            if any(
                _starts_unforked(ev, each, inner, is_default, depth + 1) for each in function.scope.within(cst.Call)
            ):
                return True
    return False


def _start_methods_of(ev: Evaluator, contexts: Values, is_default: bool) -> set[str]:
    """The start methods of `get_context` results, as far as they are known."""
    found: set[str] = set()
    for each in contexts:
        if (
            isinstance(each, CallResult)
            and row(each.library).starts == "context"
            and each.call is not None
            and each.frame is not None
        ):
            method = constant(
                _keyword_values(ev, each.call, each.frame, "method") or _first_argument(ev, each.call, each.frame)
            )
            if method is not None and isinstance(method.value, str):
                found.add(method.value)
            elif not each.call.args:
                found.add("spawn" if is_default else "fork")
    return found


def _first_argument(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    return ev.values(call.args[0].value, frame) if call.args and call.args[0].keyword is None else ()


def _keyword_values(ev: Evaluator, call: cst.Call, frame: Frame, name: str) -> Values:
    given = next((arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)
    return ev.values(given, frame) if given is not None else ()


def _spawns_by_default(ev: Evaluator, module: ModuleFacts) -> bool:
    return any(each.method in _UNFORKED for each in start_methods(ev, module))


def _import_that_read(module: ModuleFacts, imports: list[Binding], node: Node, variable: str) -> Binding | None:
    """The import before a statement that has already read the variable."""
    tree = module.tree
    place: Node = node  # a function can be called as soon as it is defined
    for above in tree.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            place = above
    here = {id(above) for above in tree.ancestors(place)}
    before = [
        each
        for each in imports
        if tree.order(each.node) < tree.order(place)
        and all(
            isinstance(above, cst.Module | cst.IndentedBlock | cst.SimpleStatementLine | cst.Try) or id(above) in here
            for above in tree.ancestors(each.node)
        )
    ]
    # torch reads the variable when it is imported itself, with or without numpy.
    may_follow = any(_package(each) == "torch" for each in _all_imports(module)) or len(before) < len(imports)
    for package in _READERS[variable]:
        if package == "numpy" and variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS") and may_follow:
            continue
        found = [each for each in before if _package(each) == package]
        if found:
            return min(found, key=lambda each: tree.order(each.node))
    return None


def _all_imports(module: ModuleFacts) -> Iterator[Binding]:
    for scope in module.root.descend():
        for found in bindings_of(scope).values():
            yield from (each for each in found if each.kind is Kind.IMPORT)


def _package(binding: Binding) -> str:
    return "" if binding.level else binding.imported.partition(".")[0]
