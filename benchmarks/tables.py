"""Tables in Markdown, and numbers in their cells."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.costs import Spread


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table in Markdown, all columns but the first to the right."""
    marks = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, marks, *rows])


def times(value: Spread, unit: str = "") -> str:
    """The middle, and how far the values reach where they differ: `1.5 (1.2 to 2)`."""
    middle, low, high = (number(each) for each in (value.middle, value.low, value.high))
    return f"{middle}{unit}" + (f" ({low} to {high})" if low != high else "")


def number(value: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
