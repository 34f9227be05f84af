"""Classes of the project: bases in method resolution order, methods, and where `self.x` is bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import libcst as cst

from dataloader_lint.semantics.classes.indirect_stores import indirect_stores
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.limits import BASE_CLASSES
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.flow import never_returns
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted, target_paths
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.values import (
    Bases,
    CallResult,
    Class,
    Evaluator,
    Function,
    Library,
    Mapping,
    Values,
)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeBinding:
    """One statement that binds `self.name`. `value` is None for a bare annotation; `path` follows an unpacking.

    `target` is where an assignment to several names has this one. Where `value` is a dict whose entries all become
    attributes, `key` says which one it is. `of` is the class, where the statement stands outside of it. `part` is the
    attribute of the value that is meant, where the object keeps a helper: `files` of `self.index = Index(files)`.
    `receiver` is that helper, where its own constructor binds the attribute.
    """

    name: str
    node: Node  # the statement: Assign, AnnAssign, AugAssign, For, With
    method: Scope
    value: cst.BaseExpression | None
    path: tuple[int, ...] = ()
    kind: Kind = Kind.VALUE
    annotation: cst.BaseExpression | None = None
    target: Node | None = None
    key: str = ""
    of: Scope | None = None
    part: str = ""
    receiver: CallResult | None = None

    @property
    def owner(self) -> str:
        """The name of the class whose body the statement stands in, be it in a function inside of a method."""
        scope = self.of or self.method
        while not isinstance(scope.node, cst.ClassDef):
            assert scope.parent is not None
            scope = scope.parent
        return scope.node.name.value


def bases_of(ev: Evaluator, klass: Class) -> Bases:
    """Bases by depth first search, each once. Python's own order differs only for diamonds."""
    classes: list[Class] = []
    libraries: list[str] = []
    complete = True
    seen: set[int] = set()
    todo = [klass]  # the next one last
    while todo:
        current = todo.pop()
        if id(current.scope) in seen:
            continue
        seen.add(id(current.scope))
        classes.append(current)
        if len(classes) > BASE_CLASSES:
            return Bases(tuple(classes), tuple(libraries), False)
        if current.scope.parent is not None and current.scope.parent.parent is None:
            extra = ev.extras.dataset_base(current.scope.module.path, current.node.name.value)
            if extra:
                libraries.append(extra)
        above: list[Class] = []
        for found in base_values(ev, current):
            known = False
            for value in found:
                if isinstance(value, Class) and value.scope is not current.scope:
                    above.append(value)
                    known = True
                elif isinstance(value, Library):
                    libraries.append(value.name)
                    known = True
            complete = complete and known and bool(found)
        todo.extend(reversed(above))
    return Bases(tuple(classes), tuple(libraries), complete)


def base_values(ev: Evaluator, klass: Class) -> Iterator[Values]:
    """What each of the bases in the head of a class can be, in order."""
    frame = ev.frame_of(klass.scope.parent) if klass.scope.parent is not None else klass.outer
    for base in klass.node.bases:
        expression = base.value
        found = ev.values(expression.value if isinstance(expression, cst.Subscript) else expression, frame)
        if any(isinstance(value, Mapping) for value in found):  # TABLE[name], not Dataset[Tensor] or Generic[T]
            found = ev.values(expression, frame)
        yield found


def methods_of(scope: Scope) -> dict[str, Scope]:
    """The functions defined in a class body, by name; a getter comes before its setter."""
    if scope.methods is None:
        scope.methods = _methods_in(scope)
    return scope.methods


def _methods_in(scope: Scope) -> dict[str, Scope]:
    found: dict[str, Scope] = {}
    for inner in scope.inner:
        if isinstance(inner.node, cst.FunctionDef) and not (is_setter(inner.node) and inner.node.name.value in found):
            found[inner.node.name.value] = inner
    return found


def is_left_to_subclasses(method: Scope) -> bool:
    """True if a method always raises or is declared abstract: subclasses must override it."""
    node = method.node
    is_declared = isinstance(node, cst.FunctionDef) and any(
        name.rpartition(".")[2] == "abstractmethod" for name in decorator_names(node)
    )
    return is_declared or never_returns(method)


def decorator_names(node: cst.FunctionDef | cst.ClassDef) -> list[str]:
    """The decorators as written, without their arguments."""
    names = []
    for decorator in node.decorators:
        expression = decorator.decorator
        names.append(dotted(expression.func if isinstance(expression, cst.Call) else expression))
    return names


_WITH_FIELDS = frozenset({"dataclass", "dataclass_json", "define", "attrs"})
_MODELS = frozenset({"BaseModel", "BaseSettings"})  # of pydantic


