"""Everything that is known about one module, each part worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.syntax.tree import Node, Scope, Tree


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """`name.attribute = value` on something that is not looked at closer."""

    node: cst.Assign
    value: cst.BaseExpression


class ModuleFacts:
    """One module of a project: its path, its tree, and indexes over it."""

    __slots__ = (
        "_all_calls",
        "_calls",
        "_stores",
        "classes",
        "functions",
        "is_package",
        "path",
        "tree",
    )

    def __init__(self, path: str, is_package: bool, source: cst.Module, text: str) -> None:
        self.path = path
        self.is_package = is_package
        self.tree = Tree(source, text)
        self._all_calls: list[cst.Call] | None = None
        self._calls: dict[str, list[cst.Call]] | None = None
        self._stores: dict[tuple[str, str], list[Store]] | None = None
        self.classes: list[Scope] = []
        self.functions: set[str] = set()  # the names of all, wherever they are defined
        for scope in self.tree.root.descend():
            scope.module = self
            if scope.is_class:
                self.classes.append(scope)
            elif isinstance(scope.node, cst.FunctionDef):
                self.functions.add(scope.node.name.value)

    @property
    def root(self) -> Scope:
        return self.tree.root

    def calls_named(self, name: str) -> list[cst.Call]:
        """The calls whose callee's last part is `name`, in document order."""
        return self._calls_by_name().get(name, [])

    @property
    def called(self) -> AbstractSet[str]:
        """The last parts of the names by which something is called."""
        return self._calls_by_name().keys()

    def all_calls(self) -> list[cst.Call]:
        """Every call of the module, in document order."""
        if self._all_calls is None:
            found = self._calls_by_name().values()
            self._all_calls = sorted((call for several in found for call in several), key=self.tree.order)
        return self._all_calls

    def _calls_by_name(self) -> dict[str, list[cst.Call]]:
        if self._calls is None:
            self._calls = {}
            for scope in self.root.descend():
                for call in scope.own(cst.Call):
                    self._calls.setdefault(last_name(call.func), []).append(call)
            for found in self._calls.values():
                found.sort(key=self.tree.order)
        return self._calls

    def stores_to(self, name: str, attribute: str) -> list[Store]:
        """The assignments to `name.attribute`."""
        return self._stores_by_name().get((name, attribute), [])

    def stores(self) -> Iterator[tuple[str, Store]]:
        """All assignments to an attribute of a name, each with the attribute's name."""
        for (_, attribute), found in self._stores_by_name().items():
            for store in found:
                yield attribute, store

    def _stores_by_name(self) -> dict[tuple[str, str], list[Store]]:
        if self._stores is None:
            self._stores = {}
            for scope in self.root.descend():
                for assign in scope.own(cst.Assign):
                    for target in assign.targets:
                        node = target.target
                        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
                            key = (node.value.value, node.attr.value)
                            self._stores.setdefault(key, []).append(Store(assign, assign.value))
        return self._stores


def last_name(node: cst.CSTNode) -> str:
    """The last part of a name or attribute chain; empty for other expressions."""
    kind = type(node)  # quicker than `isinstance`, which LibCST's abstract classes make slow
    if kind is cst.Attribute:
        return str(node.attr.value)  # type: ignore[attr-defined]
    return str(node.value) if kind is cst.Name else ""  # type: ignore[attr-defined]


def enclosing_definitions(module: ModuleFacts, nodes: Iterable[Node]) -> set[str]:
    """The top-level functions and classes of a module that contain some nodes."""
    found = set()
    for node in nodes:
        child: Node | None = None
        for above in module.tree.ancestors(node):
            if isinstance(above, cst.FunctionDef | cst.ClassDef):
                child = above
        if isinstance(child, cst.FunctionDef | cst.ClassDef):
            found.add(child.name.value)
    return found
