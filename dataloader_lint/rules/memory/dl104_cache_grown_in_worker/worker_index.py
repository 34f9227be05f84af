"""How what worker code computes depends on the index, across all functions that it calls."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.datasets.index_dep import IndexDep, IndexDependence, of_part
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve, written_part
from dataloader_lint.semantics.values.values import Evaluator, Frame, Function, Method

_INDEX_METHODS = ("__getitem__", "__getitems__", "get")


class IndexInWorker(IndexDependence):
    """Answers for one function as a worker runs it, and for those that give it its arguments."""

    bounded = IndexDep.SAMPLE  # `index % 4` is one of four keys
    _max_calls = 3  # functions that call each other to make a key

    def __init__(self, ev: Evaluator, function: WorkerFunction) -> None:
        super().__init__()
        self.ev = ev
        self.function = function
        self._calls = 0

    def at(self, node: cst.CSTNode | None, frame: Frame | None = None) -> IndexDep:
        """How an expression depends on the index, read in a frame: that of the function if none is given."""
        return self.of(node, frame or self.function.frame)

    def name(self, node: cst.Name, frame: Frame | None) -> IndexDep:
        where = frame or self.function.frame
        tree = where.scope.module.tree
        bindings = resolve(node, tree) if node in tree else []
        return max((self._bound(each, where) for each in bindings), default=IndexDep.NONE)

    def call_result(self, node: cst.Call, frame: Frame | None, given: IndexDep) -> IndexDep:
        """The dependence of what a function of the project returns, as it is called here."""
        if self._calls == self._max_calls:
            return IndexDep.NONE
        where, found = frame or self.function.frame, IndexDep.NONE
        self._calls += 1
        for callee in self.ev.values(node.func, where):
            function, receiver = (callee.function, callee.receiver) if isinstance(callee, Method) else (callee, None)
            entered = self.ev.enter(function, node, where, receiver) if isinstance(function, Function) else None
            if entered is not None:
                returned = (each.value for each in entered.scope.own(cst.Return) if each.value is not None)
                found = max(found, self.most(returned, entered))
        self._calls -= 1
        return found

    def _bound(self, binding: Binding, frame: Frame) -> IndexDep:
        home = self.ev.at(binding.scope, frame)
        if binding.kind is Kind.PARAMETER:
            return self._parameter(binding, home)
        if binding.value is None or binding.kind in (Kind.OTHER, Kind.IMPORT):
            return IndexDep.NONE
        level = self.at(binding.value, home)
        if binding.kind is Kind.ELEMENT:
            if level is IndexDep.NONE and self._is_stream(home):
                level = IndexDep.SAMPLE
            return level if level is IndexDep.INDEX else min(level, IndexDep.SAMPLE)
        if binding.kind is Kind.VALUE and binding.path:
            value = written_part(binding.value, binding.path)
            return self.at(value, home) if value is not None else of_part(binding.value, binding.path, level)
        return level

    def _is_stream(self, frame: Frame) -> bool:
        """True for the `__iter__` of a Dataset, whose loops run over samples."""
        node = frame.scope.node
        return isinstance(node, cst.FunctionDef) and node.name.value == "__iter__" and frame.args is None

    def _parameter(self, binding: Binding, home: Frame) -> IndexDep:
        scope = binding.scope
        own = classes.receiver_name(scope) if classes.class_of(scope) is not None else ""
        node = scope.node
        if binding.name == own or not isinstance(node, cst.FunctionDef | cst.Lambda):
            return IndexDep.NONE
        if home.args is not None:
            given = home.args.get(binding.name)
            return self.at(given.node, given.frame) if given is not None else IndexDep.NONE
        if self.function.path[0].argument == "worker_init_fn":
            return IndexDep.NONE
        if isinstance(node, cst.FunctionDef) and node.name.value in _INDEX_METHODS:
            names = [param.name.value for param in parameters(node) if param.name.value != own]
            return IndexDep.INDEX if names[:1] == [binding.name] else IndexDep.NONE
        return IndexDep.SAMPLE  # a transform, a collate function: called with samples
