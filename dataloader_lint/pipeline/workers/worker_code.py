"""Which classes are Datasets, which loaders a module constructs, and what runs in worker processes for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.candidates import (
    is_called_dataset,
    is_given_to_library,
    is_wrapped,
    looks_like_dataset,
    reaches_loader,
)
from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind, is_container
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction, worker_functions
from dataloader_lint.semantics.evaluation.evaluate import Evaluation
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loaders_in
from dataloader_lint.semantics.limits import CARRYING_LEVELS, USING_LEVELS, USING_MODULES
from dataloader_lint.semantics.project.outline import Outline, mentioned_by, that_lead_to, that_use
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import Class


class Workers:
    """Datasets, loaders and worker code for all modules of a session; each answer is computed once."""

    def __init__(self, ev: Evaluation) -> None:
        self.ev = ev
        self._datasets: dict[int, bool] = {}
        self._functions: dict[int, list[WorkerFunction]] = {}
        self._mentions: dict[tuple[int, str], set[str]] = {}
        self._users_of_names: dict[tuple[int, frozenset[str]], set[str]] = {}

    def is_dataset(self, klass: Class) -> bool:
        """True if a class is a Dataset: it has a library base, or has a Dataset's methods and is given to a loader."""
        key = id(klass.scope)
        if key not in self._datasets:
            self._datasets[key] = False  # while its loaders are searched
            self._datasets[key] = self._is_dataset(klass)
        return self._datasets[key]

    def _is_dataset(self, klass: Class) -> bool:
        if not self.ev.project.may_be_dataset(klass.scope.module, klass.node.name.value):
            return False
        if dataset_kind(self.ev, klass):
            return True
        return looks_like_dataset(self.ev, klass) and (is_called_dataset(self.ev, klass) or self._reaches_loader(klass))

    def _reaches_loader(self, klass: Class) -> bool:
        """True if the class's module, or one that can refer to the class, gives an instance to what reads it."""
        module = klass.scope.module
        name = klass.node.name.value
        if self._is_read_in(klass, module):
            return True
        if is_container(self.ev, klass):
            return False  # containers are used everywhere: too many files would be opened to rule them out
        # A class registry, or a function that looks in one, brings the class to files that do not mention its name.
        users = self.ev.project.users(module.path, self.names_that_use(module, {name}), CARRYING_LEVELS, USING_MODULES)
        return any(self._is_read_in(klass, each) for each in users)

    def _is_read_in(self, klass: Class, module: ModuleFacts) -> bool:
        """True if a module gives an instance of a class to a loader, to a Dataset, or to a library that makes one."""
        return (
            reaches_loader(self.ev, klass, self.loaders(module))
            or is_wrapped(self.ev, klass, module)
            or is_given_to_library(self.ev, klass, module)
        )

    def datasets(self, module: ModuleFacts) -> list[Class]:
        """The Datasets that a module defines."""
        found = (Class(scope, self.ev.frame_of(scope)) for scope in module.classes)
        return [klass for klass in found if self.is_dataset(klass)]

    def loaders(self, module: ModuleFacts) -> list[Loader]:
        """The loaders that a module constructs."""
        return loaders_in(self.ev, module)

    def functions(self, module: ModuleFacts) -> list[WorkerFunction]:
        """Returns all functions that workers run for the Datasets and loaders of one module, wherever they are defined.

        A function can occur several times, in different frames.
        """
        key = id(module)
        if key not in self._functions:
            self._functions[key] = []
            self._functions[key] = worker_functions(self, module)
        return self._functions[key]

    def functions_inside(self, module: ModuleFacts, names: Iterable[str]) -> Iterator[WorkerFunction]:
        """The functions of a module that workers run for any Dataset of the project; its own Datasets come first.

        `names` are the module's names through which the rest of the project can refer to what is searched.
        """
        yield from (each for each in self.functions(module) if each.module is module)
        for user in self.users(module, set(names)):
            yield from (each for each in self.functions(user) if each.module is module)

    def users(self, module: ModuleFacts, names: set[str]) -> Iterator[ModuleFacts]:
        """The modules of the project that may construct loaders and can refer to `names` of a module, nearest first."""
        return self.ev.project.users(module.path, names, USING_LEVELS, USING_MODULES)

    def names_containing(self, module: ModuleFacts, nodes: Iterable[cst.CSTNode]) -> set[str]:
        """The top-level names of a module whose definitions contain one of the nodes, and the names that use these."""
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
        """The top-level names of a module that mention one of the wanted names, directly or transitively."""
        query = (id(module), frozenset(wanted))
        if query not in self._users_of_names:
            once, root = module.tree.once, id(module.root)
            outline: Outline = once(("outline", root), lambda: self.ev.project.outline_of(module))
            by_word = once(("mentioned by", root), lambda: mentioned_by(outline))
            bound = once(("bound names", root), lambda: {name.encode(): name for name in bindings_of(module.root)})
            # The outline omits names bound under an `if`, for example; these may use any name.
            not_outlined = once(("untold names", root), lambda: bound.keys() - outline.keys())
            near = that_lead_to(by_word, {*(name.encode() for name in wanted), *not_outlined})
            mentions = {bound[key]: self._words(module, bound[key]) for key in {*near, *not_outlined} if key in bound}
            self._users_of_names[query] = that_use(mentions, wanted)
        return self._users_of_names[query]

    def _words(self, module: ModuleFacts, name: str) -> set[str]:
        key = (id(module), name)
        if key not in self._mentions:
            self._mentions[key] = _words(module, bindings_of(module.root)[name])
        return self._mentions[key]


def _words(module: ModuleFacts, bindings: list[Binding]) -> set[str]:
    """All names and attributes in what a name is bound to.

    This covers functions, classes with their bases, imports, other names of a class and tables of functions. Code under
    a main guard is left out: no importing module can use it.
    """
    found = {binding.member for binding in bindings if binding.member is not None}
    for binding in bindings:
        content: cst.CSTNode | None = None
        if id(binding.node) in module.tree.inner_scope:
            content = binding.node
        elif binding.kind is Kind.VALUE and not is_guarded(binding.node, module.tree):
            content = binding.value
        for node in module.tree.walk(content) if content is not None else ():
            kind = type(node)
            if kind is cst.Name:
                found.add(node.value)  # type: ignore[attr-defined]
            elif kind is cst.Attribute:
                found.add(node.attr.value)  # type: ignore[attr-defined]
    return found
