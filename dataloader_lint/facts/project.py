"""The modules of the project around a file, opened when a name leads there. Nothing is ever imported or run.

Roots are found from the file itself, so that every way of running the linter sees the same project.
"""

from __future__ import annotations

import os
import re

from dataloader_lint.facts.library import TOP_LEVEL
from dataloader_lint.facts.module import ModuleFacts
from dataloader_lint.facts.tree import Scope
from dataloader_lint.gate import may_matter
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.parsing import parse

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env", "third_party", "external"}
)
MAX_FILES = 4000
MAX_BYTES = 1_500_000
_IMPORTED = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import|import[ \t]+([\w., \t]+))", re.MULTILINE)

_MEMBERS = re.compile(rb"^[ \t]*from[ \t]+[.\w]+[ \t]+import[ \t]+([\w, \t]+)", re.MULTILINE)

_COLLATING = re.compile(rb"collate_fn[\"']?\s*[=:]([^\n]{1,120})")


class Project:
    """Opens and keeps modules. One for a whole run; everything in it can be worked out again from the files."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleFacts | None] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._roots: dict[str, str] = {}
        self._collating: dict[str, set[bytes]] = {}
        self._texts: dict[tuple[str, bytes], bool] = {}
        self._imports: dict[str, list[tuple[str, bytes, frozenset[str]]]] = {}

    def module_for(self, path: str, text: str) -> ModuleFacts:
        """The facts of the file that is being linted, whose text may differ from what stands on the disk.

        Raises UnreadableError where the text is not Python.
        """
        full = os.path.abspath(path)
        known = self._modules.get(full)
        if known is not None and known.text_key == _text_key(text):
            return known  # what has been worked out about other modules holds on to its scopes
        facts = self._modules[full] = _facts(full, text)
        return facts

    def open(self, path: str) -> ModuleFacts | None:
        """The facts of another file of the project; None where it cannot be read or parsed."""
        if path not in self._modules:
            self._modules[path] = None  # while it is being opened, and for good if it cannot be
            source = _read(path)
            if source is not None:
                try:
                    self._modules[path] = _facts(path, decode(source))
                except UnreadableError:
                    return None
        return self._modules[path]

    def find(self, dotted: str, module: ModuleFacts, level: int = 0) -> Scope | None:
        """The module scope that `import dotted` (or `from ...dotted import`) means in `module`; None for libraries."""
        path = self.locate(dotted, module, level)
        if path is None:
            return None
        facts = self.open(path)
        return facts.root if facts is not None else None

    def locate(self, dotted: str, module: ModuleFacts, level: int = 0) -> str | None:
        """The file of a module of the project."""
        folder = os.path.dirname(module.path)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return _module_file(folder, dotted)
        top = dotted.partition(".")[0]
        if top in TOP_LEVEL and module.dotted_name.partition(".")[0] != top:
            return None
        key = (folder, dotted)
        if key not in self._found:
            self._found[key] = next(
                (path for root in self._search_path(folder) if (path := _module_file(root, dotted)) is not None), None
            )
        return self._found[key]

    def submodule(self, scope: Scope, name: str) -> Scope | None:
        """A submodule of a package."""
        if not scope.module.is_package:
            return None
        path = _module_file(os.path.dirname(scope.module.path), name)
        facts = self.open(path) if path is not None else None
        return facts.root if facts is not None else None

    def root_of(self, folder: str) -> str:
        """The folder that holds the project of a file.

        That is the one with a project file at most two levels above the file's topmost package (or its own folder),
        else the topmost folder that is reached upwards through folders with code.
        """
        if folder not in self._roots:
            top = folder
            while os.path.isfile(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
                top = os.path.dirname(top)
            marked = top
            for _ in range(3):
                if any(os.path.exists(os.path.join(marked, marker)) for marker in _MARKERS):
                    self._roots[folder] = marked
                    return marked
                if _is_skipped(os.path.basename(marked)):
                    break  # the scan of a project further up would not come here
                marked = os.path.dirname(marked)
            while _has_code(os.path.dirname(top)) and os.path.dirname(top) != top:
                top = os.path.dirname(top)
            self._roots[folder] = top
        return self._roots[folder]

    def _search_path(self, folder: str) -> list[str]:
        """Where an absolute import is looked for: the folders from the file's own up to above the project's root."""
        root = self.root_of(folder)
        found = [folder]
        while folder != root and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
            found.append(folder)
        found.append(os.path.join(root, "src"))
        return found

    def importers(self, module: ModuleFacts, names: list[str]) -> list[ModuleFacts]:
        """The modules of the project that import `module` and hold one of `names`, in order of their paths."""
        wanted = {os.path.basename(os.path.dirname(module.path))} if module.is_package else set()
        wanted.add(os.path.splitext(os.path.basename(module.path))[0])
        # A package hands names of its modules on, so whoever imports the package counts too.
        wanted.add(os.path.basename(os.path.dirname(module.path)))
        words = [(name.encode(), re.compile(rb"\b" + name.encode() + rb"\b")) for name in names]
        found = []
        for path, source, imported in self._scan(self.root_of(os.path.dirname(module.path))):
            if path == module.path or not imported & wanted:
                continue
            if any(name in source and word.search(source) for name, word in words):
                facts = self.open(path)
                if facts is not None:
                    found.append(facts)
        return found

    def holds(self, module: ModuleFacts, text: bytes) -> bool:
        """Whether a file of the project around `module` holds a text, be it in a comment."""
        root = self.root_of(os.path.dirname(module.path))
        key = (root, text)
        if key not in self._texts:
            self._texts[key] = any(text in source for _, source, _ in self._scan(root))
        return self._texts[key]

    def is_collating(self, module: ModuleFacts, name: str) -> bool:
        """Whether a name stands right behind `collate_fn` anywhere in the project: `collate_fn=name`."""
        root = self.root_of(os.path.dirname(module.path))
        if root not in self._collating:
            self._collating[root] = {
                word
                for _, source, _ in self._scan(root)
                for behind in _COLLATING.findall(source)
                for word in re.findall(rb"\w+", behind)
            }
        return name.encode() in self._collating[root]

    def modules_with(self, module: ModuleFacts, word: str) -> list[ModuleFacts]:
        """The modules of the project around `module` whose text holds a word, itself among them."""
        wanted = re.compile(rb"\b" + word.encode() + rb"\b")
        files = self._scan(self.root_of(os.path.dirname(module.path)))
        paths = [path for path, source, _ in files if wanted.search(source)]
        return [facts for path in paths if (facts := self.open(path)) is not None]

    def _scan(self, root: str) -> list[tuple[str, bytes, frozenset[str]]]:
        """The files of the project that pass the gate, with the last parts of what they import; made once."""
        if root not in self._imports:
            found = []
            for path in _files(root):
                source = _read(path)
                if source is not None and may_matter(source):
                    parts = {
                        part.decode("utf-8", "replace")
                        for match in _IMPORTED.finditer(source)
                        for part in re.findall(rb"\w+", match.group(1) or match.group(2))
                    }
                    parts.update(  # `from . import module`
                        name.decode("utf-8", "replace")
                        for line in _MEMBERS.findall(source)
                        for name in re.findall(rb"\w+", line)
                    )
                    found.append((path, source, frozenset(parts)))
            self._imports[root] = found
        return self._imports[root]


def _facts(path: str, text: str) -> ModuleFacts:
    is_package = os.path.basename(path) == "__init__.py"
    return ModuleFacts(path, _dotted_name(path), is_package, parse(text), _text_key(text))


def _text_key(text: str) -> tuple[int, int]:
    """What tells one text from another without keeping it."""
    return len(text), hash(text)


def _files(root: str) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        found.extend(os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))
        if len(found) > MAX_FILES:
            return found[:MAX_FILES]
    return found


def _is_skipped(folder_name: str) -> bool:
    return folder_name in _SKIPPED or folder_name.startswith(".")


def _has_code(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".py") for entry in entries)
    except OSError:
        return False


def _module_file(folder: str, dotted: str) -> str | None:
    """The file of module `dotted` below a folder: a module, a package, or nothing (namespace packages have no file)."""
    base = os.path.join(folder, *dotted.split(".")) if dotted else folder
    package = os.path.join(base, "__init__.py")
    if os.path.isfile(package):
        return package
    return base + ".py" if dotted and os.path.isfile(base + ".py") else None


def _dotted_name(path: str) -> str:
    """`package.module` from the folders with an `__init__.py` above a file."""
    folder, name = os.path.split(path)
    parts = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ".".join(parts)


def _read(path: str) -> bytes | None:
    try:
        if os.path.getsize(path) > MAX_BYTES:
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
