"""Files of code to try trees on: fixtures, and the linter itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import dataloader_lint
from some_files import some_of

_FIXTURES = sorted((Path(__file__).parent / "fixtures").rglob("*.py"))
_OURS = sorted(Path(dataloader_lint.__file__).parent.rglob("*.py"))

# Runs a test on each of the files, or on one of each folder (see `some_files`), as its `path`.
_FILES = some_of([*_FIXTURES, *_OURS], lambda path: path.parent, lambda path: path.name)
every_file = pytest.mark.parametrize("path", _FILES, ids=lambda path: f"{path.parent.name}/{path.name}")


def text_of(path: Path) -> str:
    """What a file says; skips the test where it has a `match` statement, which only LibCST's own parser takes."""
    text = path.read_bytes().decode()
    if "\nmatch " in text or "    match " in text:
        pytest.skip("has a match statement")
    return text
