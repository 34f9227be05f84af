"""Functions that remember what they gave for each argument, without a bound: by a decorator, or as a dict would.

`functools.cache`, `lru_cache(maxsize=None)`, also under another name or called as a function; decorators of the project
that keep a dict of their own; dicts whose class has a `__missing__` that stores what it makes.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.worker_index import IndexInWorker
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.short_names import REMOVING
from dataloader_lint.semantics.syntax.additions import additions
from dataloader_lint.semantics.syntax.names import bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.origins import ingredients
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Partial,
    Value,
)

_WORDS = ("lru_cache", "functools.cache", "import cache", "cachetools")


def may_memoise(module: ModuleFacts) -> bool:
    """True if something in a module may remember results: a cheap look before worker code is followed."""

    def work_out() -> bool:
        text = module.tree.code
        return "__missing__" in module.functions or any(word in text for word in _WORDS) or _has_storing_closure(module)

    return module.tree.once(("may memoise", id(module.root)), work_out)


def _has_storing_closure(module: ModuleFacts) -> bool:
    """True if a function in a function stores something in a local container of the outer one."""
    for scope in module.root.inner:
        for inner in scope.inner if isinstance(scope.node, cst.FunctionDef) else ():
            for addition in additions(inner) if isinstance(inner.node, cst.FunctionDef) else ():
                if isinstance(addition.target, cst.Name) and addition.target.value not in bindings_of(inner):
                    return True
        if scope.is_class and "__call__" in classes.methods_of(scope):
            return True
    return False


def unbounded_decorator(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True if a decorator, as written, remembers every call with another argument."""
    if isinstance(node, cst.Call):
        found = ev.values(node.func, frame)
        if any(row(name).memoises for name in _names(found)):
            return any(isinstance(each, Library) and _is_unbounded(ev, each.name, node, frame) for each in found)
    for value in ev.values(node, frame):
        if isinstance(value, Library) and value.name == "functools.cache":
            return True
        if is_unbounded_memo(ev, value):
            return True
    return False


def is_unbounded_memo(ev: Evaluator, value: Value) -> bool:
    """True for `functools.lru_cache(None)` and what it makes of a function."""
    if isinstance(value, Partial) and isinstance(value.callee, Library):
        return row(value.callee.name).memoises and _is_unbounded(ev, value.callee.name, value.call, value.frame, 1)
    if not isinstance(value, CallResult) or not row(value.library).memoises:
        return False
    if value.call is None or value.frame is None:
        return False
    if any(_is_unbounded(ev, value.library, call, frame, 1) for call, frame in value.before):
        return True
    made_by = value.call
    while isinstance(made_by.func, cst.Call):  # `lru_cache(None)(read)`
        made_by = made_by.func
    return _is_unbounded(ev, value.library, made_by, value.frame)


def _names(values: tuple[Value, ...]) -> set[str]:
    return {each.name for each in values if isinstance(each, Library)}


def _is_unbounded(ev: Evaluator, name: str, call: cst.Call, frame: Frame, skipped: int = 0) -> bool:
    if name == "functools.cache":
        return True
    args = call.args[skipped:]
    given = next((arg.value for arg in args if arg.keyword is None or arg.keyword.value in ("maxsize", "cache")), None)
    found = ev.values(given, frame) if given is not None else ()
    if name == "functools.lru_cache":
        return bool(found) and all(isinstance(each, Const) and each.value is None for each in found)
    return isinstance(given, cst.Dict)


