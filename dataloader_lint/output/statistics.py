"""How many findings each rule has, worst level first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dataloader_lint.diagnostics import Diagnostic, Level, Safety
from dataloader_lint.output.paint import Paint


@dataclass(frozen=True, slots=True)
class _Count:
    """What is said of a rule: `fixable` counts the findings that `--fix` fixes."""

    code: str
    level: Level
    count: int
    fixable: int


def emit(
    diagnostics: Sequence[Diagnostic], name_of: Callable[[str], str], paint: Paint, *, unsafe: bool = False
) -> Iterator[str]:
    """Yields one line a rule: count, code, level, name, and how many of its findings have a fix."""
    counts = _counts(diagnostics, unsafe=unsafe)
    wide = max((len(str(one.count)) for one in counts), default=0)
    for one in counts:
        part = "" if one.fixable == one.count else f" {one.fixable} of {one.count}"
        fix = paint("help", f" [*]{part}") if one.fixable else ""
        level = f"{paint(one.level.value, one.code)}\t{one.level.value}"
        yield f"{one.count:>{wide}}\t{level}\t{name_of(one.code)}{fix}"


def emit_json(
    diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str], *, unsafe: bool = False
) -> Iterator[str]:
    """Yields a list of objects with `code`, `name`, `level`, `count` and `fixable`."""
    yield json.dumps([_as_object(one, name_of) for one in _counts(diagnostics, unsafe=unsafe)], indent=2)


def emit_lines(
    diagnostics: Iterable[Diagnostic], name_of: Callable[[str], str], *, unsafe: bool = False
) -> Iterator[str]:
    """Yields the same objects, one a line."""
    for one in _counts(diagnostics, unsafe=unsafe):
        yield json.dumps(_as_object(one, name_of))


def _as_object(one: _Count, name_of: Callable[[str], str]) -> dict[str, object]:
    name = name_of(one.code)
    return {"code": one.code, "name": name, "level": one.level.value, "count": one.count, "fixable": one.fixable}


def _counts(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> list[_Count]:
    total: Counter[tuple[str, Level]] = Counter()
    fixable: Counter[tuple[str, Level]] = Counter()
    for one in diagnostics:
        total[one.code, one.level] += 1
        fixable[one.code, one.level] += one.fix is not None and (unsafe or one.fix.safety is Safety.SAFE)
    made = [_Count(code, level, count, fixable[code, level]) for (code, level), count in total.items()]
    return sorted(made, key=lambda one: (one.level.rank, -one.count, one.code))
