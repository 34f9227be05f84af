"""A report as one HTML page: nothing is loaded from elsewhere, and plots are drawn as SVG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Measured, Symptom
from dataloader_lint.output.as_json import page_url
from dataloader_lint.rules.registry import found_rules

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --quiet: #59636e; --line: #d1d9e0; --page: #fff; --card: #f6f8fa;
  --bad: #b3261e; --wait: #c2410c; --step: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --quiet: #9198a1; --line: #3d444d; --page: #0d1117;
  --card: #151b23; --bad: #ff8a80; --wait: #fb923c; --step: #60a5fa; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem;
  margin: .75rem 0; }
.card.bad { border-left: 4px solid var(--bad); } .card p { margin: .25rem 0; } .quiet { color: var(--quiet); }
code, .mono { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { text-align: left; padding: .2rem .8rem .2rem 0; }
th { font-weight: 600; } svg { max-width: 100%; height: auto; } svg text { fill: var(--quiet); font: 12px system-ui; }
"""
_COLORS = ("#2563eb", "#c2410c", "#15803d", "#9333ea", "#0891b2", "#b91c1c", "#a16207", "#475569")
_WIDTH, _HEIGHT, _LEFT = 640, 180, 70


def emit(report: Measured) -> str:
    """The page."""
    body = "\n".join(_body(report))
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = "DataLoader report"
    head += f"<title>{title}</title><style>{_STYLE}</style>"
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>'


def _body(report: Measured) -> Iterator[str]:
    yield "<h1>DataLoader report</h1>"
    if report.stopped:
        yield f'<p class="quiet">{escape(report.stopped)}</p>'
    several = report.all_symptoms
    count = f"{words.several(len(several), 'symptom')}, the worst first"
    yield f"<h2>{count if several else 'Nothing wrong was measured'}</h2>"
    for each in several:
        yield from _symptom(each)
    cleared = [each for one in report.loaders for each in one.cleared]
    if cleared:
        yield "<h2>Cheap here</h2><ul>"
        for cheap in cleared:
            where = words.place((cheap.finding.filename, cheap.finding.start.line))
            yield f"<li><code>{escape(where)}</code> {cheap.finding.code}: {escape(cheap.reason)}</li>"
        yield "</ul>"
    if report.trials:
        yield f"<h2>Tried with {escape(report.tried or 'the loader')}, against the loader as it is</h2><ul>"
        yield from (f"<li>{escape(str(each))}</li>" for each in report.trials)
        yield "</ul>"
    for one in report.loaders:
        yield from _loader(one)
    for missing in report.not_measured:
        yield f'<p class="quiet">Not measured: {escape(missing)}.</p>'


def _symptom(each: Symptom) -> Iterator[str]:
    yield f'<div class="card bad"><p><strong>{_marked(each.title)}</strong></p>'
    for one in each.findings:
        where = words.place((one.filename, one.start.line))
        yield f"<p><code>{escape(where)}</code> {_link(one.code)} {_marked(one.message)}</p>"
    if each.gain:
        yield f"<p>{_marked(words.gain(each.gain))}</p>"
    if each.advice:
        yield f'<p class="quiet">{_marked(each.advice)}</p>'
    if not each.findings and each.codes:
        links = ", ".join(_link(code) for code in each.codes)
        yield f'<p class="quiet">No finding explains it; rules about such causes: {links}</p>'
    yield "</div>"


def _link(code: str) -> str:
    return f'<a href="{escape(page_url(code, found_rules()[code].rule.name))}">{code}</a>'


def _marked(text: str) -> str:
    """The text, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _loader(one: LoaderReport) -> Iterator[str]:
    settings = one.settings
    how = words.workers(settings.num_workers, settings.start_method)
    yield f"<h2>{escape(one.name)}</h2>"
    yield (
        f'<p class="quiet">Iterated at <code>{escape(words.place(one.place))}</code>: {how}, batch size '
        f"{settings.batch_size}, {words.several(one.batches, 'batch')} in {words.several(one.epochs, 'epoch')}, "
        f"{words.seconds(one.seconds)}.</p>"
    )
    yield _bar(one)
    yield _plot(one)
    rows = [("Reading a batch", one.fetch), ("Collating it", one.collate), ("Until the first batch", one.startup)]
    yield "<table>"
    yield from (f"<tr><th>{name}</th><td>{words.seconds(value)}</td></tr>" for name, value in rows if value is not None)
    if one.batch_bytes:
        yield f"<tr><th>Tensors of a batch</th><td>{words.size(one.batch_bytes)}</td></tr>"
    if one.shm_lowest is not None and one.shm_size is not None:
        free = f"{words.size(one.shm_lowest)} of {words.size(one.shm_size)}"
        yield f"<tr><th>Least free in /dev/shm</th><td>{free}</td></tr>"
    if one.descriptors is not None:
        of = one.descriptor_limit or "no limit"
        yield f"<tr><th>Most file descriptors</th><td>{one.descriptors} of {of}</td></tr>"
    yield "</table>"
    large = [each for each in one.attributes if each.size > 10_000][:10]
    if large:
        yield "<table><tr><th>Attribute</th><th>Type</th><th>Elements</th><th>Bytes</th><th>Pickled</th></tr>"
        for each in large:
            count = words.number(each.elements) if each.elements is not None else ""
            yield (
                f"<tr><td><code>{escape(each.path)}</code></td><td>{escape(each.kind)}</td><td>{count}</td>"
                f"<td>{words.size(each.size)}</td><td>{words.size(each.pickled)}</td></tr>"
            )
        yield "</table>"


def _bar(one: LoaderReport) -> str:
    if one.wait + one.step <= 0:
        return ""
    waits = round(_WIDTH * one.wait_share)
    label = f"{one.wait_share:.0%} waiting for data"
    return (
        f'<svg viewBox="0 0 {_WIDTH} 44" width="{_WIDTH}" role="img" aria-label="{label}">'
        f'<rect x="0" y="0" width="{waits}" height="22" fill="var(--wait)"/>'
        f'<rect x="{waits}" y="0" width="{_WIDTH - waits}" height="22" fill="var(--step)"/>'
        f'<text x="0" y="38">{label} ({words.seconds(one.wait)}), the rest in the step '
        f"({words.seconds(one.step)})</text></svg>"
    )


def _plot(one: LoaderReport) -> str:
    """The memory of each worker over the samples that it has read, one line each."""
    shown = [each for each in one.workers if len(each.points) > 1 and each.number >= 0][: len(_COLORS)]
    if not shown:
        return ""
    top = max(size for each in shown for _, size in each.points) or 1
    most = max(count for each in shown for count, _ in each.points) or 1
    lines = []
    for color, each in zip(_COLORS, shown, strict=False):
        points = " ".join(
            f"{_LEFT + (_WIDTH - _LEFT) * count / most:.1f},{8 + (_HEIGHT - 38) * (1 - size / top):.1f}"
            for count, size in each.points
        )
        lines.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{points}"/>')
    floor = _HEIGHT - 30
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="own memory of each worker">'
        f'<line x1="{_LEFT}" y1="{floor}" x2="{_WIDTH}" y2="{floor}" stroke="var(--line)"/>'
        f'<text x="0" y="14">{words.size(top)}</text><text x="0" y="{floor}">0</text>{"".join(lines)}'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">own memory of each worker over {words.number(most)} samples that it '
        "read</text></svg>"
    )
