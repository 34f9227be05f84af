"""The fields of an object after construction: bound by its constructor, its class body, or the code that constructs it.

`fields_of` is the one answer: the bindings of each attribute in the order in which they are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import construction_of, is_inside
from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.datasets.field_uses import FieldUses
from dataloader_lint.semantics.callers.run_arguments import receiving_parameters
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.classes.indirect_stores import ANY_NAME
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import Scope, function_scope
from dataloader_lint.semantics.values.values import Bases, CallResult, Class, Evaluator, Sequence

Fields = dict[str, list[AttributeBinding]]


def fields_of(ev: Evaluator, klass: Class, bases: Bases, construction: tuple[Scope, ...], reads: FieldUses) -> Fields:
    """Where making an object binds its attributes, by attribute, in the order of construction."""
    found: Fields = {}
    if classes.find_method(ev, bases.classes, "__init__") is None:
        for each in filter(classes.is_dataclass, bases.classes):
            _add(found, classes.field_bindings(each))
    for scope in construction:
        home = classes.class_of(scope)
        for bindings in classes.attribute_bindings(home).values() if home is not None else ():
            _add(found, (each for each in bindings if each.method is scope or is_inside(each.method, scope)))
    for scope, name in objects_elsewhere(ev, klass, construction):
        _add(found, classes.bound_on(scope, name, of=klass.scope))
    spread = found.pop(ANY_NAME, [])
    for name in reads.uses:
        if name not in found:
            _add(found, _cached(ev, bases, name) or _spread(spread, name) or _of_class_body(bases, name))
        if "." in name:
            _add(found, _of_helper(ev, klass, found, name))
            _add(found, _set_on_helper(construction, name))
    return {name: _as_run(bindings) for name, bindings in found.items()}


def _of_helper(ev: Evaluator, klass: Class, fields: Fields, path: str) -> Iterator[AttributeBinding]:
    """What a helper keeps that is itself kept: `self.index = Index(root)`, `self.index.files`.

    That is where its constructor binds the attribute, or where the helper is made if that is a record.
    """
    whole, _, part = path.partition(".")
    for binding in fields.get(whole, ()):
        for value in attributes.bound(ev, binding, CallResult(klass, None, None)):
            if isinstance(value, Sequence):
                yield replace(binding, name=path, part=part)
            if not isinstance(value, CallResult) or not isinstance(value.by, Class) or dataset_kind(ev, value.by):
                continue
            bases = ev.bases(value.by)
            made_by = construction_of(ev, bases)
            own = [
                each
                for home in bases.classes
                for each in classes.attribute_bindings(home.scope).get(part, ())
                if any(is_inside(each.method, scope) for scope in made_by)
            ]
            yield from (replace(each, name=path, of=value.by.scope, receiver=value) for each in own)
            if not own:
                yield replace(binding, name=path, part=part)


def _set_on_helper(construction: tuple[Scope, ...], path: str) -> Iterator[AttributeBinding]:
    """What construction itself stores in a helper: `self.index.files = sorted(self.index.files)`."""
    for scope in construction:
        wanted = f"{classes.receiver_name(scope)}.{path}"
        for assign in scope.own(cst.Assign):
            if any(dotted(each.target) == wanted for each in assign.targets):
                yield AttributeBinding(path, assign, scope, assign.value)


def _add(fields: Fields, bindings: Iterator[AttributeBinding] | list[AttributeBinding]) -> None:
    for binding in bindings:
        fields.setdefault(binding.name, []).append(binding)


def objects_elsewhere(ev: Evaluator, klass: Class, construction: tuple[Scope, ...]) -> list[tuple[Scope, str]]:
    """The functions that have an object of a class, but are no methods that make it, each with their name for it.

    They make it (`data = Data()`), or a constructor hands it to them: `scan(self, root)`.
    """
    tree = klass.scope.module.tree

    def work_out() -> list[tuple[Scope, str]]:
        return [*_made_objects(klass), *_passed_objects(ev, construction)]

    return tree.once(("objects elsewhere", id(klass.scope)), work_out, [])


def _passed_objects(ev: Evaluator, construction: tuple[Scope, ...]) -> Iterator[tuple[Scope, str]]:
    for scope in construction:
        own = classes.receiver_name(scope)
        for inner in scope.descend():
            for call in inner.own(cst.Call):
                for arg in call.args:
                    if not isinstance(arg.value, cst.Name) or arg.value.value != own or dotted(call.func) == "super":
                        continue
                    for function, param in receiving_parameters(ev, call, arg.value, inner):
                        if param != classes.receiver_name(function) or classes.class_of(function) is None:
                            yield function, param


def _made_objects(klass: Class) -> Iterator[tuple[Scope, str]]:
    module = klass.scope.module
    calls = [(call, None) for call in module.calls_named(klass.node.name.value) if isinstance(call.func, cst.Name)]
    inside = [(call, method) for method in classes.methods_of(klass.scope).values() for call in method.own(cst.Call)]
    for call, method in (*calls, *inside):
        above = module.tree.parent(call)
        if not isinstance(above, cst.Assign | cst.AnnAssign) or above.value is not call:
            continue
        if method is not None and not _makes_own(call, method):
            continue
        targets = [each.target for each in above.targets] if isinstance(above, cst.Assign) else [above.target]
        for target in targets:
            if isinstance(target, cst.Name):
                yield function_scope(module.tree.scope_of(call)), target.value


def _makes_own(call: cst.Call, method: Scope) -> bool:
    """True for `cls(...)`, `cls.__new__(cls)` and `super().__new__(cls)` in a method that gets the class."""
    node, own = method.node, classes.receiver_name(method)
    assert isinstance(node, cst.FunctionDef)
    if "classmethod" not in classes.decorator_names(node) and node.name.value != "__new__":
        return False
    if last_name(call.func) == "__new__":
        return bool(call.args) and dotted(call.args[0].value) == own
    return dotted(call.func) == own


def _cached(ev: Evaluator, bases: Bases, name: str) -> list[AttributeBinding]:
    """What a `cached_property` keeps under its name."""
    method = classes.find_method(ev, bases.classes, name)
    if method is None or not isinstance(method.node, cst.FunctionDef):
        return []
    if not classes.is_cached_property(method.node):
        return []
    returned = [each for each in method.scope.own(cst.Return) if each.value is not None]
    return [AttributeBinding(name, each, method.scope, each.value) for each in returned]


def _spread(bindings: list[AttributeBinding], name: str) -> list[AttributeBinding]:
    """An entry of a dict of which all entries become attributes: `self.__dict__.update(kwargs)`."""
    return [AttributeBinding(name, each.node, each.method, each.value, key=name, of=each.of) for each in bindings]


def _of_class_body(bases: Bases, name: str) -> list[AttributeBinding]:
    """An attribute of the class, which its objects share, where no constructor binds one of their own."""
    for klass in bases.classes:
        bound = [each for each in bindings_of(klass.scope).get(name, ()) if each.kind is Kind.VALUE]
        if bound:
            return [AttributeBinding(name, each.node, klass.scope, each.value, each.path) for each in bound]
        if name in bindings_of(klass.scope):
            return []
    return []


def _as_run(bindings: list[AttributeBinding]) -> list[AttributeBinding]:
    """Bindings of an attribute with those before others that the methods called for these others run.

    `self.rows = self.read()` where `read` binds `self.rows` itself before it returns.
    """
    if len(bindings) < 2:
        return bindings
    found: list[AttributeBinding] = []
    for binding in bindings:
        called = _method_called_for(binding)
        inner = [each for each in bindings if called and each is not binding and _name_of(each.method) == called]
        found.extend(each for each in (*inner, binding) if not any(each is known for known in found))
    return found


def _method_called_for(binding: AttributeBinding) -> str:
    """The name of the method of the object whose answer is bound; empty where it is none."""
    func = binding.value.func if isinstance(binding.value, cst.Call) else None
    if not isinstance(func, cst.Attribute) or dotted(func.value) != classes.receiver_name(binding.method):
        return ""
    return func.attr.value


def _name_of(scope: Scope) -> str:
    return scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else ""