def is_dataclass(klass: Class) -> bool:
    """True if a decorator, or pydantic's base, makes the constructor of a class, of its annotated names."""
    bases = [dotted(base.value).rpartition(".")[2] for base in klass.node.bases]
    decorators = [name.rpartition(".")[2] for name in decorator_names(klass.node)]
    return not _WITH_FIELDS.isdisjoint(decorators) or not _MODELS.isdisjoint(bases)


def field_bindings(klass: Class) -> Iterator[AttributeBinding]:
    """The attributes that the constructor of a dataclass binds to what it is given, each where it is declared."""
    for declared in klass.scope.own(cst.AnnAssign):
        annotation = declared.annotation.annotation
        kind = annotation.value if isinstance(annotation, cst.Subscript) else annotation
        if isinstance(declared.target, cst.Name) and dotted(kind).rpartition(".")[2] not in ("ClassVar", "InitVar"):
            yield AttributeBinding(declared.target.value, declared, klass.scope, None, annotation=annotation)


def is_setter(function: cst.FunctionDef) -> bool:
    return any(name.endswith((".setter", ".deleter")) for name in decorator_names(function))


def is_property(function: cst.FunctionDef) -> bool:
    """True if reading the name runs the function."""
    return any(name.rpartition(".")[2] in ("property", "cached_property") for name in decorator_names(function))


def is_cached_property(function: cst.FunctionDef) -> bool:
    """True if the object keeps what the function returns, under its name."""
    return any(name.rpartition(".")[2] == "cached_property" for name in decorator_names(function))


def is_static(function: cst.FunctionDef) -> bool:
    return "staticmethod" in decorator_names(function)


def receiver_name(method: Scope) -> str:
    """What a method calls its object, usually `self`; empty where there is none."""
    node = method.node
    if not isinstance(node, cst.FunctionDef) or (node.decorators and is_static(node)):
        return ""
    params = node.params.posonly_params or node.params.params
    return params[0].name.value if params else ""


def class_of(method: Scope) -> Scope | None:
    """The class in whose body a function stands; None for other functions."""
    parent = method.parent
    if parent is not None and parent.is_class and isinstance(method.node, cst.FunctionDef):
        return parent
    return None


def attribute_bindings(scope: Scope) -> dict[str, list[AttributeBinding]]:
    """Where the methods of one class body bind attributes of their object, by attribute."""
    return scope.module.tree.of_text(("attributes", id(scope)), lambda: _attributes_in(scope))


def _attributes_in(scope: Scope) -> dict[str, list[AttributeBinding]]:
    found: dict[str, list[AttributeBinding]] = {}
    for method in scope.inner:
        if isinstance(method.node, cst.FunctionDef):
            for binding in _bound_in(method):
                found.setdefault(binding.name, []).append(binding)
    return found


def _bound_in(method: Scope) -> Iterator[AttributeBinding]:
    own = receiver_name(method)
    if own:
        yield from bound_on(method, own)


def bound_on(method: Scope, own: str, of: Scope | None = None) -> Iterator[AttributeBinding]:
    """Where a function binds attributes of the object that it calls `own`."""
    for scope in (method, *_closures(method, own)):
        direct = scope.module.tree.of_text(("bound on", id(scope)), partial(_by_object, scope))
        for binding in direct.get(own, ()):
            yield replace(binding, of=of) if of is not None and isinstance(binding.node, cst.Assign) else binding
        for store in indirect_stores(scope, own):
            yield AttributeBinding(store.name, store.node, scope, store.value, of=of)


def _by_object(scope: Scope) -> dict[str, list[AttributeBinding]]:
    """Where a scope binds attributes of objects, by the names of these."""
    found: dict[str, list[AttributeBinding]] = {}

    def add(bound: cst.CSTNode, statement: Node, value: cst.BaseExpression | None, **more: Any) -> None:
        if isinstance(bound, cst.Attribute) and isinstance(bound.value, cst.Name):
            binding = AttributeBinding(bound.attr.value, statement, scope, value, **more)
            found.setdefault(bound.value.value, []).append(binding)

    for assign in scope.own(cst.Assign):
        for each in assign.targets:
            for target, path in target_paths(each.target):
                add(target, assign, assign.value, path=path, target=target if path else None)
    for annotated in scope.own(cst.AnnAssign):
        add(annotated.target, annotated, annotated.value, annotation=annotated.annotation.annotation)
    for augmented in scope.own(cst.AugAssign):
        add(augmented.target, augmented, augmented.value, kind=Kind.AUGMENTED)
    for loop in scope.own(cst.For):
        for target, path in target_paths(loop.target):
            add(target, loop, loop.iter, path=path, kind=Kind.ELEMENT)
    for block in scope.own(cst.With):
        for item in block.items:
            if item.asname is not None:
                add(item.asname.name, block, item.item, kind=Kind.ENTERED)
    return found


