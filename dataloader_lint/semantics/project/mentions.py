"""What other files of a project say, be they notebooks or settings; read as texts when a fix asks for it.

A fix must not break any of them, so what cannot be told counts as a use. What a file says is kept as long as it stays
as it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.import_targets import ImportTargets
from dataloader_lint.semantics.project.import_texts import PYTHON, Imports, imports_of, plain
from dataloader_lint.source.other_files import OtherFile, files_below, read
from dataloader_lint.source.projects import Roots
from dataloader_lint.source.states import digest_of

# `x.device = ...`, `device = ...` below something, and `setattr(x, "device", ...)`.
_STORES = re.compile(rb"\.(\w+)[ \t]*=(?!=)|\n[ \t]+(\w+)[ \t]*=(?!=)|[\"'](?:[\w.]*\.)?(\w+)[\"']")

# A method that moves an object, with what it takes up to the first closing bracket; another way to bind a `to`; what
# collates other objects. They are apart, with lookbehinds after the first word, because `re` looks for a leading
# literal ten times as fast as for anything else.
_METHOD_THAT_MOVES = re.compile(rb"def(?<!\wdef)[ \t]+(?:to|cuda)[ \t]*\(([^)]{0,2000})")
_BOUND_TO = re.compile(rb"to(?<![\w.]to)[ \t]*=(?!=)")
_COLLATES_OTHERS = b"default_collate_fn_map"
# The batches of its tokenizers are dicts with a `to` of their own, which takes no `non_blocking` in older versions.
_MAPPINGS_THAT_MOVE = "transformers"


@dataclass(frozen=True, slots=True)
class _Said:
    """What a file may load, the names that it stores something under, and if it may move objects in its own way."""

    imports: Imports
    stored: frozenset[bytes]
    moves: bool


class Mentions:
    """What other files of a project say. `ask` answers on behalf of a module, and takes down what was asked."""

    def __init__(self, ask: Callable[[str, str, str], bool] | None = None) -> None:
        self._ask = ask or OtherFiles(Roots().of).say

    def may_use_name(self, path: str, name: str) -> bool:
        """True if a file of the project other than `path` holds a word, or takes all names of that module."""
        return self._ask(path, "uses name", name)

    def is_imported_by_star(self, path: str) -> bool:
        """True if another file may take all names of the module at `path`: `from train import *`."""
        return self._ask(path, "imports all", "")

    def may_set_attribute(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` stores something under a name: in an object, or a class.

        So do `train.device = "mps"`, `device = "mps"` in the body of a class, and `setattr(train, "device", "mps")`.
        """
        return self._ask(path, "sets attribute", name)

    def may_use_attribute(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` uses an attribute of that name."""
        return self._ask(path, "uses attribute", name)

    def may_take_name(self, path: str, name: str) -> bool:
        """True if a file that may import the module at `path` takes a name from it, by an import or as an attribute."""
        return self._ask(path, "takes name", name)

    def may_move_otherwise(self, path: str) -> bool:
        """True if another file than that at `path` may have objects whose `to` blocks always (`moves_otherwise`)."""
        return self._ask(path, "moves otherwise", "")

    def may_import(self, path: str) -> bool:
        """True if a file may import the module at `path`, run it by its name, or name it as an entry point.

        Running it as a script, which sets `__name__` to "__main__", is none of these.
        """
        return self._ask(path, "imports", "")


def moves_otherwise(path: str, text: str) -> bool:
    """True if a file with a text may have objects whose `to` blocks always.

    That is where a `to` is defined without `non_blocking`, and where libraries are used that have such classes.
    """
    own = plain(text.encode("utf-8", "replace"))
    return _moves(imports_of(path, own), own)


class OtherFiles:
    """Answers for all files of a session; the files below a root are listed once.

    `root_of` gives it for a folder; `src` are folders in which modules are looked for besides those around a file.
    What a file says is kept by `disk`, if that keeps anything.
    """

    def __init__(self, root_of: Callable[[str], str], src: tuple[str, ...] = (), disk: Disk | None = None) -> None:
        self._root_of = root_of
        self._src = src
        self._disk = disk or Disk()
        self._said: dict[OtherFile, _Said | None] = {}
        self._files: dict[str, tuple[list[OtherFile], ImportTargets] | None] = {}

    def say(self, path: str, what: str, name: str) -> bool:
        """The answer to a question of `Mentions`; True as well where it is unknown."""
        root = self._root_of(os.path.dirname(path))
        if root not in self._files:
            files = files_below(root)
            targets = ImportTargets(root, files, self._src, partial(self._imports, root)) if files is not None else None
            self._files[root] = (files, targets) if files is not None and targets is not None else None
        known = self._files[root]
        if known is None:
            return True
        wanted = name.encode("utf-8", "replace")
        others = (each for each in known[0] if each[0] != path)
        if what == "sets attribute" and not self._disk.is_noting:  # else all of what they say is kept anyway
            others = (each for each in others if _may_hold(each, wanted))
        said = ((each, self._said_by(root, each)) for each in others)
        return any(self._says(*each, known[1], path, what, wanted) for each in said)

    def _said_by(self, root: str, file: OtherFile) -> _Said | None:
        if not self._disk.is_noting:
            return _said(file)
        if file not in self._said:
            content = self._read(file)
            self._said[file] = None if content is None else self._kept(root, file[0], content)
        return self._said[file]

    def _kept(self, root: str, path: str, content: bytes) -> _Said:
        """What a file says that holds this."""
        kept = self._disk.texts_of(root).of(digest_of(content))
        what = "said of imports" if path.endswith(PYTHON) else "said of words"
        if what in kept:
            try:
                return _from_plain(json.loads(kept[what]))
            except (ValueError, TypeError, AttributeError):
                pass  # damaged
        said = _said_in(path, content)
        kept[what] = json.dumps(_as_plain(said), separators=(",", ":"))
        return said

    def _says(
        self, file: OtherFile, said: _Said | None, targets: ImportTargets, path: str, what: str, name: bytes
    ) -> bool:
        """The answer for one file, which says this; True as well where it cannot be read."""
        if said is None:
            return True
        if what == "uses name":
            return self._holds(file, rb"(?<!\w)%s(?!\w)", name) or targets.may_take_all(file[0], said.imports, path)
        if what == "moves otherwise":
            return said.moves
        if what == "imports all":
            return targets.may_take_all(file[0], said.imports, path)
        if what == "sets attribute" and name not in said.stored:
            return False
        if not targets.may_load(file[0], said.imports, path):
            return False
        if what == "uses attribute":
            return self._holds(file, rb"\.[ \t]{0,9}%s(?!\w)", name)
        if what == "takes name":
            is_taken = name in said.imports.named or targets.may_take_all(file[0], said.imports, path)
            return is_taken or self._holds(file, rb"[.\"'][ \t]{0,9}%s(?!\w)", name)
        assert what in ("imports", "sets attribute")
        return True

    def _holds(self, file: OtherFile, pattern: bytes, name: bytes) -> bool:
        """True if a file holds a name in such a place, or cannot be read."""
        content = self._read(file)
        return content is None or re.search(pattern % re.escape(name), plain(content)) is not None

    def _read(self, file: OtherFile) -> bytes | None:
        """What a file holds, in an editor or on the disk; None where it cannot be read."""
        unsaved = self._disk.unsaved.get(file[0])
        return read(file) if unsaved is None else unsaved

    def _imports(self, root: str, file: OtherFile) -> Imports | None:
        said = self._said_by(root, file)
        return said.imports if said is not None else None


def _may_hold(file: OtherFile, name: bytes) -> bool:
    """True if a name stands anywhere in a file, be it as a part of another one, or the file cannot be read."""
    content = read(file)
    return content is None or name in content


@lru_cache(maxsize=8192)
def _said(file: OtherFile) -> _Said | None:
    content = read(file)
    return None if content is None else _said_in(file[0], content)


def _said_in(path: str, content: bytes) -> _Said:
    text = plain(content)
    stored = {name for names in _STORES.findall(text) for name in names if name}
    imports = imports_of(path, text)
    return _Said(imports, frozenset(stored), _moves(imports, text))


def _as_plain(said: _Said) -> list[Any]:
    """What a file says, in parts that JSON knows."""
    imports = said.imports
    modules = [sorted(each) for each in (imports.modules, imports.stars)]
    several = (imports.words, imports.star_words, imports.named, said.stored)
    words = [b" ".join(sorted(each)).decode("latin-1") for each in several]
    has_any = b"" in imports.star_words  # any module
    return [*modules, *words, imports.changes_path, said.moves, has_any]


def _from_plain(parts: list[Any]) -> _Said:
    """What `_as_plain` was given. Raises ValueError, TypeError or AttributeError for anything else."""
    modules, stars, words, star_words, named, stored, changes_path, moves, has_any = parts
    several = [frozenset(each.encode("latin-1").split()) for each in (words, star_words, named, stored)]
    several[1] |= {b""} if has_any else set()
    named_modules, named_stars = (
        frozenset((int(level), str(dotted)) for level, dotted in each) for each in (modules, stars)
    )
    imports = Imports(named_modules, named_stars, several[0], several[1], several[2], bool(changes_path))
    return _Said(imports, several[3], bool(moves))


def _moves(imports: Imports, text: bytes) -> bool:
    """True if a text defines a `to` without `non_blocking`, or uses other objects that may have one."""
    if _COLLATES_OTHERS in text or _BOUND_TO.search(text):
        return True
    for found in _METHOD_THAT_MOVES.finditer(text):
        if not (b"non_blocking" in found[1] or b"*" in found[1]):
            return True
    tops = {dotted.partition(".")[0] for level, dotted in imports.modules if not level}
    return any(
        _MAPPINGS_THAT_MOVE in top for top in (*tops, *(each.decode(errors="replace") for each in imports.words))
    )
