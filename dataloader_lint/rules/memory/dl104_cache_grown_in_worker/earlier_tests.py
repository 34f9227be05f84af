"""Earlier tests in the blocks around a statement. Each is examined once for all statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.lifetimes import Holder
from dataloader_lint.semantics.control.reachability import enclosing_tests
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library

_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_MEASURES = ("psutil.", "resource.", "shutil.disk_usage")


def blocks_around(statement: Node, scope: Scope) -> Iterator[tuple[cst.IndentedBlock, int]]:
    """The blocks of a function around a statement, each with the position in it at which the statement stands."""
    tree = scope.module.tree
    child = statement
    for above in tree.ancestors(statement):
        if isinstance(above, cst.IndentedBlock):
            yield above, tree.place_in(above, child)
        if above is scope.node:
            break
        child = above


class _Scan:
    """Goes through the `if` statements of a block, only as far as asked."""

    def __init__(self, block: cst.IndentedBlock) -> None:
        self._block = block
        self._done = 0

    def tests_until(self, place: int) -> Iterator[tuple[int, cst.BaseExpression]]:
        """The tests before a position that were not given yet, with their positions."""
        while self._done < place:
            position = self._done
            self._done += 1
            statement = self._block.body[position]
            if isinstance(statement, cst.If):
                yield position, statement.test


class EarlierTests:
    """Finds the first test of a block for which `holds` is true."""

    def __init__(self, scope: Scope, holds: Callable[[cst.BaseExpression], bool]) -> None:
        self._scope = scope
        self._holds = holds
        self._first: dict[int, tuple[_Scan, list[int]]] = {}

    def are_before(self, statement: Node) -> bool:
        """True if such a test stands before a statement in one of the blocks around it."""
        return any(self._is_in(block, place) for block, place in blocks_around(statement, self._scope))

    def _is_in(self, block: cst.IndentedBlock, place: int) -> bool:
        scan, first = self._first.setdefault(id(block), (_Scan(block), []))
        for position, test in scan.tests_until(place) if not first else ():
            if self._holds(test):
                first.append(position)
                break
        return bool(first) and first[0] < place


class _Sizes:
    """What the conditions of a block ask of sizes, each with the position of the first condition that does."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.machine: int | None = None
        self.callees: set[int] = set()

    def speak_of(self, kept: Holder, place: int) -> bool:
        """True if a condition before a position asks for the size of a container or of the machine's memory."""
        return self.names.get(kept.name, place) < place or (self.machine is not None and self.machine < place)


class SizeTests:
    """Comparisons of sizes in one function as a worker runs it: `if len(self.cache) < self.limit`."""

    def __init__(self, ev: Evaluator, frame: Frame) -> None:
        self._ev = ev
        self._frame = frame
        self._tree = frame.scope.module.tree
        self._blocks: dict[int, tuple[_Scan, _Sizes]] = {}
        self._tests: dict[int, _Sizes] = {}

    def limit(self, statement: Node, kept: Holder) -> bool:
        """True if such a comparison, around a statement or before it, decides whether a container grows."""
        if any(self._of_test(test).speak_of(kept, 1) for test, _ in enclosing_tests(statement, self._frame)):
            return True
        return any(self._are_in(block, place, kept) for block, place in blocks_around(statement, self._frame.scope))

    def _of_test(self, test: cst.BaseExpression) -> _Sizes:
        found = self._tests.get(id(test))
        if found is None:
            found = self._tests[id(test)] = _Sizes()
            self._add(found, test, 0)
        return found

    def _are_in(self, block: cst.IndentedBlock, place: int, kept: Holder) -> bool:
        scan, found = self._blocks.setdefault(id(block), (_Scan(block), _Sizes()))
        for position, test in scan.tests_until(place):
            self._add(found, test, position)
        return found.speak_of(kept, place)

    def _add(self, found: _Sizes, test: cst.BaseExpression, place: int) -> None:
        for comparison in self._tree.find(test, cst.Comparison):
            for target in comparison.comparisons:
                if isinstance(target.operator, _ORDERS):
                    self._add_side(found, comparison.left, place)
                    self._add_side(found, target.comparator, place)
        # a method that looks at the container: `if self.has_room():`
        for call in self._tree.find(test, cst.Call):
            for callee in self._ev.values(call.func, self._frame):
                scope = getattr(getattr(callee, "function", callee), "scope", None)
                if isinstance(scope, Scope) and isinstance(scope.node, cst.FunctionDef):
                    if id(scope) not in found.callees:
                        found.callees.add(id(scope))
                        for name in _attributes_read(scope):
                            found.names.setdefault(name, place)

    def _add_side(self, found: _Sizes, side: cst.BaseExpression, place: int) -> None:
        for inner in self._tree.walk(side):
            if isinstance(inner, cst.Attribute | cst.Name):
                found.names.setdefault(last_name(inner), place)
            if found.machine is None and isinstance(inner, cst.Call) and self._measures(inner):
                found.machine = place

    def _measures(self, call: cst.Call) -> bool:
        found = self._ev.values(call.func, self._frame)
        return any(isinstance(each, Library) and each.name.startswith(_MEASURES) for each in found)


def _attributes_read(scope: Scope) -> frozenset[str]:
    """The last parts of the dotted names in a function."""
    return scope.module.tree.once(
        ("attributes read", id(scope)),
        lambda: frozenset(dotted(each).rpartition(".")[2] for each in scope.within(cst.Attribute)),
    )
