"""Whether any other file of a project may use a name, be it in a notebook or a settings file; read as texts."""

from __future__ import annotations

import os
import re

_SUFFIXES = (".py", ".pyi", ".pyx", ".ipynb", ".cfg", ".gin", ".ini", ".json", ".toml", ".yaml", ".yml")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
MAX_LISTED = 20_000
MAX_READ = 50_000_000  # bytes, which takes less than a second


def may_be_used_elsewhere(root: str, path: str, name: str) -> bool:
    """True if a file below a folder, other than the one at `path`, holds a word or imports that module with a star.

    True as well where there is too much to look at.
    """
    stem = os.path.splitext(os.path.basename(path))[0]
    module = os.path.basename(os.path.dirname(path)) if stem == "__init__" else stem
    used = re.compile(
        rb"(?<!\w)%s(?!\w)|(?<!\w)%s +import +\*|\. +import +\*"
        % (re.escape(name.encode("utf-8", "replace")), re.escape(module.encode("utf-8", "replace")))
    )
    listed = read = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each not in _SKIPPED and not each.startswith(".")]
        listed += len(names)
        if listed > MAX_LISTED:
            return True
        for each in names:
            other = os.path.join(folder, each)
            if not each.endswith(_SUFFIXES) or other == path or not os.path.isfile(other):
                continue
            try:
                read += os.path.getsize(other)
                if read > MAX_READ:
                    return True
                with open(other, "rb") as file:
                    if used.search(file.read(MAX_READ)):
                        return True
            except OSError:
                return True
    return False
