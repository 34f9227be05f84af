"""What constructing a Dataset runs: its constructor, and the methods that this calls in turn."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.field_uses import FieldUses
from dataloader_lint.semantics.callers.run_arguments import RUNNING
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.control.reachability import path_conditions
from dataloader_lint.semantics.libraries.datasets import RUN_BY_CONSTRUCTORS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import bindings_of, dotted, is_none
from dataloader_lint.semantics.syntax.tree import Scope, function_scope
from dataloader_lint.semantics.values.values import Bases, Evaluator, Function


def construction_of(ev: Evaluator, bases: Bases) -> tuple[Scope, ...]:
    """Returns the functions of the class and its bases that construction runs, `__init__` first, in calling order."""
    start = [classes.find_method(ev, bases.classes, name) for name in ("__init__", "__post_init__")]
    if start[0] is None:  # the constructor is that of a library's base class
        start.extend(called_by_library_constructors(ev, bases))
    return _in_calling_order(ev, bases, [method.scope for method in start if method is not None])


def _in_calling_order(ev: Evaluator, bases: Bases, todo: list[Scope]) -> tuple[Scope, ...]:
    """Returns some methods and those that they call on their object, in calling order."""
    order: list[Scope] = []
    while todo:
        scope = todo.pop(0)
        if any(scope is known for known in order):
            continue
        order.append(scope)
        todo[:0] = [called.scope for called, _ in calls_on_self(ev, scope, bases)]
        todo.extend(called.scope for called in _mapped_methods(ev, scope, bases))
    return tuple(order)


def _mapped_methods(ev: Evaluator, scope: Scope, bases: Bases) -> Iterator[Function]:
    """The methods that a method hands to `map`, to threads or pools: `list(map(self.add, names))`."""
    own = classes.receiver_name(scope)
    for inner in scope.descend():
        for call in inner.own(cst.Call):
            for arg in call.args if last_name(call.func) in RUNNING else ():
                if isinstance(arg.value, cst.Attribute) and dotted(arg.value.value) == own:
                    method = classes.find_method(ev, bases.classes, arg.value.attr.value)
                    if method is not None:
                        yield method


def with_setup_methods(ev: Evaluator, bases: Bases, made: tuple[Scope, ...], reads: FieldUses) -> tuple[Scope, ...]:
    """Adds the setup methods that have to be called on the object before it is used: `dataset.initialize(options)`.

    Attributes read in workers but bound neither by these functions nor in workers must come from setup methods.
    """
    busy = (*made, *reads.functions)
    more: list[Scope] = []
    for name in reads.uses:
        bindings = [each for klass in bases.classes for each in classes.attribute_bindings(klass.scope).get(name, ())]
        if any(not _is_none(each.value) for klass in bases.classes for each in bindings_of(klass.scope).get(name, ())):
            continue
        settled = [each for each in bindings if not _is_none(each.value) and not is_lazy(each)]
        if any(is_inside(binding.method, scope) for binding in settled for scope in busy):
            continue
        methods = [each.method.function or each.method for each in bindings if not _is_none(each.value)]
        lazy = [each.method.function for each in bindings if is_lazy(each)]
        more.extend(
            each for each in methods if any(each is one for one in lazy) or _is_resolved_method(ev, bases, each)
        )
    return (*made, *(each for each in _in_calling_order(ev, bases, more) if not any(each is known for known in made)))


def _is_none(node: cst.BaseExpression | None) -> bool:
    """True for a mere declaration of an attribute that is set later: None, or no value at all."""
    return node is None or is_none(node)


def is_lazy(binding: AttributeBinding) -> bool:
    """True if an attribute is bound once, when the main process first asks for it: for the length, or by a property.

    `if self.rows is None: self.rows = read()`; the condition may also be the one under which its method is called. What
    `__getitem__` binds itself is the worker's own.
    """
    method = binding.method.function or binding.method
    if not isinstance(method.node, cst.FunctionDef):
        return False
    places: list[tuple[cst.CSTNode, Scope]] = [(binding.node, method)]
    for call in method.module.calls_named(method.node.name.value):
        places.append((call, function_scope(method.module.tree.scope_of(call))))
    return any(
        each.attr.value == binding.name
        for node, scope in places
        if isinstance(scope.node, cst.FunctionDef) and _is_asked_first(scope.node)
        for condition in path_conditions(node, scope)
        for each in scope.module.tree.find(condition.test, cst.Attribute)
    )


def _is_asked_first(node: cst.FunctionDef) -> bool:
    return node.name.value == "__len__" or classes.is_property(node)


def _is_resolved_method(ev: Evaluator, bases: Bases, method: Scope) -> bool:
    """True if it is a method, no property, and the one that the object's class resolves its name to."""
    if not isinstance(method.node, cst.FunctionDef) or method.node.decorators:
        return False
    found = classes.find_method(ev, bases.classes, method.node.name.value)
    return found is not None and found.scope is method


def calls_on_self(ev: Evaluator, scope: Scope, bases: Bases) -> Iterator[tuple[Function, cst.Call]]:
    """Yields the methods that a method calls on its own object or on `super()`, resolved for the class of the object.

    A call of the constructor of a library's base class counts as calls of the methods that this runs in turn.
    """
    own = classes.receiver_name(scope)
    here = classes.class_of(scope)
    for inner in (scope, *(each for each in scope.descend() if each is not scope)):
        for call in inner.own(cst.Call):
            if not isinstance(call.func, cst.Attribute):
                continue
            name, owner = call.func.attr.value, call.func.value
            if isinstance(owner, cst.Name) and owner.value == own:
                found = classes.find_method(ev, bases.classes, name)
            elif isinstance(owner, cst.Call) and dotted(owner.func) == "super":
                found = classes.find_method(ev, classes.after_super(bases.classes, owner, here), name)
            elif isinstance(owner, cst.Name) and call.args and dotted(call.args[0].value) == own:
                found = _named_base(ev, bases, owner.value, name)
            else:
                continue
            if found is not None:
                yield found, call
            elif name == "__init__":
                yield from ((each, call) for each in called_by_library_constructors(ev, bases))


def called_by_library_constructors(ev: Evaluator, bases: Bases) -> list[Function]:
    """The methods that constructors of library base classes call: `process` of a torch_geometric Dataset."""
    found = (
        classes.find_method(ev, bases.classes, name)
        for prefix, names in RUN_BY_CONSTRUCTORS.items()
        if any(library.startswith(prefix) for library in bases.libraries)
        for name in names
    )
    return [each for each in found if each is not None]


def _named_base(ev: Evaluator, bases: Bases, base: str, name: str) -> Function | None:
    """`Base.__init__(self, ...)`."""
    for position, each in enumerate(bases.classes):
        if each.node.name.value == base:
            return classes.find_method(ev, bases.classes[position:], name)
    return None


def is_inside(scope: Scope, outer: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if current is outer:
            return True
        current = current.parent
    return False
