"""Files of code to try trees on: all fixtures, and the linter itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import dataloader_lint

_FIXTURES = sorted((Path(__file__).parent / "fixtures").rglob("*.py"))
_OURS = sorted(Path(dataloader_lint.__file__).parent.rglob("*.py"))

# Runs a test on each of the files, as its `path`.
every_file = pytest.mark.parametrize("path", [*_FIXTURES, *_OURS], ids=lambda path: f"{path.parent.name}/{path.name}")


def text_of(path: Path) -> str:
    """What a file says; skips the test where it has a `match` statement, which only LibCST's own parser takes."""
    text = path.read_bytes().decode()
    if "\nmatch " in text or "    match " in text:
        pytest.skip("has a match statement")
    return text
