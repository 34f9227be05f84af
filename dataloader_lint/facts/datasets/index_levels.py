"""How the expressions of one function of worker code depend on the index argument of `__getitem__`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from dataloader_lint.facts.datasets import streams
from dataloader_lint.facts.datasets.field_uses import Level
from dataloader_lint.facts.limits import INDEX_NESTING
from dataloader_lint.facts.syntax.file_names import field_of, names_file, path_behind, unpacked
from dataloader_lint.facts.syntax.module import last_name
from dataloader_lint.facts.syntax.names import Binding, Kind, resolve, written_out
from dataloader_lint.facts.syntax.tree import Scope

# Calls whose result tells as much of the index as their arguments do.
_SAME = frozenset(
    {"Path", "abs", "divmod", "int", "len", "list", "max", "min", "range", "round", "sorted", "str", "tuple"}
)
_DEPENDING = frozenset(
    {
        cst.Attribute,
        cst.BinaryOperation,
        cst.BooleanOperation,
        cst.Call,
        cst.FormattedString,
        cst.GeneratorExp,
        cst.IfExp,
        cst.List,
        cst.ListComp,
        cst.Name,
        cst.NamedExpr,
        cst.Subscript,
        cst.Tuple,
        cst.UnaryOperation,
    }
)


class IndexLevels:
    """Answers for one function; `entered` says what its parameters depend on, by name, and may grow.

    `loops` are the loops in it that make a sample of each element; `is_next` says whether it is the `__next__` of a
    stream; `handed_back` gives what a method that it calls of the same object makes of the index, at a place of the
    tuple that it returns.
    """

    def __init__(
        self,
        scope: Scope,
        entered: dict[str, Level],
        loops: Sequence[cst.For],
        is_next: bool,
        handed_back: Callable[[cst.Call, tuple[int, ...]], Level],
    ) -> None:
        self._scope = scope
        self._entered = entered
        self._loops = loops
        self._is_next = is_next
        self._handed_back = handed_back
        self._known: dict[int, Level] = {}
        self._running: set[int] = set()
        self._too_deep = 0  # how often a name was given by too many others in a row to be looked into

    def of(self, node: cst.CSTNode) -> Level:
        """How an expression depends on the index."""
        if type(node) not in _DEPENDING:
            return Level.NONE
        if isinstance(node, cst.Name):
            bindings = resolve(node, self._scope.module.tree)
            return max((self._binding_level(each) for each in bindings), default=Level.NONE)
        if isinstance(node, cst.Attribute | cst.Call | cst.Subscript):
            path = path_behind(node)
            if path is not None and self.of(path) is Level.KEY:
                return Level.KEY
        if isinstance(node, cst.Subscript):
            return self._read_level(node)
        if isinstance(node, cst.BinaryOperation):
            left, right = self.of(node.left), self.of(node.right)
            return self._combined(left, right)
        if isinstance(node, cst.Call):
            return self._call_level(node)
        if isinstance(node, cst.IfExp):
            return max(self.of(node.body), self.of(node.orelse))
        if isinstance(node, cst.BooleanOperation):
            return max(self.of(node.left), self.of(node.right))
        if isinstance(node, cst.UnaryOperation):
            return self.of(node.expression)
        if isinstance(node, cst.NamedExpr):
            return self.of(node.value)
        if isinstance(node, cst.Attribute):
            owner = self.of(node.value)
            return owner if owner is Level.KEY and names_file(node.attr.value) else min(owner, Level.SAMPLE)
        if isinstance(node, cst.FormattedString):
            parts = [self.of(part.expression) for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
            return max(parts, default=Level.NONE)
        if isinstance(node, cst.Tuple | cst.List):
            return max((self.of(element.value) for element in node.elements), default=Level.NONE)
        if isinstance(node, cst.ListComp | cst.GeneratorExp):
            return min(self.of(node.elt), Level.SAMPLE)
        return Level.NONE

    def _combined(self, left: Level, right: Level) -> Level:
        if Level.SAMPLE in (left, right) and max(left, right) < Level.INDEX:
            return Level.SAMPLE
        return max(left, right)

    def _read_level(self, node: cst.Subscript) -> Level:
        inside = max(
            (self.of(element.slice.value) for element in node.slice if isinstance(element.slice, cst.Index)),
            default=Level.NONE,
        )
        if inside is Level.INDEX:
            return Level.KEY  # what stands at the index
        owner = self.of(node.value)
        if inside is not Level.NONE:
            return Level.SAMPLE
        if owner is Level.KEY and names_file(field_of(node)):
            return Level.KEY
        return min(owner, Level.SAMPLE) if owner is not Level.INDEX else Level.INDEX

    def _call_level(self, node: cst.Call) -> Level:
        inside = max((self.of(arg.value) for arg in node.args), default=Level.NONE)
        name = node.func.value if isinstance(node.func, cst.Name) else ""
        if name == "next" and self._is_next:
            return Level.INDEX
        if name in _SAME:
            return inside
        if isinstance(node.func, cst.Attribute):
            owner = self.of(node.func.value)
            if owner is Level.INDEX and node.func.attr.value in ("tolist", "item", "numpy", "copy", "cpu", "long"):
                return Level.INDEX
            if owner is Level.KEY and node.func.attr.value in ("decode", "strip", "item", "lower", "format"):
                return Level.KEY
            if node.func.attr.value in ("get", "pop") and inside is Level.INDEX:
                return Level.KEY
            if node.func.attr.value in ("Path", "join") and owner is Level.NONE:
                return inside
            if inside > Level.SAMPLE and owner is Level.NONE:
                return max(Level.SAMPLE, self._handed_back(node, ()))
            inside = max(inside, min(owner, Level.SAMPLE))
        return min(inside, Level.SAMPLE)

    def _binding_level(self, binding: Binding) -> Level:
        """How what a binding gives its name depends on the index."""
        if binding.kind is Kind.PARAMETER:
            return self._entered.get(binding.name, Level.NONE) if binding.scope is self._scope else Level.NONE
        if binding.value is None:
            return Level.NONE
        key = id(binding)
        if key not in self._known:
            if key in self._running or len(self._running) > INDEX_NESTING:
                self._too_deep += key not in self._running
                return Level.NONE
            too_deep = self._too_deep
            self._running.add(key)
            value, path = binding.value, binding.path
            if binding.kind is Kind.ELEMENT:
                value, path = iterated(value, path)
            value, path = written_out(value, path)
            level = self.of(value)
            self._running.discard(key)
            if any(binding.node is loop for loop in self._loops):
                level = self._taken_level(binding)
            elif binding.kind is Kind.ELEMENT:
                level = level if level is Level.INDEX else min(level, Level.SAMPLE)
            elif binding.path:
                whole = unpacked(value, path)
                if whole is not None:
                    level = self.of(whole)
                elif level > Level.SAMPLE and isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
                    level = max(Level.SAMPLE, self._handed_back(value, path))
                elif level is not Level.KEY or not names_file(binding.name):
                    level = _part_level(value, path, level)
            if self._too_deep != too_deep:
                return level
            self._known[key] = level
        return self._known[key]

    def _taken_level(self, binding: Binding) -> Level:
        """What a loop that gives a sample a pass takes: the number of the sample, or an element of a list of keys."""
        assert binding.value is not None
        if isinstance(binding.value, cst.Call) and last_name(binding.value.func) == "enumerate" and binding.path:
            return Level.INDEX if binding.path[0] == 0 else Level.SAMPLE if len(binding.path) > 1 else Level.KEY
        if streams.counts(binding.value, self._scope.module.tree):
            return Level.INDEX
        return Level.SAMPLE if binding.path else Level.KEY


def iterated(value: cst.BaseExpression, path: tuple[int, ...]) -> tuple[cst.BaseExpression, tuple[int, ...]]:
    """Whose elements a loop gives the name at a path: those of `indices` in `for place, i in enumerate(indices)`."""
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and path and value.args:
        name, place = value.func.value, path[0]
        if name == "enumerate" and place == 1:
            value, path = value.args[0].value, path[1:]
        elif name == "zip" and 0 <= place < len(value.args) and not any(arg.star for arg in value.args):
            value, path = value.args[place].value, path[1:]
        else:
            break
    return value, path


def _part_level(value: cst.BaseExpression, path: tuple[int, ...], level: Level) -> Level:
    """A part of an unpacked value: `divmod(index, n)` gives indices, but a pair that a sampler hands out only one.

    What is unpacked side by side with others is most often a label of the sample.
    """
    if level is not Level.INDEX:
        return min(level, Level.SAMPLE)
    return Level.SAMPLE if isinstance(value, cst.Name) and path not in ((), (0,)) else level
