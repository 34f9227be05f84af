"""Which libraries a project demands, told from the texts of its requirements files."""

from __future__ import annotations

import os
import re

from dataloader_lint.facts.project.project import Project
from dataloader_lint.source.reading import read_bounded

_REQUIREMENTS = ("pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "environment.yaml", "Pipfile")
_OLD_NUMPY = re.compile(
    # All parts are bounded, as otherwise many `numpy` on a line would have the whole line read for each of them.
    r"""\bnumpy(?![\w-])[ \t]{0,50}(?:\[[^\]\n]{0,200}\])?
    (?:
        # numpy>=1.21,<2
        [^\n"';\#]{0,200}?
        (?:<=?\s{0,50}1\b|<\s{0,50}2(?:\.0){0,9}(?![\d.])|(?<![<>!=~])(?:={1,3}|~=)\s{0,50}1\b)
        # numpy = "^1.26"
        |["']?[ \t]{0,50}=(?!=)[^\n\#]{0,80}?
        ["'](?:[~^=]{0,3}\s{0,50}1\b|[^\n"']{0,80}<\s{0,50}2(?:\.0){0,9}(?![\d.]))
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def has_old_numpy(path: str) -> bool:
    """True if a file beside the code, or further up in the project, demands a numpy before 2."""
    folder = os.path.dirname(path)
    root = Project().root_of(folder)
    while True:
        for file in _requirements_in(folder):
            try:
                if _OLD_NUMPY.search(read_bounded(file).decode("utf-8", "replace")):
                    return True
            except OSError:
                continue
        if folder == root or os.path.dirname(folder) == folder:
            return False
        folder = os.path.dirname(folder)


def _is_requirements_file(name: str) -> bool:
    return name.endswith(".txt") and ("requirements" in name or "constraints" in name)


def _requirements_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [
                entry.path
                for entry in entries
                if (entry.name in _REQUIREMENTS or _is_requirements_file(entry.name)) and entry.is_file()
            ]
    except OSError:
        return []
