"""Classes of batches that pinning leaves as they are."""

from __future__ import annotations

from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.values import CallResult, Class, Const, merge
from dataloader_lint.facts.syntax.steps import Step
from dataloader_lint.facts.transfers.pinned_parts import collated, has_method, is_passed_over


def batch_class_not_pinned(loader: Loader) -> tuple[str, Step] | None:
    """The class of a loader's batches, and its step, if pinning leaves all of these as they are."""
    given = loader.values("collate_fn")
    if loader.kind.drops_collate or all(isinstance(each, Const) for each in given):
        return None
    found = merge(*(collated(loader.ev, each) for each in given))
    if not found or not all(is_passed_over(loader.ev, value) for value in found):
        return None
    klass = found[0].by if isinstance(found[0], CallResult) else None
    if not isinstance(klass, Class) or has_method(loader.ev, klass, "__getattr__"):
        return None
    step = Step(klass.scope.module, klass.node, f"`{klass.node.name.value}` has no `pin_memory` method")
    return klass.node.name.value, step
