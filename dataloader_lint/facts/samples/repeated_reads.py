"""Whole files that worker code reads again for every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.datasets.construction import run_by_libraries
from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.reachability import enclosing_tests, is_reached
from dataloader_lint.facts.infer.values import CallResult, Class, Evaluator, Frame, Library
from dataloader_lint.facts.samples.dependence import Dep, Dependence
from dataloader_lint.facts.syntax.module import ModuleFacts, last_name
from dataloader_lint.facts.syntax.names import Binding, Kind, resolve
from dataloader_lint.facts.syntax.tree import Scope, Tree, function_scope, parameters
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction
from dataloader_lint.facts.workers.workers import Workers

# Readers of paths, and of files that somebody has opened.
_OF_PATHS = frozenset(
    {
        "joblib.load",
        "numpy.genfromtxt",
        "numpy.load",
        "numpy.loadtxt",
        "pandas.read_csv",
        "pandas.read_excel",
        "pandas.read_feather",
        "pandas.read_hdf",
        "pandas.read_json",
        "pandas.read_parquet",
        "pandas.read_pickle",
        "pandas.read_table",
        "safetensors.torch.load_file",
        "scipy.io.loadmat",
        "torch.load",
    }
)
_OF_FILES = frozenset({"json.load", "pickle.load", "yaml.full_load", "yaml.load", "yaml.safe_load"})
# Parsers of what a file holds: `json.loads(path.read_text())`.
_OF_TEXTS = frozenset({"json.loads", "pickle.loads", "yaml.full_load", "yaml.load", "yaml.safe_load"})
_READERS = _OF_PATHS | _OF_FILES | _OF_TEXTS
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _READERS)
# What reads a part of a file, or maps it.
_PARTIAL = frozenset({"chunksize", "columns", "iterator", "mmap", "mmap_mode", "nrows", "skiprows", "start", "where"})
_OPENING = frozenset({"builtins.open", "bz2.open", "gzip.open", "io.open", "lzma.open"})
_CACHES = ("cache", "lru_cache", "cached", "cached_property", "lazy_property", "memoize", "cachedmethod")


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRead:
    """A call that reads a file whose path no sample changes, in code that runs for each sample."""

    call: cst.Call
    function: WorkerFunction
    reader: str


def repeated_reads(workers: Workers, module: ModuleFacts) -> Iterator[RepeatedRead]:
    """The readers of a module that workers call for each sample with the same path."""
    names = _functions_that_read(workers, module)
    if not names:
        return
    seen: set[int] = set()
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        if not _runs_for_each_sample(function):
            continue
        for call, name in function.library_calls:
            if name in _READERS and id(call) not in seen:
                if _is_fixed(workers.ev, call, name, function) and not _is_kept(call, function):
                    seen.add(id(call))
                    if not _has_one_sample(workers, function):
                        yield RepeatedRead(call, function, name)


def _functions_that_read(workers: Workers, module: ModuleFacts) -> set[str]:
    """The names at the top of a module whose functions or classes read whole files."""
    ev = workers.ev
    found = set()
    for name in _LAST_NAMES:
        for call in module.calls_named(name):
            scope = function_scope(module.tree.scope_of(call))
            callees = ev.values(call.func, ev.frame_of(scope))
            if not any(isinstance(each, Library) and each.name in _READERS for each in callees):
                continue
            if _makes_dataset(workers, scope):
                continue
            child: cst.CSTNode | None = None
            for above in module.tree.ancestors(call):
                if isinstance(above, cst.FunctionDef | cst.ClassDef):
                    child = above
            if isinstance(child, cst.FunctionDef | cst.ClassDef):
                found.add(child.name.value)
    return found


def _makes_dataset(workers: Workers, scope: Scope) -> bool:
    """Whether a function is the constructor of a Dataset, or run by that of a library, and so not for each sample."""
    home = classes.class_of(scope)
    if home is None or not isinstance(scope.node, cst.FunctionDef):
        return False
    klass = Class(home, workers.ev.frame_of(home))
    if not workers.is_dataset(klass):
        return False
    run = run_by_libraries(workers.ev, workers.ev.bases(klass))
    return scope.node.name.value == "__init__" or any(each.scope is scope for each in run)


def _runs_for_each_sample(function: WorkerFunction) -> bool:
    entry = function.path[0]
    node = entry.scope.node
    return entry.argument == "" and isinstance(node, cst.FunctionDef) and node.name.value == "__getitem__"


def _has_one_sample(workers: Workers, function: WorkerFunction) -> bool:
    """Whether the Dataset has no second sample for which the file would be read again: `__len__` returns 1."""
    receiver = function.path[0].frame.receiver
    if not isinstance(receiver, CallResult) or not isinstance(receiver.by, Class):
        return False
    method = classes.find_method(workers.ev, workers.ev.bases(receiver.by).classes, "__len__")
    found = [each.value for each in method.scope.own(cst.Return)] if method is not None else []
    return bool(found) and all(isinstance(each, cst.Integer) and each.evaluated_value <= 1 for each in found)


def _is_fixed(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> bool:
    """Whether nothing that the call is given depends on the sample, as far as all of it is known."""
    if not call.args or any(arg.star or (arg.keyword and arg.keyword.value in _PARTIAL) for arg in call.args):
        return False
    first = _source(ev, call, name, function)
    if first is None:
        return False
    entry = function.path[0].scope
    own = classes.receiver_name(entry)
    params = parameters(entry.node) if isinstance(entry.node, cst.FunctionDef) else []
    roots = {id(param): Dep.SAMPLE for param in params if param.name.value != own}
    ingredients = Dependence(ev, roots, [each.scope for each in function.path])
    if ingredients.of(first, function.frame) != {Dep.FIXED} or not is_reached(ev, call, function.frame, True):
        return False
    others = (ingredients.of(arg.value, function.frame) for arg in call.args[1:])
    return not any(Dep.SAMPLE in parts for parts in others)


def _source(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> cst.BaseExpression | None:
    """The path or file that a reader reads whole; None where it may read on, or parse what comes from elsewhere."""
    first = call.args[0].value
    if name in _OF_TEXTS and isinstance(first, cst.Call) and isinstance(first.func, cst.Attribute):
        method, owner = first.func.attr.value, first.func.value
        if method in ("read_bytes", "read_text"):
            return owner
        if method == "read" and not first.args:
            return owner if _is_opened_here(ev, owner, function) else None
    if name in _OF_FILES and _is_opened_here(ev, first, function):
        return first
    return first if name in _OF_PATHS else None


def _is_opened_here(ev: Evaluator, node: cst.BaseExpression, function: WorkerFunction) -> bool:
    """Whether a file is opened for this one reading, and not read on from where it was left."""
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
    return any(isinstance(callee, Library) and callee.name in _OPENING for callee in ev.values(call.func, frame))


def _is_kept(call: cst.Call, function: WorkerFunction) -> bool:
    """Whether the result may be kept for later samples, or the call made on a condition that says so."""
    for each in function.path:
        node = each.scope.node
        if isinstance(node, cst.FunctionDef) and any(
            name.rpartition(".")[2] in _CACHES for name in classes.decorator_names(node)
        ):
            return True
        sites = [call] if each is function else calls_to_next(each, function)
        if sites and all(_is_held_back(site, each) for site in sites):
            return True
    return False


def calls_to_next(caller: WorkerFunction, function: WorkerFunction) -> list[cst.Call]:
    """The calls in a function on the way that lead to the next one; empty where it is not called by its name."""
    path = function.path
    node = path[path.index(caller) + 1].scope.node
    name = node.name.value if isinstance(node, cst.FunctionDef) else ""
    return [call for call in caller.scope.within(cst.Call) if last_name(call.func) == name]


def _is_held_back(call: cst.Call, function: WorkerFunction) -> bool:
    """Whether a call stands under a condition that is no plain setting, or what it gives is kept."""
    if any(not _is_flag(test) for test, _ in enclosing_tests(call, function.frame)):
        return True
    return _is_stored(call, function.module.tree)


def _is_flag(test: cst.BaseExpression) -> bool:
    """`self.train`: a setting of the object, and nothing that is looked up first."""
    return isinstance(test, cst.Attribute) and isinstance(test.value, cst.Name)


def _is_stored(call: cst.Call, tree: Tree) -> bool:
    """Whether what was read goes into an attribute, a container or a global, itself or through a local name."""
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
