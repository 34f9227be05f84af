"""Pictures of measurements as SVG: text stays text, and one file is readable on a light page and on a dark one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10

WIDTH = 760
LEFT, RIGHT, GAP = 52, 20, 50
TOP, PLOT, BOTTOM = 112, 190, 46
LEGEND = 30  # the height that bars do without
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"

# Told apart by colour-blind readers too: (light page, dark page).
COLOURS = [
    ("#b42318", "#ff8a80"),
    ("#c2570c", "#ffb366"),
    ("#8a6a00", "#f2d45c"),
    ("#0b62c4", "#6cb6ff"),
    ("#0b7a75", "#5fd4c7"),
    ("#6b3fa0", "#c9a6ff"),
]
MUTED = ("#7d8590", "#9198a1")
PAGE = {"paper": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#f0f6fc"), "soft": ("#59636e", "#9198a1")}
GRID = ("#d1d9e0", "#3d444d")


@dataclass(frozen=True, slots=True)
class Line:
    """A series: `points` are (x, y), its place in the list of all series is its colour."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A median with the smallest and the largest value; `style` is a colour, from "c0" to "c5", or "muted"."""

    label: str
    value: float
    low: float
    high: float
    style: str = "c3"


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the diagrams that stand side by side."""

    title: str
    series: Sequence[Line] | Sequence[Bar]


def draw_lines(title: str, subtitle: str, panels: Sequence[Panel], unit: str, below: str) -> str:
    """Draw panels of lines on one scale from 0; `below` stands under the x axis, which runs from 0 to 1 in per cent."""
    series = [[each for each in panel.series if isinstance(each, Line)] for panel in panels]
    top = _round_up(max(y for lines in series for line in lines for _, y in line.points))
    parts = [_legend([line.name for line in series[0]])]
    width = _panel_width(len(panels))
    for number, (panel, lines) in enumerate(zip(panels, series, strict=True)):
        left = LEFT + number * (width + GAP)
        parts += _frame(panel.title, left, width, top, unit if number == 0 else "")
        for share, anchor in ((0, "start"), (50, "middle"), (100, "end")):
            parts.append(_text(left + width * share / 100, TOP + PLOT + 16, f"{share} %", "soft", anchor))
        parts.append(_text(left + width / 2, TOP + PLOT + 34, below, "soft", anchor="middle"))
        for index, line in enumerate(lines):
            places = [(left + x * width, _height(y, top)) for x, y in line.points]
            path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            parts.append(f'<path class="line c{index}" d="{path}"/>')
            parts += [f'<circle class="c{index} dot" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in places]
    return _page(title, subtitle, parts)


def draw_bars(title: str, subtitle: str, panels: Sequence[Panel], unit: str) -> str:
    """Draw panels of bars from 0 with their spread, each on its own scale; each value stands above its bar."""
    series = [[each for each in panel.series if isinstance(each, Bar)] for panel in panels]
    parts: list[str] = []
    width = _panel_width(len(panels))
    for number, (panel, bars) in enumerate(zip(panels, series, strict=True)):
        left = LEFT + number * (width + GAP)
        top = _round_up(max(bar.high for bar in bars) * 1.12)
        parts += _frame(panel.title, left, width, top, unit if number == 0 else "")
        step = width / len(bars)
        for index, bar in enumerate(bars):
            middle, y = left + step * (index + 0.5), _height(bar.value, top)
            thick = min(step * 0.62, 46)
            parts.append(
                f'<rect class="{bar.style} bar" x="{middle - thick / 2:.1f}" y="{y:.1f}" width="{thick:.1f}" '
                f'height="{TOP + PLOT - y:.1f}"/>'
            )
            low, high = _height(bar.low, top), _height(bar.high, top)
            for style in ("halo", "spread"):
                parts.append(f'<path class="{style}" d="M{middle:.1f} {low:.1f} V{high:.1f}"/>')
            parts.append(_text(middle, min(y, high) - 6, _number(bar.value), "ink", anchor="middle"))
            parts.append(_text(middle, TOP + PLOT + 16, bar.label, "soft", anchor="middle"))
    return _page(title, subtitle, [f'<g transform="translate(0 -{LEGEND})">', *parts, "</g>"], LEGEND + 14)


def _panel_width(count: int) -> float:
    return (WIDTH - LEFT - RIGHT - GAP * (count - 1)) / count


def _height(value: float, top: float) -> float:
    return TOP + PLOT * (1 - value / top)


def _round_up(value: float) -> float:
    """The next value of which a quarter is a number to read."""
    power: float = 10 ** ceil(log10(value) - 1)
    return next(factor * power for factor in (1, 2, 3, 4, 6, 8, 10) if factor * power >= value * 0.999)


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def _frame(title: str, left: float, width: float, top: float, unit: str) -> list[str]:
    """The title and the grid of a panel, with its scale."""
    parts = [_text(left, TOP - 12, title, "ink strong")]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _height(share * top, top)
        parts.append(f'<path class="grid" d="M{left:.1f} {y:.1f} H{left + width:.1f}"/>')
        label = _number(share * top) if share else "0"
        parts.append(_text(left - 6, y + 4, label, "soft", anchor="end"))
    if unit:
        parts.append(_text(12, TOP - 12, unit, "soft"))
    return parts


def _legend(names: Sequence[str]) -> str:
    """Three names in each of two rows."""
    parts = []
    for index, name in enumerate(names):
        x, y = LEFT + index % 3 * 200, 62 + index // 3 * 18
        parts.append(f'<path class="line c{index}" d="M{x} {y} h18"/>')
        parts.append(f'<circle class="c{index} dot" cx="{x + 9}" cy="{y}" r="2.5"/>')
        parts.append(_text(x + 24, y + 4, name, "ink"))
    return "".join(parts)


def _text(x: float, y: float, words: str, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _style() -> str:
    def rules(page: int) -> str:
        return "".join(
            [
                *(f".{name}{{fill:{pair[page]}}}" for name, pair in PAGE.items()),
                *(f".line.c{index}{{stroke:{pair[page]}}}" for index, pair in enumerate(COLOURS)),
                *(f".dot.c{index},.bar.c{index}{{fill:{pair[page]}}}" for index, pair in enumerate(COLOURS)),
                f".bar.muted{{fill:{MUTED[page]}}}",
                f".grid{{stroke:{GRID[page]}}}",
                f".spread{{stroke:{PAGE['ink'][page]}}}.halo{{stroke:{PAGE['paper'][page]}}}",
            ]
        )

    return (
        f"text{{font:12px {FONT}}}.strong{{font-weight:600}}.title{{font-size:16px;font-weight:600}}"
        ".line{fill:none;stroke-width:2}.grid{stroke-width:1}.spread{stroke-width:1.5}.halo{stroke-width:4}"
        f"{rules(0)}@media (prefers-color-scheme: dark){{{rules(1)}}}"
    )


def _page(title: str, subtitle: str, parts: Sequence[str], less: int = 0) -> str:
    height = TOP + PLOT + BOTTOM - less
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">'
    )
    return "\n".join(
        [
            head,
            f"<title>{escape(title)}</title><desc>{escape(subtitle)}</desc>",
            f"<style>{_style()}</style>",
            f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
            _text(12, 24, title, "ink title"),
            _text(12, 43, subtitle, "soft"),
            *parts,
            "</svg>\n",
        ]
    )
