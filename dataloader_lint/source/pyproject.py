"""The table `[tool.dataloader-lint]` of the nearest pyproject.toml, as values for Settings.

TOML is only parsed where the file names this tool or is asked for the Python versions, as its parser costs as much to
import as a run over files that cannot matter.
"""

from __future__ import annotations

import os

from dataloader_lint.settings import Settings

_TABLE = "dataloader-lint"
# What the values of each key must be; keys are spelled with dashes in the file.
_LISTS = ("select", "ignore", "extend_select", "exclude", "extend_exclude")
_NUMBERS = ("max_workers", "max_prefetched_batches")
_CHOICES = {
    "output_format": ("concise", "full", "json"),
    "start_method": ("auto", "fork", "spawn", "forkserver"),
}


class ConfigurationError(Exception):
    """The file cannot be used as it is; the message says which file, what in it, and what would be right."""


def configured(folder: str) -> dict[str, object]:
    """What the nearest pyproject.toml at or above a folder sets, as keywords for Settings.

    Raises ConfigurationError where the file cannot be read, is no TOML, or has a key or value that means nothing.
    """
    path = _nearest(os.path.abspath(folder))
    if path is None:
        return {}
    try:
        with open(path, "rb") as stream:
            source = stream.read()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    if _TABLE.encode() not in source:
        python = _requires_python(source)
        return {"target_python": python} if python else {}
    import tomllib

    try:
        content = tomllib.loads(source.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None
    table = content.get("tool", {}).get(_TABLE, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: [tool.{_TABLE}] must be a table")
    found = {_key(path, key): _value(path, key, value) for key, value in table.items()}
    python = content.get("project", {}).get("requires-python")
    if isinstance(python, str):
        found.setdefault("target_python", python)
    return found


def _requires_python(source: bytes) -> str:
    """`requires-python`, read without a TOML parser: the quoted text behind its name; empty where there is none."""
    line = source.partition(b"requires-python")[2].partition(b"\n")[0]
    quoted = line.replace(b"'", b'"').split(b'"')
    return quoted[1].decode("ascii", "replace") if len(quoted) > 2 and quoted[0].strip() == b"=" else ""


def _nearest(folder: str) -> str | None:
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _key(path: str, key: str) -> str:
    known = [name.replace("_", "-") for name in vars(Settings())]
    if key in known:
        return key.replace("-", "_")
    import difflib

    near = difflib.get_close_matches(key, known, 1, 0.5)
    raise ConfigurationError(
        f"{path}: [tool.{_TABLE}] has no key {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    )


def _value(path: str, key: str, value: object) -> object:
    name = key.replace("-", "_")
    if name in _LISTS:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        wanted = "a list of strings"
    elif name in _NUMBERS:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        wanted = "a number above 0"
    elif name in _CHOICES:
        if value in _CHOICES[name]:
            return value
        wanted = "one of " + ", ".join(repr(choice) for choice in _CHOICES[name])
    else:
        if isinstance(value, str):
            return value
        wanted = "a string"
    raise ConfigurationError(f"{path}: [tool.{_TABLE}] {key} must be {wanted}, not {value!r}")
