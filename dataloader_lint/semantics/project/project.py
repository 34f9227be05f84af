"""The modules of the project around a file, opened when a name leads there. Nothing is ever imported or run.

Roots are found from the file itself, so that every way of running the linter sees the same project.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, cast

from dataloader_lint.gate import Gate
from dataloader_lint.semantics.libraries.catalogue import FOREIGN, TOP_LEVEL
from dataloader_lint.semantics.libraries.datasets import DATASET_LIBRARIES, OTHER_DATASETS
from dataloader_lint.semantics.project.answers import Answers, Words
from dataloader_lint.semantics.project.dependencies import OPENED, Dependencies
from dataloader_lint.semantics.project.kept_modules import Kept
from dataloader_lint.semantics.project.notebook_code import notebook_code
from dataloader_lint.semantics.project.outline import Outline
from dataloader_lint.semantics.syntax.names import Binding
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.source.code_text import code_text
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.parsing import check_size, own_tree, tree_of

# What is inferred of a module, by the names of facts and what they are about.
Inferred = dict[tuple[str, int], Any]

# An import of these means the library wherever no folder of Python's search path holds a module of that name.
_LIBRARIES = sys.stdlib_module_names | TOP_LEVEL | FOREIGN | DATASET_LIBRARIES | OTHER_DATASETS


class Project:
    """Opens and keeps modules. One for a whole run; everything in it can be worked out again from the files.

    `answers` answers questions about other files, from now on for the texts that are open here; `whole` are files for
    which no bare tree will do, `kept` has modules of earlier sessions.
    """

    def __init__(
        self, answers: Answers | None = None, whole: AbstractSet[str] = frozenset(), kept: Kept | None = None
    ) -> None:
        self._whole = whole
        self._earlier = kept
        self._modules: dict[str, ModuleFacts | None] = {}
        self._kept = 0
        self._file = 0  # a clock: how often work on a file began
        self._last_use: dict[str, int] = {}  # of each module, by that clock
        self._at_hand: tuple[str, str] | None = None  # the file that is being linted, and its text
        self.answers = answers or Answers((), Gate(), Dependencies())
        self.answers.at_hand = self._overlaid_text

    def forget_modules(self, room: int = 0) -> None:
        """Close all modules but those of so many characters that were used last, and forget what was inferred of them.

        What the folders and files are has not changed.
        """
        known, self._modules = self._modules, {}
        self._kept = 0
        for path in sorted(known, key=lambda path: -self._last_use.get(path, 0)):
            module = known[path]
            if module is None:
                continue
            if self._kept + len(module.tree.text) <= room:
                module.tree.forget()
                self._modules[path] = module
                self._kept += len(module.tree.text)
            else:
                self._last_use.pop(path, None)
                if self._earlier is None:  # else a later session may take it
                    module.tree.take_apart()
        self._at_hand = None

    def beside(self) -> Project:
        """A project with the same modules, for another text of one of them.

        Of the two, one at a time may be asked: see `lend`.
        """
        other = Project(self.answers.beside(), self._whole)
        other._modules = dict(self._modules)
        other._kept = self._kept
        return other

    def lend(self) -> dict[int, Inferred]:
        """What is inferred of the modules, by the tree's `id`: they go to another project that has inferred nothing."""
        return {id(each.tree): each.tree.exchange({}) for each in self._modules.values() if each is not None}

    def take_back(self, inferred: dict[int, Inferred]) -> None:
        """Go on with what was inferred when the modules were lent."""
        for each in self._modules.values():
            if each is not None:
                each.tree.exchange(inferred.get(id(each.tree), {}))

    def begin_file(self) -> None:
        """Work on a file begins: what was used earlier is older from now on."""
        self._file += 1

    @property
    def kept(self) -> int:
        """How many characters the open modules have."""
        return self._kept

    def module_for(self, path: str, text: str) -> ModuleFacts:
        """The facts of the file that is being linted, whose text may differ from what stands on the disk.

        Raises UnreadableError where the text is not Python.
        """
        full = os.path.abspath(path)
        known = self._modules.get(full)
        if known is not None and known.tree.text == text:
            return known  # what has been worked out about other modules holds on to its scopes
        self._last_use[full] = self._file
        facts = self._modules[full] = self._facts(full, text)
        return facts

    def overlay(self, path: str, text: str) -> None:
        """From now on a file has this text, whatever there is on the disk, until another file is at hand.

        So it is the same module for what leads to it and for the rules: an editor's text, or one with repairs.
        """
        known = self._modules.get(path)
        if known is None or known.tree.text != text:
            self._modules.pop(path, None)
            self._at_hand = (path, text)

    def _open(self, asker: str, path: str) -> ModuleFacts | None:
        """The facts of another file, to which those of the file `asker` lead; None if it cannot be read or parsed."""
        self.answers.ask(asker, OPENED, path)
        self._last_use[path] = self._file
        if path not in self._modules:
            self._modules[path] = None  # while it is being opened, and for good if it cannot be
            try:
                text = self._text_of(path)
                if text is not None:
                    check_size(text)
                    self._modules[path] = self._kept_facts(path, text)
            except UnreadableError:
                pass
        self.answers.ask(path, "content")
        return self._modules[path]

    def _all_open(self, asker: str, paths: Iterable[str]) -> Iterator[ModuleFacts]:
        return (facts for path in paths if (facts := self._open(asker, path)) is not None)

    def _text_of(self, path: str) -> str | None:
        """The text that a file has; None where it cannot be read. Raises UnreadableError for other encodings."""
        if self._at_hand is not None and self._at_hand[0] == path:
            return self._at_hand[1]
        source = self.answers.dependencies.disk.read(path)
        if source is not None and path.endswith(".ipynb"):
            return notebook_code(source)
        return decode(source) if source is not None else None

    def _overlaid_text(self, path: str) -> str | None:
        """The text of a file that is open, or at hand; None for others."""
        facts = self._modules.get(path)
        if facts is not None:
            return facts.tree.text
        return self._at_hand[1] if self._at_hand is not None and self._at_hand[0] == path else None

    def code(self, path: str) -> str:
        """The code of a file of the project, be it saved or not; empty where it cannot be read."""
        self.answers.ask(path, "content")
        return code_text(self.answers.text_of(path))

    def find(self, dotted: str, module: ModuleFacts, level: int = 0) -> Scope | None:
        """The module scope that `import dotted` (or `from ...dotted import`) means in `module`; None for libraries."""
        path = self.locate(dotted, module.path, level)
        if path is None:
            return self._find_namespace(dotted, module, level)
        facts = self._open(module.path, path)
        return facts.root if facts is not None else None

    def find_by_path(self, dotted: str, member: str, module: ModuleFacts) -> Scope | None:
        """The only module of the project whose path ends with a dotted name and that defines a member.

        Without a member it must lie in no package, as a package would be a part of its name. None for the names of
        libraries. Whoever runs the program may have put the folder on `PYTHONPATH`, of which no code tells.
        """
        if dotted.partition(".")[0] in _LIBRARIES:
            return None
        path = cast("str | None", self.answers.ask(module.path, "called", dotted, member))
        facts = self._open(module.path, path) if path is not None else None
        if facts is None or (not member and (facts.is_package or self.is_in_package(facts))):
            return None
        return facts.root

    def _find_namespace(self, dotted: str, module: ModuleFacts, level: int) -> Scope | None:
        """A folder without `__init__.py` inside a package, where that is what an import means."""
        if level:
            return self._namespace(module.path, dotted, level)
        package, _, name = dotted.rpartition(".")
        scope = self.find(package, module) if package else None
        return self.submodule(scope, name) if scope is not None else None

    def _namespace(self, asker: str, dotted: str, level: int = 0) -> Scope | None:
        """The module of such a folder, which has no names of its own."""
        folder = cast("str | None", self.answers.ask(asker, "namespace", dotted, level))
        if folder is None:
            return None
        path = os.path.join(folder, "__init__.py")
        self.answers.ask(asker, OPENED, path)
        facts = self._modules.get(path)
        if facts is None:
            facts = self._modules[path] = self._facts(path, "")
        return facts.root

    def locate(self, dotted: str, importer: str, level: int = 0) -> str | None:
        """The file of the module of the project that `import dotted` means in the file `importer`."""
        return cast("str | None", self.answers.ask(importer, "located", dotted, level))

    def submodule(self, scope: Scope, name: str) -> Scope | None:
        """A submodule of a package."""
        if not scope.module.is_package:
            return None
        path = cast("str | None", self.answers.ask(scope.module.path, "below", name))
        if path is None:
            return self._namespace(scope.module.path, name)
        facts = self._open(scope.module.path, path)
        return facts.root if facts is not None else None

    def packages_around(self, path: str) -> Words:
        """The `__init__.py` files of the packages that a module stands in: importing it runs them first."""
        return cast("Words", self.answers.ask(path, "packages"))

    def is_in_package(self, module: ModuleFacts) -> bool:
        """True if a module lies in a package, which may pass its names on."""
        return bool(self.answers.ask(module.path, "packaged"))

    def requirements(self, path: str) -> Iterator[str]:
        """The texts of the files around a module that say which versions of libraries it needs."""
        found = cast("Words", self.answers.ask(path, "requirements"))
        return (self.answers.text_of(each) for each in found[::2])

    def root_of(self, folder: str) -> str:
        """The folder that holds the project of the files in a folder."""
        return self.answers.root_of(folder)

    def importers(self, module: ModuleFacts, names: list[str], limit: int = 0) -> list[ModuleFacts]:
        """The modules of the project that import `module` and hold one of `names`, in order of their paths.

        Not more than the first `limit` of them, where there is one.
        """
        found = cast("Words", self.answers.ask(module.path, "importers", _words(names), limit))
        return list(self._all_open(module.path, found))

    def is_named_in_tests(self, module: ModuleFacts, name: str) -> bool:
        """True if a test of the project may import a module, and holds a name."""
        return bool(self.answers.ask(module.path, "tested", name))

    def callers(self, module: ModuleFacts, names: list[str], kind: str) -> list[ModuleFacts]:
        """The modules of the project that import `module` and call something by one of the names, in order of paths.

        Only the first few. `kind` says what the names are: of a "function", a "method", or a "class", whose constructor
        its subclasses call.
        """
        found = cast("Words", self.answers.ask(module.path, "callers", _words(names), kind))
        return list(self._all_open(module.path, found))

    def users(self, home: str, names: Iterable[str], levels: int, limit: int) -> Iterator[ModuleFacts]:
        """The modules that may make loaders and can get at names of the file `home`, directly or through others' names.

        Nearest first; `levels` bounds how far, `limit` how many.
        """
        for found in self.answers.users(home, names, levels, limit):
            yield from self._all_open(home, found)

    def mentions_word(self, module: ModuleFacts, word: str) -> bool:
        """True if a word is in the code of the module, or anywhere in the texts of its project, saved or not."""
        return word in module.tree.code or bool(self.answers.ask(module.path, "held", word))

    def may_give_loaders(self, binding: Binding) -> bool:
        """True if what an import binds may be defined in a file that makes loaders; a look before it is opened."""
        is_whole = binding.member is None or binding.member == "*"
        name = binding.imported.rpartition(".")[2] if is_whole else binding.member
        return bool(self.answers.ask(binding.scope.module.path, "beside_loaders", str(name)))

    def may_be_dataset(self, module: ModuleFacts, name: str) -> bool:
        """True if a class may be a Dataset that is called so in a module; a look before its bases are followed."""
        return bool(self.answers.ask(module.path, "dataset", name))

    def may_define_class(self, module: ModuleFacts, name: str) -> bool:
        """True if a class of that name may be defined anywhere in the project around `module`, or in it."""
        return bool(self.answers.ask(module.path, "class", name))

    def may_define_datasets(self, path: str, text: bytes) -> bool:
        """True if a file, which has the given text at hand, may define a class that derives from a Dataset."""
        return self.answers.may_define_datasets(path, text)

    def outline_of(self, module: ModuleFacts) -> Outline:
        """The names at the top of a module, each with the words around what binds it in the text."""
        return self.answers.outline_of(module.path, module.tree.text)

    def defines(self, module: ModuleFacts, name: str) -> bool:
        """True if a function of that name is defined anywhere in the project around `module`, or in it."""
        return name in module.functions or bool(self.answers.ask(module.path, "function", name))

    def leading_to(self, module: ModuleFacts, wanted: Iterable[str], levels: int, among: Iterable[str]) -> set[str]:
        """The names among some of functions of the project that call one of the wanted ones, through so many others."""
        return set(cast("Words", self.answers.ask(module.path, "leading", _words(wanted), levels, _words(among))))

    def is_collating(self, module: ModuleFacts, name: str) -> bool:
        """True if a name is bound to one that speaks of collating anywhere in the project: `collate_fn=name`."""
        return bool(self.answers.ask(module.path, "collating", name))

    def modules_with(self, module: ModuleFacts, word: str) -> list[ModuleFacts]:
        """The modules of the project around `module` whose text holds a word, itself among them.

        All are opened: where few of them can matter, choose among `paths_with` first.
        """
        return list(self._all_open(module.path, self.paths_with(module, word)))

    def paths_with(self, module: ModuleFacts, word: str) -> Words:
        """The paths of these modules, none of which is opened for this."""
        return cast("Words", self.answers.ask(module.path, "holders", word))

    def opened(self, module: ModuleFacts, paths: Iterable[str]) -> Iterator[ModuleFacts]:
        """The modules with some paths, to which `module` leads, each opened when it is asked for."""
        return self._all_open(module.path, paths)

    def matching(self, module: ModuleFacts, pattern: str) -> list[ModuleFacts]:
        """The modules of the project around `module` whose paths end as a pattern says; none if there are many."""
        return list(self._all_open(module.path, cast("Words", self.answers.ask(module.path, "matching", pattern))))

    def _kept_facts(self, path: str, text: str) -> ModuleFacts:
        """The facts of a file, of an earlier session if its text is the same; what is at hand changes too often."""
        if self._earlier is None or path in self._whole or self._overlaid_text(path) is not None:
            return self._facts(path, text)
        known = self._earlier.take(path, text)
        if known is None:
            known = self._facts(path, text)
            self._earlier.put(known)
        else:
            self._kept += len(text)
        return known

    def _facts(self, path: str, text: str) -> ModuleFacts:
        tree = own_tree(text) if path in self._whole else tree_of(text)
        self._kept += len(text)
        return ModuleFacts(path, os.path.basename(path) == "__init__.py", tree, text)


def _words(names: Iterable[str]) -> Words:
    return tuple(sorted(set(names)))
