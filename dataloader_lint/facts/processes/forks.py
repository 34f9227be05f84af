"""Where fork is asked for in a module that also uses what a forked process breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.processes.start_methods import StartMethod
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.names import Kind, bindings_of
from dataloader_lint.facts.syntax.tree import Node
from dataloader_lint.facts.transfers.batches import Transfer
from dataloader_lint.facts.transfers.devices import Device

# Packages that keep threads or locks which a forked process has no use of.
_HOSTILE = frozenset({"adlfs", "decord", "fsspec", "gcsfs", "grpc", "polars", "s3fs", "torchcodec"})


@dataclass(frozen=True, slots=True, eq=False)
class ForcedFork:
    """A place that asks for fork, and what does not go with it."""

    node: Node
    by: str  # how it is asked for
    hostile: str  # "`polars`", "CUDA"


def forced_forks(
    module: ModuleFacts, loaders: list[Loader], methods: Iterable[StartMethod], transfers: list[Transfer]
) -> Iterator[ForcedFork]:
    """The places of a module that ask for fork beside something that fork breaks."""
    asked: list[tuple[Node, str]] = [
        (each.call, 'set_start_method("fork")') for each in methods if each.method == "fork"
    ]
    for loader in loaders:
        if loader.is_written_here and loader.start_method == "fork" and loader.has_workers is not False:
            asked.append((loader.node, 'multiprocessing_context="fork"'))
    for node, by in asked:
        hostile = _imported(module) or _cuda_before(node, module, transfers)
        if hostile:
            yield ForcedFork(node, by, hostile)


def _imported(module: ModuleFacts) -> str:
    for scope in module.root.descend():
        for bindings in bindings_of(scope).values():
            for binding in bindings:
                name = binding.imported.partition(".")[0]
                if binding.kind is Kind.IMPORT and not binding.level and name in _HOSTILE:
                    return f"`{name}`"
    return ""


def _cuda_before(node: Node, module: ModuleFacts, transfers: list[Transfer]) -> str:
    """Whether something goes to CUDA before a place, in the same function or at module level."""
    tree = module.tree
    scopes = (tree.scope_of(node), tree.root)
    for transfer in transfers:
        call = transfer.call
        if tree.order(call) < tree.order(node) and tree.scope_of(call) in scopes and transfer.device is Device.CUDA:
            return "CUDA"
    return ""
