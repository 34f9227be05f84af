"""Thread limits in environment variables that are set too late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.start_methods import start_methods
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.expressions import keyword_of
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, function_scope
from dataloader_lint.semantics.values.values import Const, Evaluator, Library, Mapping, Value, constant

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
    if not late or _starts_programs(ev, module) or _spawns_by_default(ev, module):
        return
    done: set[int] = set()
    for node, variable, binding in late:
        if id(node) in done:
            continue
        done.add(id(node))
        if _spawns_after(ev, node, module):
            continue
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


def _spawns_after(ev: Evaluator, setting: Node, module: ModuleFacts) -> bool:
    """True if a later call in the function of a setting starts processes that load the libraries again."""
    scope = function_scope(module.tree.scope_of(setting))
    frame = ev.frame_of(scope)
    later = (call for call in scope.within(cst.Call) if module.tree.order(call) > module.tree.order(setting))
    spawning = (call for call in later for each in ev.values(call.func, frame) if _is_spawning(each))
    methods = (keyword_of(call, "start_method") for call in spawning)
    return any(method is None or constant(ev.values(method, frame)) != Const("fork") for method in methods)


def _is_spawning(callee: Value) -> bool:
    return isinstance(callee, Library) and row(callee.name).spawns


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
