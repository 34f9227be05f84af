"""Which classes are Datasets, which loaders a module makes, and what runs in worker processes on their behalf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.facts.datasets.candidates import is_called_dataset, is_container, looks_like_one, reaches_loader
from dataloader_lint.facts.infer.dataset_bases import dataset_kind
from dataloader_lint.facts.infer.evaluate import Evaluation
from dataloader_lint.facts.infer.loader_calls import Loader, loaders_in
from dataloader_lint.facts.infer.values import Class
from dataloader_lint.facts.project.outline import Outline, mentioned_by, that_lead_to, that_use
from dataloader_lint.facts.syntax.guards import is_guarded
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.names import Binding, Kind, bindings_of
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction, worker_functions

# Bounds: what they cut off is not known to be in workers' reach.
MAX_USERS = 60
MAX_LEVELS = 3
MAX_CARRIED = 4  # from the file of a class over its heirs and the packages that hand them on


class Workers:
    """Answers for all modules of a session, each worked out once."""

    def __init__(self, ev: Evaluation) -> None:
        self.ev = ev
        self._datasets: dict[int, bool] = {}
        self._functions: dict[int, list[WorkerFunction]] = {}
        self._mentions: dict[tuple[int, str], set[str]] = {}
        self._using: dict[tuple[int, frozenset[str]], set[str]] = {}

    def is_dataset(self, klass: Class) -> bool:
        """Whether a class is a Dataset: by a base of a library, or by what it can do and a loader that gets it."""
        key = id(klass.scope)
        if key not in self._datasets:
            self._datasets[key] = False  # while its loaders are looked for
            self._datasets[key] = self._is_dataset(klass)
        return self._datasets[key]

    def _is_dataset(self, klass: Class) -> bool:
        if not self.ev.project.may_be_dataset(klass.scope.module, klass.node.name.value):
            return False
        if dataset_kind(self.ev, klass):
            return True
        return looks_like_one(self.ev, klass) and (is_called_dataset(self.ev, klass) or self._reaches_loader(klass))

    def _reaches_loader(self, klass: Class) -> bool:
        """Whether a loader of the class's module, or of one that can get at the class, is given an object of it."""
        module = klass.scope.module
        name = klass.node.name.value
        if reaches_loader(self.ev, klass, self.loaders(module)):
            return True
        if is_container(self.ev, klass):
            return False  # which may be used everywhere, so that much would be opened to find that it is none
        # A table of classes, or a function that looks in one, carries it to files that do not know its name.
        users = self.ev.project.users(module.path, self.names_that_use(module, {name}), MAX_CARRIED, MAX_USERS)
        return any(reaches_loader(self.ev, klass, self.loaders(each)) for each in users)

    def datasets(self, module: ModuleFacts) -> list[Class]:
        """The Datasets that a module defines."""
        found = (Class(scope, self.ev.frame_of(scope)) for scope in module.classes)
        return [klass for klass in found if self.is_dataset(klass)]

    def loaders(self, module: ModuleFacts) -> list[Loader]:
        """The loaders that a module makes."""
        return loaders_in(self.ev, module)

    def functions(self, module: ModuleFacts) -> list[WorkerFunction]:
        """All that workers run for the Datasets and loaders of one module, wherever it is defined.

        A function can be there several times, in different frames.
        """
        key = id(module)
        if key not in self._functions:
            self._functions[key] = []
            self._functions[key] = worker_functions(self, module)
        return self._functions[key]

    def functions_inside(self, module: ModuleFacts, names: Iterable[str]) -> Iterator[WorkerFunction]:
        """The functions of a module that workers run for any Dataset of the project; its own Datasets come first.

        `names` are the names of the module under which the rest of the project can get at what is looked for.
        """
        yield from (each for each in self.functions(module) if each.module is module)
        for user in self.users(module, set(names)):
            yield from (each for each in self.functions(user) if each.module is module)

    def users(self, module: ModuleFacts, names: set[str]) -> Iterator[ModuleFacts]:
        """The modules of the project that may make loaders and can get at names of a module, nearest first."""
        return self.ev.project.users(module.path, names, MAX_LEVELS, MAX_USERS)

    def names_holding(self, module: ModuleFacts, nodes: Iterable[cst.CSTNode]) -> set[str]:
        """The names at the top of a module whose definitions hold one of the nodes, and those that use these names."""
        holding = {id(node) for node in nodes}
        for node in list(nodes):
            holding.update(id(above) for above in module.tree.ancestors(node))
        direct = {
            name
            for name, bindings in bindings_of(module.root).items()
            if any(id(binding.node) in holding for binding in bindings)
        }
        return self.names_that_use(module, direct)

    def names_that_use(self, module: ModuleFacts, wanted: set[str]) -> set[str]:
        """The names at the top of a module that mention one of the wanted names, directly or through each other."""
        asked = (id(module), frozenset(wanted))
        if asked not in self._using:
            once, root = module.tree.once, id(module.root)
            told: Outline = once(("outline", root), lambda: self.ev.project.outline_of(module))
            by_word = once(("mentioned by", root), lambda: mentioned_by(told))
            bound = once(("bound names", root), lambda: {name.encode(): name for name in bindings_of(module.root)})
            # What the text does not tell of, as what stands under an `if`, may use any of the names.
            untold = once(("untold names", root), lambda: bound.keys() - told.keys())
            near = that_lead_to(by_word, {*(name.encode() for name in wanted), *untold})
            mentions = {bound[key]: self._words(module, bound[key]) for key in {*near, *untold} if key in bound}
            self._using[asked] = that_use(mentions, wanted)
        return self._using[asked]

    def _words(self, module: ModuleFacts, name: str) -> set[str]:
        key = (id(module), name)
        if key not in self._mentions:
            self._mentions[key] = _words(module, bindings_of(module.root)[name])
        return self._mentions[key]


def _words(module: ModuleFacts, bindings: list[Binding]) -> set[str]:
    """All names and attributes that stand in what a name is bound to.

    That is functions, classes with their bases, imports, other names of a class and tables of functions. What stands
    under a main guard nobody gets from the module.
    """
    found = {binding.member for binding in bindings if binding.member is not None}
    for binding in bindings:
        stands: cst.CSTNode | None = None
        if id(binding.node) in module.tree.inner_scope:
            stands = binding.node
        elif binding.kind is Kind.VALUE and not is_guarded(binding.node, module.tree):
            stands = binding.value
        for node in module.tree.walk(stands) if stands is not None else ():
            kind = type(node)
            if kind is cst.Name:
                found.add(node.value)  # type: ignore[attr-defined]
            elif kind is cst.Attribute:
                found.add(node.attr.value)  # type: ignore[attr-defined]
    return found
