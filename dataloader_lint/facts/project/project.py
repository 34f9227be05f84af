"""The modules of the project around a file, opened when a name leads there. Nothing is ever imported or run.

Roots are found from the file itself, so that every way of running the linter sees the same project.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from dataloader_lint.facts.libraries.catalogue import TOP_LEVEL
from dataloader_lint.facts.project.dataset_names import classes_in
from dataloader_lint.facts.project.mentions import Mentions
from dataloader_lint.facts.project.outline import Outline
from dataloader_lint.facts.project.search_paths import MARK, added_folders, imported_whole
from dataloader_lint.facts.project.sources import Source, Sources, read
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.names import Binding
from dataloader_lint.facts.syntax.tree import Scope
from dataloader_lint.gate import Gate
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.parsing import parse, tree_of
from dataloader_lint.source.projects import Roots

# So many modules show how something is called; what a whole library calls is not followed everywhere.
MAX_CALLING = 10


class Project:
    """Opens and keeps modules. One for a whole run; everything in it can be worked out again from the files.

    `src` are folders in which imported modules are looked for besides those around the importing file; `gate` knows
    what files are about; `whole` are files for which no bare tree will do.
    """

    def __init__(
        self, src: tuple[str, ...] = (), gate: Gate | None = None, whole: AbstractSet[str] = frozenset()
    ) -> None:
        self._src = src
        self._gate = gate or Gate()
        self._modules: dict[str, ModuleFacts | None] = {}
        self._kept = 0
        self._packages: dict[str, str] = {}
        self._folders: dict[str, frozenset[str]] = {}
        self._whole = whole
        self._found: dict[tuple[str, str], str | None] = {}
        self._meant: dict[tuple[str, str, int], str | None] = {}
        self._added: dict[str, tuple[str, ...]] = {}  # by script, the folders that it adds to those of Python
        self._roots = Roots()
        self._sources: dict[str, Sources] = {}
        self._may_be: dict[tuple[str, str], bool] = {}
        self._linted: dict[str, list[bytes]] = {}  # by root, the texts that may differ from what stands on the disk
        self._at_hand: tuple[str, str] | None = None  # the file that is being linted, and its text
        self._importing: dict[tuple[str, frozenset[bytes]], list[Source]] = {}
        # By the file that asked: the files that had an answer, and the words that were looked for in all files.
        self._feeding: dict[str, set[str]] = {}
        self._sought: dict[str, set[bytes]] = {}
        self.mentions = Mentions(self._roots, self._sought)

    def without_modules(self) -> Project:
        """The same project with no module open; what the folders and files are has not changed."""
        emptied = Project(self._src, self._gate, self._whole)
        emptied._folders, emptied._found, emptied._meant = self._folders, self._found, self._meant
        emptied._roots, emptied._sources, emptied._packages = self._roots, self._sources, self._packages
        emptied._importing, emptied._feeding, emptied._sought = self._importing, self._feeding, self._sought
        emptied.mentions = self.mentions
        emptied._may_be, emptied._linted, emptied._added = self._may_be, self._linted, self._added
        return emptied

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
        self._take_in(full, text)
        facts = self._modules[full] = self._facts(full, text)
        return facts

    def _take_in(self, path: str, text: str) -> None:
        """Have the classes of a text count that may not be on the disk."""
        root = self.root_of(os.path.dirname(path))
        content = text.encode("utf-8", "surrogatepass")
        if root in self._sources:
            self._sources[root].dataset_names.add(content)
        else:
            self._linted.setdefault(root, []).append(content)

    def have_at_hand(self, path: str, text: str) -> None:
        """From now on a file stands for this text, whatever there is on the disk, until another file is at hand.

        So it is the same module for what leads to it and for the rules: an editor's text, or one with repairs.
        """
        known = self._modules.get(path)
        if known is None or known.tree.text != text:
            self._modules.pop(path, None)
            self._at_hand = (path, text)

    def open(self, path: str) -> ModuleFacts | None:
        """The facts of another file of the project; None where it cannot be read or parsed."""
        if path not in self._modules:
            self._modules[path] = None  # while it is being opened, and for good if it cannot be
            try:
                text = self._text_of(path)
                if text is not None:
                    self._modules[path] = self._facts(path, text)
            except UnreadableError:
                return None
        return self._modules[path]

    def _text_of(self, path: str) -> str | None:
        """The text that a file stands for; None where it cannot be read. Raises UnreadableError for other encodings."""
        if self._at_hand is not None and self._at_hand[0] == path:
            return self._at_hand[1]
        source = read(path)
        return decode(source) if source is not None else None

    def find(self, dotted: str, module: ModuleFacts, level: int = 0) -> Scope | None:
        """The module scope that `import dotted` (or `from ...dotted import`) means in `module`; None for libraries."""
        path = self.locate(dotted, module.path, level)
        facts = self.open(path) if path is not None else None
        return facts.root if facts is not None else None

    def text(self, path: str) -> str:
        """The text of a file of the project, be it saved or not; empty where it cannot be read."""
        facts = self._modules.get(path)
        return facts.tree.text if facts is not None else (read(path) or b"").decode(errors="replace")

    def locate(self, dotted: str, importer: str, level: int = 0) -> str | None:
        """The file of the module of the project that `import dotted` means in the file `importer`."""
        key = (importer, dotted, level)
        if key not in self._meant:
            path = self._meant[key] = self._locate(dotted, importer, level)
            if path is not None:
                self._feeding.setdefault(importer, set()).add(path)
        return self._meant[key]

    def _locate(self, dotted: str, importer: str, level: int) -> str | None:
        folder = os.path.dirname(importer)
        if level:
            root = self.root_of(folder)
            for _ in range(level - 1):
                if folder == root:
                    return None  # dots may lead anywhere, but not to a module of this project
                folder = os.path.dirname(folder)
            return self._module_file(folder, dotted)
        top = dotted.partition(".")[0]
        if top in TOP_LEVEL and self._dotted_name(importer).partition(".")[0] != top:
            return None
        for root in self._search_path(folder):
            path = self._module_file(root, dotted)
            if path is not None:
                return path
        above, name = os.path.split(self.root_of(folder))
        added = (*self._added_by(importer), *((above,) if name == top else ()))  # it may be a package itself
        found = (self._module_file(each, dotted) for each in added)
        return next((path for path in found if path is not None), None)

    def submodule(self, scope: Scope, name: str) -> Scope | None:
        """A submodule of a package."""
        if not scope.module.is_package:
            return None
        path = self._module_file(os.path.dirname(scope.module.path), name)
        if path is None:
            return None
        self._feeding.setdefault(scope.module.path, set()).add(path)
        facts = self.open(path)
        return facts.root if facts is not None else None

    def root_of(self, folder: str) -> str:
        """The folder that holds the project of the files in a folder."""
        return self._roots.of(folder)

    def _search_path(self, folder: str) -> list[str]:
        """Where an absolute import is looked for: the folders from the file's own up to above the project's root."""
        root = self.root_of(folder)
        found = [folder, *self._src]
        while folder != root and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
            found.append(folder)
        found.append(os.path.join(root, "src"))
        return found

    def _added_by(self, script: str) -> tuple[str, ...]:
        """The folders that a script adds to Python's search path, or a module beside it that it runs for that."""
        added = self._added.get(script)
        if added is None:
            self._added[script] = ()  # what it imports is looked for without them
            folder, root = os.path.dirname(script), self.root_of(os.path.dirname(script))
            texts = {script: self.text(script)}
            for name in imported_whole(texts[script]):
                path = self._module_file(folder, name)
                if path is not None and path != script:
                    self._feeding.setdefault(script, set()).add(path)
                    texts[path] = self.text(path)
            found = (each for path, text in texts.items() if MARK in text for each in added_folders(path, text, root))
            added = self._added[script] = tuple(dict.fromkeys(found))
        return added

    def _module_file(self, folder: str, dotted: str) -> str | None:
        """The file of module `dotted` below a folder: a module, a package, or none, as for namespace packages."""
        key = (folder, dotted)
        if key not in self._found:
            top = dotted.partition(".")[0]
            # Most names are those of libraries, for which one look at what lies in the folder is enough.
            is_there = not top or not self._listed(folder).isdisjoint((top, f"{top}.py"))
            self._found[key] = _module_file(folder, dotted) if is_there else None
        return self._found[key]

    def _listed(self, folder: str) -> frozenset[str]:
        """What lies in a folder; nothing where it cannot be looked at."""
        if folder not in self._folders:
            try:
                self._folders[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._folders[folder] = frozenset()
        return self._folders[folder]

    def importers(self, module: ModuleFacts, names: list[str], limit: int | None = None) -> list[ModuleFacts]:
        """The modules of the project that import `module` and hold one of `names`, in order of their paths.

        Not more than the first `limit` of them, where there is one.
        """
        sources = self._importers(module.path, frozenset(name.encode() for name in names))
        return [facts for each in sources[:limit] if (facts := self.open(each.path)) is not None]

    def callers(self, module: ModuleFacts, names: list[str], kind: str) -> list[ModuleFacts]:
        """The modules of the project that import `module` and call something by one of the names, in order of paths.

        Not more than `MAX_CALLING` of them. `kind` says what the names are: of a "function", a "method", or a "class",
        whose constructor its heirs call.
        """
        words = frozenset(name.encode() for name in names)
        sources = [each for each in self._importers(module.path, words) if not words.isdisjoint(each.called(kind))]
        return [facts for each in sources[:MAX_CALLING] if (facts := self.open(each.path)) is not None]

    def users(self, home: str, names: Iterable[str], levels: int, limit: int) -> Iterator[ModuleFacts]:
        """The modules that may make loaders and can get at names of the file `home`, directly or through others' names.

        Nearest first; `levels` bounds how far, `limit` how many.
        """
        own = frozenset(name.encode() for name in names)
        seen = {home: own}  # the files, with the names that each was asked about
        level: Iterable[tuple[str, frozenset[bytes]]] = [(home, own)]
        for _ in range(levels):
            above: list[tuple[Source, frozenset[bytes]]] = []
            for path, wanted in level:
                for user in self._importers(path, wanted):
                    known = seen.get(user.path)
                    if known is not None and wanted <= known:
                        continue
                    if known is None:
                        if len(seen) > limit:
                            return
                        if user.makes_loaders and (facts := self.open(user.path)) is not None:
                            yield facts
                    seen[user.path] = wanted if known is None else known | wanted
                    above.append((user, wanted))
            level = ((user.path, user.that_use(wanted)) for user, wanted in above)  # not of those on the last level

    def _importers(self, path: str, words: frozenset[bytes]) -> list[Source]:
        """The files that import the module of a file and hold one of the words."""
        key = (path, words)
        found = self._importing.get(key)
        if found is None:
            found = [] if path.endswith(".ipynb") else self._around(path).importing(path, words)
            self._importing[key] = found
            self._feeding.setdefault(path, set()).update(source.path for source in found)
        return found

    def fed_by(self, path: str) -> tuple[set[str], set[bytes]]:
        """The files that facts about a file may rest on so far, itself among them, and words sought in all files."""
        found = {path}
        todo = [path]
        for each in todo:  # grows while it is gone through
            new = self._feeding.get(each, set()) - found
            found |= new
            todo.extend(new)
        return found, set().union(*(self._sought.get(each, ()) for each in found))

    def speaks_of(self, module: ModuleFacts, word: str) -> bool:
        """Whether a word stands anywhere in the project, be it in a comment, or in a file that is not saved yet."""
        return word in module.tree.text or self.holds(module, word.encode())

    def holds(self, module: ModuleFacts, text: bytes) -> bool:
        """Whether a file of the project around `module` holds a text, be it in a comment."""
        self._sought.setdefault(module.path, set()).add(text)
        return self._around(module.path).hold(text)

    def may_give_loaders(self, binding: Binding) -> bool:
        """Whether what an import binds may be defined in a file that makes loaders; a look before it is opened."""
        module = binding.scope.module
        name = binding.member or binding.imported.rpartition(".")[2]
        if self._around(module.path).make_loaders_beside(name):
            return True
        path = self.locate(binding.imported, module.path, binding.level)
        if path is not None and path.endswith("__init__.py"):  # what it hands on may come from anywhere
            self._sought.setdefault(module.path, set()).add(name.encode())
        return False

    def may_be_dataset(self, module: ModuleFacts, name: str) -> bool:
        """Whether a class may be a Dataset that is called so in a module; a look before its bases are followed."""
        key = (module.path, name)
        if key not in self._may_be:
            names = self._around(module.path).dataset_names
            self._may_be[key] = name.encode() in names
            if not self._may_be[key]:
                self._sought.setdefault(module.path, set()).update(names.behind(name.encode()))
        return self._may_be[key]

    def outline_of(self, module: ModuleFacts) -> Outline:
        """The names at the top of a module, each with the words around what binds it in the text."""
        text = module.tree.text.encode("utf-8", "surrogatepass")
        return self._around(module.path).outline_of(module.path, text)

    def may_define_class(self, module: ModuleFacts, name: str) -> bool:
        """Whether a class of that name may be defined anywhere in the project around `module`, or in it."""
        return self._around(module.path).dataset_names.knows(name.encode())

    def may_define_datasets(self, path: str, text: bytes) -> bool:
        """Whether a file with the given text may define a class that derives from a Dataset."""
        names = self._around(path).dataset_names
        names.add(text)
        own = classes_in(text)
        if any(map(names.is_heir, own)):
            return True
        self._sought.setdefault(path, set()).update(*map(names.behind, own))
        return False

    def defines(self, module: ModuleFacts, name: str) -> bool:
        """Whether a function of that name is defined anywhere in the project around `module`, or in it."""
        return self._around(module.path).define(name) or name in module.functions

    def leading_to(self, module: ModuleFacts, wanted: frozenset[str], levels: int) -> set[str]:
        """The names of functions of the project that call one of the wanted ones, through so many others at most."""
        words = frozenset(name.encode() for name in wanted)
        self._sought.setdefault(module.path, set()).update(words)
        return {name.decode(errors="replace") for name in self._around(module.path).leading_to(words, levels)}

    def is_collating(self, module: ModuleFacts, name: str) -> bool:
        """Whether a name stands right behind `collate_fn` anywhere in the project: `collate_fn=name`."""
        self._sought.setdefault(module.path, set()).add(b"collate_fn")
        return self._around(module.path).is_collating(name)

    def modules_with(self, module: ModuleFacts, word: str) -> list[ModuleFacts]:
        """The modules of the project around `module` whose text holds a word, itself among them."""
        self._sought.setdefault(module.path, set()).add(word.encode())
        sources = list(self._around(module.path).with_word(word))
        return [facts for each in sources if (facts := self.open(each.path)) is not None]

    def _facts(self, path: str, text: str) -> ModuleFacts:
        tree = parse(text) if path in self._whole else tree_of(text)
        self._kept += len(text)
        return ModuleFacts(path, self._dotted_name(path), os.path.basename(path) == "__init__.py", tree, text)

    def _dotted_name(self, path: str) -> str:
        """What the module of a file is called, its packages ahead."""
        folder, name = os.path.split(path)
        parts = [self._package(folder), "" if name == "__init__.py" else os.path.splitext(name)[0]]
        return ".".join(filter(None, parts))

    def _package(self, folder: str) -> str:
        """The dotted name of a package from the folders with an `__init__.py` above it; empty for other folders."""
        if folder not in self._packages:
            self._packages[folder] = ""
            if os.path.isfile(os.path.join(folder, "__init__.py")):
                outer, name = os.path.split(folder)
                self._packages[folder] = ".".join(filter(None, (self._package(outer), name)))
        return self._packages[folder]

    def _around(self, path: str) -> Sources:
        """The texts of the project of a file; looked at once."""
        root = self.root_of(os.path.dirname(path))
        if root not in self._sources:
            self._sources[root] = Sources(root, self._gate)
            for text in self._linted.pop(root, ()):
                self._sources[root].dataset_names.add(text)
        return self._sources[root]


def _module_file(folder: str, dotted: str) -> str | None:
    base = os.path.join(folder, *dotted.split(".")) if dotted else folder
    package = os.path.join(base, "__init__.py")
    if os.path.isfile(package):
        return package
    return base + ".py" if dotted and os.path.isfile(base + ".py") else None
