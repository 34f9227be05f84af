"""Two reports in one table, and limits that a run must keep: the doctor as a gate."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Measured
from dataloader_lint.doctor.output_json import VERSION


class NoReportError(ValueError):
    """A file that is no report of the doctor as JSON; the message says why."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What of a loader is compared: bytes per worker at the end, a share, and seconds. None: not measured."""

    name: str
    place: tuple[str, int]
    memory: int | None
    wait: float | None
    batch: float | None
    start: float | None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run must keep.

    `memory_growth` are the most bytes that a worker may hold more than in the report before; without one, more than at
    its start. `wait` is the largest part of the loop's time, from 0 to 1, that it may wait for batches.
    """

    memory_growth: int | None = None
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A limit that a loader does not keep, and where the loader is iterated."""

    text: str
    place: tuple[str, int]


def numbers_of(report: Measured) -> list[Numbers]:
    """The numbers of a report."""
    return [_numbers(one) for one in report.loaders]


def _numbers(one: LoaderReport) -> Numbers:
    held = [each.points[-1][1] for each in one.workers if each.number >= 0 and each.points]
    loop = one.wait + one.step
    return Numbers(
        one.name,
        (os.path.abspath(one.place[0]), one.place[1]),
        max(held, default=None),
        one.wait_share if one.batches and loop > 0 else None,
        loop / one.batches if one.batches else None,
        one.startup,
    )


def load(text: str) -> list[Numbers]:
    """The numbers of a report that was written with `--output-format json`. Raises NoReportError."""
    try:
        content = json.loads(text)
        if content["version"] != VERSION:
            raise NoReportError(f"its version is {content['version']!r}, and only {VERSION} is known")
        return [_loaded(each) for each in content["loaders"]]
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise NoReportError(f"no report as JSON: {type(error).__name__}") from None


def _loaded(one: dict[str, Any]) -> Numbers:
    held = [each["points"][-1][1] for each in one["workers"] if each["number"] >= 0 and each["points"]]
    loop = one["wait"] + one["step"]
    return Numbers(
        one["name"],
        (one["filename"] or "", one["row"]),
        max(held, default=None),
        one["wait"] / loop if one["batches"] and loop > 0 else None,
        loop / one["batches"] if one["batches"] else None,
        one["startup"],
    )


def pairs(before: Sequence[Numbers], now: Sequence[Numbers]) -> list[tuple[Numbers | None, Numbers | None]]:
    """The loaders of two reports by their names, which have their order and the class of the Dataset in them."""
    known = {each.name: each for each in before}
    found: list[tuple[Numbers | None, Numbers | None]] = [(known.pop(each.name, None), each) for each in now]
    return [*found, *((each, None) for each in known.values())]


def table(before: Sequence[Numbers], now: Sequence[Numbers]) -> Iterator[str]:
    """Yields the lines of a table: a loader in each row, before and now."""
    heads = ["loader", "memory of a worker", "waits", "time of a batch", "start"]
    rows = [heads]
    for one, other in pairs(before, now):
        either = other or one
        cells = [either.name if either is not None else ""]
        cells += [
            _both(one.memory if one else None, other.memory if other else None, words.size),
            _both(one.wait if one else None, other.wait if other else None, lambda part: f"{part:.0%}"),
            _both(one.batch if one else None, other.batch if other else None, words.seconds),
            _both(one.start if one else None, other.start if other else None, words.seconds),
        ]
        rows.append(cells)
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _both(one: float | None, other: float | None, show: Callable[[float], str]) -> str:
    return " -> ".join("?" if value is None else show(value) for value in (one, other))


def broken(limits: Limits, report: Measured, before: Sequence[Numbers] | None) -> list[Broken]:
    """The limits that a run does not keep."""
    found = []
    known = {each.name: each for each in before or ()}
    for one, now in zip(report.loaders, numbers_of(report), strict=True):
        most = limits.memory_growth
        grown = _grown(one, now, known.get(one.name), is_compared=before is not None)
        if most is not None and grown is not None and grown > most:
            since = "in the report before" if before is not None else "at its start"
            text = f"{one.name}: a worker holds {words.size(grown)} more than {since}, {words.size(most)} are allowed"
            found.append(Broken(text, now.place))
        if limits.wait is not None and now.wait is not None and now.wait > limits.wait:
            text = f"{one.name}: the loop waits for {now.wait:.0%} of its time, {limits.wait:.0%} are allowed"
            found.append(Broken(text, now.place))
    return found


def _grown(one: LoaderReport, now: Numbers, before: Numbers | None, *, is_compared: bool) -> int | None:
    if is_compared:
        return now.memory - before.memory if before and before.memory is not None and now.memory is not None else None
    grown = [each.points[-1][1] - each.points[0][1] for each in one.workers if each.number >= 0 and each.points]
    return max(grown, default=None)


def size(text: str) -> int:
    """Bytes from a text such as `200MB`. Raises ValueError."""
    number = text.strip().lower().removesuffix("b")
    factor = {"k": 10**3, "m": 10**6, "g": 10**9}.get(number[-1:], 1)
    return round(float(number[:-1] if factor > 1 else number) * factor)


def share(text: str) -> float:
    """A share from a text such as `20%` or `0.2`. Raises ValueError for what is not from 0 to 1."""
    found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= found <= 1:
        raise ValueError(f"no float from 0 to 1: {text}")
    return found
