"""A rule's page: laid out for a terminal, and as the Markdown that it is elsewhere."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from dataloader_lint.output.as_json import page_url
from dataloader_lint.output.paint import Paint, plain

_CODE = re.compile(r"`([^`]+)`")
# What a reader wants first: why, and how the fixed code looks. How a rule recognizes it comes last.
_FIRST = ("Why is this bad?", "Example", "Use instead", "When to ignore it", "Fix safety")
_RULER = re.compile(r"[|\s:-]+")  # below the heading of a table
_GAP = "  "  # between two columns
_NARROWEST = 12  # columns of a cell
_LINK = re.compile(r"\[(?P<text>[^\]\[]+)\]\((?P<url>[^()]+)\)")


def in_reading_order(names: Iterable[str]) -> list[str]:
    """The headings of a page, those first that say why and what to do."""
    several = list(names)
    return [*(name for name in _FIRST if name in several), *(name for name in several if name not in _FIRST)]


def sections_of(page: str) -> dict[str, str]:
    """The text below each heading of a page that is not in a block of code; that above the first one is at ""."""
    found: dict[str, list[str]] = {"": []}
    heading, is_code = "", False
    for line in page.strip().splitlines():
        is_code ^= line.startswith("```")
        if line.startswith("## ") and not is_code:
            heading = line.removeprefix("## ").strip()
            found[heading] = []
        else:
            found[heading].append(line)
    return {name: "\n".join(text).strip() for name, text in found.items()}


def reordered(page: str) -> str:
    """A page in the order in which it is read."""
    sections = sections_of(page)
    summary = sections.pop("")
    return "\n\n".join([summary, *(f"## {name}\n{sections[name]}" for name in in_reading_order(sections))])


def emit(
    code: str, name: str, state: str, page: str, paint: Paint, width: int = 100, *, is_laid_out: bool = False
) -> Iterator[str]:
    """Yields the lines of the page: laid out in `width` columns, or as Markdown."""
    yield paint("code", f"{code} {name}" if is_laid_out else f"# {code} {name}")
    yield ""
    yield from (paint("quiet", line) for line in textwrap.wrap(state, width, break_on_hyphens=False))
    yield ""
    lines = reordered(page).splitlines()
    yield from _laid_out(lines, paint, width) if is_laid_out else lines
    yield ""
    yield paint("quiet", page_url(code, name))


def _laid_out(lines: list[str], paint: Paint, width: int) -> Iterator[str]:
    in_code = False
    text: list[str] = []  # the lines of a paragraph or of an item of a list
    rows: list[list[str]] = []  # of a table
    for line in lines:
        if rows and (in_code or not line.startswith("|")):
            yield from _table(rows, paint, width)
            rows = []
        if not in_code and line.startswith("|"):
            if not _RULER.fullmatch(line):
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        begins_code = line.startswith("```")
        if text and (begins_code or not line or line.startswith(("## ", "- "))):
            yield from _filled(" ".join(text), paint, width)
            text = []
        if begins_code:
            in_code = not in_code
        elif in_code:
            yield f"    {paint('help', line)}"
        elif line.startswith("## "):
            yield paint("strong", line.removeprefix("## "))
        elif line:
            text.append(line.strip())
        else:
            yield ""
    if rows:
        yield from _table(rows, paint, width)
    if text:
        yield from _filled(" ".join(text), paint, width)


def _table(rows: list[list[str]], paint: Paint, width: int) -> Iterator[str]:
    """The rows of a table with aligned columns, the first of them as its heading; cells wrap where it is too wide."""
    shown = [[_in_plain(cell, paint) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in shown) for at in range(len(shown[0]))]
    room = width - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(shown):
        cells = [
            textwrap.wrap(cell, size, break_on_hyphens=False) or [""] for cell, size in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            line = _GAP.join(part.ljust(size) for part, size in zip(parts, widths, strict=True)).rstrip()
            yield paint("strong", line) if number == 0 else line
        if number == 0:
            yield _GAP.join("-" * size for size in widths)


def _in_plain(text: str, paint: Paint) -> str:
    """Text of a cell: links as their text, and code without marks where colors set it apart elsewhere."""
    bare = _LINK.sub(lambda found: found["text"], text)
    return bare if paint is plain else bare.replace("`", "")


def _filled(text: str, paint: Paint, width: int) -> Iterator[str]:
    """A paragraph in lines that fit, with code set apart. Code is not broken at its blanks."""
    whole = _LINK.sub(lambda found: f"{found['text'].replace('`', '')} ({found['url']})", text)
    whole = _CODE.sub(lambda found: found[0].replace(" ", "\0"), whole)
    indent = "  " if text.startswith("- ") else ""
    for line in textwrap.wrap(whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False):
        shown = line if paint is plain else _CODE.sub(lambda found: paint("help", found[1]), line)
        yield shown.replace("\0", " ")
