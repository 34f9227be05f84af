"""How what worker code computes depends on the index, across all functions that it calls."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.datasets.field_uses import Level
from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.values import Evaluator, Frame
from dataloader_lint.facts.limits import DEPENDENCE_DEPTH
from dataloader_lint.facts.syntax.file_names import path_behind
from dataloader_lint.facts.syntax.module import last_name
from dataloader_lint.facts.syntax.names import Binding, Kind, resolve, written_part
from dataloader_lint.facts.syntax.tree import parameters
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction

# Calls whose result tells as much of the index as their argument does.
_SAME = frozenset({"abs", "format", "hash", "int", "join", "list", "range", "repr", "sorted", "str", "tuple", "Path"})
_SAME_METHODS = frozenset(
    {"as_posix", "decode", "encode", "format", "hexdigest", "item", "join", "joinpath", "lower", "strip", "tolist"}
)


class Dependence:
    """Answers for one function as a worker runs it."""

    def __init__(self, ev: Evaluator, function: WorkerFunction) -> None:
        self.ev = ev
        self.function = function
        self._known: dict[tuple[int, int], Level] = {}

    def level(self, node: cst.CSTNode | None, frame: Frame | None = None, depth: int = 0) -> Level:
        """How an expression depends on the index."""
        if node is None or depth > DEPENDENCE_DEPTH:
            return Level.NONE
        where = frame or self.function.frame
        key = (id(node), id(where))
        if key not in self._known:
            self._known[key] = Level.NONE  # while it is being worked out
            self._known[key] = self._level(node, where, depth + 1)
        return self._known[key]

    def _most(self, nodes: list[cst.BaseExpression], frame: Frame, depth: int) -> Level:
        return max((self.level(node, frame, depth) for node in nodes), default=Level.NONE)

    def _level(self, node: cst.CSTNode, frame: Frame, depth: int) -> Level:
        if isinstance(node, cst.Name):
            tree = frame.scope.module.tree
            bindings = resolve(node, tree) if node in tree else []
            return max((self._binding(each, frame, depth) for each in bindings), default=Level.NONE)
        path = path_behind(node)
        if path is not None and self.level(path, frame, depth) >= Level.KEY:
            return Level.KEY
        if isinstance(node, cst.Subscript):
            return self._subscript(node, frame, depth)
        if isinstance(node, cst.BinaryOperation | cst.BooleanOperation):
            if isinstance(getattr(node, "operator", None), cst.Modulo | cst.FloorDivide):
                if not isinstance(node.left, cst.SimpleString | cst.FormattedString):
                    return min(self._most([node.left, node.right], frame, depth), Level.SAMPLE)  # index % 4
            return self._most([node.left, node.right], frame, depth)
        if isinstance(node, cst.IfExp):
            return self._most([node.body, node.orelse], frame, depth)
        if isinstance(node, cst.UnaryOperation):
            return self.level(node.expression, frame, depth)
        if isinstance(node, cst.NamedExpr | cst.StarredElement):
            return self.level(node.value, frame, depth)
        if isinstance(node, cst.Tuple | cst.List | cst.Set):
            return self._most([element.value for element in node.elements], frame, depth)
        if isinstance(node, cst.Dict):
            return min(self._most([element.value for element in node.elements], frame, depth), Level.SAMPLE)
        if isinstance(node, cst.FormattedString):
            inner = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
            return self._most(inner, frame, depth)
        if isinstance(node, cst.Attribute):
            return min(self.level(node.value, frame, depth), Level.SAMPLE)
        if isinstance(node, cst.Call):
            return self._call(node, frame, depth)
        if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            return min(self._most([node.elt, node.for_in.iter], frame, depth), Level.SAMPLE)
        return Level.NONE

    def _subscript(self, node: cst.Subscript, frame: Frame, depth: int) -> Level:
        inside = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
        index = self._most(inside, frame, depth)
        if index is Level.INDEX:
            return Level.KEY
        owner = self.level(node.value, frame, depth)
        return Level.SAMPLE if index is not Level.NONE else min(owner, Level.SAMPLE)

    def _call(self, node: cst.Call, frame: Frame, depth: int) -> Level:
        given = self._most([arg.value for arg in node.args], frame, depth)
        name = last_name(node.func)
        if isinstance(node.func, cst.Attribute):
            owner = self.level(node.func.value, frame, depth)
            if name in _SAME_METHODS:
                return max(given, owner)
            if name in ("get", "pop") and given is Level.INDEX:
                return Level.KEY
            given = max(given, min(owner, Level.SAMPLE))
        is_same = name in _SAME or "hash" in name or name in ("md5", "sha1", "sha256")
        return given if is_same else min(given, Level.SAMPLE)

    def _binding(self, binding: Binding, frame: Frame, depth: int) -> Level:
        home = self.ev.at(binding.scope, frame)
        if binding.kind is Kind.PARAMETER:
            return self._parameter(binding, home, depth)
        if binding.value is None or binding.kind in (Kind.OTHER, Kind.IMPORT):
            return Level.NONE
        level = self.level(binding.value, home, depth)
        if binding.kind is Kind.ELEMENT:
            if level is Level.NONE and self._is_stream(home):
                level = Level.SAMPLE
            return level if level is Level.INDEX else min(level, Level.SAMPLE)
        if binding.kind is Kind.VALUE and binding.path:
            return _at(self, binding, home, depth)
        return level

    def _is_stream(self, frame: Frame) -> bool:
        """Whether a function is the `__iter__` of a Dataset, whose loops run over samples."""
        node = frame.scope.node
        return isinstance(node, cst.FunctionDef) and node.name.value == "__iter__" and frame.args is None

    def _parameter(self, binding: Binding, home: Frame, depth: int) -> Level:
        scope = binding.scope
        own = classes.receiver_name(scope) if classes.class_of(scope) is not None else ""
        node = scope.node
        if binding.name == own or not isinstance(node, cst.FunctionDef | cst.Lambda):
            return Level.NONE
        if home.args is not None:
            given = home.args.get(binding.name)
            return self.level(given.node, given.frame, depth) if given is not None else Level.NONE
        if self.function.path[0].argument == "worker_init_fn":
            return Level.NONE
        if isinstance(node, cst.FunctionDef) and node.name.value in ("__getitem__", "__getitems__", "get"):
            names = [param.name.value for param in parameters(node) if param.name.value != own]
            return Level.INDEX if names[:1] == [binding.name] else Level.NONE
        return Level.SAMPLE  # a transform, a collate function: called with samples


def _at(dependence: Dependence, binding: Binding, home: Frame, depth: int) -> Level:
    """What one name of an unpacking gets."""
    value = written_part(binding.value, binding.path)
    if value is None:
        return min(dependence.level(binding.value, home, depth), Level.SAMPLE)
    return dependence.level(value, home, depth)
