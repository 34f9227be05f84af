"""The badges of the README as SVG files in this repository: nothing is loaded from elsewhere to show them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import FixLevel

if TYPE_CHECKING:
    from dataloader_lint.rules.base import Rule

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "assets"
_CHARACTER, _MARGIN = 6.6, 6.0  # widths in pixels
_BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="20" role="img" aria-label="{label}: {value}">
<title>{label}: {value}</title>
<clipPath id="r"><rect width="{width:.0f}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left:.0f}" height="20" fill="#555"/>
<rect x="{left:.0f}" width="{right:.0f}" height="20" fill="#3f51b5"/>
</g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{left_middle:.1f}" y="14" textLength="{left_text:.0f}">{label}</text>
<text x="{right_middle:.1f}" y="14" textLength="{right_text:.0f}">{value}</text>
</g>
</svg>
"""


def render_badges(rules: Sequence[Rule]) -> dict[Path, str]:
    """Renders the badges: each file and what it should hold."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    fixable = sum(rule.fix is not FixLevel.NONE for rule in rules)
    badges = {
        "rules": str(len(rules)),
        "autofixes": str(fixable),
        "python": project["requires-python"].removeprefix(">=") + "+",
        "license": project["license"],
    }
    return {FOLDER / f"badge-{label}.svg": _badge(label, value) for label, value in badges.items()}


def _badge(label: str, value: str) -> str:
    left_text, right_text = len(label) * _CHARACTER, len(value) * _CHARACTER
    left, right = left_text + 2 * _MARGIN, right_text + 2 * _MARGIN
    return _BADGE.format(
        label=label,
        value=value,
        width=round(left) + round(right),
        left=left,
        right=right,
        left_text=left_text,
        right_text=right_text,
        left_middle=left / 2,
        right_middle=left + right / 2,
    )
