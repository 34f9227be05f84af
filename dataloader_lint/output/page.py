"""A rule's page in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from dataloader_lint.output.as_json import page_url
from dataloader_lint.output.paint import Paint


def emit(code: str, name: str, state: str, page: str, paint: Paint) -> Iterator[str]:
    """Yields the rule's docstring as Markdown, with its headings and code set apart where there are colours."""
    yield paint("code", f"# {code} {name}")
    yield ""
    yield paint("quiet", state)
    yield ""
    in_code = False
    for line in page.strip().splitlines():
        if line.startswith("```"):
            in_code = not in_code
            yield paint("quiet", line)
        elif in_code:
            yield paint("help", line)
        else:
            yield paint("strong", line) if line.startswith("## ") else line
    yield ""
    yield paint("quiet", page_url(code, name))
