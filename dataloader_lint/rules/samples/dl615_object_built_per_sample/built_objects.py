"""Tokenizers, models and decoders that worker code makes again for every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import Dep
from dataloader_lint.rules.samples._shared.per_sample import (
    calls_for_each,
    dependence_on_sample,
    has_one_sample,
    is_cached,
    runs_for_each,
)
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.short_names import short
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts

if TYPE_CHECKING:
    import libcst as cst

_NAMES = short(lambda call: call.builds)


@dataclass(frozen=True, slots=True, eq=False)
class BuiltObject:
    """A call that makes the same object for every sample or batch."""

    call: cst.Call
    function: WorkerFunction
    library: str  # the qualified name of what makes it

    @property
    def name(self) -> str:
        """What is called, as written: `torch.jit.load`."""
        return dotted(self.call.func) or last_name(self.call.func)

    @property
    def what(self) -> str:
        """What it is, in words: `a tokenizer`."""
        return row(self.library).builds

    @property
    def each(self) -> str:
        """What it is made again for: `sample` or `batch`."""
        return runs_for_each(self.function)


def built_objects(workers: Workers, module: ModuleFacts) -> Iterator[BuiltObject]:
    """Yields the calls of a module that make an object of which all samples could use one, for each of them."""
    seen: set[int] = set()
    for function, wanted in calls_for_each(workers, module, _NAMES):
        for call, name in function.library_calls:
            if id(call) not in wanted or id(call) in seen or not row(name).builds or is_cached(call, function):
                continue
            if _is_the_same(workers, call, function) and not has_one_sample(workers, function):
                seen.add(id(call))
                yield BuiltObject(call, function, name)


def _is_the_same(workers: Workers, call: cst.Call, function: WorkerFunction) -> bool:
    """True if no argument depends on the sample, and the call is reached."""
    if any(arg.star for arg in call.args) or not is_reached(workers.ev, call, function.frame, True):
        return False
    dependence = dependence_on_sample(workers.ev, function)
    return all(dependence.of(arg.value, function.frame) <= {Dep.FIXED} for arg in call.args)
