"""Which folder is the project of a file, and which Python files it holds; told from names alone, nothing is opened."""

from __future__ import annotations

import os

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env", "third_party", "external"}
)
MAX_FILES = 4000
# What findings are kept in from one run to the next.
FOLDER = ".dataloader_lint_cache"


class Roots:
    """The folders that hold the projects of files, each found once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, folder: str) -> str:
        """The folder of the project to which the files of a folder belong.

        That is the one with a project file at most two levels above the file's topmost package (or its own folder),
        else the topmost folder that is reached upwards through folders with code. A repository that is a package itself
        is a project: what lies beside it are other repositories.
        """
        if folder not in self._known:
            self._known[folder] = _root_of(folder)
        return self._known[folder]


def files_of(root: str) -> list[str]:
    """The Python files of a project, sorted within each folder; the first 4,000 of a larger one."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        found.extend(os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))
        if len(found) > MAX_FILES:
            return found[:MAX_FILES]
    return found


def _root_of(folder: str) -> str:
    top = folder
    while os.path.isfile(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
        if os.path.isdir(os.path.join(top, ".git")):
            return top
        top = os.path.dirname(top)
    marked = top
    for _ in range(3):
        if any(os.path.exists(os.path.join(marked, marker)) for marker in _MARKERS):
            return marked
        if _is_skipped(os.path.basename(marked)):
            break  # the scan of a project further up would not come here
        marked = os.path.dirname(marked)
    while _has_code(os.path.dirname(top)) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    return top


def _is_skipped(folder_name: str) -> bool:
    return folder_name in _SKIPPED or folder_name.startswith(".")


def _has_code(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".py") for entry in entries)
    except OSError:
        return False
