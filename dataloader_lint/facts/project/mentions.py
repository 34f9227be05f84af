"""What other files of a project say, be they notebooks or settings; read as texts when a fix asks for it.

A fix must not break any of them, so what cannot be told counts as a use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

_SUFFIXES = (".py", ".pyi", ".pyx", ".ipynb", ".cfg", ".gin", ".ini", ".json", ".toml", ".yaml", ".yml")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
MAX_LISTED = 20_000
MAX_READ = 50_000_000  # bytes, which takes less than a second
_MAX_NAMES = 2000  # characters from the bracket of an import to one of its names
# Words of files that load a module by the text of its name.
_LOADING = re.compile(
    rb"import_module|__import__|runpy|run_path|run_module|spec_from_file_location|load_source|entry_points|"
    rb"console_scripts|gui_scripts|scripts|_target_"
)
_CONTINUED = re.compile(rb"\\\r?\n|\\\r")
_IMPORTING = re.compile(rb"(?<!\w)(?:from|import)(?!\w)")


def may_use_name(root: str, path: str, name: str) -> bool:
    """True if a file below a folder, other than the one at `path`, holds a word or imports that module with a star."""
    word, star = _word(name), _star(path)
    return any(text is None or word.search(text) or star.search(text) for text in _others(root, path))


def may_use_attribute(root: str, path: str, name: str) -> bool:
    """True if a file that imports the module at `path` uses an attribute of that name."""
    use = re.compile(rb"\.[ \t]{0,9}%s(?!\w)" % re.escape(name.encode("utf-8", "replace")))
    stem = _word(os.path.basename(_module_name(path)))
    for text in _others(root, path, (".py", ".ipynb")):
        if text is None:
            return True
        if use.search(text) and any(_is_import(text, found.start()) for found in stem.finditer(text)):
            return True
    return False


def is_imported_by_star(root: str, path: str) -> bool:
    """True if another file may take all names of the module at `path`: `from train import *`."""
    star = _star(path)
    return any(text is None or star.search(text) for text in _others(root, path, (".py", ".ipynb")))


def _star(path: str) -> re.Pattern[bytes]:
    stem = os.path.basename(_module_name(path)).encode("utf-8", "replace")
    return re.compile(rb"(?:(?<!\w)%s|\.)[ \t]*import[ \t]*\*" % re.escape(stem))


def may_import(root: str, path: str) -> bool:
    """True if a file below a folder may import the module at `path`, run it by its name, or name it as an entry point.

    Running it as a script, which sets `__name__` to "__main__", is none of these.
    """
    word = _word(os.path.basename(_module_name(path)))
    for text in _others(root, path):
        if text is None:
            return True
        is_loading: bool | None = None
        for found in word.finditer(text):
            if _is_import(text, found.start()):
                return True
            quoted = text[found.end() : found.end() + 4].removeprefix(b".py")[:1]
            if quoted in (b"'", b'"', b":", b"."):
                is_loading = _LOADING.search(text) is not None if is_loading is None else is_loading
                if is_loading:
                    return True
    return False


def _is_import(text: bytes, place: int) -> bool:
    """True if a word stands in an import: on its line, or in its brackets."""
    line = text.rfind(b"\n", 0, place) + 1
    if _IMPORTING.search(text, max(line, place - _MAX_NAMES), place):
        return True
    before = text[max(0, place - _MAX_NAMES) : place]
    bracket = before.rfind(b"(")
    return bracket >= 0 and b")" not in before[bracket:] and before[:bracket].rstrip().endswith(b"import")


def _module_name(path: str) -> str:
    """The path of a module without its suffix; that of the folder for a package."""
    stem = os.path.splitext(path)[0]
    return os.path.dirname(stem) if os.path.basename(stem) == "__init__" else stem


def _word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<!\w)%s(?!\w)" % re.escape(name.encode("utf-8", "replace")))


def _others(root: str, path: str, suffixes: tuple[str, ...] = _SUFFIXES) -> Iterator[bytes | None]:
    """The texts of the files below a folder but one, with continued lines in one.

    None where one cannot be read, or there are too many.
    """
    listed = read = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each not in _SKIPPED and not each.startswith(".")]
        listed += len(names)
        if listed > MAX_LISTED:
            yield None
            return
        for each in names:
            other = os.path.join(folder, each)
            if not each.endswith(suffixes) or other == path or not os.path.isfile(other):
                continue
            try:
                read += os.path.getsize(other)
                if read > MAX_READ:
                    yield None
                    return
                with open(other, "rb") as file:
                    yield _CONTINUED.sub(b" ", file.read(MAX_READ)).replace(b"\r", b"\n")
            except OSError:
                yield None
