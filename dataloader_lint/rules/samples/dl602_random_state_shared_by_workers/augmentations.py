"""Pipelines of albumentations: they hold a random generator of their own, which torch does not seed in workers.

Since albumentations 1.4.21 a `Compose` carries its generator. AlbumentationsX seeds it in each worker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dataloader_lint.semantics.limits import PIPELINE_DEPTH, REQUIREMENTS_LENGTH
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Value

if TYPE_CHECKING:
    import libcst as cst

PIPELINES = frozenset(
    f"albumentations.{prefix}{name}"
    for prefix in ("", "core.composition.")
    for name in ("Compose", "OneOf", "RandomOrder", "ReplayCompose", "Sequential", "SomeOf")
)
_CHOOSING = frozenset({"OneOf", "RandomOrder", "SomeOf"})
# Transforms that draw no random numbers, but for whether they are applied at all.
_FIXED = frozenset(
    {
        *("CenterCrop", "Crop", "CropNonEmptyMaskIfExists", "FromFloat", "InvertImg", "Lambda", "LongestMaxSize"),
        *("NoOp", "Normalize", "PadIfNeeded", "Resize", "SmallestMaxSize", "ToFloat", "ToGray", "ToRGB", "ToTensor"),
        *("ToTensorV2", "Transpose"),
    }
)
# Requirements of versions that draw from the global generators, which torch seeds, or of the fork that seeds its own.
_OTHER_VERSIONS = re.compile(
    r"albumentationsx"
    r"|albumentations[\"']?\s{0,9}(?:={1,3}|<=?|~=)\s{0,9}[\"'^~]{0,2}"
    r"(?:0\.|1\.[0-3]\b|1\.4(?:\.0?\d|\.1\d|\.20)?(?![.\d]))",
    re.IGNORECASE,
)


def is_random_pipeline(ev: Evaluator, value: Value, depth: int = 0) -> bool:
    """True if it is a pipeline with at least one transform that is known to be random."""
    if depth > PIPELINE_DEPTH:
        return False
    if not isinstance(value, CallResult) or value.library not in PIPELINES or value.call is None:
        return False
    if value.frame is None or not value.call.args:
        return False
    steps = [each for held in ev.values(_steps(value.call), value.frame) for each in ev.element(held)]
    return any(_is_random(ev, each, depth) for each in steps)


def _steps(call: cst.Call) -> cst.BaseExpression:
    named = (arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "transforms")
    return next(named, call.args[0].value)


def _is_random(ev: Evaluator, value: Value, depth: int) -> bool:
    if not isinstance(value, CallResult) or not value.library.startswith("albumentations."):
        return False
    name = value.library.rpartition(".")[2]
    if value.library in PIPELINES and name not in _CHOOSING:
        return is_random_pipeline(ev, value, depth + 1)
    return name not in _FIXED


def has_other_version(project: Project, module: ModuleFacts) -> bool:
    """True if the project asks for a version whose workers draw different numbers."""
    return any(_OTHER_VERSIONS.search(text, 0, REQUIREMENTS_LENGTH) for text in project.requirements(module.path))
