"""Loaders from which every rank of a distributed program trains on all samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.epoch_loops import loops_that_train
from dataloader_lint.pipeline.file import File
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import DATASET_BASES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame, Library

_WRAPPER = "DistributedDataParallel"
_WRAPPERS = frozenset({f"torch.nn.parallel.{_WRAPPER}", f"torch.nn.parallel.distributed.{_WRAPPER}"})
_PLAIN_BASES = frozenset(
    {"builtins.object", "torch.utils.data.BatchSampler", "torch.utils.data.Sampler", "torch.utils.data.sampler.Sampler"}
)
# Words of code that shares the samples out by rank itself, or leaves that to a library.
_SHARING = ("rank", "world_size", "replica", "shard", "accelerat", "fabric")


@dataclass(frozen=True, slots=True, eq=False)
class UndividedLoader:
    """A loader whose sampler shares nothing out, trained from in a module that wraps its model for several ranks."""

    loader: Loader
    node: Node
    weighted: bool = False  # True if it has a sampler that draws by weight, on each rank for itself
    blind: str = ""  # the class of the project that is its sampler, and that knows no rank


def undivided_loaders(file: File) -> Iterator[UndividedLoader]:
    """The loaders of a file's training loops that give all samples to each rank, each once."""
    ev, module = file.ev, file.module
    if not any(_wraps(ev, call, module) for call in module.all_calls()):
        return
    seen: set[int] = set()
    for loop in loops_that_train(file, "DistributedDataParallel", True):
        for found in loop.passes:
            loader = found.loader
            if id(found.made.call) in seen or not isinstance(found.node, cst.For):
                continue
            if not found.trains(ev) or loader.node not in module.tree:
                continue
            if not _gives_all(ev, loader):
                continue
            given = [name for name in ("sampler", "batch_sampler") if loader.is_passed(name) is not False]
            weighted = given == ["sampler"] and _is_weighted(loader)
            blind = _without_rank(ev, loader, given[0]) if len(given) == 1 and not weighted else ""
            if not given or weighted or blind:
                seen.add(id(found.made.call))
                yield UndividedLoader(loader, loader.node, weighted, blind)


def _wraps(ev: Evaluator, call: cst.Call, module: ModuleFacts) -> bool:
    if last_name(call.func) not in (_WRAPPER, "DDP"):
        return False
    frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
    return any(isinstance(each, Library) and each.name in _WRAPPERS for each in ev.values(call.func, frame))


def _is_weighted(loader: Loader) -> bool:
    found = loader.values("sampler")
    return bool(found) and all(
        isinstance(each, CallResult) and each.library.endswith(".WeightedRandomSampler") for each in found
    )


def _without_rank(ev: Evaluator, loader: Loader, name: str) -> str:
    """The class of the project whose objects a loader gets as its sampler, if they share nothing out by rank."""
    found = loader.values(name)
    for value in found:
        if not isinstance(value, CallResult) or not isinstance(value.by, Class):
            return ""
        bases = ev.bases(value.by)
        if not bases.complete or not _PLAIN_BASES.issuperset(bases.libraries):
            return ""
        if any(_mentions_sharing(each.node, each.scope.module) for each in bases.classes):
            return ""
        if value.call is None or value.frame is None:
            return ""
        if any(_mentions_sharing(each, value.frame.scope.module) for each in _arguments(value.call, value.frame)):
            return ""
    first = found[0].by if found and isinstance(found[0], CallResult) else None
    return first.node.name.value if isinstance(first, Class) else ""


def _gives_all(ev: Evaluator, loader: Loader) -> bool:
    """True if the Dataset is known, and neither its class, its arguments nor those of the loader share it out."""
    if _mentions_sharing(loader.call, loader.frame.scope.module):
        return False
    found = loader.values("dataset")
    for value in found:
        if not isinstance(value, CallResult) or value.call is None or value.frame is None:
            return False
        if any(_mentions_sharing(each, value.frame.scope.module) for each in _arguments(value.call, value.frame)):
            return False
        if isinstance(value.by, Class):
            if dataset_kind(ev, value.by) != "map" or _mentions_sharing(value.by.node, value.by.scope.module):
                return False
        elif value.library not in DATASET_BASES:
            return False
    return bool(found)


def _arguments(call: cst.Call, frame: Frame) -> Iterator[Node]:
    """A call, and what its function binds to the names in it: `indices = range(rank, n, size)`."""
    yield call
    tree = frame.scope.module.tree
    for name in tree.find(call, cst.Name):
        yield from (each.value for each in resolve(name, tree) if each.value is not None)


def _mentions_sharing(node: Node, module: ModuleFacts) -> bool:
    text = module.tree.words(node).lower()
    return any(word in text for word in _SHARING)
