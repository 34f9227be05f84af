"""Handles that Datasets open before workers start: files, archives, databases, locks, generators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.worker_processes import may_pickle
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.instances import may_construct
from dataloader_lint.pipeline.workers.object_graph import Reachable, is_module
from dataloader_lint.rules.processes.dl205_handle_opened_in_init.archives import is_archive, may_be_archive
from dataloader_lint.rules.processes.dl205_handle_opened_in_init.closing import (
    closing_block,
    is_closed_locally,
    is_released,
    makes_objects,
)
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.evaluation.evaluate import Evaluation
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.datasets import SAMPLE_WRAPPERS
from dataloader_lint.semantics.libraries.short_names import short
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Tree
from dataloader_lint.semantics.values.values import (
    ABSENT,
    LISTED_PATHS,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Opaque,
    Sequence,
    Value,
    constant,
)

OPENING = short(lambda call: call.opens)
_LISTING_LAZILY = short(lambda call: call.gives == "iterator") | {"glob", "iterdir", "rglob"}
_IMAGE = "PIL.Image.open"
_REPEATING = (cst.For, cst.While, cst.ListComp, cst.DictComp)
_METHODS = frozenset({"open", "begin", "cursor"})  # methods of objects; the other names are functions of libraries


@dataclass(frozen=True, slots=True, eq=False)
class KeptHandle:
    """A handle that an object stores, and the expression that opens it.

    `kind` is the qualified name of what opens it, or `generator`, or `module`. `is_safe_forked` is True if forked
    workers can share it without conflicts.
    """

    node: cst.BaseExpression
    kind: str
    kept: Reachable
    is_safe_forked: bool
    is_read: bool  # by worker code, as far as is known

    @property
    def keeper(self) -> str:
        """`Lines.file`, or the class alone if the attribute is unknown."""
        holdings = self.kept.path.holdings
        if not holdings:
            return ""
        owner = holdings[-1].owner.by
        name = owner.node.name.value if isinstance(owner, Class) else ""
        return f"{name}.{holdings[-1].attribute}" if holdings[-1].attribute else name

    @property
    def opener(self) -> str:
        """The entry method whose call opens the handle: `__init__`, or `__len__`, which loaders call in the parent."""
        step = self.kept.path.holdings[-1].step if self.kept.path.holdings else None
        while step is not None and step.before is not None:
            step = step.before
        node = step.scope.node if step is not None else None
        return node.name.value if isinstance(node, cst.FunctionDef) else ""


def kept_handles(reach: DatasetFlow, module: ModuleFacts) -> list[KeptHandle]:
    """Returns the handles opened in this module that Datasets hold when workers start."""
    candidates = _candidates(reach.ev, module)
    if not candidates:
        return []
    found: dict[int, KeptHandle] = {}
    is_skipped: dict[int, bool] = {}
    names = reach.workers.names_containing(module, candidates)
    for kept, owner in reach.reachable_around(module, names):
        kind = kind_of(reach.ev, kept.value) or (_IMAGE if _are_open_images(reach.ev, kept) else "")
        if not kind or not all(map(_wraps_handle, kept.path.through)):
            continue
        node = _opening_call(reach.ev, kept)
        if node not in module.tree or id(node) in found or is_closed_locally(node, module, owner):
            continue
        if any(is_released(holding) for holding in kept.path.holdings):
            continue
        if isinstance(owner, Loader):
            if not may_pickle(owner):
                continue
        else:
            key = id(owner.scope)
            if key not in is_skipped:
                loaders = reach.loaders_of(owner)
                is_skipped[key] = bool(loaders) and all(not each.pickles_its_functions for each in loaders)
            if is_skipped[key] or not _is_held_in_workers(reach, kept, owner):
                continue
        loaders = [owner] if isinstance(owner, Loader) else reach.loaders_of(owner)
        is_safe = is_safe_forked(reach.ev, kept.value, kind) or _has_one_reader(kind, loaders)
        found[id(node)] = KeptHandle(node, kind, kept, is_safe, _is_read_in_workers(reach, kept))
    return sorted(found.values(), key=lambda one: module.tree.order(one.node))


def _is_held_in_workers(reach: DatasetFlow, kept: Reachable, klass: Class) -> bool:
    """False only if no object that a loader with workers gets runs the statement that stores a handle."""
    loaders = reach.loaders_of(klass)
    outer = kept.path.holdings[0] if kept.path.holdings else None
    if not loaders or outer is None:
        return True
    return any(
        each.pickles_its_functions and may_construct(reach.ev, klass, each, outer.node, outer.step.scope)
        for each in loaders
    )


def _is_read_in_workers(reach: DatasetFlow, kept: Reachable) -> bool:
    """False only if worker code of the object that holds a handle names neither the attribute nor a part of it."""
    holder = kept.path.holdings[-1] if kept.path.holdings else None
    if holder is None or not isinstance(holder.owner.by, Class):
        return True
    functions = list(reach.workers.functions(holder.owner.by.scope.module))
    names = {holder.attribute, *_parts_kept(holder.owner.by, holder.attribute)}
    named = (each.attr.value for one in functions for each in one.scope.within(cst.Attribute))
    return not functions or any(name in names for name in named)


def _parts_kept(klass: Class, attribute: str) -> Iterator[str]:
    """The attributes that are a part of another one, which reads through it: `self.images = self.file["images"]`."""
    for name, bindings in classes.attribute_bindings(klass.scope).items():
        for value in (each.value for each in bindings):
            if isinstance(value, cst.Subscript) and isinstance(value.slice[0].slice, cst.Index):
                whole = value.value
                if isinstance(whole, cst.Attribute) and whole.attr.value == attribute:
                    yield name


def kind_of(ev: Evaluator, value: Value) -> str:
    """The qualified name of what opens a handle, or `generator`, or `module`; empty for what is no handle."""
    if is_module(value):
        return "module"
    if isinstance(value, Sequence):
        return "generator" if value.kind == "generator" else ""
    if value == LISTED_PATHS or (isinstance(value, CallResult) and row(value.library).gives == "iterator"):
        return "generator"
    if not isinstance(value, CallResult) or not row(value.library).opens:
        return ""
    if row(value.library).archive and not is_archive(ev, value):
        return ""
    return value.library


def _are_open_images(ev: Evaluation, kept: Reachable) -> bool:
    """True for images that are opened in a loop, not read at once, and kept in a list or dict: a file each."""
    tree = kept.frame.scope.module.tree
    if kept.value != Opaque("image") or kept.node not in tree:
        return False
    call = only_value(kept.node, tree) or kept.node
    if not isinstance(call, cst.Call) or ev.library_name(call.func, kept.frame.scope.module) != _IMAGE:
        return False
    if not call.args or "BytesIO" in tree.words(call.args[0].value) or _is_read_at_once(call, tree):
        return False
    is_repeated = any(isinstance(each, _REPEATING) for each in tree.ancestors(call))
    holding = kept.path.holdings[-1].node if kept.path.holdings else None
    stored = holding.targets[0].target if isinstance(holding, cst.Assign) else holding
    return is_repeated and (kept.path.container is not None or isinstance(stored, cst.Call | cst.Subscript))


def _is_read_at_once(call: cst.Call, tree: Tree) -> bool:
    """True if the name of an image is read where it is bound, which closes its file: `image.load()`."""
    bound = tree.parent(call)
    name = dotted(bound.targets[0].target) if isinstance(bound, cst.Assign) else ""
    reading = {f"{name}.{method}" for method in ("close", "getdata", "load", "tobytes")}
    return bool(name) and any(dotted(each.func) in reading for each in tree.scope_of(call).own(cst.Call))


def _opening_call(ev: Evaluator, kept: Reachable) -> cst.BaseExpression:
    """The call that opens the handle; for a transaction or a cursor, the call that opens its database."""
    value = kept.value
    if not isinstance(value, CallResult) or value.call is None:
        return kept.node
    call, frame = value.call, value.frame
    for _ in range(3):
        if not isinstance(call.func, cst.Attribute) or frame is None:
            break
        owner = next(
            (
                each
                for each in ev.values(call.func.value, frame)
                if isinstance(each, CallResult) and row(each.library).opens
            ),
            None,
        )
        if owner is None or owner.call is None:
            break
        call, frame = owner.call, owner.frame
    return call


def is_safe_forked(ev: Evaluator, value: Value, kind: str) -> bool:
    """True if forked workers can share a handle without conflicts, judged by how it was opened."""
    if not isinstance(value, CallResult) or value.call is None or value.frame is None:
        return kind != _IMAGE
    if kind in ("lmdb.open", "lmdb.Environment"):
        lock = _argument(ev, value.call, value.frame, "lock", 99)
        return (lock is not None and lock.value is False) or _reads_by_one_transaction(value.call, value.frame)
    if kind in ("builtins.open", "io.open", "pathlib.Path.open"):
        mode = _argument(ev, value.call, value.frame, "mode", 0 if kind.startswith("pathlib") else 1)
        return mode is not None and isinstance(mode.value, str) and any(letter in mode.value for letter in "wax")
    return False


def _has_one_reader(kind: str, loaders: list[Loader]) -> bool:
    """True if only one worker can read a handle whose reads go wrong by those of another process alone."""
    if row(kind).shared not in ("offset", "archive") or len(loaders) != 1:
        return False
    counts = loaders[0].values("num_workers")
    return bool(counts) and all(isinstance(each, Const) and each.value == 1 and not each.default for each in counts)


def _reads_by_one_transaction(call: cst.Call, frame: Frame) -> bool:
    """True if only constructors start read transactions: then workers take no slot in the lock table."""
    module = frame.scope.module
    starts = [
        begin
        for begin in module.calls_named("begin")
        if not any(arg.keyword is not None and arg.keyword.value == "write" for arg in begin.args)
    ]
    return call in module.tree and bool(starts) and all(_is_in_constructor(begin, module) for begin in starts)


def _is_in_constructor(node: Node, module: ModuleFacts) -> bool:
    scope = module.tree.scope_of(node).function
    return scope is not None and isinstance(scope.node, cst.FunctionDef) and scope.node.name.value == "__init__"


def _argument(ev: Evaluator, call: cst.Call, frame: Frame, name: str, position: int) -> Const | None:
    for number, arg in enumerate(call.args):
        if arg.star == "**":
            given = dict_contents.lookup(ev, arg.value, name, frame)
            if given != (ABSENT,):
                return constant(given)
        elif (arg.keyword is not None and arg.keyword.value == name) or (arg.keyword is None and number == position):
            return constant(ev.values(arg.value, frame))
    return None


def _wraps_handle(library: str) -> bool:
    """True if an object of a library, or a record of the project, holds the handle given to it."""
    return library.startswith(".") or row(library).wraps_handle or library in SAMPLE_WRAPPERS


def _candidates(ev: Evaluation, module: ModuleFacts) -> list[cst.CSTNode]:
    """Calls of opening functions, and stored generators: a cheap check before the search."""
    calls = (call for name in (*OPENING, *_partials(module)) for call in module.calls_named(name))
    stored = (call for call in calls if _may_be_stored(ev, call, module))
    return [*stored, *_kept_generators(module), *_kept_modules(module)]


def _partials(module: ModuleFacts) -> Iterator[str]:
    """The names that stand for a partial of what opens: `open_scene = partial(rasterio.open, mode="r")`."""
    for call in module.calls_named("partial"):
        above = module.tree.parent(call)
        if isinstance(above, cst.Assign) and call.args and last_name(call.args[0].value) in OPENING:
            yield last_name(above.targets[0].target)


def _may_be_stored(ev: Evaluation, call: cst.Call, module: ModuleFacts) -> bool:
    """True if a call may open a lasting handle, unlike `Image.open(path)` and `json.load(open(path))`."""
    opened = ev.library_name(call.func, module)
    if (opened and not row(opened).opens) or is_closed_locally(call, module) or _is_own_method(call, module):
        return False
    block = closing_block(call, module)
    if block is not None and not makes_objects(block, module.tree):
        return False
    if opened and row(opened).archive and not may_be_archive(ev, call, row(opened).archive, module):
        return False
    above = module.tree.parent(call)
    taker = module.tree.parent(above) if isinstance(above, cst.Arg) else None
    taken_by = ev.library_name(taker.func, module) if isinstance(taker, cst.Call) else ""
    return not taken_by or _wraps_handle(taken_by)


def _is_own_method(call: cst.Call, module: ModuleFacts) -> bool:
    """`self.load(path)`: a method of the user's class with the name of a library function."""
    func = call.func
    if not isinstance(func, cst.Attribute) or func.attr.value in _METHODS or not isinstance(func.value, cst.Name):
        return False
    scope = module.tree.scope_of(call).function
    return scope is not None and classes.receiver_name(scope) == func.value.value


