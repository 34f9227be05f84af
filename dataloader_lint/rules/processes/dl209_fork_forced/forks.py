"""Forced fork in a module that also uses what breaks in a forked process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dataloader_lint.pipeline.devices.devices import Device
from dataloader_lint.pipeline.devices.moves import moves_in
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.workers.start_methods import start_methods
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node

# Packages with threads or locks that are unusable in a forked process.
_HOSTILE = frozenset({"adlfs", "decord", "fsspec", "gcsfs", "grpc", "polars", "s3fs", "torchcodec"})


@dataclass(frozen=True, slots=True, eq=False)
class ForcedFork:
    """A place that forces fork, and what is incompatible with it."""

    node: Node
    by: str  # how it is requested
    hostile: str  # "`polars`", "CUDA"


def forced_forks(file: File) -> Iterator[ForcedFork]:
    """Yields the places of a file that force fork next to something that fork breaks."""
    module = file.module
    methods = start_methods(file.ev, module)
    requests: list[tuple[Node, str]] = [
        (each.call, 'set_start_method("fork")') for each in methods if each.method == "fork"
    ]
    for loader in file.loaders:
        if loader.is_written_here and loader.start_method == "fork" and loader.has_workers is not False:
            requests.append((loader.node, 'multiprocessing_context="fork"'))
    for node, by in requests:
        hostile = _imported_hostile(module) or _cuda_before(node, file)
        if hostile:
            yield ForcedFork(node, by, hostile)


def _imported_hostile(module: ModuleFacts) -> str:
    for scope in module.root.descend():
        for bindings in bindings_of(scope).values():
            for binding in bindings:
                name = binding.imported.partition(".")[0]
                if binding.kind is Kind.IMPORT and not binding.level and name in _HOSTILE:
                    return f"`{name}`"
    return ""


def _cuda_before(node: Node, file: File) -> str:
    """`"CUDA"` if something moves to CUDA before a place, in the same function or at module level; otherwise empty."""
    tree = file.tree
    scopes = (tree.scope_of(node), tree.root)
    for move in moves_in(file.session.with_cuda, file.module):
        call = move.call
        if tree.order(call) < tree.order(node) and tree.scope_of(call) in scopes and move.device is Device.CUDA:
            return "CUDA"
    return ""
