"""A rule's page: laid out for a terminal with colours, and as the Markdown that it is elsewhere."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from dataloader_lint.output.as_json import page_url
from dataloader_lint.output.paint import Paint, plain

_CODE = re.compile(r"`([^`]+)`")
# What a reader wants first: why, and how the fixed code looks. How a rule recognizes it comes last.
_FIRST = ("Why is this bad?", "Example", "Use instead", "When to ignore it", "Fix safety")
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


def emit(code: str, name: str, state: str, page: str, paint: Paint, width: int = 100) -> Iterator[str]:
    """Yields the lines of the page; with colours, text is filled to `width` columns."""
    yield paint("code", f"{code} {name}" if paint is not plain else f"# {code} {name}")
    yield ""
    yield from (paint("quiet", line) for line in textwrap.wrap(state, width, break_on_hyphens=False))
    yield ""
    lines = reordered(page).splitlines()
    yield from lines if paint is plain else _laid_out(lines, paint, width)
    yield ""
    yield paint("quiet", page_url(code, name))


def _laid_out(lines: list[str], paint: Paint, width: int) -> Iterator[str]:
    in_code = False
    text: list[str] = []  # the lines of a paragraph or of an item of a list
    for line in lines:
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
    if text:
        yield from _filled(" ".join(text), paint, width)


def _filled(text: str, paint: Paint, width: int) -> Iterator[str]:
    """A paragraph in lines that fit, with code set apart. Code is not broken at its blanks."""
    whole = _LINK.sub(lambda found: f"{found['text'].replace('`', '')} ({found['url']})", text)
    whole = _CODE.sub(lambda found: found[0].replace(" ", "\0"), whole)
    indent = "  " if text.startswith("- ") else ""
    for line in textwrap.wrap(whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False):
        yield _CODE.sub(lambda found: paint("help", found[1].replace("\0", " ")), line)