def _kept_generators(module: ModuleFacts) -> Iterator[cst.CSTNode]:
    for scope in module.root.descend():
        if scope.is_class:
            methods = classes.methods_of(scope)
            for bindings in classes.attribute_bindings(scope).values():
                for value in (each for binding in bindings for each in _parts_of(binding.value)):
                    if isinstance(value, cst.GeneratorExp):
                        yield value
                    elif isinstance(value, cst.Call) and _yields(value.func, module):
                        yield value
                    elif isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
                        name = value.func.attr.value
                        method = methods.get(name)
                        if name in _LISTING_LAZILY or (method is not None and method.own(cst.Yield)):
                            yield value


def _parts_of(value: cst.BaseExpression | None) -> Iterator[cst.BaseExpression]:
    """What is bound, or what a list, tuple or dict that is bound holds, also as a comprehension."""
    if isinstance(value, cst.List | cst.Tuple):
        yield from (each.value for each in value.elements)
    elif isinstance(value, cst.Dict):
        yield from (each.value for each in value.elements)
    elif isinstance(value, cst.ListComp):
        yield value.elt
    elif isinstance(value, cst.DictComp):
        yield value.value
    elif value is not None:
        yield value


def _kept_modules(module: ModuleFacts) -> Iterator[cst.CSTNode]:
    """Names of imported modules that are bound to attributes, or passed to what is called like a class."""
    given = [arg.value for call in module.all_calls() if last_name(call.func)[:1].isupper() for arg in call.args]
    for scope in module.root.descend():
        if scope.is_class:
            for bindings in classes.attribute_bindings(scope).values():
                given += (binding.value for binding in bindings if binding.value is not None)
    for node in given:
        if isinstance(node, cst.Name) and any(
            each.kind is Kind.IMPORT and each.member is None for each in resolve(node, module.tree)
        ):
            yield node


def _yields(callee: cst.BaseExpression, module: ModuleFacts) -> bool:
    """True for the name of a function of the module that is a generator."""
    made = resolve(callee, module.tree) if isinstance(callee, cst.Name) else []
    scopes = (module.tree.inner_scope.get(id(each.node)) for each in made if each.kind is Kind.FUNCTION)
    return any(scope is not None and scope.own(cst.Yield) for scope in scopes)
