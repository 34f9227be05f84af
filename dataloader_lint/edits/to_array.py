"""Stores a list of strings or numbers as a numpy array instead, where every use of it works on an array as well."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.edits.array_uses import check_use, refuse_own_collation, refuse_uses_elsewhere
from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.imports import need_import
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import ARRAY_FIX_DEPTH
from dataloader_lint.semantics.project.required_versions import NEW_NUMPY, demands
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import LOOPS, ModuleFacts, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    Bases,
    CallResult,
    Class,
    Const,
    Evaluator,
    Library,
    Module,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
)

if TYPE_CHECKING:
    from dataloader_lint.pipeline.dataset_class import DatasetClass

# Bases that neither bind nor read attributes of their own.
_PLAIN_BASES = frozenset(
    {
        "abc.ABC",
        "builtins.object",
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "typing.Generic",
        "typing.Protocol",
    }
)


def to_array(editor: Editor, dataset: DatasetClass, binding: AttributeBinding) -> tuple[Edit, ...]:
    """The edits that keep the list of `self.name = ...` as an array; refused where that could be noticed."""
    statement, written = binding.node, binding.value
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or binding.path or written is None:
        raise RefusedError("the statement binds more than it")
    if binding.of is not None or binding.key or binding.part or binding.method.is_class:
        raise RefusedError("not bound by a method of its class")
    if any(isinstance(above, LOOPS) for above in editor.tree.ancestors(statement)):
        raise RefusedError("bound again and again")
    kind = _kind_of_elements(dataset, binding)
    if kind not in ("path", "str", "int", "float"):
        raise RefusedError("not every element is known to be a string or a number")
    texts = dataset.reach.ev.project.requirements(binding.method.module.path)
    has_string_type = any(demands(text, NEW_NUMPY) for text in texts)
    if kind == "str" and not has_string_type:
        raise RefusedError("one string is much longer")
    _check_source(dataset, binding, written)
    family = _family(editor, dataset, binding)
    _check_bindings(editor, family, binding)
    for module in {id(each.scope.module): each.scope.module for each in family}.values():
        _check_attributes(editor, dataset, family, module, binding, kind)
    refuse_uses_elsewhere(dataset.ev.project, binding.method.module, binding.name)
    if kind in ("float", "int"):
        refuse_own_collation(dataset.ev.project, binding.method.module)
    numpy = need_import(editor, statement, "numpy", alias="np")
    start, end = editor.outer(written)
    strings = "dtypes.StringDType()" if has_string_type else "str_"  # for any version
    dtype = f", dtype={numpy.name}.{strings}" if kind in ("path", "str") else ""
    return (Edit(start, start, f"{numpy.name}.array("), Edit(end, end, f"{dtype})"), *numpy.edits)


# What is in it.


def _kind_of_elements(dataset: DatasetClass, binding: AttributeBinding) -> str:
    """The kind of every element of everything that the binding can give; empty where it is no list of one kind."""
    found = attributes.bound(dataset.ev, binding, dataset.self_value)
    for value in found:
        is_list = isinstance(value, Sequence) and value.kind in ("list", "tuple")
        if not is_list and not (isinstance(value, Opaque) and value.kind.startswith("list of ")):
            return ""
    kinds = _kinds_in(dataset.ev, found, 0)
    if kinds == {"path", "str"}:
        return "str"
    return kinds.pop() if len(kinds) == 1 else ""


_KEEP_ELEMENTS = ("builtins.list", "builtins.set", "builtins.sorted", "builtins.tuple", "random.sample")
_SUFFIX = re.compile(r"^\.[A-Za-z]\w{1,4}$")  # of a file: ".png"
_TELLING = (cst.BinaryOperation, cst.Call, cst.ConcatenatedString, cst.FormattedString, cst.IfExp, cst.SimpleString)


def _kinds_in(ev: Evaluator, values: Values, depth: int) -> set[str]:
    """The kinds of the elements of any of these; an empty one among them for what is not known for sure."""
    kinds: set[str] = set()
    for value in values if depth < ARRAY_FIX_DEPTH else (UNKNOWN,):
        if isinstance(value, Sequence):
            kinds |= _kinds_in_sequence(ev, value, depth + 1)
        elif isinstance(value, Opaque) and value.kind.startswith("list of "):
            kinds.add(value.kind.removeprefix("list of "))
        elif isinstance(value, CallResult) and value.library == "builtins.range":
            kinds.add("int")
        elif isinstance(value, CallResult) and row(value.library).elements == "str":
            kinds.add("path" if row(value.library).lists_files else "str")
        else:
            kinds.add("")
    return kinds


def _kinds_in_sequence(ev: Evaluator, value: Sequence, depth: int) -> set[str]:
    node = value.node
    if value.items is not None:
        return {_kind(each) for item in value.items for each in item} or {""}
    if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
        inner = node.for_in
        while inner.inner_for_in is not None:
            inner = inner.inner_for_in
        if isinstance(node.elt, cst.Name) and isinstance(inner.target, cst.Name):
            same = node.elt.value == inner.target.value
            return _kinds_in(ev, ev.values(inner.iter, value.frame), depth) if same else {""}
        if not isinstance(node.elt, _TELLING):
            return {""}
        kinds = {_kind(each) for each in ev.values(node.elt, value.frame)}
        return {"path"} if kinds == {"str"} and _is_path(node.elt) else kinds
    if isinstance(node, cst.Subscript):
        return _kinds_in(ev, ev.values(node.value, value.frame), depth)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        sides = merge(ev.values(node.left, value.frame), ev.values(node.right, value.frame))
        return _kinds_in(ev, sides, depth)
    if isinstance(node, cst.Call):
        names = {each.name if isinstance(each, Library) else "" for each in ev.values(node.func, value.frame)}
        if names and all(row(name).elements == "str" for name in names):
            return {"path" if all(row(name).lists_files for name in names) else "str"}
        if names and names.issubset(_KEEP_ELEMENTS) and node.args and not node.args[0].star:
            return _kinds_in(ev, ev.values(node.args[0].value, value.frame), depth)
    return {""}


def _is_path(node: cst.BaseExpression) -> bool:
    """True for code that puts a path together, the length of which has a bound."""
    if isinstance(node, cst.Call):
        name = dotted(node.func)
        is_text = name == "str" and len(node.args) == 1
        return name.endswith("path.join") or (is_text and _is_path(node.args[0].value))
    if isinstance(node, cst.BinaryOperation):
        return _is_path(node.left) or _is_path(node.right)
    if isinstance(node, cst.FormattedString):
        texts = [part.value for part in node.parts if isinstance(part, cst.FormattedStringText)]
        return any("/" in text for text in texts) or bool(texts and _SUFFIX.search(texts[-1]))
    return isinstance(node, cst.SimpleString) and ("/" in node.value or bool(_SUFFIX.search(node.value.strip("'\""))))


def _kind(value: Value) -> str:
    if isinstance(value, Const):
        number = value.value
        return "" if isinstance(number, int) and abs(number) >= 2**63 else type(number).__name__
    return value.kind if isinstance(value, Opaque) else ""


def _check_source(dataset: DatasetClass, binding: AttributeBinding, written: cst.BaseExpression) -> None:
    """The list must be made here, or have a local name under which nothing is ever done to it."""
    if isinstance(written, cst.Call | cst.ListComp):
        return
    if not isinstance(written, cst.Name):
        raise RefusedError("the list may be kept elsewhere")
    tree = binding.method.module.tree
    if len(bindings_of(binding.method).get(written.value, [])) != 1:
        raise RefusedError("the list has no local name, or several values")
    for name in names_in(tree, binding.method.node, written.value):
        if name is written or _is_target(tree, name):
            continue
        if tree.order(name) < tree.order(written) and _is_sorted_in_place(tree, name):
            continue
        check_use(tree, name, "")


def _is_target(tree: Tree, name: cst.Name) -> bool:
    return isinstance(tree.parent(name), cst.AssignTarget) or (
        isinstance(above := tree.parent(name), cst.AnnAssign) and above.target is name
    )


def _is_sorted_in_place(tree: Tree, name: cst.Name) -> bool:
    method = tree.parent(name)
    if not isinstance(method, cst.Attribute) or method.attr.value != "sort":
        return False
    call = tree.parent(method)
    return isinstance(call, cst.Call) and call.func is method and isinstance(tree.parent(call), cst.Expr)


# Who uses it.


def _family(editor: Editor, dataset: DatasetClass, binding: AttributeBinding) -> list[Class]:
    """The class that binds it with its bases, and the classes of the file that inherit from it with theirs."""
    ev = dataset.ev
    owner = classes.class_of(binding.method)
    if owner is None:
        raise RefusedError("bound in a function inside a method")
    module = owner.module
    subclasses = editor.once(("subclasses", id(ev), id(module)), lambda: _subclasses(ev, module))
    found: dict[int, Class] = {}
    for bases in subclasses[id(owner)]:
        if not bases.complete or not _PLAIN_BASES.issuperset(bases.libraries):
            raise RefusedError("a base class may use it in any way")
        found.update((id(each.scope), each) for each in bases.classes)
    return list(found.values())


def _subclasses(ev: Evaluator, module: ModuleFacts) -> dict[int, list[Bases]]:
    """The bases of every class of a module, by the `id` of each class among them."""
    found: dict[int, list[Bases]] = {}
    for scope in module.root.descend():
        if scope.is_class and scope.parent is not None:
            bases = ev.bases(Class(scope, ev.frame_of(scope.parent)))
            for one in {id(each.scope) for each in bases.classes}:
                found.setdefault(one, []).append(bases)
    return found


def _check_bindings(editor: Editor, family: list[Class], binding: AttributeBinding) -> None:
    name = binding.name
    for klass in family:
        if name in bindings_of(klass.scope) or name in classes.methods_of(klass.scope):
            raise RefusedError("declared in a class body")
        if any(each.node is not binding.node for each in classes.attribute_bindings(klass.scope).get(name, ())):
            raise RefusedError("bound more than once")
        if editor.once(("reached by name", id(klass.scope)), partial(_is_reached_by_name, klass)):
            raise RefusedError("attributes are reached by their names")


def _is_reached_by_name(klass: Class) -> bool:
    """True if a class reads or binds attributes by computed names."""
    tree = klass.scope.module.tree
    names = ("getattr", "setattr", "hasattr", "delattr", "vars", "asdict")
    return any(last_name(call.func) in names for call in tree.find(klass.node, cst.Call)) or any(
        attribute.attr.value == "__dict__" for attribute in tree.find(klass.node, cst.Attribute)
    )


# Attributes of one name: those of the objects of a class in its own methods by the `id` of the class, all others by 0.
_Attributes = dict[int, list[tuple[cst.Attribute, Scope]]]


def _attributes(module: ModuleFacts) -> dict[str, _Attributes]:
    """All attributes of a module, by their name."""
    found: dict[str, _Attributes] = {}
    for scope in module.root.descend():
        for attribute in scope.own(cst.Attribute):
            owner = _class_of_receiver(attribute, scope)
            by_class = found.setdefault(attribute.attr.value, {})
            by_class.setdefault(0 if owner is None else id(owner), []).append((attribute, scope))
    return found


def _check_attributes(
    editor: Editor,
    dataset: DatasetClass,
    family: list[Class],
    module: ModuleFacts,
    binding: AttributeBinding,
    kind: str,
) -> None:
    """All that has the attribute's name: another thing's, or used in a way that an array allows."""
    found = editor.once(("attributes", id(module)), lambda: _attributes(module)).get(binding.name, {})
    target = cst.ensure_type(binding.node, cst.Assign).targets[0].target
    for klass in family:
        for attribute, scope in found.get(id(klass.scope), ()):
            if attribute is not target:
                check_use(scope.module.tree, attribute, kind)
    for attribute, scope in found.get(0, ()):
        _check_other(dataset, family, attribute, scope)


def _check_other(dataset: DatasetClass, family: list[Class], attribute: cst.Attribute, scope: Scope) -> None:
    """Refuses an attribute of something that may be an object of the family."""
    holders = dataset.ev.values(attribute.value, dataset.ev.frame_of(function_scope(scope)))
    for holder in holders:
        by = holder.by if isinstance(holder, CallResult) else None
        is_other = isinstance(by, Library) or (
            isinstance(by, Class)
            and not any(each.scope is one.scope for one in family for each in dataset.ev.bases(by).classes)
        )
        if not is_other and not isinstance(holder, Library | Module | Const | Opaque):
            raise RefusedError("used outside the class")


def _class_of_receiver(attribute: cst.Attribute, scope: Scope) -> Scope | None:
    """The class in one of whose methods this is an attribute of the object."""
    owner = attribute.value
    if not isinstance(owner, cst.Name):
        return None
    current: Scope | None = scope
    while current is not None:
        klass = classes.class_of(current)
        if klass is not None:
            return klass if classes.receiver_name(current) == owner.value else None
        if owner.value in bindings_of(current):
            return None
        current = current.parent
    return None
