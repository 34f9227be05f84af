"""Which classes are Datasets, and which functions run in worker processes on their behalf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from dataloader_lint.facts import classes, members, streams
from dataloader_lint.facts.dataset_bases import dataset_kind
from dataloader_lint.facts.datasets import looks_like_one, reaches_loader
from dataloader_lint.facts.evaluate import Evaluation
from dataloader_lint.facts.handing import given_by_strangers, may_be_function
from dataloader_lint.facts.library import CALLED_BY_BASES
from dataloader_lint.facts.loaders import Loader, loaders_in
from dataloader_lint.facts.looked_up import arguments_of_looked_up
from dataloader_lint.facts.module import ModuleFacts, last_name
from dataloader_lint.facts.names import Binding, bindings_of
from dataloader_lint.facts.outline import that_use
from dataloader_lint.facts.tree import Scope, function_scope
from dataloader_lint.facts.values import (
    UNKNOWN,
    Class,
    Element,
    Frame,
    Function,
    Library,
    Made,
    Mapping,
    Method,
    Partial,
    Sequence,
    Value,
)

ENTRIES = ("__getitem__", "__getitems__", "__iter__")
HANDED_TO_WORKERS = ("collate_fn", "worker_init_fn")
# Bounds: what they cut off is not known to run in workers.
MAX_FUNCTIONS = 200
MAX_FRAMES = 2
MAX_CALLS = 800  # in these functions; what evaluation costs would depend on what is worked out already
MAX_USERS = 60
MAX_LEVELS = 3
MAX_CARRIED = 4  # from the file of a class over its heirs and the packages that hand them on


@dataclass(frozen=True, slots=True, eq=False)
class WorkerFunction:
    """A function or lambda that runs in worker processes, in one frame; `caller` is None for what the loader calls."""

    scope: Scope
    frame: Frame
    caller: WorkerFunction | None
    argument: str = ""  # of the loader, through which it gets to the workers; empty where a Dataset brings it
    library_calls: list[tuple[cst.Call, str]] = field(default_factory=list)  # to what, by its qualified name

    @property
    def module(self) -> ModuleFacts:
        return self.scope.module

    @property
    def label(self) -> str:
        """What the user calls it: `Pairs.__getitem__`, `read_image`; for a method the class of the object."""
        node = self.scope.node
        if not isinstance(node, cst.FunctionDef):
            return "lambda"
        klass = classes.class_of(self.scope)
        if klass is None:
            return node.name.value
        receiver = self.frame.receiver
        by = receiver.by if isinstance(receiver, Made) else receiver
        assert isinstance(klass.node, cst.ClassDef)
        owner = by.node if isinstance(by, Class) else klass.node
        return f"{owner.name.value}.{node.name.value}"

    @property
    def path(self) -> tuple[WorkerFunction, ...]:
        """How the worker gets here, this function last."""
        return (*(self.caller.path if self.caller is not None else ()), self)


class Workers:
    """Answers for all modules of a session, each worked out once."""

    def __init__(self, ev: Evaluation) -> None:
        self.ev = ev
        self._loaders: dict[int, list[Loader]] = {}
        self._datasets: dict[int, bool] = {}
        self._functions: dict[int, list[WorkerFunction]] = {}
        self._mentions: dict[int, dict[str, set[str]]] = {}
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
        return looks_like_one(self.ev, klass) and self._reaches_loader(klass)

    def _reaches_loader(self, klass: Class) -> bool:
        """Whether a loader of the class's module, or of one that can get at the class, is given an object of it."""
        module = klass.scope.module
        name = klass.node.name.value
        for near in (module, *self.ev.project.importers(module, [name])):
            if reaches_loader(self.ev, klass, self.loaders(near)):
                return True
        # A table of classes, or a function that looks in one, carries it to files that do not know its name.
        further = self.ev.project.users(module.path, self.names_that_use(module, {name}), MAX_CARRIED, MAX_USERS)
        return any(reaches_loader(self.ev, klass, self.loaders(each)) for each in further)

    def datasets(self, module: ModuleFacts) -> list[Class]:
        """The Datasets that a module defines."""
        found = (Class(scope, self.ev.frame_of(scope)) for scope in module.classes)
        return [klass for klass in found if self.is_dataset(klass)]

    def loaders(self, module: ModuleFacts) -> list[Loader]:
        """The loaders that a module makes."""
        key = id(module)
        if key not in self._loaders:
            self._loaders[key] = []  # while they are looked for
            self._loaders[key] = list(loaders_in(self.ev, module))
        return self._loaders[key]

    def functions(self, module: ModuleFacts) -> list[WorkerFunction]:
        """All that workers run for the Datasets and loaders of one module, wherever it is defined.

        A function can be there several times, in different frames.
        """
        key = id(module)
        if key not in self._functions:
            self._functions[key] = []
            self._functions[key] = _Closure(self).of_module(module)
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
        key = id(module)
        if key not in self._mentions:
            self._mentions[key] = {name: _words(module, each) for name, each in bindings_of(module.root).items()}
        asked = (key, frozenset(wanted))
        if asked not in self._using:
            self._using[asked] = that_use(self._mentions[key], wanted)
        return self._using[asked]


