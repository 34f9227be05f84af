"""What `value.name` can be: attributes of objects, classes, modules and option namespaces; stores from outside."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from dataloader_lint.semantics.callers import parameters
from dataloader_lint.semantics.classes import classes, records
from dataloader_lint.semantics.control.reachability import is_reached, path_conditions, way_to
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.dicts import dict_classes
from dataloader_lint.semantics.evaluation.containers import follow
from dataloader_lint.semantics.evaluation.loader_calls import inner_loader, loader_of
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.datasets import SAMPLE_WRAPPERS
from dataloader_lint.semantics.syntax.attribute_stores import stores_to
from dataloader_lint.semantics.syntax.flow import reaching_or_not
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, resolve
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values import options, type_hints
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.operators import augmented
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Library,
    Mapping,
    Method,
    Module,
    Opaque,
    Sequence,
    Value,
    Values,
    merge,
    part,
)


def attribute(ev: Evaluator, value: Value, name: str) -> Values:
    """What `value.name` can be."""
    if isinstance(value, Library):
        return (Library(ev.extras.library_name(f"{value.name}.{name}")),)
    if isinstance(value, Module):
        return ev.member(value.scope, name)
    if isinstance(value, Class):
        return _of_class(ev, value, name)
    if isinstance(value, CallResult):
        return _of_object(ev, value, name)
    if value is UNKNOWN or isinstance(value, Function | Method):
        return NOTHING_KNOWN
    if isinstance(value, Const) and not isinstance(value.value, str | bytes):
        return ()
    if name == "dataset" and isinstance(value, ItemOf) and isinstance(value.of, CallResult):
        return _wrapped(ev, value.of) or part(AttributeOf(value, name))
    if isinstance(value, Mapping) and (under := dict_classes.attribute_of_dict(ev, value, name)) is not None:
        return under
    if isinstance(value, Sequence) and (held := records.field_of_tuple(ev, value, name)) is not None:
        return held
    if name == "T" and isinstance(value, Opaque) and value.kind in ("array", "tensor"):
        return (value,)
    return part(AttributeOf(value, name))


def _of_object(ev: Evaluator, value: CallResult, name: str) -> Values:
    library = value.library
    if library == "builtins.super":
        return _of_super(ev, value, name)
    if options.is_namespace(value):
        return options.of_namespace(ev, value, name)
    if row(library).gives == "settings":
        return options.of_filled(ev, value, name) or (AttributeOf(value, name),)
    if name in ("dataset", "datasets") and (wrapped := _wrapped(ev, value)):
        return wrapped
    loader = loader_of(ev, value) if library in LOADERS and name in _KEPT_BY_LOADERS else None
    if loader is not None:
        return loader.values(name)
    if isinstance(value.by, Class):
        return (value.by,) if name == "__class__" else of_instance(ev, value, value.by, name)
    if library == "torch.device" and name == "type" and value.call is not None and value.frame is not None:
        return _device_type(ev, value.call, value.frame) or (AttributeOf(value, name),)
    return (AttributeOf(value, name),)


def _wrapped(ev: Evaluator, value: CallResult) -> Values:
    """What a Subset, a ConcatDataset or the parts of a random_split are made from; empty for all else."""
    if value.library not in SAMPLE_WRAPPERS or value.call is None or value.frame is None:
        return ()
    return ev.values(value.call.args[0].value, value.frame) if value.call.args else ()


# What a loader has as it was given it, whatever else it is given.
_KEPT_BY_LOADERS = frozenset(
    {"dataset", "num_workers", "persistent_workers", "pin_memory", "timeout", "worker_init_fn"}
)


def _device_type(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    """`cuda` of `torch.device("cuda:0")`; empty where it is not known."""
    given = ev.values(call.args[0].value, frame) if call.args else NOTHING_KNOWN
    kinds = []
    for each in given:
        if not isinstance(each, Const) or not isinstance(each.value, str):
            return ()
        kinds.append(Const(each.value.partition(":")[0], each.default))
    return tuple(kinds)


def of_instance(ev: Evaluator, value: CallResult, klass: Class, name: str) -> Values:
    """An attribute of an object of a project class: methods, properties, what methods bind, class attributes."""
    bases = ev.bases(klass)
    for each in bases.classes:
        method = classes.methods_of(each.scope).get(name)
        if method is not None:
            function = Function(method, ev.frame_of(each.scope))
            assert isinstance(method.node, cst.FunctionDef)
            if classes.is_property(method.node):
                return ev.run(function, ev.method_frame(method, value))
            return (function,) if classes.is_static(method.node) else (Method(function, value),)
    bindings = [binding for each in bases.classes for binding in classes.attribute_bindings(each.scope).get(name, ())]
    found = [bound(ev, binding, value) for binding in _as_constructed(ev, bindings, value)]
    if not found:
        for each in bases.classes:
            declared = _class_level(each, name)
            if declared:
                return _field(ev, value, klass, each, name, declared)
        if records.is_record(ev, klass) and (passed := records.field_argument(ev, value, klass, name)) is not None:
            return passed
    if found:
        return merge(*found, NOTHING_KNOWN if _may_be_left(bases.classes, bindings, name) else ())
    return (AttributeOf(value, name),) if bases.libraries else NOTHING_KNOWN


def _may_be_left(bases: tuple[Class, ...], bindings: list[classes.AttributeBinding], name: str) -> bool:
    """True if an attribute may still have its class-level number, string or flag: no constructor binds it."""
    declared = [each.value for klass in bases for each in _class_level(klass, name)]
    return any(map(_is_setting, declared)) and not any(map(_is_sure, bindings))


def _is_setting(node: cst.BaseExpression | None) -> bool:
    """True for a literal number, string or flag; None is a placeholder that other code sets."""
    if isinstance(node, cst.Name):
        return node.value in ("True", "False")
    return isinstance(node, cst.Integer | cst.Float | cst.SimpleString | cst.UnaryOperation)


def _is_sure(binding: classes.AttributeBinding) -> bool:
    """True if a constructor binds an attribute on every path."""
    method = binding.method
    if not isinstance(method.node, cst.FunctionDef) or method.node.name.value not in _CONSTRUCTORS:
        return False
    tree = method.module.tree
    line = tree.parent(binding.node)
    return line is not None and tree.parent(line) is method.node.body and way_to(binding.node, method) is None


_CONSTRUCTORS = ("__init__", "__post_init__", "__attrs_post_init__")


def _as_constructed(
    ev: Evaluator, bindings: list[classes.AttributeBinding], value: CallResult
) -> list[classes.AttributeBinding]:
    """The bindings of an attribute that the constructor runs for the arguments of this object."""
    if len(bindings) < 2 or value.call is None:
        return bindings
    return [each for each in bindings if not _is_left_out(ev, each, method_frame(ev, each.method, value))]


def _is_left_out(ev: Evaluator, binding: classes.AttributeBinding, frame: Frame) -> bool:
    """True if a condition on a literal argument excludes the binding; options may be set to anything."""
    written = {name for name, given in (frame.args or {}).items() if isinstance(given.node, _WRITTEN_OUT)}
    return bool(written) and any(
        truth(ev.values(condition.test, frame)) is (not condition.wanted)
        for condition in path_conditions(binding.node, frame.scope)
        if written.issuperset(name.value for name in frame.scope.module.tree.find(condition.test, cst.Name))
    )


_WRITTEN_OUT = (cst.SimpleString, cst.Integer)


def bound(ev: Evaluator, binding: classes.AttributeBinding, receiver: CallResult) -> Values:
    """What one `self.name = ...` statement binds, for the given object."""
    frame = method_frame(ev, binding.method, binding.receiver or receiver)
    if binding.part:
        whole = replace(binding, part="")
        return merge(*(ev.attribute(value, binding.part) for value in bound(ev, whole, receiver)))
    if binding.value is None:
        return type_hints.values_of(ev, binding.annotation, frame) if binding.annotation is not None else NOTHING_KNOWN
    if binding.key:
        frames = _frames_of_callers(ev, frame) if frame.args is None else [frame]
        found = merge(*(dict_contents.lookup(ev, binding.value, binding.key, each) for each in frames))
        return tuple(each for each in found if each is not ABSENT) or NOTHING_KNOWN
    found = ev.values(binding.value, frame)
    if binding.kind is Kind.ELEMENT:
        found = merge(*(ev.element(each) for each in found))
    elif binding.kind is Kind.AUGMENTED:
        return augmented(found)
    found = follow(ev, found, binding.path)
    if UNKNOWN in found and binding.annotation is not None:
        declared = type_hints.values_of(ev, binding.annotation, frame)
        found = merge(tuple(each for each in found if each is not UNKNOWN), declared)
    return found


def _frames_of_callers(ev: Evaluator, frame: Frame) -> list[Frame]:
    """The frames in which the visible calls run a function, or the one of which nothing is known."""
    found = [
        parameters.entered_by(ev, frame.scope, callee, call, where)
        for call, where, callees in ev.callers(frame.scope)
        for callee in callees
    ]
    return [each for each in found if each is not None] or [frame]


def method_frame(ev: Evaluator, method: Scope, receiver: CallResult) -> Frame:
    """The frame in which a method runs for an object; for `__init__` with the arguments of its construction."""
    base = ev.frame_of(method)
    if isinstance(method.node, cst.ClassDef):  # the fields of a dataclass
        return base
    outer = base.outer
    klass = classes.class_of(method)
    if klass is None:  # a closure inside a method
        parent = method.parent
        return ev.method_frame(method, receiver, method_frame(ev, parent, receiver) if parent is not None else None)
    if receiver.call is not None and receiver.frame is not None and method.node.name.value == "__init__":  # type: ignore[attr-defined]
        if isinstance(receiver.by, Class) and classes.find_method(
            ev, ev.bases(receiver.by).classes, "__init__"
        ) == Function(method, ev.frame_of(klass)):
            return ev.enter(Function(method, outer or base), receiver.call, receiver.frame, receiver, receiver.before)
    if base.receiver == receiver:
        return base
    return ev.method_frame(method, receiver)


def _class_level(klass: Class, name: str) -> list[Binding]:
    return bindings_of(klass.scope).get(name, [])


def _field(ev: Evaluator, value: CallResult, klass: Class, home: Class, name: str, declared: list[Binding]) -> Values:
    """A class attribute; for a dataclass what the construction gives it comes first, else its declared default."""
    passed = records.field_argument(ev, value, klass, name)
    if passed is not None:
        return passed
    found = merge(*(ev.binding(each, ev.frame_of(home.scope)) for each in declared))
    if value.call is None and classes.is_dataclass(home):
        label = f"the default of `{home.node.name.value}.{name}`"
        return tuple(Const(each.value, each.default or label) if isinstance(each, Const) else each for each in found)
    return found


def _of_class(ev: Evaluator, klass: Class, name: str) -> Values:
    bases = ev.bases(klass)
    for each in bases.classes:
        method = classes.methods_of(each.scope).get(name)
        if method is not None:
            function = Function(method, ev.frame_of(each.scope))
            assert isinstance(method.node, cst.FunctionDef)
            if "classmethod" in classes.decorator_names(method.node):
                return (Method(function, klass),)
            return (function,)
        declared = _class_level(each, name)
        if declared:
            return merge(*(ev.binding(binding, ev.frame_of(each.scope)) for binding in declared))
    if name == "__name__":
        return (Const(klass.node.name.value),)
    if len(bases.libraries) == 1:
        return (Library(f"{bases.libraries[0]}.{name}"),)
    return NOTHING_KNOWN


def _of_super(ev: Evaluator, value: CallResult, name: str) -> Values:
    """`super().name`: the next definition after the class in whose method this stands, or that is named."""
    if value.frame is None:
        return NOTHING_KNOWN
    frame: Frame | None = value.frame
    while frame is not None and classes.class_of(frame.scope) is None:
        frame = frame.outer
    if frame is None:
        return NOTHING_KNOWN
    here = classes.class_of(frame.scope)
    assert here is not None
    receiver = frame.receiver
    if isinstance(receiver, CallResult) and isinstance(receiver.by, Class):
        start = receiver.by
    elif isinstance(receiver, Class):
        start = receiver
    else:
        return NOTHING_KNOWN
    bases = ev.bases(start)
    for each in classes.after_super(bases.classes, value.call, here):
        method = classes.methods_of(each.scope).get(name)
        if method is not None:
            if name == "__init__" and classes.is_behind_loader(ev, start, method):
                break
            return (Method(Function(method, ev.frame_of(each.scope)), receiver),)
    if name == "__iter__" and isinstance(receiver, CallResult) and (inside := inner_loader(ev, receiver)) is not None:
        return (AttributeOf(inside, name),)
    return tuple(Library(f"{library}.{name}") for library in bases.libraries) or NOTHING_KNOWN


def _is_receiver(name: cst.Name, here: Scope) -> bool:
    """True if a name is the object that the method is called on, also in a comprehension or lambda in there."""
    if here.is_function and classes.receiver_name(here) == name.value:
        return True
    bound = resolve(name, here.module.tree)
    return bool(bound) and all(
        each.kind is Kind.PARAMETER and classes.class_of(each.scope) and classes.receiver_name(each.scope) == name.value
        for each in bound
    )


def with_outside_stores(ev: Evaluator, node: cst.Attribute, found: Values, frame: Frame) -> Values:
    """`name.attribute` after stores such as `args.num_workers = 0` in the same scope."""
    if not isinstance(node.value, cst.Name):
        return found
    module = frame.scope.module
    stores = stores_to(module, node.value.value, node.attr.value)
    if not stores:
        return found
    tree = module.tree
    here = tree.scope_of(node)
    if _is_receiver(node.value, here):
        return found  # `self.x = ...` is known from the class
    own = [store for store in stores if tree.scope_of(store.node) is here]
    others = [store for store in stores if tree.scope_of(store.node) is not here]
    reached, surely = reaching_or_not(node, own, tree) if own else ([], False)
    if ev.cuda:  # what another arm of `if args.no_cuda` sets is none of what a move to CUDA is about
        reached = [store for store in reached if is_reached(ev, store.node, ev.at(here, frame))]
    values = [ev.values(store.value, ev.at(tree.scope_of(store.node), frame)) for store in reached]
    if others and not surely:
        values.extend(ev.values(store.value, ev.at(tree.scope_of(store.node), frame)) for store in others)
    return merge(*values) if surely else merge(found, *values)
