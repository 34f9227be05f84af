"""Functions that are passed to DataLoaders: lambdas and local functions, and where they are passed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.picklable import is_local, is_plain
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.semantics.classes.classes import attribute_bindings, class_of, find_method, receiver_name
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of, loaders_in
from dataloader_lint.semantics.project.scripts import is_notebook_file
from dataloader_lint.semantics.syntax.attribute_stores import named_stores
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Method,
    Partial,
    Value,
)

# The arguments of loaders that are functions, which workers call.
FUNCTION_ARGUMENTS = ("collate_fn", "worker_init_fn")


@dataclass(frozen=True, slots=True, eq=False)
class Callback:
    """A function of the project that reaches an argument of a loader, and the expression that passes it."""

    function: Function
    loader: Loader
    node: cst.BaseExpression
    in_partial: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made that gets the function."""
        return loader_steps.made(self.loader, "num_workers")

    @property
    def is_lambda(self) -> bool:
        return isinstance(self.function.node, cst.Lambda)

    @property
    def takes_arguments(self) -> bool:
        """True if the function has a parameter at all."""
        return bool(parameters(self.function.node))

    @property
    def is_local(self) -> bool:
        """True if it is defined inside another function, so that no import can find it by its name."""
        return is_local(self.function.scope)

    @property
    def is_in_notebook(self) -> bool:
        """True if it is defined in a notebook, where a worker that is spawned finds nothing by its name."""
        return is_notebook_file(self.function.scope.module)

    @property
    def is_notebooks_own(self) -> bool:
        """True if it is a plain function of a notebook, and the loader starts workers."""
        return self.is_in_notebook and is_plain(self.function.scope) and self.loader.has_workers is True

    @property
    def name(self) -> str:
        """What the user calls the function; empty for a lambda."""
        node = self.function.node
        return node.name.value if isinstance(node, cst.FunctionDef) else ""


def callbacks_of(ev: Evaluator, module: ModuleFacts, loaders: list[Loader], argument: str) -> Iterator[Callback]:
    """Functions that reach `argument` of a loader and are passed in this module, each with its place."""
    known: set[tuple[int, int]] = set()
    for loader in loaders:
        written = loader.argument(argument) if loader.is_written_here else None
        for value in loader.values(argument):
            function, in_partial = _function(value)
            if function is None:
                continue
            if written is not None:
                if _keeps_argument(ev, written.value, loader.frame, function):
                    continue  # reported where it is passed in
                if not _is_passed_in(ev, written.value, loader.frame, function):
                    yield Callback(function, loader, written.value, in_partial)
                elif _is_default(function, module):
                    yield Callback(function, loader, written.value, in_partial)
            elif function.scope.module is module and isinstance(function.node, cst.Lambda):
                known.add((id(loader.site), id(function.node)))
                yield Callback(function, loader, function.node, in_partial)
            elif loader.is_written_here and function.scope.module is module:
                yield Callback(function, loader, loader.node, in_partial)
    yield from _passed_in(ev, module, argument, known)
    yield from _assigned_later(ev, module, argument)


def _function(value: Value) -> tuple[Function | None, bool]:
    if isinstance(value, Function):
        return value, False
    if isinstance(value, Partial):
        return (value.callee, True) if isinstance(value.callee, Function) else (None, False)
    return None, False


def _is_parameter(node: cst.BaseExpression, frame: Frame) -> bool:
    return isinstance(node, cst.Name) and any(
        binding.kind is Kind.PARAMETER for binding in resolve(node, frame.scope.module.tree)
    )


def _is_passed_in(ev: Evaluator, node: cst.BaseExpression, frame: Frame, function: Function) -> bool:
    """True if a name has a function from its parameter only, not from `if collate is None: collate = function`."""
    if not isinstance(node, cst.Name) or not _is_parameter(node, frame):
        return False
    return not any(
        found is not None and found.scope is function.scope
        for binding in resolve(node, frame.scope.module.tree)
        if binding.kind in (Kind.VALUE, Kind.FUNCTION)
        for found, _ in map(_function, ev.binding(binding, ev.at(binding.scope, frame)))
    )


def _keeps_argument(ev: Evaluator, node: cst.BaseExpression, frame: Frame, function: Function) -> bool:
    """True if `self.collate` is only what a caller passed to the constructor, where the function stands by name."""
    klass = class_of(frame.scope)
    if klass is None or not isinstance(node, cst.Attribute) or dotted(node.value) != receiver_name(frame.scope):
        return False
    bound = attribute_bindings(klass).get(node.attr.value, ())
    if not any(each.value is not None and _is_parameter(each.value, ev.frame_of(each.method)) for each in bound):
        return False
    for each in bound:
        home = ev.frame_of(each.method)
        if each.value is not None and not _is_parameter(each.value, home) and function in ev.values(each.value, home):
            return False
    return _is_passed(function)


