"""The files of a project as texts: their imports and words, read without parsing any of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from dataloader_lint.gate import DERIVED, SUBJECTS, Gate, may_lead_on, subjects
from dataloader_lint.semantics.project.dataset_names import DatasetNames, said_of_classes
from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.notebook_code import notebook_code
from dataloader_lint.semantics.project.outline import Outline, outline_of
from dataloader_lint.semantics.project.source import Source, defined_functions, makes_loaders_in, source_of
from dataloader_lint.semantics.project.test_paths import is_path_of_tests
from dataloader_lint.semantics.project.texts import TextParts

_PACKAGE = f"{os.sep}__init__.py"  # hands names on, maybe under other ones
# What a look for a few words shows of a file.
_MAKES_LOADERS, _LEADS_ON, _RENAMES = b"makes-loaders", b"leads-on", b"renames"
# Functions that run without being called by their own names, so that a call of one says nothing; b"" is no function.
_NOT_BY_NAME = frozenset(
    {b"", b"__call__", b"__enter__", b"__exit__", b"__getitem__", b"__init__", b"__iter__", b"forward"}
)


def _names_in(context: str, paths: list[str]) -> set[bytes]:
    """What modules of a project can be called: its folders, its files, and itself."""
    root = context.rstrip(os.sep)
    names = {part for folder in {os.path.dirname(path) for path in paths} for part in folder[len(root) :].split(os.sep)}
    stems = {os.path.basename(path).removesuffix(".py") for path in paths}
    return {name.encode("utf-8", "surrogateescape") for name in {os.path.basename(root), *names, *stems}}


def _names_of(path: str) -> set[bytes]:
    """What those who import the module of a file name: itself, or its package, which hands names of its modules on."""
    folder, file = os.path.split(path)
    own = {os.path.basename(folder)}
    if file != "__init__.py":
        own.add(os.path.splitext(file)[0])
    return {part.encode("utf-8", "surrogateescape") for part in own}


def _without_suffix(path: str) -> str:
    """The path of a module, or of the folder of a package."""
    return path.removesuffix(".py").removesuffix(f"{os.sep}__init__")


def _shared(one: list[str], other: list[str]) -> int:
    """How many folders two paths, given in parts, have in common from the root on."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (mine, its) in enumerate(pairs) if mine != its), min(len(one), len(other)))


