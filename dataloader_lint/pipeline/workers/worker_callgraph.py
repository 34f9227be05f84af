"""The functions that run in worker processes: the call graph from loaders and Datasets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import libcst as cst

from dataloader_lint.pipeline.datasets import streams
from dataloader_lint.pipeline.datasets.dataset_bases import indexed_methods
from dataloader_lint.pipeline.loaders.callbacks import FUNCTION_ARGUMENTS, assigned_later
from dataloader_lint.pipeline.loaders.dynamic_classes import arguments_of_dynamic_class
from dataloader_lint.pipeline.workers.object_graph import keeps_arguments
from dataloader_lint.pipeline.workers.prefilter import is_unresolved_parameter, may_be_function
from dataloader_lint.semantics.callers.parameters import partial_arguments
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.evaluation.evaluate import Evaluation
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import CALLED_BY_BASES
from dataloader_lint.semantics.limits import WORKER_CALLS, WORKER_FRAMES, WORKER_FUNCTIONS
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    Argument,
    CallResult,
    Class,
    Frame,
    Function,
    ItemOf,
    Library,
    Mapping,
    Method,
    Partial,
    Sequence,
    Value,
    Values,
)

ENTRIES = ("__getitem__", "__getitems__", "__iter__")


@dataclass(frozen=True, slots=True, eq=False)
class WorkerFunction:
    """A function or lambda that runs in worker processes, in one frame; `caller` is None if the loader calls it."""

    scope: Scope
    frame: Frame
    caller: WorkerFunction | None
    argument: str = ""  # the loader argument that brings it to workers; empty if a Dataset does
    library_calls: list[tuple[cst.Call, str]] = field(default_factory=list)  # with qualified names

    @property
    def module(self) -> ModuleFacts:
        return self.scope.module

    @property
    def label(self) -> str:
        """Its name for the user: `Pairs.__getitem__`, `read_image`; methods get the class of the object."""
        node = self.scope.node
        if not isinstance(node, cst.FunctionDef):
            return "lambda"
        klass = classes.class_of(self.scope)
        if klass is None:
            return node.name.value
        receiver = self.frame.receiver
        by = receiver.by if isinstance(receiver, CallResult) else receiver
        assert isinstance(klass.node, cst.ClassDef)
        owner = by.node if isinstance(by, Class) else klass.node
        return f"{owner.name.value}.{node.name.value}"

    @property
    def path(self) -> tuple[WorkerFunction, ...]:
        """The call path from the entry point to this function, which comes last."""
        return (*(self.caller.path if self.caller is not None else ()), self)


class WorkerIndex(Protocol):
    """The Datasets and loaders of a project; `workers.Workers` implements it."""

    ev: Evaluation

    def is_dataset(self, klass: Class) -> bool:
        """True if a class is a Dataset."""
        ...

    def datasets(self, module: ModuleFacts) -> list[Class]:
        """The Datasets that a module defines."""
        ...

    def loaders(self, module: ModuleFacts) -> list[Loader]:
        """The loaders that a module constructs."""
        ...


def worker_functions(known: WorkerIndex, module: ModuleFacts) -> list[WorkerFunction]:
    """Returns all functions that workers run for the Datasets and loaders of a module, wherever they are defined.

    A function can occur several times, in different frames.
    """
    return _CallGraph(known).of_module(module)


def _iterables(scope: Scope, kind: type[cst.For | cst.CompFor]) -> Iterator[cst.BaseExpression]:
    return (loop.iter for loop in scope.within(kind))


class _CallGraph:
    """Follows the calls from the entry points that a loader runs in its workers."""

    def __init__(self, known: WorkerIndex) -> None:
        self.known = known
        self.ev = known.ev
        self.found: list[WorkerFunction] = []
        self._frames: dict[tuple[int, int, Value | None], Frame] = {}
        self._entered: set[int] = set()
        self._frame_counts: dict[int, int] = {}
        self._datasets: set[Value] = set()
        self._visited: set[Value] = set()  # what is called, not indexed
        self._argument = ""  # the loader argument that is being followed

    def of_module(self, module: ModuleFacts) -> list[WorkerFunction]:
        own = self.known.datasets(module)
        for klass in own:
            self._dataset(CallResult(klass, None, None))
        for loader in self.known.loaders(module):
            for value in loader.values("dataset"):
                self._dataset(value)
                if value is UNKNOWN:
                    for arg, frame in arguments_of_dynamic_class(loader):
                        for given in self.ev.values(arg.value, frame):
                            self._stored_callable(given, None)
            for name in FUNCTION_ARGUMENTS:
                self._callbacks(loader, name, loader.values(name))
        for name in FUNCTION_ARGUMENTS:
            for loader, _, value in assigned_later(self.ev, module, name):
                self._callbacks(loader, name, (value,))
        self._imported_datasets(module)
        calls = 0
        for each in self.found:  # grows during the iteration
            calls += self._follow(each)
            if calls > WORKER_CALLS:
                break
        return self.found

    def _imported_datasets(self, module: ModuleFacts) -> None:
        """Adds what workers run of the Datasets of other modules whose objects a module makes."""
        for call in module.all_calls():
            name = last_name(call.func)
            if name[:1].isupper() and self.ev.project.may_be_dataset(module, name):
                frame = self.ev.frame_of(function_scope(module.tree.scope_of(call)))
                for callee in self.ev.values(call.func, frame):
                    if isinstance(callee, Class) and callee.scope.module is not module:
                        if self.known.is_dataset(callee):
                            self._dataset(CallResult(callee, call, frame))

    def _callbacks(self, loader: Loader, name: str, values: Values) -> None:
        """Adds the functions that the workers of a loader call because of one of its arguments."""
        if loader.has_workers is not False:
            self._argument = name
            for value in values:
                self._stored_callable(value, None)
            self._argument = ""

    def _dataset(self, value: Value) -> None:
        """Adds what workers run of a Dataset, including one that a library Dataset wraps."""
        while isinstance(value, ItemOf):
            value = value.of
        if not isinstance(value, CallResult) or value in self._datasets:
            return
        self._datasets.add(value)
        if isinstance(value.by, Class):
            for name in (*ENTRIES, *self._hooks(value.by)):
                self._method(value, value.by, name, None)
            if streams.next_of(self.ev, self.ev.bases(value.by)) is not None:
                self._method(value, value.by, "__next__", None)
            self._base_arguments(value, value.by)
        else:
            for inner in self._arguments(value):
                self._dataset(inner)
                if not isinstance(inner, CallResult) or keeps_arguments(value.library):
                    self._stored_callable(inner, None)

    def _hooks(self, klass: Class) -> list[str]:
        libraries = self.ev.bases(klass).libraries
        called = [
            name
            for prefix, names in CALLED_BY_BASES.items()
            if any(library.startswith(prefix) for library in libraries)
            for name in names
        ]
        return [*called, *indexed_methods(libraries)]

    def _base_arguments(self, value: CallResult, klass: Class) -> None:
        """Adds callables passed to the constructor of a library's base class, which stores and calls them."""
        function = classes.find_method(self.ev, self.ev.bases(klass).classes, "__init__")
        if function is None:
            return
        frame = attributes.method_frame(self.ev, function.scope, value)
        for call in function.scope.own(cst.Call):
            if last_name(call.func) == "__init__" and any(
                isinstance(callee, Library) for callee in self.ev.values(call.func, frame)
            ):
                for arg in call.args:
                    for inner in self.ev.values(arg.value, frame):
                        self._stored_callable(inner, None)

    def _arguments(self, value: CallResult) -> Iterator[Value]:
        """The arguments of a library object's constructor; elements of lists are yielded one by one."""
        if value.call is None or value.frame is None:
            return
        for arg in value.call.args:
            for given in self.ev.values(arg.value, value.frame):
                yield given
                if isinstance(given, Sequence):
                    yield from self.ev.element(given)

    def _stored_callable(self, value: Value, caller: WorkerFunction | None) -> None:
        """Adds a callable that is stored and called by code that is not visible."""
        if isinstance(value, Function):
            self._enter(value.scope, self._frame(value.scope, value.outer, None), caller)
        elif isinstance(value, Method):
            self._enter(value.function.scope, self._frame(value.function.scope, None, value.receiver), caller)
        elif isinstance(value, Partial):
            frame = self._frame_of_partial(value)
            if frame is not None:
                self._enter(frame.scope, frame, caller)
            else:
                self._stored_callable(value.callee, caller)
        elif isinstance(value, CallResult | Sequence | Mapping) and value not in self._visited:
            self._visited.add(value)
            if isinstance(value, CallResult):
                self._called_object(value, caller)
            elif isinstance(value, Sequence):
                for inner in self.ev.element(value):
                    self._stored_callable(inner, caller)

    def _called_object(self, value: CallResult, caller: WorkerFunction | None) -> None:
        """Adds what calling an object runs: its `__call__`, or the hooks of its library base.

        For a library object, these are all its arguments.
        """
        if isinstance(value.by, Class):
            if not self._method(value, value.by, "__call__", caller):
                for name in self._hooks(value.by):
                    self._method(value, value.by, name, caller)
            return
        for inner in self._arguments(value):
            self._stored_callable(inner, caller)

    def _method(self, value: CallResult, klass: Class, name: str, caller: WorkerFunction | None) -> bool:
        function = classes.find_method(self.ev, self.ev.bases(klass).classes, name)
        if function is None:
            return False
        self._enter(function.scope, self._frame(function.scope, None, value), caller)
        return True

    def _frame(self, scope: Scope, outer: Frame | None, receiver: Value | None) -> Frame:
        """The frame of a function whose call is unknown, except for its object or the enclosing function."""
        key = (id(scope), id(outer), receiver)
        if key not in self._frames:
            frame = self.ev.frame_of(scope)
            if isinstance(receiver, CallResult):
                frame = attributes.method_frame(self.ev, scope, receiver)
            elif receiver is not None:
                frame = Frame(scope, None, receiver, frame.outer)
            elif outer is not None and outer is not frame.outer:
                frame = Frame(scope, None, None, outer)
            self._frames[key] = frame
        return self._frames[key]

    def _frame_of_partial(self, value: Partial) -> Frame | None:
        """The frame of a function that gets some arguments beforehand; what it is called with is not known.

        Workers call it with one argument. None for objects and classes.
        """
        callee = value.callee
        function, receiver = (callee.function, callee.receiver) if isinstance(callee, Method) else (callee, None)
        if not isinstance(function, Function) or not isinstance(function.node, cst.FunctionDef):
            return None
        key = (id(function.scope), id(value.call), receiver)
        if key not in self._frames:
            given = partial_arguments(function.scope, value, receiver is not None)
            rest = [param.name.value for param in parameters(function.node) if param.name.value not in given]
            for name in rest[1 if receiver is not None else 0 :][:1]:
                given[name] = Argument(None, None)
            self._frames[key] = Frame(function.scope, given, receiver, function.outer, 1)
        return self._frames[key]

    def _enter(self, scope: Scope, frame: Frame, caller: WorkerFunction | None) -> None:
        times = self._frame_counts.get(id(scope), 0)
        if id(frame) in self._entered or times >= WORKER_FRAMES or len(self.found) >= WORKER_FUNCTIONS:
            return
        self._entered.add(id(frame))
        self._frame_counts[id(scope)] = times + 1
        argument = caller.argument if caller is not None else self._argument
        self.found.append(WorkerFunction(scope, frame, caller, argument))

    def _follow(self, function: WorkerFunction) -> int:
        """Adds what one function calls, and returns the number of its calls."""
        scope, frame = function.scope, function.frame
        calls = list(scope.within(cst.Call))
        for call in calls:
            if not is_unresolved_parameter(self.ev, call.func, frame):
                for callee in self.ev.values(call.func, frame):
                    self._call(callee, call, function)
        self._properties(function)
        for subscript in scope.within(cst.Subscript):
            self._special_method(subscript.value, "__getitem__", function)
        for iterable in (*_iterables(scope, cst.For), *_iterables(scope, cst.CompFor)):
            self._special_method(iterable, "__iter__", function)
        return len(calls)

    def _call(self, callee: Value, call: cst.Call, function: WorkerFunction) -> None:
        frame = function.frame
        if isinstance(callee, Function):
            self._enter(callee.scope, self.ev.enter(callee, call, frame, None), function)
        elif isinstance(callee, Method):
            entered = self.ev.enter(callee.function, call, frame, callee.receiver)
            self._enter(callee.function.scope, entered, function)
        elif isinstance(callee, Class):
            made = CallResult(callee, call, frame)
            init = classes.find_method(self.ev, self.ev.bases(callee).classes, "__init__")
            if init is not None:
                self._enter(init.scope, self.ev.enter(init, call, frame, made), function)
        elif isinstance(callee, CallResult):
            called = None
            if isinstance(callee.by, Class):
                called = classes.find_method(self.ev, self.ev.bases(callee.by).classes, "__call__")
            if called is not None:
                self._enter(called.scope, self.ev.enter(called, call, frame, callee), function)
            else:
                self._called_object(callee, function)
        else:
            if isinstance(callee, Partial):
                self._stored_callable(callee, function)
            elif isinstance(callee, Library):
                function.library_calls.append((call, callee.name))
            for arg in call.args:  # map(self.read, names); a partial of a function of the project may call it, too
                if may_be_function(self.ev, arg.value, call, frame):
                    for given in self.ev.values(arg.value, frame):
                        if isinstance(given, Function | Method | Partial):
                            self._stored_callable(given, function)

    def _properties(self, function: WorkerFunction) -> None:
        frame: Frame | None = function.frame
        while frame is not None and not (
            isinstance(frame.receiver, CallResult) and isinstance(frame.receiver.by, Class)
        ):
            frame = frame.outer
        if frame is None:
            return
        receiver = frame.receiver
        assert isinstance(receiver, CallResult) and isinstance(receiver.by, Class)
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

    def _special_method(self, node: cst.CSTNode, name: str, function: WorkerFunction) -> None:
        """`self.inner[index]`, `for line in self.reader`: special methods that run implicitly."""
        if isinstance(node, cst.Name | cst.Attribute) and not is_unresolved_parameter(self.ev, node, function.frame):
            for value in self.ev.values(node, function.frame):
                if isinstance(value, CallResult) and isinstance(value.by, Class):
                    self._method(value, value.by, name, function)
