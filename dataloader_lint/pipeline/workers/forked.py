"""Whether workers may be forked."""

from __future__ import annotations

from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.semantics.values.values import CallResult, Class


def is_forked(reach: DatasetFlow, function: WorkerFunction) -> bool:
    """True if workers that run the function may be forked, as far as the known loaders show."""
    receiver = function.path[0].frame.receiver
    klass = receiver.by if isinstance(receiver, CallResult) else None
    if not isinstance(klass, Class) or not reach.workers.is_dataset(klass):
        return True
    loaders = reach.loaders_of(klass)
    spawned = [loader.has_workers is False or loader.start_method in ("spawn", "forkserver") for loader in loaders]
    return not spawned or not all(spawned)
