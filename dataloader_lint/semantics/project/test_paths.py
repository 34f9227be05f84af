"""Which files are tests, by their paths."""

from __future__ import annotations

import os
import re

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})


def is_path_of_tests(path: str, root: str) -> bool:
    """True if a file of the project below `root` belongs to its tests."""
    if _TEST_FILE.fullmatch(os.path.basename(path)):
        return True
    folders = os.path.relpath(os.path.dirname(path), root).split(os.sep)
    return not _TEST_FOLDERS.isdisjoint(folders)
