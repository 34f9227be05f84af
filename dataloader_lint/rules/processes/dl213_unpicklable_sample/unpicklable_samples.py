"""Samples that worker code puts into the queue to the main process although they cannot be pickled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.picklable import is_unpicklable
from dataloader_lint.pipeline.loaders.worker_processes import never_started
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.rules.processes.dl213_unpicklable_sample.graphs import graph_of
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.records import is_filled_by_call
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.dicts.contents import lookup
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.heap.writes import Place, writes_at
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import SAMPLE_DEPTH
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Mapping,
    Method,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
)

_COLLATING = "collat"
_COPIES = frozenset({"dict", "list", "tuple"})
_LAZY = frozenset({"builtins.filter", "builtins.map"})
_NAMESPACES = frozenset({"argparse.Namespace", "types.SimpleNamespace"})
# Views of a dict, as opposed to the lists that other objects give under these names.
_VIEWS = frozenset({"items", "keys", "values"})
_SAMPLES = ("__getitem__", "__getitems__", "get")


@dataclass(frozen=True, slots=True, eq=False)
class UnpicklableSample:
    """A statement where worker code returns or yields something that cannot be pickled, with a description."""

    node: Node
    function: str  # `Images.__getitem__`, `collate`
    what: str
    is_yield: bool


def unpicklable_samples(reach: DatasetFlow, module: ModuleFacts) -> list[UnpicklableSample]:
    """Returns what Datasets and collate functions of a module return that cannot be pickled, one per statement."""
    found: dict[int, UnpicklableSample] = {}
    for scope, frame, name in _entries(reach, module):
        if _is_generator(scope):
            first = min(scope.own(cst.Yield), key=module.tree.order)
            found[id(first)] = UnpicklableSample(first, name, "a generator", False)
            continue
        for statement, value in _results(scope):
            if id(statement) in found or not is_reached(reach.ev, statement, frame):
                continue
            what = _unpicklable_part(reach.ev, value, frame, 0)
            if what:
                found[id(statement)] = UnpicklableSample(statement, name, what, isinstance(statement, cst.Yield))
    return sorted(found.values(), key=lambda one: module.tree.order(one.node))


def _entries(reach: DatasetFlow, module: ModuleFacts) -> Iterator[tuple[Scope, Frame, str]]:
    """Yields the functions of a module whose results leave the worker."""
    ev = reach.ev
    for klass in reach.workers.datasets(module):
        methods = classes.methods_of(klass.scope)
        entries = [methods[name] for name in (*_SAMPLES, "__iter__") if name in methods]
        inherited = [] if entries else list(_hooks(ev, klass))
        if not any(_returns_any(scope) for scope in entries) and not inherited:
            continue
        loaders = reach.loaders_of(klass)
        if never_started(loaders) or (loaders and not any(_keeps_samples(loader) for loader in loaders)):
            continue
        for scope in entries:
            assert isinstance(scope.node, cst.FunctionDef)
            name = scope.node.name.value
            if name != "get" or any(each.startswith("torch_geometric.") for each in ev.bases(klass).libraries):
                yield scope, ev.frame_of(scope), f"{klass.node.name.value}.{name}"
        for scope, name in inherited:
            yield scope, ev.frame_of(scope), f"{klass.node.name.value}.{name}"
    names = list(_collating_names(reach, module))
    # Loaders of other modules may import its functions, or be constructed by functions that get them as arguments.
    for other in reach.around(module, names) if names or _COLLATING in module.tree.code else (module,):
        for loader in reach.workers.loaders(other):
            if loader.has_workers is not False:
                for value in loader.values("collate_fn"):
                    yield from _collating(ev, value, module)


def _hooks(ev: Evaluator, klass: Class) -> Iterator[tuple[Scope, str]]:
    """The methods of a class whose results a base returns as they are, or in a tuple or dict: `return self.load(path)`.

    None where all that the base returns can be pickled, with what they give.
    """
    bases = ev.bases(klass).classes
    entry = next(filter(None, (classes.find_method(ev, bases, name) for name in _SAMPLES)), None)
    if entry is None:
        return
    frame = ev.method_frame(entry.scope, CallResult(klass, None, None))
    for statement, value in _results(entry.scope):
        if is_reached(ev, statement, frame) and _unpicklable_part(ev, value, frame, 0):
            for name, scope in classes.methods_of(klass.scope).items():
                if any(dotted(call.func) == f"self.{name}" for call in entry.scope.own(cst.Call)):
                    yield scope, name


def _collating_names(reach: DatasetFlow, module: ModuleFacts) -> Iterator[str]:
    for scope in module.root.inner:
        if isinstance(scope.node, cst.FunctionDef | cst.ClassDef) and any(map(_returns_any, scope.descend())):
            name = scope.node.name.value
            # A cheap check before the loaders of other modules are computed.
            if _COLLATING in name.lower() or reach.ev.project.is_collating(module, name):
                yield name


def _collating(ev: Evaluator, value: Value, module: ModuleFacts) -> Iterator[tuple[Scope, Frame, str]]:
    if isinstance(value, Partial):
        yield from _collating(ev, value.callee, module)
        return
    receiver: Value | None = None
    function: Function | None = None
    if isinstance(value, Method):
        function, receiver = value.function, value.receiver
    elif isinstance(value, Function):
        function = value
    elif isinstance(value, CallResult) and isinstance(value.by, Class):
        function, receiver = classes.find_method(ev, ev.bases(value.by).classes, "__call__"), value
    if function is None or function.scope.module is not module:
        return
    frame = ev.method_frame(function.scope, receiver) if receiver is not None else ev.frame_of(function.scope)
    yield function.scope, frame, "lambda" if isinstance(function.node, cst.Lambda) else function.node.name.value


def _keeps_samples(loader: Loader) -> bool:
    """True if samples leave the worker unchanged, as far as is known, or go to torch's own collate function."""
    collate = loader.values("collate_fn")
    plain = all((isinstance(value, Const) and value.value is None) or _returns_samples(value) for value in collate)
    return loader.has_workers is not False and plain


