"""What the doctor measured decides the level of a finding, and stands in its message."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.output.fingerprints import attribute_named
from dataloader_lint.source.measurements import NOTHING, UNKNOWN, line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataloader_lint.settings import Settings

_STORED = frozenset({"DL101", "DL102", "DL103"})
# What raises, or gives wrong data, does so on another day: a record cannot clear it.
_COSTS = frozenset({Level.MEMORY, Level.SPEED, Level.NOTE})


def as_measured(found: Sequence[Diagnostic], text: str, settings: Settings) -> list[Diagnostic]:
    """The findings in a text, with the levels and sizes that `settings.measured` has for them.

    A finding that looks like more others than one is as it was: which of them was measured is not known. What
    `severity` says of a rule stands.
    """
    sizes = {(code, name, line): size for code, name, line, size in settings.measured}
    lines = text.split("\n")
    keys = [_key(one, lines) for one in found]
    counts = Counter(keys)
    return [
        _as_measured(one, sizes[key], settings) if key in sizes and counts[key] == 1 else one
        for one, key in zip(found, keys, strict=True)
    ]


def _key(one: Diagnostic, lines: Sequence[str]) -> tuple[str, ...]:
    line = lines[one.start.line - 1] if one.start.line <= len(lines) else ""
    return one.code, ".".join(attribute_named(one) or ()), line_of(line)


def _as_measured(one: Diagnostic, size: int, settings: Settings) -> Diagnostic:
    from dataloader_lint.rules.levels import level_of
    from dataloader_lint.rules.memory._shared.estimates import size_text
    from dataloader_lint.rules.registry import found_rules

    rule = found_rules()[one.code].rule
    if size == NOTHING:
        if one.level not in _COSTS or rule.level not in _COSTS:
            return one
        return replace(one, advice="measured: no effect here", level=level_of(rule, settings, Level.NOTE))
    if one.code not in _STORED:
        return one
    level, name = level_of(rule, settings, Level.MEMORY), attribute_named(one)
    if name is None:
        return replace(one, level=level)
    how_much = "as measured" if size == UNKNOWN else f"measured: {size_text(size)} each"
    problem = f"`{'.'.join(name)}` is copied to each worker, {how_much}"
    return replace(one, problem=problem, level=level)
