"""What can be done with a container of samples: no array for what the code joins, changes or gives away whole."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.memory._shared.mutations import added_to
from dataloader_lint.rules.memory._shared.sample_storage import SampleStorage
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Function, Method

SERIALIZE = "keep records in one buffer (code: --explain DL101)"
_CHANGING = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popleft", "remove", "reverse", "setdefault", "sort"}
)
_HANDLES = frozenset({"File", "TarFile", "VideoCapture", "VideoReader", "ZipFile", "connect", "memmap", "open"})


def obstacle(stored: SampleStorage) -> str:
    """Advice for a container that no array can replace; empty for others."""
    for node, scope in _put_in(stored):
        if isinstance(node, cst.GeneratorExp) or _makes_generator(node, scope, stored):
            return "make the generators in the worker, at the first sample"
        if isinstance(node, cst.Call) and last_name(node.func) in _HANDLES:
            return "open them in the worker, at the first sample"
    if any(isinstance(each, CallResult) and isinstance(each.by, Class) for each in stored.elements):
        return "keep their fields in arrays, and make the object in `__getitem__`"
    for node, method in _uses(stored):
        how = _how_used(node, method, stored)
        if how and isinstance(method.node, cst.FunctionDef):
            return f"convert it once it is complete: `{method.node.name.value}` {how}"
    return ""


def _put_in(stored: SampleStorage) -> Iterator[tuple[cst.BaseExpression, Scope]]:
    """What is written as one element: `[open(each) for each in files]`, `self.files.append(open(each))`."""
    made = stored.binding.value
    if isinstance(made, cst.ListComp):
        yield made.elt, stored.binding.method
    if isinstance(made, cst.List | cst.Tuple):
        yield from ((each.value, stored.binding.method) for each in made.elements)
    for added, scope in added_to(stored.dataset, stored.name, stored.binding):
        tree = scope.module.tree
        above = tree.parent(added)
        call = tree.parent(above) if isinstance(above, cst.Arg) else None
        if isinstance(call, cst.Call) and last_name(call.func) in ("append", "appendleft", "insert"):
            yield added, scope


def _makes_generator(node: cst.BaseExpression, scope: Scope, stored: SampleStorage) -> bool:
    """True for a call of a generator function of the project."""
    if not isinstance(node, cst.Call):
        return False
    ev = stored.dataset.ev
    frame = attributes.method_frame(ev, function_scope(scope), stored.dataset.self_value)
    called = (each.function if isinstance(each, Method) else each for each in ev.values(node.func, frame))
    return any(isinstance(each, Function) and bool(each.scope.own(cst.Yield)) for each in called)


def _uses(stored: SampleStorage) -> Iterator[tuple[cst.Attribute, Scope]]:
    """Where methods of its class, or of a base of it, name it."""
    name = stored.binding.name
    for klass in stored.dataset.bases.classes:
        for method in classes.methods_of(klass.scope).values():
            for inner in method.descend():
                yield from ((each, method) for each in inner.own(cst.Attribute) if each.attr.value == name)


def _how_used(node: cst.Attribute, method: Scope, stored: SampleStorage) -> str:
    """What a method does with the whole list, if an array would do something else."""
    tree = method.module.tree
    above = tree.parent(node)
    if isinstance(above, cst.BinaryOperation):
        if isinstance(above.operator, cst.Add):
            return "joins it with `+`"
        return "repeats it with `*`" if isinstance(above.operator, cst.Multiply) else ""
    if dotted(node.value) != classes.receiver_name(method) or any(
        method is each for each in stored.dataset.construction
    ):
        return ""
    if isinstance(above, cst.AugAssign) and above.target is node:
        return "repeats it with `*`" if isinstance(above.operator, cst.MultiplyAssign) else "joins it with `+`"
    if isinstance(above, cst.Return):
        return "returns it whole"
    if isinstance(above, cst.Attribute):
        return "changes it" if above.attr.value in _CHANGING and isinstance(tree.parent(above), cst.Call) else ""
    if isinstance(above, cst.Arg):
        call = tree.parent(above)
        return "changes it" if isinstance(call, cst.Call) and last_name(call.func) == "shuffle" else ""
    if isinstance(above, cst.Subscript) and above.value is node:
        return "changes it" if _is_target(above, tree.parent(above)) else ""
    return ""


def _is_target(node: Node, above: Node | None) -> bool:
    return isinstance(above, cst.AssignTarget) or (isinstance(above, cst.AugAssign) and above.target is node)