def _words(module: ModuleFacts, bindings: list[Binding]) -> set[str]:
    """All names and attributes that stand in what a name is bound to: functions, classes with their bases, imports."""
    found = {binding.member for binding in bindings if binding.member is not None}
    for binding in bindings:
        if id(binding.node) in module.tree.inner_scope:
            for node in module.tree.walk(binding.node):
                kind = type(node)
                if kind is cst.Name:
                    found.add(node.value)  # type: ignore[attr-defined]
                elif kind is cst.Attribute:
                    found.add(node.attr.value)  # type: ignore[attr-defined]
    return found


def _iterables(scope: Scope, kind: type[cst.For | cst.CompFor]) -> Iterator[cst.BaseExpression]:
    return (loop.iter for loop in scope.within(kind))


class _Closure:
    """Follows the calls from what a loader runs in its workers."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.ev = workers.ev
        self.found: list[WorkerFunction] = []
        self._frames: dict[tuple[int, int, Value | None], Frame] = {}
        self._entered: set[int] = set()
        self._times: dict[int, int] = {}
        self._held: set[Value] = set()
        self._argument = ""  # the argument of a loader that is being looked at

    def of_module(self, module: ModuleFacts) -> list[WorkerFunction]:
        own = self.workers.datasets(module)
        for klass in own:
            self._dataset(Made(klass, None, None))
        for loader in self.workers.loaders(module):
            for value in loader.values("dataset"):
                self._dataset(value)
                if value is UNKNOWN:
                    for arg, frame in arguments_of_looked_up(loader):
                        for given in self.ev.values(arg.value, frame):
                            self._holds(given, None)
            for name in HANDED_TO_WORKERS if loader.has_workers is not False else ():
                self._argument = name
                for value in loader.values(name):
                    self._holds(value, None)
                self._argument = ""
        for call in module.all_calls():
            name = last_name(call.func)
            if name[:1].isupper() and self.ev.project.may_be_dataset(module, name):
                frame = self.ev.frame_of(function_scope(module.tree.scope_of(call)))
                for callee in self.ev.values(call.func, frame):
                    if isinstance(callee, Class) and callee.scope.module is not module:
                        if self.workers.is_dataset(callee):
                            self._dataset(Made(callee, call, frame))
        calls = 0
        for each in self.found:  # grows while it is gone through
            calls += self._follow(each)
            if calls > MAX_CALLS:
                break
        return self.found

    def _dataset(self, value: Value) -> None:
        """What workers run of a Dataset, be it one of a library around others."""
        while isinstance(value, Element):
            value = value.of
        if not isinstance(value, Made) or value in self._held:
            return
        self._held.add(value)
        if isinstance(value.by, Class):
            for name in (*ENTRIES, *self._hooks(value.by)):
                self._method(value, value.by, name, None)
            if streams.next_of(self.ev, self.ev.bases(value.by)) is not None:
                self._method(value, value.by, "__next__", None)
            self._given_to_bases(value, value.by)
        else:
            for inner in self._arguments(value):
                self._dataset(inner)
                self._holds(inner, None)

    def _hooks(self, klass: Class) -> list[str]:
        libraries = self.ev.bases(klass).libraries
        return [
            name
            for prefix, names in CALLED_BY_BASES.items()
            if any(library.startswith(prefix) for library in libraries)
            for name in names
        ]

    def _given_to_bases(self, value: Made, klass: Class) -> None:
        """Callables that a constructor hands to the one of a library's base, which keeps and calls them."""
        function = classes.find_method(self.ev, self.ev.bases(klass).classes, "__init__")
        if function is None:
            return
        frame = members.method_frame(self.ev, function.scope, value)
        for call in function.scope.own(cst.Call):
            if last_name(call.func) == "__init__" and any(
                isinstance(callee, Library) for callee in self.ev.values(call.func, frame)
            ):
                for arg in call.args:
                    for inner in self.ev.values(arg.value, frame):
                        self._holds(inner, None)

    def _arguments(self, value: Made) -> Iterator[Value]:
        """What the making of a library's object was given, the elements of lists one by one."""
        if value.call is None or value.frame is None:
            return
        for arg in value.call.args:
            for given in self.ev.values(arg.value, value.frame):
                yield given
                if isinstance(given, Sequence):
                    yield from self.ev.element(given)

    def _holds(self, value: Value, caller: WorkerFunction | None) -> None:
        """Something that is kept and called somewhere out of sight, if it is a callable."""
        if isinstance(value, Function):
            self._enter(value.scope, self._frame(value.scope, value.outer, None), caller)
        elif isinstance(value, Method):
            self._enter(value.function.scope, self._frame(value.function.scope, None, value.receiver), caller)
        elif isinstance(value, Partial):
            self._holds(value.callee, caller)
        elif isinstance(value, Made | Sequence | Mapping) and value not in self._held:
            self._held.add(value)
            if isinstance(value, Made):
                self._object(value, caller)
            elif isinstance(value, Sequence):
                for inner in self.ev.element(value):
                    self._holds(inner, caller)

    def _object(self, value: Made, caller: WorkerFunction | None) -> None:
        """Calling an object: its `__call__`, methods that a library's base calls, or all that a library was given."""
        if isinstance(value.by, Class):
            if not self._method(value, value.by, "__call__", caller):
                for name in self._hooks(value.by):
                    self._method(value, value.by, name, caller)
            return
        for inner in self._arguments(value):
            self._holds(inner, caller)

    def _method(self, value: Made, klass: Class, name: str, caller: WorkerFunction | None) -> bool:
        function = classes.find_method(self.ev, self.ev.bases(klass).classes, name)
        if function is None:
            return False
        self._enter(function.scope, self._frame(function.scope, None, value), caller)
        return True

    def _frame(self, scope: Scope, outer: Frame | None, receiver: Value | None) -> Frame:
        """The frame of a function about whose call nothing is known but its object, or the function around it."""
        key = (id(scope), id(outer), receiver)
        if key not in self._frames:
            frame = self.ev.frame_of(scope)
            if isinstance(receiver, Made):
                frame = members.method_frame(self.ev, scope, receiver)
            elif receiver is not None:
                frame = Frame(scope, None, receiver, frame.outer)
            elif outer is not None and outer is not frame.outer:
                frame = Frame(scope, None, None, outer)
            self._frames[key] = frame
        return self._frames[key]

    def _enter(self, scope: Scope, frame: Frame, caller: WorkerFunction | None) -> None:
        times = self._times.get(id(scope), 0)
        if id(frame) in self._entered or times >= MAX_FRAMES or len(self.found) >= MAX_FUNCTIONS:
            return
        self._entered.add(id(frame))
        self._times[id(scope)] = times + 1
        argument = caller.argument if caller is not None else self._argument
        self.found.append(WorkerFunction(scope, frame, caller, argument))

    def _follow(self, function: WorkerFunction) -> int:
        """What one function runs. Gives the number of its calls."""
        scope, frame = function.scope, function.frame
        calls = list(scope.within(cst.Call))
        for call in calls:
            if not given_by_strangers(self.ev, call.func, frame):
                for callee in self.ev.values(call.func, frame):
                    self._call(callee, call, function)
        self._reads_properties(function)
        for subscript in scope.within(cst.Subscript):
            self._uses(subscript.value, "__getitem__", function)
        for iterable in (*_iterables(scope, cst.For), *_iterables(scope, cst.CompFor)):
            self._uses(iterable, "__iter__", function)
        return len(calls)

    def _call(self, callee: Value, call: cst.Call, function: WorkerFunction) -> None:
        frame = function.frame
        if isinstance(callee, Function):
            self._enter(callee.scope, self.ev.enter(callee, call, frame, None), function)
        elif isinstance(callee, Method):
            entered = self.ev.enter(callee.function, call, frame, callee.receiver)
            self._enter(callee.function.scope, entered, function)
        elif isinstance(callee, Class):
            made = Made(callee, call, frame)
            init = classes.find_method(self.ev, self.ev.bases(callee).classes, "__init__")
            if init is not None:
                self._enter(init.scope, self.ev.enter(init, call, frame, made), function)
        elif isinstance(callee, Made):
            called = None
            if isinstance(callee.by, Class):
                called = classes.find_method(self.ev, self.ev.bases(callee.by).classes, "__call__")
            if called is not None:
                self._enter(called.scope, self.ev.enter(called, call, frame, callee), function)
            else:
                self._object(callee, function)
        elif isinstance(callee, Partial):
            self._holds(callee, function)
        else:
            if isinstance(callee, Library):
                function.library_calls.append((call, callee.name))
            for arg in call.args:  # map(self.read, names)
                if may_be_function(self.ev, arg.value, call, frame):
                    for given in self.ev.values(arg.value, frame):
                        if isinstance(given, Function | Method | Partial):
                            self._holds(given, function)

    def _reads_properties(self, function: WorkerFunction) -> None:
        frame: Frame | None = function.frame
        while frame is not None and not (isinstance(frame.receiver, Made) and isinstance(frame.receiver.by, Class)):
            frame = frame.outer
        if frame is None:
            return
        receiver = frame.receiver
        assert isinstance(receiver, Made) and isinstance(receiver.by, Class)
        own = classes.receiver_name(frame.scope)
        names = {
            node.attr.value
            for node in function.scope.within(cst.Attribute)
            if isinstance(node.value, cst.Name) and node.value.value == own
        }
        for name in sorted(names):
            method = classes.find_method(self.ev, self.ev.bases(receiver.by).classes, name)
            if method is not None and isinstance(method.node, cst.FunctionDef) and classes.is_property(method.node):
                self._method(receiver, receiver.by, name, function)

    def _uses(self, node: cst.CSTNode, name: str, function: WorkerFunction) -> None:
        """`self.inner[index]`, `for line in self.reader`: methods that run without being called by name."""
        if isinstance(node, cst.Name | cst.Attribute) and not given_by_strangers(self.ev, node, function.frame):
            for value in self.ev.values(node, function.frame):
                if isinstance(value, Made) and isinstance(value.by, Class):
                    self._method(value, value.by, name, function)
