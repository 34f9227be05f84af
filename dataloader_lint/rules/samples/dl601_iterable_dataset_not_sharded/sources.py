"""What a stream reads: lists, files and the like, which each worker reads in full, or random and endless data."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.rules.samples.dl601_iterable_dataset_not_sharded.generators import (
    SHARING,
    bindings_in,
    calls_until_end,
    counting_loops,
    is_endless,
    iterables_of,
    leaves,
    loop_of_items,
    names_in,
    opened_each,
)
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.datasets import ITERABLE_IF
from dataloader_lint.semantics.limits import SHARDING_DEPTH
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import (
    NOTHING_KNOWN,
    CallResult,
    Class,
    Evaluator,
    Frame,
    ItemOf,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Value,
)
from dataloader_lint.semantics.values.values import Iterator as Iterated

# Randomness that produces the items. Functions that only reorder items still repeat them in each worker.
_RANDOM_PREFIXES = (
    "torch.rand",
    "torch.normal",
    "torch.bernoulli",
    "torch.multinomial",
    "numpy.random.",
    "random.",
    "secrets.",
)
_REORDERING = frozenset({"permutation", "randperm", "seed", "shuffle", "default_rng", "RandomState", "Random"})
_TYPES = frozenset({"array", "file", "list", "list of int", "list of str", "paths", "str", "tensor", "tuple"})
# Methods that take the next part of a file, a video or the rows of a database.
_TAKING = frozenset({"fetchmany", "fetchone", "read", "read_next_batch", "readline", "readlines"})
_FILES = re.compile(r"path|file|folder|lines", re.IGNORECASE)
_VIEWS = frozenset({"method.items", "method.keys", "method.values"})


class Sources:
    """Answers what the expressions that a stream iterates over read."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.is_written_out = True  # False once any of them is not a literal

    def is_plain(self, node: cst.BaseExpression, frame: Frame, depth: int) -> bool:
        """True if an expression is a list, a file or the like, and no other stream that may be sharded itself."""
        values = self.ev.values(node, frame)
        if values == NOTHING_KNOWN:
            self.is_written_out = False
            is_named = _FILES.search(dotted(node).rpartition(".")[2]) is not None
            return is_named or self._opens_each(node, frame)
        return bool(values) and all(self._is_plain_value(value, depth) for value in values)

    def _opens_each(self, node: cst.BaseExpression, frame: Frame) -> bool:
        """True for a list of files: `for shard in shards: with open(shard) as file:`."""
        calls = opened_each(node, frame.scope.module.tree)
        callees = (callee for call in calls for callee in self.ev.values(call.func, frame))
        return any(isinstance(each, Library) and (row(each.name).opens or row(each.name).reads) for each in callees)

    def _is_plain_object(self, value: CallResult, klass: Class, depth: int) -> bool:
        """True if an object of the project is one that reads a file or the like from beginning to end each time."""
        bases = self.ev.bases(klass)
        if not bases.complete or any(name != "builtins.object" for name in bases.libraries):
            return False
        if any(SHARING.search(name) for each in bases.classes for name in names_in(each.scope)):
            return False
        iterate = classes.find_method(self.ev, bases.classes, "__iter__")
        frame = self.ev.method_frame(iterate.scope, value) if iterate is not None else None
        return frame is not None and bool(frame.scope.own(cst.Yield)) and self._is_plain_generator(frame, depth)

    def _is_plain_generator(self, frame: Frame, depth: int) -> bool:
        """True if a generator function yields from lists, files or the like from beginning to end."""
        if depth >= SHARDING_DEPTH or self.is_unlike_for_each(frame.scope, frame):
            return False
        given = iterables_of(frame.scope)
        return bool(given) and all(self.is_plain(each, frame, depth + 1) for each in given)

    def is_unlike_for_each(self, scope: Scope, frame: Frame, arm: Node | None = None) -> bool:
        """True if a function, or an arm of it, draws at random or never ends: no two workers yield the same."""
        tree = scope.module.tree
        loops = [loop for loop in scope.own(cst.While) if arm is None or tree.is_inside(loop, arm)]
        if any(is_endless(loop) and not self.reads_to_end(loop, frame) for loop in loops):
            return True
        calls = (call for call in scope.within(cst.Call) if arm is None or tree.is_inside(call, arm))
        if any(self._is_simulated(loop, frame) for loop in counting_loops(scope, arm)):
            return True
        return any(
            row(callee.name).streams == "endless"
            or (self._is_random(callee.name) and not self._changes_items(call, scope, frame))
            for call in calls
            for callee in self.ev.values(call.func, frame)
            if isinstance(callee, Library)
        )

    def _changes_items(self, call: cst.Call, scope: Scope, frame: Frame) -> bool:
        """True for a call in a loop over items: what it draws changes an item or its place, and makes none."""
        loop = loop_of_items(call, scope)
        counted = self.ev.values(loop.iter, frame) if loop is not None else ()
        return loop is not None and not any(
            isinstance(each, CallResult) and each.library == "builtins.range" for each in counted
        )

    def _is_simulated(self, loop: cst.For, frame: Frame) -> bool:
        """True if each round of a loop asks an object that is not known for the next item: `self.env.step(action)`."""
        tree = frame.scope.module.tree
        return any(
            isinstance(call.func, cst.Attribute) and self.ev.values(call.func, frame) == NOTHING_KNOWN
            for call in tree.find(loop.body, cst.Call)
        )

    def reads_to_end(self, loop: cst.While, frame: Frame) -> bool:
        """True for a loop that ends where a file, a video or a cursor has no more: `while line := file.readline():`."""
        tree = frame.scope.module.tree
        read = {
            name.value
            for target, value in bindings_in(loop, tree)
            if isinstance(value, cst.Call) and self._takes_next(value, frame)
            for name in tree.find(target, cst.Name)
        }
        if any(self._loads_one(call, frame) for call in calls_until_end(loop, tree)):
            return True
        ends = [each.test for each in tree.find(loop.body, cst.If) if leaves(each)]
        if isinstance(loop.test, cst.NamedExpr | cst.Comparison):
            ends.append(loop.test)
        return any(name.value in read for test in ends for name in tree.find(test, cst.Name))

    def _takes_next(self, call: cst.Call, frame: Frame) -> bool:
        """True if a call takes the next part of a file, a video or the rows of a database."""
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _TAKING:
            return False
        owners = self.ev.values(call.func.value, frame)
        return bool(owners) and all(map(_is_source, owners))

    def _loads_one(self, call: cst.Call, frame: Frame) -> bool:
        """True if a call takes the next object out of a file that is open: `pickle.load(file)`, `next(reader)`."""
        given = self.ev.values(call.args[0].value, frame) if call.args else ()
        return last_name(call.func) in ("load", "next") and bool(given) and all(map(_is_source, given))

    def _is_plain_value(self, value: Value, depth: int) -> bool:
        if isinstance(value, Iterated):
            return self._is_plain_value(value.of, depth)
        if isinstance(value, Sequence):
            if isinstance(value.node, cst.GeneratorExp | cst.ListComp):
                return self.is_plain(value.node.for_in.iter, value.frame, depth + 1)
            self.is_written_out = self.is_written_out and value.items is not None
            return not isinstance(value.node, cst.FunctionDef) or self._is_plain_generator(value.frame, depth)
        self.is_written_out = False
        while isinstance(value, ItemOf):  # a part of what was parsed is as plain as the whole
            value = value.of
            if not isinstance(value, ItemOf | CallResult) or (isinstance(value, CallResult) and not _is_parsed(value)):
                return False
        if isinstance(value, Opaque):
            return value.kind in _TYPES
        if isinstance(value, CallResult) and _is_parsed(value):
            return True
        if isinstance(value, Mapping):
            return True
        if (
            isinstance(value, CallResult)
            and value.call is not None
            and value.frame is not None
            and depth < SHARDING_DEPTH
        ):
            if value.library in ITERABLE_IF:  # a Dataset of Hugging Face that is no stream
                streaming = keyword_of(value.call, ITERABLE_IF[value.library])
                return streaming is None or truth(self.ev.values(streaming, value.frame)) is False
            if value.library in _VIEWS and isinstance(value.call.func, cst.Attribute):
                return self.is_plain(value.call.func.value, value.frame, depth + 1)
            if isinstance(value.by, Class):
                return self._is_plain_object(value, value.by, depth)
            if row(value.library).streams == "source" or value.library.partition(".")[0] in ("pandas", "csv"):
                return True
            if row(value.library).streams == "argument":
                given = [arg.value for arg in value.call.args if arg.keyword is None]
                streams = given[1:] if value.library in ("builtins.map", "builtins.filter") else given
                streams = streams[:1] if value.library == "itertools.islice" else streams
                return bool(streams) and all(self.is_plain(each, value.frame, depth + 1) for each in streams)
        return False

    def _is_random(self, name: str) -> bool:
        return name.startswith(_RANDOM_PREFIXES) and name.rpartition(".")[2] not in _REORDERING


def _is_parsed(value: CallResult) -> bool:
    return row(value.library).gives == "json"


def _is_source(value: Value) -> bool:
    """True for a file that is open, and for what reads one from its beginning to its end."""
    if isinstance(value, CallResult):
        return bool(row(value.library).opens) or row(value.library).streams == "source"
    return isinstance(value, Opaque) and value.kind == "file"
