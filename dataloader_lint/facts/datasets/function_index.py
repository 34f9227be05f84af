"""How the expressions of one function of worker code depend on the index argument of `__getitem__`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from dataloader_lint.facts.datasets import streams
from dataloader_lint.facts.datasets.index_dep import IndexDep, IndexDependence, of_part
from dataloader_lint.facts.infer.values import Frame
from dataloader_lint.facts.syntax.expressions import last_name
from dataloader_lint.facts.syntax.file_names import names_file, unpacked
from dataloader_lint.facts.syntax.names import Binding, Kind, resolve, written_out
from dataloader_lint.facts.syntax.tree import Scope


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
        return max((self._binding_dependence(each) for each in bindings), default=IndexDep.NONE)

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
