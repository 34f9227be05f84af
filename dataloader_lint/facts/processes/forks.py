"""Forced fork in a module that also uses what breaks in a forked process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.processes.start_methods import StartMethod
from dataloader_lint.facts.syntax.names import Kind, bindings_of
from dataloader_lint.facts.syntax.tree import ModuleFacts, Node
from dataloader_lint.facts.transfers.batches import Transfer
from dataloader_lint.facts.transfers.devices import Device

# Packages with threads or locks that are unusable in a forked process.
_HOSTILE = frozenset({"adlfs", "decord", "fsspec", "gcsfs", "grpc", "polars", "s3fs", "torchcodec"})


@dataclass(frozen=True, slots=True, eq=False)
class ForcedFork:
    """A place that forces fork, and what is incompatible with it."""

    node: Node
    by: str  # how it is requested
    hostile: str  # "`polars`", "CUDA"


def forced_forks(
    module: ModuleFacts, loaders: list[Loader], methods: Iterable[StartMethod], transfers: list[Transfer]
) -> Iterator[ForcedFork]:
    """Yields the places of a module that force fork next to something that fork breaks."""
    requests: list[tuple[Node, str]] = [
        (each.call, 'set_start_method("fork")') for each in methods if each.method == "fork"
    ]
    for loader in loaders:
        if loader.is_written_here and loader.start_method == "fork" and loader.has_workers is not False:
            requests.append((loader.node, 'multiprocessing_context="fork"'))
    for node, by in requests:
        hostile = _imported_hostile(module) or _cuda_before(node, module, transfers)
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


def _cuda_before(node: Node, module: ModuleFacts, transfers: list[Transfer]) -> str:
    """`"CUDA"` if something moves to CUDA before a place, in the same function or at module level; otherwise empty."""
    tree = module.tree
    scopes = (tree.scope_of(node), tree.root)
    for transfer in transfers:
        call = transfer.call
        if tree.order(call) < tree.order(node) and tree.scope_of(call) in scopes and transfer.device is Device.CUDA:
            return "CUDA"
    return ""
