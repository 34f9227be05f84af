"""Which objects reach which loaders, across the modules of a project, and what these objects contain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.loaders.dynamic_classes import arguments_of_dynamic_class
from dataloader_lint.pipeline.workers.object_graph import ObjectGraph, ObjectGraphs, Reachable
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.callers.parameters import entered_by
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_class
from dataloader_lint.semantics.limits import CALLER_HOPS, LOADER_MODULES, USING_LEVELS, USING_MODULES
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted, star_imports
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import (
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


@dataclass(frozen=True, slots=True, eq=False)
class LoaderArgument:
    """An object given to a loader as its dataset.

    `of` holds the `id` of the scope of each class in the object graph, base classes included. The loader's frame is
    that of one call found in the project, or has unknown arguments.
    """

    loader: Loader
    value: Value
    held: ObjectGraph
    of: frozenset[int]


class DatasetFlow:
    """Dataset flow for all modules of a session; each answer is computed once."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.ev = workers.ev
        self._graphs = ObjectGraphs(workers.ev)
        self._loader_arguments: dict[int, list[LoaderArgument]] = {}
        self._modules_around: dict[tuple[int, frozenset[str]], list[ModuleFacts]] = {}
        self._imports: dict[int, list[ModuleFacts]] = {}
        self._arguments_with: dict[int, list[LoaderArgument]] = {}
        self._worker_files: dict[int, set[str]] = {}
        self._subclasses: dict[int, dict[int, set[str]]] = {}

    def given(self, module: ModuleFacts) -> list[LoaderArgument]:
        """Returns the dataset arguments of the loaders of a module."""
        key = id(module)
        if key not in self._loader_arguments:
            self._loader_arguments[key] = []  # ends a recursive question
            self._loader_arguments[key] = [
                LoaderArgument(loader, value, held, self._classes_in(held))
                for written in self.workers.loaders(module)
                for loader in self._per_call_site(written)
                for value in loader.values("dataset")
                if not self._is_loader(value)
                for held in self._graphs_of(loader, value)
            ]
        return self._loader_arguments[key]

    def _classes_in(self, held: ObjectGraph) -> frozenset[int]:
        return frozenset(id(base.scope) for klass in held.classes for base in self.ev.bases(klass).classes)

    def _graphs_of(self, loader: Loader, value: Value) -> Iterator[ObjectGraph]:
        """The object graph of a dataset argument; for a class looked up by name, those of its transform arguments."""
        yield self._graphs.of(value)
        for arg, frame in arguments_of_dynamic_class(loader) if value is UNKNOWN else ():
            keyword = arg.keyword.value if arg.keyword is not None else ""
            if "transform" in keyword:
                yield self._graphs.of_argument(arg.value, frame, keyword)

    def _is_loader(self, value: Value) -> bool:
        """True if the dataset argument is itself a loader: it cannot be indexed and yields batches its own way."""
        return isinstance(value, CallResult) and loader_class(self.ev, value.by) is not None

    def graph_of_class(self, klass: Class) -> ObjectGraph:
        """The object graph of an instance of a class, constructed with unknown arguments."""
        made = self._graphs.bare(klass)
        return self._graphs.of(made, with_length=dataset_kind(self.ev, klass) != "iterable")

    def graph_of(self, made: CallResult) -> ObjectGraph:
        """The object graph of an object of a class of the project, constructed as it is."""
        return self._graphs.of(made)

    def loaders_of(self, klass: Class) -> list[Loader]:
        """The loaders of the project that instances of a class, or of a subclass, reach."""
        return [given.loader for given in self.arguments_with(klass)]

    def arguments_with(self, klass: Class) -> list[LoaderArgument]:
        """What the loaders of the project get that is an instance of a class, or of a subclass, or contains one.

        A loader without workers in a test does not count for a class that is defined elsewhere.
        """
        key = id(klass.scope)
        if key not in self._arguments_with:
            self._arguments_with[key] = []
            for_tests = is_test(klass.scope.module)
            self._arguments_with[key] = [
                given
                for module in self.around(klass.scope.module, self._names_with_subclasses(klass))
                for given in self.given(module)
                if id(klass.scope) in given.of
                and (for_tests or not is_test(module) or given.loader.has_workers is not False)
            ]
        return self._arguments_with[key]

    def _names_with_subclasses(self, klass: Class) -> list[str]:
        """The names of a class and of its subclasses in the module: an abstract class itself is never instantiated."""
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
        """The module, the modules that can refer to its `names`, and the modules these import loaders from."""
        key = (id(module), frozenset(names))
        if key not in self._modules_around:
            found = {module.path: module}
            for user in self.workers.users(module, set(names)):
                found.setdefault(user.path, user)
            for each in list(found.values()):
                for imported in self._imported(each):
                    if len(found) < LOADER_MODULES:
                        found.setdefault(imported.path, imported)
            self._modules_around[key] = list(found.values())
        return self._modules_around[key]

    def _imported(self, module: ModuleFacts) -> Iterable[ModuleFacts]:
        """The modules of the project that a module imports functions or classes from."""
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
            found += self._imported_by_star(module)
            self._imports[key] = list({each.path: each for each in found}.values())
        return self._imports[key]

    def _imported_by_star(self, module: ModuleFacts) -> list[ModuleFacts]:
        """The modules all of whose names a module takes, directly or by way of each other: `from helpers import *`."""
        found = [module]
        for each in found:  # grows during the iteration
            for star in star_imports(each.root):
                if self.ev.project.may_give_loaders(star):
                    scope = self.ev.project.find(star.imported, each, star.level)
                    if scope is not None and scope.module not in found:
                        found.append(scope.module)
        return found[1:]

    def _per_call_site(self, loader: Loader) -> Iterator[Loader]:
        """The loader in the frame of each known call of the enclosing function; unchanged if there is no such call."""
        scope = loader.frame.scope
        entered = list(self._frames_of_calls(scope)) if loader.frame.args is None and scope.is_function else []
        if not entered:
            yield loader
        for frame in entered:
            yield replace(loader, frame=frame)

    def _frames_of_calls(self, scope: Scope, depth: int = 0) -> Iterator[Frame]:
        """The frames of the known calls of a function; forwarded `**options` are resolved in the caller's own frames.

        `def add(self, data, **options): self.add_loader(data, **options)` is entered once per call of `add`.
        """
        for call, frame, callees in self.ev.callers(scope):
            frames = [frame]
            if depth < CALLER_HOPS and frame.args is None and frame.scope.is_function:
                if any(_forwards_options(arg, frame.scope) for arg in call.args):
                    frames = list(self._frames_of_calls(frame.scope, depth + 1)) or frames
            entered = (entered_by(self.ev, scope, callee, call, each) for callee in callees for each in frames)
            yield from (inner for inner in entered if inner is not None)

    def is_reached_from_loaders(self, path: str, names: Iterable[str]) -> bool:
        """True if workers run code of a file, or a loader's dataset contains an object defined there.

        `names` are the file's names that other modules can refer to. The file itself is not opened.
        """
        return any(
            path in self._worker_files_of(user)
            for user in self.ev.project.users(path, names, USING_LEVELS, USING_MODULES)
        )

    def _worker_files_of(self, module: ModuleFacts) -> set[str]:
        """The files of what workers run for the Datasets and loaders of a module, and of what these contain."""
        key = id(module)
        if key not in self._worker_files:
            found = self._worker_files[key] = {function.module.path for function in self.workers.functions(module)}
            held = [self.graph_of_class(klass) for klass in self.workers.datasets(module)]
            for each in (*held, *(given.held for given in self.given(module))):
                found.update(klass.scope.module.path for klass in each.classes)
                for kept in each.kept:
                    found.update((kept.frame.scope.module.path, *_definition_files(kept.value)))
        return self._worker_files[key]

    def reachable_around(self, module: ModuleFacts, names: Iterable[str]) -> Iterator[tuple[Reachable, Class | Loader]]:
        """Same as `reachable_in`, for all modules that can refer to `names` of this one."""
        return self.reachable_in(self.around(module, names))

    def reachable_in(self, modules: Iterable[ModuleFacts]) -> Iterator[tuple[Reachable, Class | Loader]]:
        """What the Datasets of some modules and the arguments of their loaders contain.

        Each comes with its Dataset class, whatever the arguments, or with the loader that the object is given to.
        """
        for each in modules:
            for klass in self.workers.datasets(each):
                for kept in self.graph_of_class(klass).kept:
                    yield kept, klass
            for given in self.given(each):
                for kept in given.held.kept:
                    yield kept, given.loader


def _forwards_options(arg: cst.Arg, scope: Scope) -> bool:
    """True if an argument forwards the function's own `**options`."""
    params = scope.node.params if isinstance(scope.node, cst.FunctionDef) else None
    rest = params.star_kwarg if params is not None else None
    return arg.star == "**" and rest is not None and dotted(arg.value) == rest.name.value


def _definition_files(value: Value) -> Iterator[str]:
    """The files in which a value was defined or constructed."""
    if isinstance(value, Method):
        value = value.function
    elif isinstance(value, Partial):
        yield from _definition_files(value.callee)
    if isinstance(value, Function | Class):
        yield value.scope.module.path
    elif isinstance(value, CallResult | Sequence | Mapping) and value.frame is not None:
        yield value.frame.scope.module.path