class Sources:
    """The files of one context that may hold what facts about other files depend on, in the order of their paths.

    `context` is what `source.projects.Roots.context_of` gives: a project, or a part of a very large one.
    """

    def __init__(self, context: str, gate: Gate, disk: Disk) -> None:
        self._all: list[Source] = []
        self._by_path: dict[str, Source] = {}
        self.dataset_names = DatasetNames(gate.words)
        self._defined: set[bytes] = set()
        self._words: dict[bytes, bytes] = {}
        self._naming: dict[bytes, set[int]] = {}  # the files that import a module, by a part of its name
        self._importing: dict[str, list[Source]] = {}
        self._with_text: dict[bytes, bool] = {}
        self._leading: dict[tuple[frozenset[bytes], int], frozenset[bytes]] = {}
        self._collating: set[bytes] | None = None
        self._beside_loaders: set[bytes] | None = None
        self._by_last_name: dict[str, list[str]] | None = None
        paths = disk.files_of(context)
        self._paths = frozenset(paths)
        known = self._known = _names_in(context, paths)
        self._context, self._gate, self._disk = context, gate, disk
        self._other_tests: list[Source] = []
        self._tests: list[tuple[Source, set[bytes]]] | None = None
        self._read_notebooks: list[tuple[Source, set[bytes]]] | None = None
        for path in paths:
            parts = disk.parts_of(context, path)
            if parts is None:
                continue
            self._defined.update(parts.get("defined", defined_functions).split())
            self.dataset_names.take_in(parts.get("classes", said_of_classes))
            looks, about = _looked_at(parts, path, gate)
            if about or _LEADS_ON in looks or (path.endswith(_PACKAGE) and _RENAMES in looks):
                source = Source(path, parts, makes_loaders=_MAKES_LOADERS in looks, same=self._words)
                for part in source.imported(known):
                    self._naming.setdefault(part, set()).add(len(self._all))
                self._all.append(source)
                self._by_path[path] = source
            elif is_path_of_tests(path, context):
                self._other_tests.append(Source(path, parts, makes_loaders=False, same=self._words))
                parts.let_go()

    @property
    def _calling_notebooks(self) -> list[tuple[Source, set[bytes]]]:
        """The notebooks of the context, each with what it imports."""
        if self._read_notebooks is None:
            self._read_notebooks = [(each, each.imported(self._known)) for each in self._notebooks()]
        return self._read_notebooks

    def _notebooks(self) -> Iterator[Source]:
        """The notebooks of the context, with the code of their cells; they cannot be imported, but call others."""
        for path in self._disk.notebooks_of(self._context):
            content = self._disk.read(path)
            about = self._gate.subjects(path, content) - {DERIVED} if content is not None else frozenset()
            code = notebook_code(content) if content is not None and about else None
            if code is not None:
                yield source_of(path, code.encode("utf-8", "surrogatepass"), about)

    def outline_of(self, path: str, text: bytes) -> Outline:
        """What the names at the top of a file mention that holds this text, or will once it is saved."""
        source = self._by_path.get(path)
        return source.outline if source is not None and source.text == text else outline_of(text)

    def holds_file(self, path: str) -> bool:
        """True if it is a file of the project, whose folders may be skipped."""
        return path in self._paths

    def has(self, path: str, text: bytes) -> bool:
        """True if a file that may matter to others holds this text."""
        source = self._by_path.get(path)
        return source is not None and source.text == text

    def importing(self, path: str, words: frozenset[bytes]) -> list[Source]:
        """The files that may import the module of a file, and hold one of the words; nearest first.

        Projects in folders side by side often have modules of the same name, each for its own scripts.
        """
        return [source for source in self._importing_file(path) if not words.isdisjoint(source.words)]

    def _importing_file(self, path: str) -> list[Source]:
        found = self._importing.get(path)
        if found is None:
            folders = path.split(os.sep)
            parts = _names_of(path)
            numbers: set[int] = set().union(*(self._naming.get(part, ()) for part in parts))
            found = [self._all[number] for number in sorted(numbers) if self._all[number].path != path]
            found += (each for each, imported in self._calling_notebooks if not imported.isdisjoint(parts))
            found.sort(key=lambda source: -_shared(folders, source.path.split(os.sep)))
            self._importing[path] = found
        return found

    def is_tested(self, path: str, name: bytes) -> bool:
        """True if a test may import the module of a file, and holds a word."""
        if self._tests is None:
            tests = [*self._other_tests, *(each for each in self._all if is_path_of_tests(each.path, self._context))]
            self._tests = [(each, each.imported(self._known)) for each in tests]
        parts = _names_of(path)
        return any(not imported.isdisjoint(parts) and name in each.words for each, imported in self._tests)

    def called(self, dotted: str, member: str, asker: str) -> str | None:
        """The only file whose path ends with a dotted name, except the one that asks; None for none or several.

        If there is a member, it is the only one of these that defines it at its top.
        """
        if self._by_last_name is None:
            self._by_last_name = {}
            for path in sorted(self._paths):
                self._by_last_name.setdefault(os.path.basename(_without_suffix(path)), []).append(path)
        end = os.sep + dotted.replace(".", os.sep)
        named = self._by_last_name.get(dotted.rpartition(".")[2], ())
        found = [path for path in named if path != asker and _without_suffix(path).endswith(end)]
        if member:
            found = [path for path in found if self._defines(path, member.encode())]
        return found[0] if len(found) == 1 else None

    def _defines(self, path: str, name: bytes) -> bool:
        source = self._by_path.get(path)
        return source is not None and name in source.names_at_the_top

    def with_word(self, word: str) -> Iterator[Source]:
        """The files that hold a word."""
        text = word.encode()
        return (source for source in self._all if text in source.words)

    def hold(self, text: bytes) -> bool:
        """True if any file holds a text, be it in a comment."""
        if text not in self._with_text:
            several = (*self._all, *(each for each, _ in self._calling_notebooks))
            self._with_text[text] = any(text in source.text for source in several)
        return self._with_text[text]

    def make_loaders_beside(self, name: str) -> bool:
        """True if a file that may make loaders defines this name at its top, or is itself called so."""
        if self._beside_loaders is None:
            makers = [source for source in self._all if source.makes_loaders]
            paths = {part for source in makers for part in source.path.encode().split(os.sep.encode())}
            stems = {part.removesuffix(b".py") for part in paths}
            self._beside_loaders = stems.union(*(source.names_at_the_top for source in makers))
        return name.encode() in self._beside_loaders

    def leading_to(self, wanted: frozenset[bytes], levels: int) -> frozenset[bytes]:
        """The names of functions that call one of the wanted ones, through so many others at most."""
        key = (wanted, levels)
        if key not in self._leading:
            calls = [each for source in self._all for each in source.calls_by_function]
            found: set[bytes] = set()
            new = set(wanted)
            for _ in range(levels):
                new = {name for name, called in calls if name not in found and not called.isdisjoint(new)}
                new -= _NOT_BY_NAME
                found |= new
            self._leading[key] = frozenset(found)
        return self._leading[key]

    def define(self, name: str) -> bool:
        """True if a file of the project defines a function of that name; all files count, whatever they hold."""
        return name.encode() in self._defined

    def is_collating(self, name: str) -> bool:
        """True if a name is bound to one that speaks of it anywhere: `collate_fn=name`, `collate = partial(name)`."""
        if self._collating is None:
            self._collating = {word for source in self._all for word in source.collating}
        return name.encode() in self._collating


def _looked_at(parts: TextParts, path: str, gate: Gate) -> tuple[list[bytes], frozenset[str]]:
    """What a look for a few words has shown of a file, and what the gate says of it but for its bases."""

    def look(text: bytes) -> bytes:
        about = subjects(text, gate.words)  # what the gate knows by the path may be of another text
        looks = {
            _MAKES_LOADERS: makes_loaders_in(text, about),
            _LEADS_ON: may_lead_on(text),
            _RENAMES: b" as " in text,
        }
        return b" ".join((*(name for name, holds in looks.items() if holds), *map(str.encode, sorted(about))))

    words = b" ".join(gate.words).decode("latin-1")
    looks = parts.get(f"looks {words}", look).split()
    about = frozenset(map(bytes.decode, looks)) & SUBJECTS
    gate.know(path, about)
    return looks, about - {DERIVED}