def _closures(method: Scope, own: str) -> Iterator[Scope]:
    """Functions nested in a method that see the method's `self`."""
    for inner in method.inner:
        if isinstance(inner.node, cst.FunctionDef) and own not in bindings_of(inner):
            yield inner
            yield from _closures(inner, own)


def after_super(bases: tuple[Class, ...], call: cst.Call | None, here: Scope | None) -> tuple[Class, ...]:
    """The classes in which `super()` looks: those after the one around it, or after another that it names."""
    place = next((i for i, each in enumerate(bases) if each.scope is here), None)
    named = dotted(call.args[0].value) if call is not None and call.args else ""
    if place is not None and named and named != bases[place].node.name.value:
        place = next((i for i, each in enumerate(bases) if i > place and each.node.name.value == named), place)
    return bases[place + 1 :] if place is not None else ()


def find_method(ev: Evaluator, classes: tuple[Class, ...], name: str) -> Function | None:
    """The method that an object of a class with these classes in its order of resolution runs."""
    for klass in classes:
        method = methods_of(klass.scope).get(name)
        if method is not None:
            return Function(method, ev.frame_of(klass.scope))
    return None


def constructor(ev: Evaluator, klass: Class) -> Function | None:
    """The project's constructor of a loader class; None where a library's comes first."""
    found = find_method(ev, ev.bases(klass).classes, "__init__")
    return None if found is None or is_behind_loader(ev, klass, found.scope) else found


def is_made_as_usual(ev: Evaluator, klass: Class) -> bool:
    """False if calling a class may return something other than a plain instance.

    A metaclass can have a `__call__`, `__new__` can return anything, and so can a decorator of the class.
    """
    for each in ev.bases(klass).classes:
        node = each.node
        if any(arg.keyword is not None and not _is_plain_metaclass(ev, arg, each) for arg in node.keywords):
            return False
        new = methods_of(each.scope).get("__new__")
        if new is not None and not all(_gives_new_object(one.value, new) for one in new.own(cst.Return)):
            return False
    return not any(_replaces_class(ev, each, klass) for each in klass.node.decorators)


def _is_plain_metaclass(ev: Evaluator, arg: cst.Arg, klass: Class) -> bool:
    if arg.keyword is None or arg.keyword.value != "metaclass":
        return True
    found = ev.values(arg.value, ev.frame_of(klass.scope.parent or klass.scope))
    return all(
        each.name in ("abc.ABCMeta", "builtins.type")
        if isinstance(each, Library)
        else isinstance(each, Class) and find_method(ev, ev.bases(each).classes, "__call__") is None
        for each in found
    )


def _gives_new_object(node: cst.BaseExpression | None, new: Scope) -> bool:
    """True for `super().__new__(cls)`, and for a name that means that."""
    given = [each.func for each in origins(node, new.module.tree) if isinstance(each, cst.Call)]
    return bool(given) and all(isinstance(each, cst.Attribute) and each.attr.value == "__new__" for each in given)


def _replaces_class(ev: Evaluator, decorator: cst.Decorator, klass: Class) -> bool:
    """True for a decorator of the project that may return something other than the class it is given."""
    written = decorator.decorator
    frame = ev.frame_of(klass.scope.parent or klass.scope)
    for each in ev.values(written, frame):
        if isinstance(each, Function) and isinstance(each.node, cst.FunctionDef):
            given = {param.name.value for param in parameters(each.node)}
            returned = [one.value for one in each.scope.own(cst.Return)]
            if not all(isinstance(one, cst.Name) and one.value in given for one in returned):
                return True
    return False


def is_behind_loader(ev: Evaluator, klass: Class, method: Scope) -> bool:
    """True if a library's loader comes before the constructor's class in the resolution order.

    `class Batches(DataLoader, Protocol)`: the constructor that runs is the loader's.
    """
    if klass.scope is method.parent:
        return False
    for base in base_values(ev, klass):
        for value in base:
            if isinstance(value, Library) and value.name in LOADERS:
                return True
            if isinstance(value, Class) and value.scope is not klass.scope:
                inherited = ev.bases(value)
                if any(each.scope is method.parent for each in inherited.classes):
                    return is_behind_loader(ev, value, method)
                if any(name in LOADERS for name in inherited.libraries):
                    return True
    return False
