"""The level of a finding: the rule's own, unless the settings say otherwise."""

from __future__ import annotations

import re

from dataloader_lint.diagnostics import Level
from dataloader_lint.rules.base import Rule
from dataloader_lint.rules.selection import specificity
from dataloader_lint.settings import Settings

_LOWEST = re.compile(r"(?:^|>=|==|~=|,)\s*3\.(\d{1,9})")


def level_of(rule: Rule, settings: Settings, own: Level | None = None) -> Level:
    """The level that `severity` gives to the longest matching prefix, or else the finding's `own`, or the rule's.

    What fails only where workers are spawned is an error where the settings say that they are.
    """
    best = max(settings.severity, key=lambda pair: specificity(rule, (pair[0],)), default=None)
    if best is not None and specificity(rule, (best[0],)):
        return Level(best[1])
    level = own or rule.level
    return Level.ERROR if level is Level.WARNING and spawns(settings) else level


def spawns(settings: Settings) -> bool:
    """True if the settings say that workers are spawned: by the start method, or by the lowest Python version."""
    if settings.start_method != "auto":
        return settings.start_method != "fork"
    lowest = _LOWEST.findall(settings.target_python)
    return bool(lowest) and min(int(minor) for minor in lowest) >= 14
