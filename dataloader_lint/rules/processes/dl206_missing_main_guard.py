"""Placeholder."""
from __future__ import annotations
from collections.abc import Iterator
from typing import TYPE_CHECKING
from dataloader_lint.rules.base import Entity, Finding, Rule
if TYPE_CHECKING:
    from dataloader_lint.facts.analysis import Analysis
RULE = Rule("DL206", "missing-main-guard", Entity.MODULE)
def check(analysis: Analysis) -> Iterator[Finding]:
    from dataloader_lint.facts.starts import first_start
    s = first_start(analysis.ev, analysis.module)
    if s is not None:
        yield Finding(s.statement, f"{s.name} {s.workers} {s.calls}", "x")
