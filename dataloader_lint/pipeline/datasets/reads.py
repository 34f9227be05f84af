"""How worker code reads the attributes of a Dataset: with the index, with a key of the sample, for its length.

Follows the index argument of `__getitem__` through assignments, arithmetic, methods and functions.
"""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.datasets import streams
from dataloader_lint.pipeline.datasets.dataset_bases import indexed_methods
from dataloader_lint.pipeline.datasets.field_uses import AccessSite, FieldUse, FieldUses
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.datasets.lengths import add_lengths
from dataloader_lint.pipeline.datasets.worker_body import Body, Entry
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.datasets import INDEXED_BY_BASES
from dataloader_lint.semantics.limits import READING_FUNCTIONS
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.values.values import Bases, Class, Evaluator


def reads_of(ev: Evaluator, klass: Class, bases: Bases) -> FieldUses:
    """How `__getitem__`, `__getitems__`, `__iter__`, and all that these call, read instances of a class."""
    following = streams.next_of(ev, bases)
    reads = FieldUses(is_stream=streams.is_stream(bases), following=None if following is None else following.scope)
    todo: list[Entry] = []
    for name in ("__getitem__", "__getitems__", "__iter__", *indexed_methods(bases.libraries)):
        method = classes.find_method(ev, bases.classes, name)
        if method is None:
            continue
        own = classes.receiver_name(method.scope)
        params = [param.name.value for param in parameters(method.node) if param.name.value != own]
        levels = ((params[0], IndexDep.INDEX),) if params and name != "__iter__" else ()
        todo.append(Entry(method.scope, own, levels))
    if following is not None:
        todo.append(Entry(following.scope, classes.receiver_name(following.scope), ()))
    seen: dict[tuple[int, tuple[tuple[str, str], ...]], dict[str, IndexDep]] = {}
    while todo and len(seen) < READING_FUNCTIONS:
        entry = todo.pop()
        key = (id(entry.scope), (*entry.held, (entry.part, "")))
        is_entered = key in seen
        known = seen.setdefault(key, {"": IndexDep.NONE})
        new = {name: level for name, level in entry.levels if level > known.get(name, IndexDep.NONE)}
        if not new and is_entered:
            continue
        known.update(new)
        if entry.scope not in reads.functions:
            reads.functions.append(entry.scope)
        todo.extend(Body(ev, bases, reads, entry, known).run())
    _read_by_library(ev, klass, bases, reads)
    if reads.functions or not _is_instantiated(klass, bases):
        add_lengths(ev, bases, reads)
    return reads


def _read_by_library(ev: Evaluator, klass: Class, bases: Bases, reads: FieldUses) -> None:
    """Adds attributes indexed by an inherited `__getitem__` of a library base class, if it supplies the samples."""
    names = {INDEXED_BY_BASES[base] for base in bases.libraries if base in INDEXED_BY_BASES}
    own = classes.find_method(ev, bases.classes, "__getitem__") if names else None
    if own is not None and not any(last_name(call.func) == "__getitem__" for call in own.scope.own(cst.Call)):
        return
    for name in names:
        place = AccessSite(klass.node.bases[0].value, klass.scope, IndexDep.INDEX, IndexDep.INDEX)
        reads.uses.setdefault(name, FieldUse()).add(place)


def _is_instantiated(klass: Class, bases: Bases) -> bool:
    """True if a class is not abstract: its own file instantiates it, so no subclass has to add how samples are read.

    If it cannot be indexed either, something other than a DataLoader reads the samples, such as the project's threads.
    """
    if not bases.complete or not _PLAIN_BASES.issuperset(bases.libraries):
        return False
    calls = klass.scope.module.calls_named(klass.node.name.value)
    return any(isinstance(call.func, cst.Name) for call in calls)  # excludes `coco.COCO(file)` in a class COCO


_PLAIN_BASES = frozenset(
    {"abc.ABC", "builtins.object", "object", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}
)
