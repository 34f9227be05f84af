"""A Dataset class as it is built and read, with all its bases."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.datasets.construction import is_inside
from dataloader_lint.facts.datasets.field_uses import FieldUses
from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.classes import AttributeBinding
from dataloader_lint.facts.infer.values import Bases, CallResult, Class, Evaluator
from dataloader_lint.facts.object_state import consumers
from dataloader_lint.facts.syntax.names import dotted
from dataloader_lint.facts.syntax.tree import Scope
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A class whose objects are read by the workers of a DataLoader, seen as one with all its bases."""

    klass: Class
    bases: Bases
    ev: Evaluator
    construction: tuple[Scope, ...]  # the functions that making an object runs, in the order in which they are met
    reads: FieldUses
    reach: DatasetFlow

    @property
    def name(self) -> str:
        return self.klass.node.name.value

    @property
    def self_value(self) -> CallResult:
        """An object of the class about whose construction nothing is known."""
        return CallResult(self.klass, None, None)

    @property
    def is_unread(self) -> bool:
        """Whether nothing in sight reads it through a loader that has workers, or may get some. Dear."""
        return consumers.is_unread(self.reach, self.klass)

    @property
    def has_no_workers_yet(self) -> bool:
        """Whether all loaders in sight that may read it surely start no workers, so that nobody copies it now. Dear."""
        return consumers.has_no_workers_yet(self.reach, self.klass)

    @property
    def objects_in_workers(self) -> list[CallResult]:
        """Its objects as the loaders in sight that may have workers get them, or one of which nothing is known."""
        return consumers.objects_in_workers(self.reach, self.klass) or [self.self_value]

    def bound(self) -> dict[str, list[AttributeBinding]]:
        """Where construction binds the attributes of the object, by attribute, in the order of construction."""
        found: dict[str, list[AttributeBinding]] = {}
        if classes.find_method(self.ev, self.bases.classes, "__init__") is None:
            for each in filter(classes.is_dataclass, self.bases.classes):
                for field in classes.field_bindings(each):
                    found.setdefault(field.name, []).append(field)
        for scope in self.construction:
            klass = classes.class_of(scope)
            if klass is None:
                continue
            for bindings in classes.attribute_bindings(klass).values():
                for binding in bindings:
                    if binding.method is scope or is_inside(binding.method, scope):
                        found.setdefault(binding.name, []).append(binding)
        return {name: _as_run(bindings) for name, bindings in found.items()}


def _as_run(bindings: list[AttributeBinding]) -> list[AttributeBinding]:
    """Bindings of an attribute with those before others that the methods called for these others run.

    `self.rows = self.read()` where `read` binds `self.rows` itself before it returns.
    """
    if len(bindings) < 2:
        return bindings
    by_method: dict[str, list[AttributeBinding]] = {}
    for binding in bindings:
        by_method.setdefault(_name_of(binding.method), []).append(binding)
    found: dict[int, AttributeBinding] = {}
    for binding in bindings:
        called = _method_called_for(binding)
        inner = [each for each in by_method.get(called, ()) if called and each is not binding]
        for each in (*inner, binding):
            found.setdefault(id(each), each)
    return list(found.values())


def _method_called_for(binding: AttributeBinding) -> str:
    """The name of the method of the object whose answer is bound; empty where it is none."""
    func = binding.value.func if isinstance(binding.value, cst.Call) else None
    if not isinstance(func, cst.Attribute) or dotted(func.value) != classes.receiver_name(binding.method):
        return ""
    return func.attr.value


def _name_of(scope: Scope) -> str:
    return scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else ""
