"""Which files a report or a baseline may take the place of: those that hold one already."""

from __future__ import annotations

import re

_CODE = re.compile(rb"\bDL\d{3}\b")
# Whatever it holds: a name of a rule may stand in a comment, and in settings.
_SOURCES = (
    ".cfg",
    ".gin",
    ".ini",
    ".ipynb",
    ".md",
    ".py",
    ".pyi",
    ".pyw",
    ".pyx",
    ".rst",
    ".sh",
    ".toml",
    ".yaml",
    ".yml",
)
_LOOKED_AT = 1_000_000  # bytes


def is_report(path: str) -> bool:
    """True if a file is empty, or holds what a report or a baseline does."""
    try:
        with open(path, "rb") as opened:
            content = opened.read(_LOOKED_AT).strip()
    except OSError:
        return True  # writing says what is wrong
    if content in (b"", b"[]"):
        return True
    is_one = any(each in content for each in (b"dataloader-lint", b"All checks passed!", b'"findings": ['))
    return not path.endswith(_SOURCES) and (is_one or _CODE.search(content) is not None)
