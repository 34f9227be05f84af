"""How long the lines of a file may be: what the settings of ruff, black, flake8 or pycodestyle around it say."""

from __future__ import annotations

import configparser
import os
import tomllib
from collections.abc import Iterator, Mapping

from dataloader_lint.source.reading import read_bounded

WITHOUT_SETTINGS = 120
_OF_BLACK = 88  # and of ruff, where their settings do not say it


def line_length(path: str) -> int:
    """The longest line that the settings nearest to a file allow; 120 where none say so.

    Files that cannot be read or parsed say nothing: their own tools report them.
    """
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        found = next(_limits(folder), 0)
        above = os.path.dirname(folder)
        if found > 0 or above == folder or os.path.exists(os.path.join(folder, ".git")):
            return found if found > 0 else WITHOUT_SETTINGS
        folder = above


def _limits(folder: str) -> Iterator[int]:
    for name in (".ruff.toml", "ruff.toml"):
        table = _toml(os.path.join(folder, name))
        if table is not None:
            yield _length(table, _OF_BLACK)
    tools = (_toml(os.path.join(folder, "pyproject.toml")) or {}).get("tool")
    for tool in ("ruff", "black"):
        table = tools.get(tool) if isinstance(tools, dict) else None
        if isinstance(table, dict):
            yield _length(table, _OF_BLACK)
    for name in (".flake8", "setup.cfg", "tox.ini"):
        yield from _of_ini(os.path.join(folder, name))


def _length(table: Mapping[str, object], default: int) -> int:
    value = table.get("line-length", table.get("line_length", default))
    return value if type(value) is int and value > 0 else default


def _toml(path: str) -> dict[str, object] | None:
    text = _text(path)
    try:
        return None if text is None else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _of_ini(path: str) -> Iterator[int]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(_text(path) or "")
    except configparser.Error:
        return
    for section in ("flake8", "pycodestyle"):
        for key in ("max-line-length", "max_line_length"):
            value = parser.get(section, key, fallback="").strip()
            if value.isdecimal() and int(value) > 0:
                yield int(value)


def _text(path: str) -> str | None:
    try:
        return read_bounded(path).decode("utf-8-sig") if os.path.isfile(path) else None
    except (OSError, UnicodeDecodeError):
        return None
