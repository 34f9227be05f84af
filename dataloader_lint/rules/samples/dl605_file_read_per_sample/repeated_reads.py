"""Whole files that worker code reads again for every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import Dep
from dataloader_lint.rules.samples._shared.per_sample import (
    dependence_on_sample,
    has_one_sample,
    is_cached,
    runs_for_each,
    runs_in_construction,
)
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.libraries.calls import names_where, row
from dataloader_lint.semantics.syntax.definitions import enclosing_definitions
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import Const, Evaluator, Frame, Library, Opaque

_PARSER_NAMES = frozenset(name.rpartition(".")[2] for name in names_where(lambda call: "text" in call.reads))
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in names_where(lambda call: call.reads))
_READING_METHODS = frozenset({"read", "readlines"})  # of an open file
_PATH_METHODS = frozenset({"read_bytes", "read_text"})  # of a path
_METHODS = _READING_METHODS | _PATH_METHODS
# Arguments that read a part of a file, or map it.
_PARTIAL_ARGUMENTS = frozenset(
    {"chunksize", "columns", "iterator", "mmap", "mmap_mode", "nrows", "skiprows", "start", "where"}
)


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRead:
    """A call that reads a file whose path is the same for all samples, in code that runs for each sample or batch."""

    call: cst.Call
    function: WorkerFunction
    reader: str

    @property
    def each(self) -> str:
        """What it is read again for: `sample` or `batch`."""
        return runs_for_each(self.function)

    @property
    def content(self) -> str:
        """What is read each time."""
        return "all headers of an archive" if self.is_archive else "the same file"

    @property
    def is_archive(self) -> bool:
        """True for a zip or tar archive, which may stay open: only its headers cost time."""
        return "archive" in row(self.reader).reads


def repeated_reads(workers: Workers, module: ModuleFacts) -> Iterator[RepeatedRead]:
    """Yields the calls of a module that read the same path for each sample in workers."""
    names = _functions_that_read(workers, module)
    if not names:
        return
    seen: set[int] = set()
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        if not runs_for_each(function):
            continue
        for call, name in (*function.library_calls, *_method_calls(function)):
            if (row(name).reads or name in _METHODS) and id(call) not in seen:
                if _is_fixed(workers.ev, call, name, function) and not is_cached(call, function):
                    seen.add(id(call))
                    if not has_one_sample(workers, function):
                        yield RepeatedRead(call, function, name)


def _method_calls(function: WorkerFunction) -> Iterator[tuple[cst.Call, str]]:
    """The calls that read all of a file from where it is opened: `file.readlines()`."""
    tree = function.module.tree
    calls = [call for call in function.scope.within(cst.Call) if isinstance(call.func, cst.Attribute)]
    moved = {
        tree.spelling(call.func.value)
        for call in calls
        if isinstance(call.func, cst.Attribute) and last_name(call.func) == "seek"
    }
    for call in calls:
        name = last_name(call.func)
        if name not in _METHODS or not isinstance(call.func, cst.Attribute):
            continue
        if name in _READING_METHODS and call.args:
            continue
        above = tree.parent(call)
        if isinstance(above, cst.Arg) and _is_parsed(tree.parent(above)):
            continue  # what parses it is reported
        if tree.spelling(call.func.value) not in moved:
            yield call, name


def _is_parsed(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) in _PARSER_NAMES


def _functions_that_read(workers: Workers, module: ModuleFacts) -> set[str]:
    """The top-level functions and classes of a module that read whole files."""
    ev = workers.ev
    found: list[cst.Call] = []
    methods = _METHODS if module.calls_named("open") else _PATH_METHODS
    for name in _LAST_NAMES | methods:
        for call in module.calls_named(name):
            scope = function_scope(module.tree.scope_of(call))
            if name not in methods:
                callees = ev.values(call.func, ev.frame_of(scope))
                if not any(isinstance(each, Library) and row(each.name).reads for each in callees):
                    continue
            if runs_in_construction(workers, scope):
                continue
            found.append(call)
    return enclosing_definitions(module, found)


def _is_fixed(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> bool:
    """True if no argument of the call depends on the sample, as far as all of them are known."""
    if any(arg.star or (arg.keyword and arg.keyword.value in _PARTIAL_ARGUMENTS) for arg in call.args):
        return False
    first = _source(ev, call, name, function)
    if first is None:
        return False
    if "archive" in row(name).reads and any(_is_for_writing(ev, arg, function) for arg in call.args[1:]):
        return False
    dependence = dependence_on_sample(ev, function)
    if dependence.of(first, function.frame) != {Dep.FIXED} or not is_reached(ev, call, function.frame, True):
        return False
    others = (dependence.of(arg.value, function.frame) for arg in call.args[1:])
    return not any(Dep.SAMPLE in parts for parts in others)


def _source(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> cst.BaseExpression | None:
    """The path or file that a reader reads whole; None if it may read on, or parse what comes from elsewhere."""
    if name in _METHODS:
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if name in _PATH_METHODS:
            held = ev.values(owner, function.frame) if owner is not None else ()
            is_path = bool(held) and all(isinstance(each, Opaque) and each.kind == "path" for each in held)
            return owner if is_path else None
        return owner if owner is not None and _is_opened_here(ev, owner, function) else None
    if not call.args:
        return None
    first, reads = call.args[0].value, row(name).reads
    if "text" in reads and isinstance(first, cst.Call) and isinstance(first.func, cst.Attribute):
        method, owner = first.func.attr.value, first.func.value
        if method in _PATH_METHODS:
            return owner
        if method == "read" and not first.args:
            return owner if _is_opened_here(ev, owner, function) else None
    if "rows" in reads and not _is_read_to_end(call, function):
        return None
    if ("file" in reads or "rows" in reads) and _is_opened_here(ev, first, function):
        return first
    return first if "path" in reads or "archive" in reads else None


def _is_read_to_end(call: cst.Call, function: WorkerFunction) -> bool:
    """True if all rows are taken: `list(csv.reader(file))`, `[row for row in reader]`."""
    tree = function.module.tree
    above = tree.parent(call)
    places: list[cst.CSTNode] = [call]
    if isinstance(above, cst.Assign) and len(above.targets) == 1:
        target = above.targets[0].target
        named = tree.named(function.scope.node, target.value) if isinstance(target, cst.Name) else ()
        places = [use for use in named if use is not target]
    for place in places:
        above = tree.parent(place)
        if isinstance(above, cst.CompFor) and above.iter is place:
            return True
        taker = tree.parent(above) if isinstance(above, cst.Arg) else None
        if isinstance(taker, cst.Call) and last_name(taker.func) in ("dict", "list", "set", "sorted", "tuple"):
            return True
    return False


def _is_for_writing(ev: Evaluator, mode: cst.Arg, function: WorkerFunction) -> bool:
    if mode.keyword is not None and mode.keyword.value != "mode":
        return False
    known = ev.values(mode.value, function.frame)
    return not all(isinstance(each, Const) and str(each.value).startswith("r") for each in known)


def _is_opened_here(ev: Evaluator, node: cst.BaseExpression, function: WorkerFunction) -> bool:
    """True if a file is opened for this one read, so that it is not read on from a former position."""
    if isinstance(node, cst.Call):
        return _opens(ev, node, function.frame)
    if not isinstance(node, cst.Name):
        return False
    bindings = resolve(node, function.module.tree)
    return bool(bindings) and all(_opened(ev, binding, function) for binding in bindings)


def _opened(ev: Evaluator, binding: Binding, function: WorkerFunction) -> bool:
    return (
        binding.scope is function.scope
        and binding.kind in (Kind.ENTERED, Kind.VALUE)
        and isinstance(binding.value, cst.Call)
        and _opens(ev, binding.value, function.frame)
    )


def _opens(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "open" and not call.args[1:]:
        return True  # path.open()
    return any(
        isinstance(callee, Library) and row(callee.name).gives == "file" for callee in ev.values(call.func, frame)
    )