def _is_passed(function: Function) -> bool:
    """True if a local function is an argument of some call in its module."""
    tree = function.scope.module.tree
    for call in function.scope.module.all_calls():
        for arg in call.args:
            if arg.value is function.node:
                return True
            if isinstance(arg.value, cst.Name) and any(
                binding.node is function.node for binding in resolve(arg.value, tree)
            ):
                return True
    return False


def _is_default(function: Function, module: ModuleFacts) -> bool:
    """True if the function is a lambda that stands as the default of a parameter of this module."""
    tree = module.tree
    return function.node in tree and isinstance(tree.parent(function.node), cst.Param)


def _passed_in(ev: Evaluator, module: ModuleFacts, argument: str, known: set[tuple[int, int]]) -> Iterator[Callback]:
    """Calls of functions of the project that pass a function on to a loader of theirs.

    But those that make a loader of the project's own class, as far as these are `known`: it runs `super().__init__`.
    """
    for call in module.all_calls():
        for arg in call.args:
            if (id(call), id(arg.value)) in known or not _may_give_callback(arg, argument, module):
                continue
            frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
            functions = [found for found, _ in map(_function, ev.values(arg.value, frame)) if found is not None]
            functions = [found for found in functions if not _is_passed_in(ev, arg.value, frame, found)]
            if not functions:
                continue
            for callee in ev.values(call.func, frame):
                for loader in _loaders_behind(ev, callee, call, frame):
                    if loader.node is call or (loader.site or loader.call) is call:
                        continue
                    reached = {found.scope for found, _ in map(_function, loader.values(argument)) if found}
                    for function in functions:
                        if function.scope in reached:
                            yield Callback(function, loader, arg.value)


def _may_give_callback(arg: cst.Arg, argument: str, module: ModuleFacts) -> bool:
    """A cheap look before the evaluation: a lambda, what is passed under the name, or a function of this module."""
    if type(arg.value) is cst.Lambda or (arg.keyword is not None and arg.keyword.value == argument):
        return True
    if type(arg.value) is not cst.Name or arg.value.value not in module.functions:
        return False
    return any(binding.kind is Kind.FUNCTION for binding in resolve(arg.value, module.tree))


def _loaders_behind(ev: Evaluator, callee: Value, call: cst.Call, frame: Frame) -> list[Loader]:
    """The loaders that stand in the function or class that is called, as this call makes them."""
    function: Function | None = None
    receiver: Value | None = None
    if isinstance(callee, Function):
        scope, function = callee.scope, callee
    elif isinstance(callee, Method):
        scope, function, receiver = callee.function.scope, callee.function, callee.receiver
    elif isinstance(callee, Class):
        scope, receiver = callee.scope, CallResult(callee, call, frame)
        function = find_method(ev, ev.bases(callee).classes, "__init__")
    else:
        return []
    tree = scope.module.tree
    inside = {id(each) for each in scope.descend()}
    made = receiver if isinstance(callee, Class) else None
    return [
        replace(loader, frame=ev.enter(function, call, frame, receiver))
        if function is not None and loader.frame.scope is function.scope and loader.frame.args is None
        else replace(loader, frame=ev.method_frame(loader.frame.scope, made))
        if made is not None and class_of(loader.frame.scope) is scope and loader.frame.args is None
        else loader
        for loader in loaders_in(ev, scope.module)
        if id(function_scope(tree.scope_of(loader.node))) in inside
    ]


def _assigned_later(ev: Evaluator, module: ModuleFacts, argument: str) -> Iterator[Callback]:
    for loader, stored, value in assigned_later(ev, module, argument):
        function, in_partial = _function(value)
        if function is not None:
            yield Callback(function, loader, stored, in_partial)


def assigned_later(
    ev: Evaluator, module: ModuleFacts, argument: str
) -> Iterator[tuple[Loader, cst.BaseExpression, Value]]:
    """What a module sets an argument of loaders to after their construction: `loader.collate_fn = function`."""
    for scope, owner, stored in _stores(module).get(argument, ()):
        frame = ev.frame_of(function_scope(scope))
        for each in ev.values(owner, frame):
            loader = loader_of(ev, each)
            for value in ev.values(stored, frame) if loader is not None else ():
                if loader is not None:
                    yield loader, stored, value


_Stores = dict[str, list[tuple[Scope, cst.BaseExpression, cst.BaseExpression]]]


def _stores(module: ModuleFacts) -> _Stores:
    """Where a module sets an attribute that is called like a function for loaders: the scope, object and value."""

    def work_out() -> _Stores:
        found: _Stores = {}
        for scope in module.root.descend():
            for assign in scope.own(cst.Assign):
                for each in assign.targets:
                    if isinstance(each.target, cst.Attribute) and each.target.attr.value in FUNCTION_ARGUMENTS:
                        store = (scope, each.target.value, assign.value)
                        found.setdefault(each.target.attr.value, []).append(store)
            for named in named_stores(scope):
                if named.name in FUNCTION_ARGUMENTS:
                    found.setdefault(named.name, []).append((scope, named.owner, named.value))
        return found

    return module.tree.once(("stores of callbacks", id(module.root)), work_out)
