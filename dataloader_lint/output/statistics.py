"""How often each rule spoke, the most frequent first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.paint import Paint


def emit(diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str], paint: Paint) -> Iterator[str]:
    """Yields one line a code: count, code, name."""
    counts = _counts(diagnostics)
    wide = max((len(str(count)) for _, count in counts), default=0)
    for code, count in counts:
        yield f"{count:>{wide}}\t{paint('code', code)}\t{name_of(code)}"


def emit_json(diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str]) -> Iterator[str]:
    """Yields a list of objects with `code`, `name` and `count`."""
    yield json.dumps(
        [{"code": code, "name": name_of(code), "count": count} for code, count in _counts(diagnostics)], indent=2
    )


def emit_lines(diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str]) -> Iterator[str]:
    """Yields the same objects, one a line."""
    for code, count in _counts(diagnostics):
        yield json.dumps({"code": code, "name": name_of(code), "count": count})


def _counts(diagnostics: Iterable[Diagnostic]) -> list[tuple[str, int]]:
    return sorted(Counter(one.code for one in diagnostics).items(), key=lambda item: (-item[1], item[0]))
