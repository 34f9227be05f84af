"""Where a name stands in the text, from one walk of the tree: there may be a thousand repairs that ask."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.syntax.tree import Node, Tree


def names_in(tree: Tree, node: Node, name: str) -> Iterator[cst.Name]:
    """The names spelled so at or below a node, in document order."""
    found = _by_spelling(tree).get(name, [])
    for index in range(bisect_left(found, tree.order(node), key=tree.order), len(found)):
        if found[index] is not node and not any(above is node for above in tree.ancestors(found[index])):
            return
        yield found[index]


def _by_spelling(tree: Tree) -> dict[str, list[cst.Name]]:
    def collected() -> dict[str, list[cst.Name]]:
        names: dict[str, list[cst.Name]] = {}
        for each in tree.find(tree.module, cst.Name):
            names.setdefault(each.value, []).append(each)
        return names

    return tree.once(("names by spelling", id(tree.module)), collected)
