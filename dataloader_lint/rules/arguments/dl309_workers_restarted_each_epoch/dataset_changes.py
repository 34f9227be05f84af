"""Whether anything may change the Dataset of a loader after it was constructed."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import EpochLoop
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node


def may_change_dataset(loader: Loader, loop: EpochLoop) -> bool:
    """True if the modules of a loader and of a loop over it may change the loader's Dataset after construction.

    They store into it or call a method of it, by its name or as an attribute `dataset`.
    """
    given = loader.argument("dataset")
    name = dotted(given.value) if given is not None else ""
    modules = {each.path: each for each in (loader.frame.scope.module, loop.frame.scope.module)}
    for module in modules.values():
        tree = module.tree
        for node in tree.find(module.root.node, cst.Attribute):
            if not (dotted(node.value) == name != "" or last_name(node.value) == "dataset"):
                continue
            part: Node = node
            above = tree.parent(part)
            while isinstance(above, cst.Subscript | cst.Attribute) and above.value is part:
                part, above = above, tree.parent(above)
            if isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.Del):
                return True
            if isinstance(above, cst.Call) and above.func is part:
                return True
    return False
