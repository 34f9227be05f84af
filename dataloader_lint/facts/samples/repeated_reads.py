"""Whole files that worker code reads again for every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.datasets.construction import called_by_library_constructors
from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.reachability import enclosing_tests, is_reached
from dataloader_lint.facts.infer.values import CallResult, Class, Const, Evaluator, Frame, Library
from dataloader_lint.facts.samples.dependence import Dep, Dependence
from dataloader_lint.facts.syntax.module import ModuleFacts, last_name
from dataloader_lint.facts.syntax.names import Binding, Kind, resolve
from dataloader_lint.facts.syntax.tree import Scope, Tree, function_scope, parameters
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction
from dataloader_lint.facts.workers.workers import Workers

# Readers that get a path, and readers that get an open file.
_PATH_READERS = frozenset(
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
_FILE_READERS = frozenset({"json.load", "pickle.load", "yaml.full_load", "yaml.load", "yaml.safe_load"})
# Parsers of what a file holds: `json.loads(path.read_text())`.
_TEXT_PARSERS = frozenset({"json.loads", "pickle.loads", "yaml.full_load", "yaml.load", "yaml.safe_load"})
_READING_METHODS = frozenset({"read", "readlines"})  # of an open file
# To find one member of an archive, the headers of all members are read.
_ARCHIVES = frozenset({"tarfile.open", "zipfile.ZipFile"})
_BY_NAME = _PATH_READERS | _FILE_READERS | _TEXT_PARSERS | _ARCHIVES
_PARSER_NAMES = frozenset(name.rpartition(".")[2] for name in _TEXT_PARSERS)
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _BY_NAME)
# Arguments that read a part of a file, or map it.
_PARTIAL_ARGUMENTS = frozenset(
    {"chunksize", "columns", "iterator", "mmap", "mmap_mode", "nrows", "skiprows", "start", "where"}
)
_OPENING_FUNCTIONS = frozenset({"builtins.open", "bz2.open", "gzip.open", "io.open", "lzma.open"})
_CACHES = ("cache", "lru_cache", "cached", "cached_property", "lazy_property", "memoize", "cachedmethod")


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedRead:
    """A call that reads a file whose path is the same for all samples, in code that runs for each sample."""

    call: cst.Call
    function: WorkerFunction
    reader: str

    @property
    def content(self) -> str:
        """What is read each time."""
        return "all headers of an archive" if self.reader in _ARCHIVES else "the same file"


def repeated_reads(workers: Workers, module: ModuleFacts) -> Iterator[RepeatedRead]:
    """Yields the calls of a module that read the same path for each sample in workers."""
    names = _functions_that_read(workers, module)
    if not names:
        return
    seen: set[int] = set()
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        if not _runs_for_each_sample(function):
            continue
        for call, name in (*function.library_calls, *_method_calls(function)):
            if (name in _BY_NAME or name in _READING_METHODS) and id(call) not in seen:
                if _is_fixed(workers.ev, call, name, function) and not _is_cached(call, function):
                    seen.add(id(call))
                    if not _has_one_sample(workers, function):
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
        if name not in _READING_METHODS or call.args or not isinstance(call.func, cst.Attribute):
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
    found = set()
    methods = _READING_METHODS if module.calls_named("open") else frozenset[str]()
    for name in _LAST_NAMES | methods:
        for call in module.calls_named(name):
            scope = function_scope(module.tree.scope_of(call))
            if name not in methods:
                callees = ev.values(call.func, ev.frame_of(scope))
                if not any(isinstance(each, Library) and each.name in _BY_NAME for each in callees):
                    continue
            if _runs_in_construction(workers, scope):
                continue
            child: cst.CSTNode | None = None
            for above in module.tree.ancestors(call):
                if isinstance(above, cst.FunctionDef | cst.ClassDef):
                    child = above
            if isinstance(child, cst.FunctionDef | cst.ClassDef):
                found.add(child.name.value)
    return found


def _runs_in_construction(workers: Workers, scope: Scope) -> bool:
    """True if a function is the constructor of a Dataset, or is called by a library's: it does not run per sample."""
    home = classes.class_of(scope)
    if home is None or not isinstance(scope.node, cst.FunctionDef):
        return False
    klass = Class(home, workers.ev.frame_of(home))
    if not workers.is_dataset(klass):
        return False
    run = called_by_library_constructors(workers.ev, workers.ev.bases(klass))
    return scope.node.name.value == "__init__" or any(each.scope is scope for each in run)


def _runs_for_each_sample(function: WorkerFunction) -> bool:
    entry = function.path[0]
    node = entry.scope.node
    return entry.argument == "" and isinstance(node, cst.FunctionDef) and node.name.value == "__getitem__"


def _has_one_sample(workers: Workers, function: WorkerFunction) -> bool:
    """True if `__len__` returns 1: the Dataset has no second sample for which the file would be read again."""
    receiver = function.path[0].frame.receiver
    if not isinstance(receiver, CallResult) or not isinstance(receiver.by, Class):
        return False
    method = classes.find_method(workers.ev, workers.ev.bases(receiver.by).classes, "__len__")
    found = [each.value for each in method.scope.own(cst.Return)] if method is not None else []
    return bool(found) and all(isinstance(each, cst.Integer) and each.evaluated_value <= 1 for each in found)


def _is_fixed(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> bool:
    """True if no argument of the call depends on the sample, as far as all of them are known."""
    if any(arg.star or (arg.keyword and arg.keyword.value in _PARTIAL_ARGUMENTS) for arg in call.args):
        return False
    first = _source(ev, call, name, function)
    if first is None:
        return False
    if name in _ARCHIVES and any(_is_for_writing(ev, arg, function) for arg in call.args[1:]):
        return False
    entry = function.path[0].scope
    own = classes.receiver_name(entry)
    params = parameters(entry.node) if isinstance(entry.node, cst.FunctionDef) else []
    roots = {id(param): Dep.SAMPLE for param in params if param.name.value != own}
    dependence = Dependence(ev, roots, [each.scope for each in function.path])
    if dependence.of(first, function.frame) != {Dep.FIXED} or not is_reached(ev, call, function.frame, True):
        return False
    others = (dependence.of(arg.value, function.frame) for arg in call.args[1:])
    return not any(Dep.SAMPLE in parts for parts in others)


def _source(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> cst.BaseExpression | None:
    """The path or file that a reader reads whole; None if it may read on, or parse what comes from elsewhere."""
    if name in _READING_METHODS:
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        return owner if owner is not None and _is_opened_here(ev, owner, function) else None
    if not call.args:
        return None
    first = call.args[0].value
    if name in _TEXT_PARSERS and isinstance(first, cst.Call) and isinstance(first.func, cst.Attribute):
        method, owner = first.func.attr.value, first.func.value
        if method in ("read_bytes", "read_text"):
            return owner
        if method == "read" and not first.args:
            return owner if _is_opened_here(ev, owner, function) else None
    if name in _FILE_READERS and _is_opened_here(ev, first, function):
        return first
    return first if name in _PATH_READERS or name in _ARCHIVES else None


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
        isinstance(callee, Library) and callee.name in _OPENING_FUNCTIONS for callee in ev.values(call.func, frame)
    )


def _is_cached(call: cst.Call, function: WorkerFunction) -> bool:
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
