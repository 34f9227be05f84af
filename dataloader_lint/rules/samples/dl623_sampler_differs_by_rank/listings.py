"""Datasets whose samples are listed in an order that differs between processes or machines."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.pipeline.file import File
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.short_names import LISTING_FILES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Frame, Opaque, Sequence

_LISTED = ("array", "asarray", "list", "tuple")
_AT_ONCE = ("__init__", "__post_init__")
# Words of programs that run on several machines, each of which may list its own copy of a directory.
_MACHINES = ("node_rank", "NODE_RANK", "nnodes", "num_nodes", "SLURM_NNODES", "SLURM_NODEID", "SLURM_PROCID")


def unsorted_samples(file: File, dataset: cst.BaseExpression, frame: Frame) -> str:
    """Why the samples of a Dataset come in an order that differs by rank; empty where nothing is known to say so."""
    for value in file.ev.values(dataset, frame):
        for made in wrapped_datasets(file.ev, value):
            for listed, where in _listed_by(file, made):
                if listed.kind == "set" and all(map(_is_text, file.ev.element(listed))):
                    return "a set of texts has another order in each process"
                if any(word in file.tree.code for word in _MACHINES):
                    name = _listing_in(listed.node, where)
                    if name:
                        return f"`{name}` lists files in any order, on each machine"
    return ""


def _listed_by(file: File, made: CallResult) -> Iterator[tuple[Sequence, Scope]]:
    """The lists that the constructor of a Dataset keeps and `__getitem__` indexes, each with the function it is from.

    Nothing for classes whose constructors sort anything.
    """
    bases = file.ev.bases(made.by).classes if isinstance(made.by, Class) else ()
    for klass in bases:
        methods = classes.methods_of(klass.scope)
        read = methods.get("__getitem__")
        makers = [methods[name] for name in _AT_ONCE if name in methods]
        if read is None or any("sort" in last_name(call.func) for each in makers for call in each.within(cst.Call)):
            continue
        indexed = {dotted(each.value) for each in read.own(cst.Subscript)}
        for name, bindings in classes.attribute_bindings(klass.scope).items():
            if f"{classes.receiver_name(read)}.{name}" not in indexed:
                continue
            for binding in bindings:
                if binding.method in makers and binding.value is not None:
                    frame = file.ev.frame_of(binding.method)
                    for part in origins(binding.value, binding.method.module.tree, _listed_in):
                        for value in file.ev.values(part, frame):
                            if isinstance(value, Sequence):
                                yield value, binding.method


def _listed_in(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """What an expression lists: `names` of `list(names)`, `[folder / name for name in names]`."""
    if isinstance(node, cst.Call) and last_name(node.func) in _LISTED and node.args:
        return (node.args[0].value,)
    return (node.for_in.iter,) if isinstance(node, cst.ListComp) else ()


def _listing_in(node: cst.CSTNode, scope: Scope) -> str:
    """The call in an expression that lists files."""
    tree = scope.module.tree
    calls = tree.find(node, cst.Call) if node in tree else ()
    return next((dotted(call.func) for call in calls if last_name(call.func) in LISTING_FILES), "")


def _is_text(value: object) -> bool:
    return (isinstance(value, Opaque) and value.kind == "str") or (
        isinstance(value, Const) and isinstance(value.value, str)
    )
