"""The functions and classes at the top of a module, by what stands in them."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node


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