def _returns_samples(value: Value) -> bool:
    """True if a collate function returns the samples unchanged: their list, another one, or one of them."""
    if isinstance(value, Library):
        return value.name in ("builtins.list", "builtins.tuple")
    if not isinstance(value, Function) or not parameters(value.node):
        return False
    node = value.node
    returned = [node.body] if isinstance(node, cst.Lambda) else [each.value for each in value.scope.own(cst.Return)]
    given = parameters(node)[0].name.value
    if len(bindings_of(value.scope)[given]) > 1:
        return False
    result = returned[0] if len(returned) == 1 else None
    if isinstance(result, cst.Subscript):  # `return batch[0]`
        result = result.value
    return isinstance(result, cst.Name) and result.value == given


def _returns_any(scope: Scope) -> bool:
    return any(True for _ in _results(scope))


def _results(scope: Scope) -> Iterator[tuple[Node, cst.BaseExpression]]:
    """Yields what a function returns; what it yields, if it is a generator function."""
    if isinstance(scope.node, cst.Lambda):
        yield scope.node, scope.node.body
        return
    yields = scope.own(cst.Yield)
    for each in yields:
        if each.value is not None and not isinstance(each.value, cst.From):
            yield each, each.value
    if not yields and not _is_iterator(scope):
        for statement in scope.own(cst.Return):
            if statement.value is not None:
                yield statement, statement.value


def _is_iterator(scope: Scope) -> bool:
    return isinstance(scope.node, cst.FunctionDef) and scope.node.name.value == "__iter__"


def _is_generator(scope: Scope) -> bool:
    """True if a function that should return a sample or a batch yields, and nothing takes what it yields together."""
    is_plain = isinstance(scope.node, cst.FunctionDef) and not scope.node.decorators
    return is_plain and not _is_iterator(scope) and bool(scope.own(cst.Yield))


