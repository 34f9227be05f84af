"""Iterable Datasets that functions of libraries return, and what their methods make of these."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.libraries.datasets import ITERABLE_IF, ITERABLE_MAKERS, ITERABLE_STEPS
from dataloader_lint.semantics.limits import OBJECT_HOPS
from dataloader_lint.semantics.syntax.expressions import keyword_of
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Value, constant


def is_iterable_of_library(ev: Evaluator, value: Value) -> bool:
    """True for `WebDataset(...)`, `load_dataset(..., streaming=True, split=...)`, and for `.map(...)` of these."""
    for _ in range(OBJECT_HOPS):
        if not isinstance(value, CallResult):
            return False
        if value.library in ITERABLE_MAKERS:
            return True
        call, frame = value.call, value.frame
        if call is None or frame is None:
            return False
        if value.library in ITERABLE_IF:
            given = keyword_of(call, ITERABLE_IF[value.library])
            known = constant(ev.values(given, frame)) if given is not None else None
            # Without a split it returns a dict of several.
            return known is not None and known.value is True and keyword_of(call, "split") is not None
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ITERABLE_STEPS:
            return False
        owners = ev.values(call.func.value, frame)
        if len(owners) != 1:
            return False
        value = owners[0]
    return False
