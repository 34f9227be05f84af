"""Which objects reach which loaders, across the modules of a project, and what these objects keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.facts.infer.classes import find_method
from dataloader_lint.facts.infer.dataset_bases import dataset_kind
from dataloader_lint.facts.infer.loader_calls import Loader, loader_class
from dataloader_lint.facts.infer.values import (
    UNKNOWN,
    CallResult,
    Class,
    Frame,
    Function,
    Mapping,
    Method,
    Module,
    Partial,
    Sequence,
    Value,
)
from dataloader_lint.facts.loaders.dynamic_classes import arguments_of_dynamic_class
from dataloader_lint.facts.project.scripts import is_test
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.names import Kind, bindings_of, dotted
from dataloader_lint.facts.syntax.tree import Scope
from dataloader_lint.facts.workers.object_graph import ObjectGraph, ObjectGraphs, Reachable
from dataloader_lint.facts.workers.workers import MAX_LEVELS, MAX_USERS, Workers

MAX_MODULES = 40
_MAX_HOPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class LoaderArgument:
    """An object that a loader is given to read, where the loader is made by one call in sight, or nobody knows.

    `of` holds the `id` of the scope of each class that objects in it are of, by inheritance too.
    """

    loader: Loader
    value: Value
    held: ObjectGraph
    of: frozenset[int]


class DatasetFlow:
    """Answers for all modules of a session, each worked out once."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.ev = workers.ev
        self._inventories = ObjectGraphs(workers.ev)
        self._given: dict[int, list[LoaderArgument]] = {}
        self._around: dict[tuple[int, frozenset[str]], list[ModuleFacts]] = {}
        self._imports: dict[int, list[ModuleFacts]] = {}
        self._loaders: dict[int, list[Loader]] = {}
        self._behind: dict[int, set[str]] = {}
        self._subclasses: dict[int, dict[int, set[str]]] = {}

    def given(self, module: ModuleFacts) -> list[LoaderArgument]:
        """What the loaders of a module are given."""
        key = id(module)
        if key not in self._given:
            self._given[key] = []  # while it is worked out
            self._given[key] = [
                LoaderArgument(loader, value, held, self._classes_in(held))
                for written in self.workers.loaders(module)
                for loader in self._by_caller(written)
                for value in loader.values("dataset")
                if not self._is_loader(value)
                for held in self._held_by(loader, value)
            ]
        return self._given[key]

    def _classes_in(self, held: ObjectGraph) -> frozenset[int]:
        return frozenset(id(base.scope) for klass in held.classes for base in self.ev.bases(klass).classes)

    def _held_by(self, loader: Loader, value: Value) -> Iterator[ObjectGraph]:
        """What an object that a loader is given keeps; the transforms of one whose class is looked up by its name."""
        yield self._inventories.of(value)
        for arg, frame in arguments_of_dynamic_class(loader) if value is UNKNOWN else ():
            keyword = arg.keyword.value if arg.keyword is not None else ""
            if "transform" in keyword:
                yield self._inventories.of_argument(arg.value, frame, keyword)

    def _is_loader(self, value: Value) -> bool:
        """Whether a loader is given another one, which cannot be indexed: it has a way of its own to give batches."""
        return isinstance(value, CallResult) and loader_class(self.ev, value.by) is not None

    def held_by(self, klass: Class) -> ObjectGraph:
        """What an object of a class keeps whatever it is made from."""
        made = self._inventories.bare(klass)
        return self._inventories.of(made, with_length=dataset_kind(self.ev, klass) != "iterable")

    def loaders_of(self, klass: Class) -> list[Loader]:
        """The loaders in sight that objects of a class, or of one derived from it, reach.

        A test that asks for no workers says nothing about those who use a class that is there for others.
        """
        key = id(klass.scope)
        if key not in self._loaders:
            self._loaders[key] = []
            for_tests = is_test(klass.scope.module)
            self._loaders[key] = [
                given.loader
                for module in self.around(klass.scope.module, self._names(klass))
                for given in self.given(module)
                if id(klass.scope) in given.of
                and (for_tests or not is_test(module) or given.loader.has_workers is not False)
            ]
        return self._loaders[key]

    def _names(self, klass: Class) -> list[str]:
        """The names of a class and of the classes of its module that derive from it: an abstract one is never made."""
        module = klass.scope.module
        key = id(module)
        if key not in self._subclasses:
            subclasses = self._subclasses[key] = defaultdict(set)
            for scope in module.root.inner:
                if isinstance(scope.node, cst.ClassDef) and scope.node.bases:
                    for base in self.ev.bases(Class(scope, self.ev.frame_of(module.root))).classes:
                        subclasses[id(base.scope)].add(scope.node.name.value)
        return sorted({klass.node.name.value, *self._subclasses[key].get(id(klass.scope), ())})

    def around(self, module: ModuleFacts, names: Iterable[str]) -> list[ModuleFacts]:
        """The modules that can get at names of a module, itself first, and those that these import loaders from."""
        key = (id(module), frozenset(names))
        if key not in self._around:
            found = {module.path: module}
            for user in self.workers.users(module, set(names)):
                found.setdefault(user.path, user)
            for each in list(found.values()):
                for imported in self._imported(each):
                    if len(found) < MAX_MODULES:
                        found.setdefault(imported.path, imported)
            self._around[key] = list(found.values())
        return self._around[key]

    def _imported(self, module: ModuleFacts) -> Iterable[ModuleFacts]:
        """The modules of the project that a module takes functions or classes from."""
        key = id(module)
        if key not in self._imports:
            found = [
                value.scope.module
                for bindings in bindings_of(module.root).values()
                for binding in bindings
                if binding.kind is Kind.IMPORT and self.ev.project.may_give_loaders(binding)
                for value in self.ev.imported(binding)
                if isinstance(value, Function | Class | Module) and value.scope.module is not module
            ]
            self._imports[key] = list({each.path: each for each in found}.values())
        return self._imports[key]

    def _by_caller(self, loader: Loader) -> Iterator[Loader]:
        """A loader as each call in sight of the function around it makes it; as it stands where there is none."""
        scope = loader.frame.scope
        entered = list(self._entered(scope)) if loader.frame.args is None and scope.is_function else []
        if not entered:
            yield loader
        for frame in entered:
            yield replace(loader, frame=frame)

    def _entered(self, scope: Scope, depth: int = 0) -> Iterator[Frame]:
        """The frames in which the calls in sight run a function; what these hand on with a star is that of their own.

        `def add(self, data, **options): self.add_loader(data, **options)` is seen as each call of `add` runs it.
        """
        for call, frame, callees in self.ev.callers(scope):
            frames = [frame]
            if depth < _MAX_HOPS and frame.args is None and frame.scope.is_function:
                if any(_hands_on(arg, frame.scope) for arg in call.args):
                    frames = list(self._entered(frame.scope, depth + 1)) or frames
            for callee in callees:
                if isinstance(callee, Function) and callee.scope is scope:
                    yield from (self.ev.enter(callee, call, each, None) for each in frames)
                elif isinstance(callee, Method) and callee.function.scope is scope:
                    yield from (self.ev.enter(callee.function, call, each, callee.receiver) for each in frames)
                elif isinstance(callee, Class):  # a construction: what it is given goes to the constructor
                    function = find_method(self.ev, self.ev.bases(callee).classes, "__init__")
                    if function is not None and function.scope is scope:
                        yield from (
                            self.ev.enter(function, call, each, CallResult(callee, call, each)) for each in frames
                        )

    def is_reached_from_loaders(self, path: str, names: Iterable[str]) -> bool:
        """Whether workers run anything that stands in a file, or what loaders are given keeps any of it.

        `names` are those under which the rest of the project can get at it; the file itself is not opened for this.
        """
        return any(
            path in self._files_behind(user) for user in self.ev.project.users(path, names, MAX_LEVELS, MAX_USERS)
        )

    def _files_behind(self, module: ModuleFacts) -> set[str]:
        """The files of what workers run for the Datasets and loaders of a module, and of what these keep."""
        key = id(module)
        if key not in self._behind:
            found = self._behind[key] = {function.module.path for function in self.workers.functions(module)}
            held = [self.held_by(klass) for klass in self.workers.datasets(module)]
            for each in (*held, *(given.held for given in self.given(module))):
                found.update(klass.scope.module.path for klass in each.classes)
                for kept in each.kept:
                    found.update((kept.frame.scope.module.path, *_homes(kept.value)))
        return self._behind[key]

    def kept_around(self, module: ModuleFacts, names: Iterable[str]) -> Iterator[tuple[Reachable, Class | Loader]]:
        """What is kept as `kept_in` has it, for all modules that can get at names of this one."""
        return self.kept_in(self.around(module, names))

    def kept_in(self, modules: Iterable[ModuleFacts]) -> Iterator[tuple[Reachable, Class | Loader]]:
        """What Datasets and what loaders are given keep, in some modules.

        Each with the Dataset that keeps it whatever it is made from, or with the loader that the object is given to.
        """
        for each in modules:
            for klass in self.workers.datasets(each):
                for kept in self.held_by(klass).kept:
                    yield kept, klass
            for given in self.given(each):
                for kept in given.held.kept:
                    yield kept, given.loader


def _hands_on(arg: cst.Arg, scope: Scope) -> bool:
    """Whether an argument is what a function gets by its own `**options`."""
    params = scope.node.params if isinstance(scope.node, cst.FunctionDef) else None
    rest = params.star_kwarg if params is not None else None
    return arg.star == "**" and rest is not None and dotted(arg.value) == rest.name.value


def _homes(value: Value) -> Iterator[str]:
    """The files in which something was defined or made."""
    if isinstance(value, Method):
        value = value.function
    elif isinstance(value, Partial):
        yield from _homes(value.callee)
    if isinstance(value, Function | Class):
        yield value.scope.module.path
    elif isinstance(value, CallResult | Sequence | Mapping) and value.frame is not None:
        yield value.frame.scope.module.path
