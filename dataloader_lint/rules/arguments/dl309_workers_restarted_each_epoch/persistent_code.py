"""The code that turns `persistent_workers` on for a loader."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.names import dotted


def persistent_code(loader: Loader) -> str:
    """What `persistent_workers` has to be for a loader with workers; empty where that cannot be written there."""
    written_here = loader.argument("num_workers")
    if written_here is None:
        return ""
    if isinstance(written_here.value, cst.Integer):
        return "True"
    name = dotted(written_here.value)
    return f"{name} > 0" if name else ""
