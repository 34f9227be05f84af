"""Questions about the other files of a project, asked on behalf of one module. Each answer is recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from dataloader_lint.gate import Gate, subjects, words_about
from dataloader_lint.semantics.limits import CALLING_MODULES, MATCHING_MODULES, USING_LEVELS, USING_MODULES
from dataloader_lint.semantics.project.dataset_names import DatasetNames, classes_in
from dataloader_lint.semantics.project.dependencies import OPENED, Answer, Asked, Dependencies, Question
from dataloader_lint.semantics.project.lookup import Lookup
from dataloader_lint.semantics.project.notebook_code import notebook_code
from dataloader_lint.semantics.project.outline import defined_about
from dataloader_lint.semantics.project.own_names import OwnNames
from dataloader_lint.semantics.project.source import Source
from dataloader_lint.semantics.project.sources import Sources
from dataloader_lint.semantics.project.users import Users
from dataloader_lint.source.projects import Roots

Words = tuple[str, ...]


class Answers:
    """Answers questions and records them in `dependencies`, which is the only memory of answers there is.

    `ask` is the only way in: a question is one of `KINDS`, and what its method takes. All that is remembered beside
    `dependencies` is read from the texts and folders of the disk, whoever asks.

    `src` is as for `Lookup`, `gate` knows what files are about, `roots` are the directories that were named,
    `sources` what was read before, to add to. `at_hand` gives the text of a file that is open, and None for others.
    """

    def __init__(
        self,
        src: tuple[str, ...],
        gate: Gate,
        dependencies: Dependencies,
        roots: tuple[str, ...] = (),
        sources: dict[str, Sources] | None = None,
    ) -> None:
        self.dependencies = dependencies
        self._disk = dependencies.disk
        self._gate = gate
        self._src, self._named = src, roots
        self._roots = Roots(roots)
        self.at_hand: Callable[[str], str | None] = lambda _: None
        self._lookup = Lookup(self._disk, src, self.root_of, self.text_of)
        self._sources: dict[str, Sources] = {} if sources is None else sources  # by context
        self._own: dict[str, tuple[str, OwnNames]] = {}  # with the text that they are from
        self._importing: dict[tuple[str, frozenset[bytes]], list[Source]] = {}
        self._users: dict[tuple[str, Words, int], Users] = {}

    def beside(self) -> Answers:
        """Answers for a project in which another text is at hand; what was read of the disk is shared."""
        return Answers(self._src, self._gate, self.dependencies, self._named, self._sources)

    def ask(self, asker: str, *question: str | int | Words) -> Answer:
        """The answer to a question on behalf of the module with the path `asker`."""
        known = self.dependencies.of(asker)
        if question not in known:
            known[question] = self.answer(asker, question)
        return known[question]

    def may_define_datasets(self, path: str, text: bytes) -> bool:
        """True if a file with this text may define a class that derives from a Dataset."""
        own = sorted(name.decode("utf-8", "surrogateescape") for name in classes_in(text))
        return bool(own) and bool(self.ask(path, "subclasses", tuple(own)))

    def users(self, home: str, names: Iterable[str], levels: int, limit: int) -> Iterator[Words]:
        """The files that may make loaders and can get at names of the file `home`, level by level; see `Project`."""
        wanted = tuple(sorted(set(names)))
        return (cast("Words", self.ask(home, "users_at", wanted, limit, level)) for level in range(levels))

    def may_be_reached(self, path: str, text: bytes, about: frozenset[str]) -> bool:
        """False if loaders surely reach nothing of what a file with this text defines about some subjects.

        It opens no file, other than `Session.is_reached_from_loaders`, which finds out.
        """
        names = names_about(text, about)
        return self.may_define_datasets(path, text) or any(self.users(path, names, USING_LEVELS, USING_MODULES))

    def answer(self, asker: str, question: Question) -> Answer:
        """The answer as it is now, without a record of it."""
        self.root_of(os.path.dirname(asker))
        kind, *about = question
        return KINDS[str(kind)](self, asker, *about)

    def hold(self, asker: str, asked: Asked) -> bool:
        """True if all answers that a module was given in an earlier run are the same now. They are recorded then."""
        for question, answer in asked.items():
            if self.answer(asker, question) != answer:
                return False
        self.dependencies.add(asker, asked)
        return True

    def root_of(self, folder: str) -> str:
        """The folder that holds the project of the files in a folder."""
        known = self.dependencies.roots.get(folder)
        if known is None:
            known = self.dependencies.roots[folder] = self._roots.of(folder)
        return known

    def context_of(self, path: str) -> str:
        """The files that are looked at to understand a file; see `Roots.context_of`."""
        folder = os.path.dirname(path)
        known = self.dependencies.contexts.get(folder)
        if known is None:
            known = self.dependencies.contexts[folder] = self._roots.context_in(folder)
        return known or path

    @property
    def too_large(self) -> set[str]:
        """The projects that have too many files for each to be seen by all others."""
        return self._roots.too_large

    def text_of(self, path: str) -> str:
        """The text of a file, saved or not, with what cannot be decoded replaced; empty if it cannot be read.

        That of a notebook is the code of its cells.
        """
        text = self.at_hand(path)
        if text is not None:
            return text
        content = self._disk.read(path) or b""
        return (notebook_code(content) or "") if path.endswith(".ipynb") else content.decode(errors="replace")

    def outline_of(self, path: str, text: str) -> dict[bytes, frozenset[bytes]]:
        """The names at the top of a file with this text, each with the words around what binds it."""
        return self._around(path).outline_of(path, text.encode("utf-8", "surrogatepass"))

    def about(self, path: str, content: bytes) -> frozenset[str]:
        """What the gate says of a file that holds this."""
        return subjects(content, self._gate.words)

    # What lies where.

    def _content(self, asker: str) -> str:
        """A hash of what the file of the module holds."""
        return self._disk.digest(asker)

    def _opened(self, asker: str, path: str) -> bool:
        """That facts have gone on to another module. What follows from it is asked on behalf of that one."""
        return True

    def _located(self, asker: str, dotted: str, level: int) -> str | None:
        """The file that an import means."""
        return self._lookup.locate(asker, dotted, level)

    def _called(self, asker: str, dotted: str, member: str) -> str | None:
        """The only file whose path ends with a dotted name, and that defines a member if there is one."""
        found = self._around(asker).called(dotted, member, asker)
        return None if found is not None and self._lookup.changes_path(asker) else found

    def _below(self, asker: str, name: str) -> str | None:
        """The file of a submodule of a package."""
        return self._lookup.module_file(os.path.dirname(asker), name)

    def _packages(self, asker: str) -> Words:
        """The `__init__.py` files of the packages that a module stands in: importing it runs them first."""
        return tuple(self._lookup.packages.around(asker))

    def _packaged(self, asker: str) -> bool:
        """True if the module lies in a package."""
        return bool(self._lookup.packages.name(os.path.dirname(asker)))

    def _namespace(self, asker: str, dotted: str, level: int) -> str | None:
        """The folder without `__init__.py` inside a package that an import with dots means, or a part of a package."""
        if level:
            return self._lookup.namespace(asker, dotted, level)
        folder = os.path.join(os.path.dirname(asker), dotted)
        return folder if self._lookup.packages.is_namespace(folder) else None

    def _requirements(self, asker: str) -> Words:
        """The files beside the code, or further up in the project, that say what it needs; each with a hash of it."""
        folder = os.path.dirname(asker)
        root = self.root_of(folder)
        found: list[str] = []
        while True:
            for path in self._disk.requirements_in(folder):
                found += (path, self._disk.digest(path))
            if folder == root or os.path.dirname(folder) == folder:
                return tuple(found)
            folder = os.path.dirname(folder)

    # Who imports, calls and uses what.

    def _importing_files(self, path: str, words: frozenset[bytes]) -> list[Source]:
        """The files that import the module of a file and hold one of the words."""
        key = (path, words)
        if key not in self._importing:
            is_notebook = path.endswith(".ipynb")
            self._importing[key] = [] if is_notebook else self._around(path).importing(path, words)
        return self._importing[key]

    def _importers(self, asker: str, names: Words, limit: int) -> Words:
        """The files that import the module and hold one of the names; so many of them at most, or all for 0."""
        found = [each.path for each in self._importing_files(asker, _encoded(names))]
        return tuple(found[:limit] if limit else found)

    def _tested(self, asker: str, name: str) -> bool:
        """True if a test may import the module, and holds a name."""
        return self._around(asker).is_tested(asker, name.encode("utf-8", "surrogateescape"))

    def _callers(self, asker: str, names: Words, kind: str) -> Words:
        """The files that import the module and call something by one of the names."""
        words = _encoded(names)
        found = [each for each in self._importing_files(asker, words) if not words.isdisjoint(each.called(kind))]
        return tuple(each.path for each in found[:CALLING_MODULES])

    def _users_at(self, asker: str, names: Words, limit: int, level: int) -> Words:
        """The files on a level of those that can get at some names and may make loaders."""
        key = (asker, names, limit)
        if key not in self._users:
            self._users[key] = Users(self._importing_files, asker, _encoded(names), limit)
        return self._users[key].at(level)

    # What stands anywhere in the project.

    def _held(self, asker: str, text: str) -> bool:
        """True if a file holds a text, be it in a comment."""
        return self._around(asker).hold(text.encode())

    def _holders(self, asker: str, word: str) -> Words:
        """The files that hold a word."""
        return tuple(each.path for each in self._around(asker).with_word(word))

    def _matching(self, asker: str, pattern: str) -> Words:
        """The files whose paths end as a pattern says, with a star for what is unknown; none if there are many."""
        wanted = pattern.split("/")
        files = self._disk.files_of(self.context_of(asker))
        found = tuple(each for each in files if each != asker and _ends_as(each.split(os.sep), wanted))
        return found if len(found) <= MATCHING_MODULES else ()

    def _beside_loaders(self, asker: str, name: str) -> bool:
        """True if a file that may make loaders defines this name at its top, or is itself called so."""
        return self._around(asker).make_loaders_beside(name)

    def _function(self, asker: str, name: str) -> bool:
        """True if a file defines a function of that name."""
        return self._around(asker).define(name)

    def _collating(self, asker: str, name: str) -> bool:
        """True if a name stands right behind `collate_fn` anywhere: `collate_fn=name`."""
        return self._around(asker).is_collating(name)

    def _leading(self, asker: str, wanted: Words, levels: int, among: Words) -> Words:
        """Those of some names by which functions are called that call one of the wanted ones, through few others."""
        found = self._around(asker).leading_to(_encoded(wanted), levels)
        return tuple(name for name in among if name.encode() in found)

    def _dataset(self, asker: str, name: str) -> bool:
        """True if a class of that name may be a Dataset."""
        return name.encode() in self._names(asker)

    def _class(self, asker: str, name: str) -> bool:
        """True if a class of that name may be defined."""
        return self._names(asker).knows(name.encode())

    def _subclasses(self, asker: str, names: Words) -> bool:
        """True if one of some classes may derive from a Dataset."""
        known = self._names(asker)
        return any(known.is_subclass(name.encode("utf-8", "surrogateescape")) for name in names)

    def _names(self, path: str) -> DatasetNames | OwnNames:
        """The classes of the project of a file, with its own as they are in its text at hand."""
        around = self._around(path)
        text = self.at_hand(path)
        if text is None:
            if around.holds_file(path):
                return around.dataset_names
            text = self.text_of(path)
        known = self._own.get(path)
        if known is not None and known[0] == text:
            return known[1]
        content = text.encode("utf-8", "surrogatepass")
        if around.has(path, content):
            return around.dataset_names
        self._own[path] = (text, OwnNames(around.dataset_names, content))
        return self._own[path][1]

    def _around(self, path: str) -> Sources:
        """The texts of the project of a file; looked at once."""
        context = self.context_of(path)
        if context not in self._sources:
            self._sources[context] = Sources(context, self._gate, self._disk)
        return self._sources[context]


KINDS: dict[str, Callable[..., Answer]] = {
    "content": Answers._content,
    OPENED: Answers._opened,
    "located": Answers._located,
    "called": Answers._called,
    "below": Answers._below,
    "packages": Answers._packages,
    "packaged": Answers._packaged,
    "namespace": Answers._namespace,
    "requirements": Answers._requirements,
    "importers": Answers._importers,
    "tested": Answers._tested,
    "callers": Answers._callers,
    "users_at": Answers._users_at,
    "held": Answers._held,
    "holders": Answers._holders,
    "matching": Answers._matching,
    "beside_loaders": Answers._beside_loaders,
    "function": Answers._function,
    "collating": Answers._collating,
    "leading": Answers._leading,
    "dataset": Answers._dataset,
    "class": Answers._class,
    "subclasses": Answers._subclasses,
}


def names_about(text: bytes, about: frozenset[str]) -> list[str]:
    """The names at the top of a file with this text by which others get at what is about some subjects."""
    return [name.decode("utf-8", "replace") for name in defined_about(text, words_about(about))]


def _encoded(names: Words) -> frozenset[bytes]:
    return frozenset(name.encode("utf-8", "surrogateescape") for name in names)


def _ends_as(parts: list[str], wanted: list[str]) -> bool:
    """True if the last parts of a path are the wanted ones, in which a star stands for any text."""
    last = parts[-len(wanted) :]
    return len(last) == len(wanted) and all(map(_fits, last, wanted))


def _fits(part: str, wanted: str) -> bool:
    first, *others = wanted.split("*")
    if not others:
        return part == wanted
    place = len(first)
    if not part.startswith(first):
        return False
    for text in others[:-1]:
        found = part.find(text, place)
        if found < 0:
            return False
        place = found + len(text)
    return len(part) - place >= len(others[-1]) and part.endswith(others[-1])
