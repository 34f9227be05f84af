"""Which top-level definition of a module a node belongs to."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.tree import Node, Tree


def outermost_definition(node: Node, tree: Tree) -> str:
    """The name of the top-level function or class around a node, or of that node itself; empty at module level."""
    found = node
    for above in (node, *tree.ancestors(node)):
        if isinstance(above, cst.FunctionDef | cst.ClassDef):
            found = above
    return found.name.value if isinstance(found, cst.FunctionDef | cst.ClassDef) else ""
