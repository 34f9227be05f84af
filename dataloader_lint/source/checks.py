"""Checks what the Python API is given, as the command line checks its options."""

from __future__ import annotations

import os
from functools import lru_cache

from dataloader_lint.settings import Settings


def checked(settings: Settings | None) -> Settings:
    """The settings, or the defaults where none are given.

    Raises:
        TypeError: they are no Settings.
        ValueError: a value means nothing, such as an unknown rule code; the message names the argument of Settings.
    """
    if settings is None:
        return Settings()
    if not isinstance(settings, Settings):
        raise TypeError(f"settings must be Settings, not {type(settings).__name__}")
    _check(settings)
    return settings


def checked_name(filename: str | os.PathLike[str]) -> str:
    """A file name as text. Raises TypeError for what is none."""
    return _name("filename", filename)


def checked_paths(paths: object) -> list[str]:
    """One path, or several, as texts. Raises TypeError for what is none."""
    if isinstance(paths, (str, os.PathLike)):
        return [_name("paths", paths)]
    if isinstance(paths, (bytes, bytearray)) or not hasattr(paths, "__iter__"):
        raise TypeError(f"paths must be a path or several, not {type(paths).__name__}")
    return [_name("paths", one) for one in paths]


def _name(argument: str, given: object) -> str:
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be a str or a path of str, not {type(name).__name__}")
    return name


@lru_cache(maxsize=64)
def _check(settings: Settings) -> None:
    usual = Settings()
    if settings == usual:
        return
    from dataloader_lint.source.key import (
        BYTES,
        CODES_BY_GLOB,
        COUNTS_BY_CLASS,
        FOLDERS,
        LEVELS_BY_CODE,
        VERSIONS,
        UnfitValueError,
    )
    from dataloader_lint.source.keys import KEYS

    for key in KEYS.values():
        value = getattr(settings, key.attribute)
        # A project's `requires-python` counts as its target, and may be written in ways that our own setting refuses.
        if value == getattr(usual, key.attribute) or key.kind == VERSIONS:
            continue
        try:
            if key.kind == CODES_BY_GLOB:
                for glob, codes in value:
                    key.read({glob: list(codes)}, "/")
            elif key.kind in (COUNTS_BY_CLASS, LEVELS_BY_CODE):
                key.read(dict(value), "/")
            elif key.kind == BYTES:
                key.read(f"{value}B", "/")
            elif key.kind == FOLDERS:
                # Not whether it exists: a folder that goes while files are linted is no mistake of the caller.
                relative = next((folder for folder in value if not os.path.isabs(folder)), None)
                if relative is not None:
                    raise UnfitValueError(f"must hold absolute paths, not {relative!r}")
            else:
                key.read(list(value) if isinstance(value, tuple) else value, "/")
        except UnfitValueError as error:
            raise ValueError(f"{key.attribute} {error}") from None
