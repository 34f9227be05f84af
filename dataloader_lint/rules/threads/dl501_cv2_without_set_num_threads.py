"""OpenCV starts a pool of threads in every worker, unless `cv2.setNumThreads` limits it."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis

RULE = Rule("DL501", "cv2-without-set-num-threads", Entity.MODULE, fix=FixLevel.SOMETIMES_SAFE)


def check(facts: Analysis) -> Iterator[Finding]:
    call = next(facts.opencv.calls_without_limit(facts.module), None)
    if call is None:
        return
    function = call.function
    way = "" if function.caller is None else f", reached from `{function.path[0].label}`"
    problem = (
        f"`{function.label}` calls `{call.name}` in worker code{way}, and in every worker process OpenCV starts a "
        "thread pool of its own, as large as the machine has CPUs"
    )
    advice = "call `cv2.setNumThreads(0)` after this import where loaders have workers"
    yield Finding(call.import_node, problem, advice)