def _unpicklable_part(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> str:
    """Describes what in the value of an expression cannot be pickled; empty if nothing is known."""
    if isinstance(node, cst.Tuple | cst.List):
        parts = [element.value for element in node.elements if not isinstance(element, cst.StarredElement)]
    elif isinstance(node, cst.Dict):
        parts = [element.value for element in node.elements if isinstance(element, cst.DictElement)]
    else:
        parts = _fields(ev, node, frame)
    if parts and depth < SAMPLE_DEPTH:
        return next((what for part in parts if (what := _unpicklable_part(ev, part, frame, depth + 1))), "")
    if what := graph_of(ev, node, frame) or _put_into(ev, node, frame, depth):
        return what
    found = ev.values(node, frame)
    named = [_description(ev, value, depth) for value in found]
    return named[0] if named and all(named) else ""


def _fields(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> list[cst.BaseExpression]:
    """What a call gives the fields of a record or of a namespace, which keep it as it is."""
    made = ev.values(node, frame) if isinstance(node, cst.Call) else ()
    if not made or not isinstance(node, cst.Call) or not all(_is_filled(ev, each) for each in made):
        return []
    return [arg.value for arg in node.args if not arg.star]


def _is_filled(ev: Evaluator, value: Value) -> bool:
    if not isinstance(value, CallResult):
        return False
    return value.library in _NAMESPACES or (isinstance(value.by, Class) and is_filled_by_call(ev, value.by))


def _put_into(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> str:
    """Describes what cannot be pickled in what a function puts into its own list or dict before it returns it."""
    if isinstance(node, cst.Call) and dotted(node.func) in _COPIES and len(node.args) == 1:
        node = node.args[0].value  # `tuple(batch)` holds what was put into `batch`
    if not isinstance(node, cst.Name) or depth >= SAMPLE_DEPTH:
        return ""
    bindings = resolve(node, frame.scope.module.tree)
    if len(bindings) != 1 or bindings[0].scope is not frame.scope or bindings[0].kind is not Kind.VALUE:
        return ""
    if not all(isinstance(each, Sequence | Mapping) for each in ev.values(node, frame)):
        return ""
    for write in writes_at(Place(frame.scope, "", node.value)):
        if not is_reached(ev, write.statement, frame):
            continue
        if write.are_several:
            call = write.statement
            given = [each.value for each in call.args if each.keyword is not None] if isinstance(call, cst.Call) else []
            if what := next(filter(None, (_unpicklable_part(ev, each, frame, depth + 1) for each in given)), ""):
                return what  # `sample.update(text=open(path))`
            continue
        if not write.is_stored:
            what = _unpicklable_part(ev, write.value, frame, depth + 1)
        else:
            named = [_description(ev, each, depth + 1) for each in _under_key(ev, node, write.statement, frame)]
            what = named[0] if named and all(named) else ""
        if what:
            return what
    return ""


def _under_key(ev: Evaluator, node: cst.Name, statement: Node, frame: Frame) -> Values:
    """What a dict holds, where it is called `node`, under the key that a statement has set."""
    targets = [each.target for each in statement.targets] if isinstance(statement, cst.Assign) else []
    for target in targets:
        if isinstance(target, cst.Subscript) and dotted(target.value) == node.value and len(target.slice) == 1:
            index = target.slice[0].slice
            key = constant(ev.values(index.value, frame)) if isinstance(index, cst.Index) else None
            if key is not None:
                return lookup(ev, node, key.value, frame)
    return ()


def _description(ev: Evaluator, value: Value, depth: int) -> str:
    if isinstance(value, Sequence):
        if value.kind == "generator":
            return "a generator"
        inner = value.items if value.items is not None and depth < SAMPLE_DEPTH else ()
        for item in inner:
            named = [_description(ev, each, depth + 1) for each in item]
            if named and all(named):
                return named[0]
    elif isinstance(value, Mapping) and isinstance(value.node, cst.Dict) and depth < SAMPLE_DEPTH:
        return _unpicklable_part(ev, value.node, value.frame, depth + 1)
    elif isinstance(value, Function) and is_unpicklable(value):
        return "a lambda" if isinstance(value.node, cst.Lambda) else f"the local function `{value.node.name.value}`"
    elif isinstance(value, Partial):
        what = _description(ev, value.callee, depth)
        return f"a `partial` of {what}" if what else ""
    elif isinstance(value, CallResult) and _is_view(ev, value):
        return f"a view of a dict, `.{value.library.rpartition('.')[2]}()`"
    elif isinstance(value, CallResult) and row(value.library).is_handle:
        return row(value.library).opens
    elif isinstance(value, CallResult) and row(value.library).wraps_handle and value.call and value.frame:
        inner_values = [each for arg in value.call.args[:1] for each in ev.values(arg.value, value.frame)]
        named = [_description(ev, each, depth) for each in inner_values]
        return f"{named[0]} in a `{dotted(value.call.func)}`" if named and all(named) else ""
    elif (
        isinstance(value, CallResult) and value.library in _LAZY and value.call is not None and value.frame is not None
    ):
        called = value.call.args[0].value if value.call.args else None
        named = [_description(ev, each, depth) for each in ev.values(called, value.frame)] if called is not None else []
        return f"a `{dotted(value.call.func)}` of {named[0]}" if named and all(named) else ""
    return ""


def _is_view(ev: Evaluator, value: CallResult) -> bool:
    """True for `record.keys()` of a dict, or of what was parsed as one."""
    func = value.call.func if value.call is not None else None
    if not isinstance(func, cst.Attribute) or func.attr.value not in _VIEWS or value.frame is None:
        return False
    owners = ev.values(func.value, value.frame)
    return bool(owners) and all(
        isinstance(each, Mapping)
        or (isinstance(each, Opaque) and each.kind == "dict")
        or (isinstance(each, CallResult) and row(each.library).gives == "json")
        for each in owners
    )