def memos_called(ev: Evaluator, function: WorkerFunction, index_of: IndexInWorker) -> Iterator[Node]:
    """The statements that fill a memo for what a worker function calls or looks up with a part of the index."""
    frame = function.frame
    for call in function.scope.within(cst.Call):
        if max((index_of.at(arg.value) for arg in call.args), default=IndexDep.NONE) < IndexDep.KEY:
            continue
        for value in ev.values(call.func, frame):
            if isinstance(value, CallResult) and value.call is not None and value.frame is not None:
                if is_unbounded_memo(ev, value):
                    yield value.frame.scope.module.tree.statement_of(value.call)
            elif isinstance(value, Function) and isinstance(value.node, cst.FunctionDef):
                yield from _stores_of_decorators(ev, value)
    if "__missing__" not in function.module.functions:
        return
    for subscript in function.scope.within(cst.Subscript):
        index = subscript.slice[0].slice
        if not isinstance(index, cst.Index) or index_of.at(index.value) < IndexDep.KEY:
            continue
        for value in ev.values(subscript.value, frame):
            if isinstance(value, CallResult) and isinstance(value.by, Class):
                method = classes.find_method(ev, ev.bases(value.by).classes, "__missing__")
                if method is not None:
                    yield from _stores_of_missing(method.scope)


def _stores_of_missing(scope: Scope) -> Iterator[Node]:
    """`self[key] = value` in a `__missing__`, where nothing compares sizes or takes an entry out again."""
    own = classes.receiver_name(scope)
    if _is_bounded(scope, own):
        return
    for addition in additions(scope):
        if addition.key is not None and dotted(addition.target) == own:
            yield scope.module.tree.statement_of(addition.statement)


def _stores_of_decorators(ev: Evaluator, function: Function) -> Iterator[Node]:
    """Where a decorator of the project keeps what a function gave, under the arguments: `results[key] = call(key)`."""
    assert isinstance(function.node, cst.FunctionDef)
    for decorator in function.node.decorators:
        for value in ev.values(decorator.decorator, function.outer):
            if isinstance(value, Function) and isinstance(value.node, cst.FunctionDef):
                for wrapper in value.scope.inner:
                    if isinstance(wrapper.node, cst.FunctionDef):
                        yield from _stores_of_wrapper(wrapper, value.scope)
            elif isinstance(value, Class):
                method = classes.find_method(ev, ev.bases(value).classes, "__call__")
                if method is not None:
                    yield from _stores_of_object(method.scope)


def _stores_of_wrapper(wrapper: Scope, decorator: Scope) -> Iterator[Node]:
    assert isinstance(wrapper.node, cst.FunctionDef)
    tree = wrapper.module.tree
    for addition in additions(wrapper):
        kept = addition.target
        if addition.key is None or not isinstance(kept, cst.Name) or kept.value in bindings_of(wrapper):
            continue
        if kept.value not in bindings_of(decorator) or _is_bounded(decorator, kept.value):
            continue
        if any(_is_from_parameter(name, wrapper) for name in tree.find(addition.key, cst.Name)):
            yield tree.statement_of(addition.statement)


def _stores_of_object(method: Scope) -> Iterator[Node]:
    """`self.known[key] = value` in the `__call__` of a class that decorates functions."""
    tree, own = method.module.tree, classes.receiver_name(method)
    for addition in additions(method):
        kept = addition.target
        if addition.key is None or not isinstance(kept, cst.Attribute) or dotted(kept.value) != own:
            continue
        if _is_bounded(method, dotted(kept)) or isinstance(addition.key, cst.SimpleString | cst.Integer):
            continue
        if any(_is_from_parameter(name, method) for name in tree.find(addition.key, cst.Name) if name.value != own):
            yield tree.statement_of(addition.statement)


def _is_from_parameter(name: cst.Name, scope: Scope) -> bool:
    """True if a name is a parameter of a function, or made from one: `key = (args, tuple(kwargs))`."""
    tree = scope.module.tree
    names = (each for part in ingredients(name, tree) for each in tree.find(part, cst.Name))
    bound = (binding for each in names for binding in resolve(each, tree))
    return any(binding.scope is scope and isinstance(binding.node, cst.Param) for binding in bound)


def _is_bounded(scope: Scope, name: str) -> bool:
    """True if a function measures a container of that name, or takes something out of it."""
    for inner in scope.descend():
        for call in inner.own(cst.Call):
            if dotted(call.func) == "len" and call.args and dotted(call.args[0].value) == name:
                return True
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in REMOVING:
                if dotted(call.func.value) == name:
                    return True
        for deleted in inner.own(cst.Del):
            if isinstance(deleted.target, cst.Subscript) and dotted(deleted.target.value) == name:
                return True
    return False
