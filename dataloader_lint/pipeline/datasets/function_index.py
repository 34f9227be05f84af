"""How the expressions of one function of worker code depend on the index argument of `__getitem__`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from dataloader_lint.pipeline.datasets import streams
from dataloader_lint.pipeline.datasets.index_dep import IndexDep, IndexDependence, of_part
from dataloader_lint.semantics.syntax.control import deciding_tests
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.file_names import names_file, unpacked
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve, written_out
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import Frame

_ORDERING = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


class IndexInFunction(IndexDependence):
    """Index dependence in one function; `entered` gives the dependence of its parameters, by name.

    `loops` are its loops that yield one sample per element. `is_next` is True for the `__next__` of a stream.
    `returned` gives the dependence of the result of a method called on the same object, at a place in the returned
    tuple.
    """

    def __init__(
        self,
        scope: Scope,
        entered: dict[str, IndexDep],
        loops: Sequence[cst.For],
        is_next: bool,
        returned: Callable[[cst.Call, tuple[int, ...]], IndexDep],
    ) -> None:
        super().__init__()
        self._scope = scope
        self._parameters = entered
        self._loops = loops
        self._is_next = is_next
        self._returned = returned

    def at(self, node: cst.CSTNode) -> IndexDep:
        """How an expression of the function depends on the index."""
        return self.of(node, None)

    def name(self, node: cst.Name, frame: Frame | None) -> IndexDep:
        bindings = resolve(node, self._scope.module.tree)
        found = max((self._binding_dependence(each) for each in bindings), default=IndexDep.NONE)
        if found > IndexDep.SAMPLE or not any(_counts(each) for each in bindings):
            return found
        return max(found, *(self._counted(each, node) for each in bindings))

    def _counted(self, binding: Binding, use: cst.Name) -> IndexDep:
        """The dependence of a count, or of the number of a round, that a search ends with."""
        if (
            not _counts(binding)
            or binding.scope is not self._scope
            or any(binding.node is each for each in self._loops)
        ):
            return IndexDep.NONE
        tree = self._scope.module.tree
        tests = [test for test in deciding_tests(binding.node, use, tree) if _is_ordering(test)]
        if binding.kind is Kind.ELEMENT:  # for n, end in enumerate(self.ends): if index < end: return self.parts[n]
            for above in tree.ancestors(use):
                if isinstance(above, cst.If) and _is_ordering(above.test):
                    tests.append(above.test)
                if above is binding.node:
                    break
        return max((self.found_by(test, None) for test in tests), default=IndexDep.NONE)

    def is_next_sample(self, node: cst.Call, frame: Frame | None) -> bool:
        return self._is_next and isinstance(node.func, cst.Name) and node.func.value == "next"

    def call_result(self, node: cst.Call, frame: Frame | None, given: IndexDep) -> IndexDep:
        is_method = isinstance(node.func, cst.Attribute) and self.at(node.func.value) is IndexDep.NONE
        return self._returned(node, ()) if is_method else IndexDep.NONE

    def _binding_dependence(self, binding: Binding) -> IndexDep:
        """How the value that a binding assigns depends on the index."""
        if binding.kind is Kind.PARAMETER:
            return self._parameters.get(binding.name, IndexDep.NONE) if binding.scope is self._scope else IndexDep.NONE
        if binding.value is None:
            return IndexDep.NONE
        if any(binding.node is loop for loop in self._loops):
            return self._loop_target(binding)
        value, path = binding.value, binding.path
        if binding.kind is Kind.ELEMENT:
            value, path = iterated(value, path)
        value, path = written_out(value, path)
        whole = self.at(value)
        if binding.kind is Kind.ELEMENT:
            return whole if whole is IndexDep.INDEX else min(whole, IndexDep.SAMPLE)
        if not binding.path:
            return whole
        stem = unpacked(value, path)
        if stem is not None:
            return self.at(stem)
        if whole > IndexDep.SAMPLE and isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
            return max(IndexDep.SAMPLE, self._returned(value, path))
        return whole if whole is IndexDep.KEY and names_file(binding.name) else of_part(value, path, whole)

    def _loop_target(self, binding: Binding) -> IndexDep:
        """The dependence of the target of a sample loop: the number of the sample, or an element of a key list."""
        assert binding.value is not None
        if isinstance(binding.value, cst.Call) and last_name(binding.value.func) == "enumerate" and binding.path:
            return IndexDep.INDEX if binding.path[0] == 0 else IndexDep.SAMPLE if binding.path[1:] else IndexDep.KEY
        if streams.iterates_over_numbers(binding.value, self._scope.module.tree):
            return IndexDep.INDEX
        return IndexDep.SAMPLE if binding.path else IndexDep.KEY


def _counts(binding: Binding) -> bool:
    """True for `count += 1`, `count = count + 1` and the number of a round: `for n, _ in enumerate(...)`."""
    value = binding.value
    if binding.kind is Kind.AUGMENTED:
        return isinstance(value, cst.Integer)
    if binding.kind is Kind.VALUE and not binding.path and isinstance(value, cst.BinaryOperation):
        return any(isinstance(each, cst.Name) and each.value == binding.name for each in (value.left, value.right))
    if binding.kind is not Kind.ELEMENT or not isinstance(value, cst.Call) or not isinstance(binding.node, cst.For):
        return False
    return last_name(value.func) == ("enumerate" if binding.path == (0,) else "" if binding.path else "range")


def _is_ordering(test: cst.BaseExpression) -> bool:
    """True for a test that tells on which side of a limit something is: `start <= index < end`."""
    if isinstance(test, cst.BooleanOperation):
        return _is_ordering(test.left) or _is_ordering(test.right)
    if isinstance(test, cst.UnaryOperation):
        return _is_ordering(test.expression)
    return isinstance(test, cst.Comparison) and all(isinstance(each.operator, _ORDERING) for each in test.comparisons)


def iterated(value: cst.BaseExpression, path: tuple[int, ...]) -> tuple[cst.BaseExpression, tuple[int, ...]]:
    """The iterable whose elements the name at a path gets: `indices` in `for place, i in enumerate(indices)`."""
    while isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and path and value.args:
        name, place = value.func.value, path[0]
        if name == "enumerate" and place == 1:
            value, path = value.args[0].value, path[1:]
        elif name == "zip" and 0 <= place < len(value.args) and not any(arg.star for arg in value.args):
            value, path = value.args[place].value, path[1:]
        else:
            break
    return value, path
