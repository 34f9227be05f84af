"""Datasets of a class that is looked up by a name, so that no more is known than what they are made from."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Tree
from dataloader_lint.semantics.values.values import Class, Frame, Function, Library, Method, Partial


def arguments_of_dynamic_class(loader: Loader) -> Iterator[tuple[cst.Arg, Frame]]:
    """What the Dataset of a loader is made from: `getattr(datasets, name)(root, transform=Augment())`."""
    for place in sites_of(loader, "dataset") or ():
        tree = place.frame.scope.module.tree
        for made in origins(place.node, tree):
            if isinstance(made, cst.Call) and _is_dynamic(made.func, tree):
                callees = loader.ev.values(made.func, place.frame)
                if not any(isinstance(each, Class | Function | Library | Method | Partial) for each in callees):
                    yield from ((arg, place.frame) for arg in made.args)


def _is_dynamic(node: cst.BaseExpression, tree: Tree) -> bool:
    """True if what is called was looked up by a name: `getattr(datasets, name)`, `REGISTRY[name]`."""
    return all(isinstance(each, cst.Call | cst.Subscript) for each in origins(node, tree))
