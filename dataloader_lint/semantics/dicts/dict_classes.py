"""Classes of the project that are dicts: `class Options(dict)`, mostly with attributes for keys."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    Class,
    Evaluator,
    Function,
    Mapping,
    Method,
    Values,
)

_DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
# Methods that give a dict other keys or values than it is made from.
_CHANGING = ("__new__", "__setitem__", "__getitem__", "__missing__", "update", "__iter__", "keys", "items")
_READING = ("__getattr__", "__getattribute__")


def is_dict_class(ev: Evaluator, klass: Class) -> bool:
    """True if calling a class makes a dict of the arguments, as `dict(...)` does."""
    bases = ev.bases(klass)
    if not bases.complete or not bases.libraries or not _DICTS.issuperset(bases.libraries):
        return False
    if any(classes.find_method(ev, bases.classes, name) is not None for name in _CHANGING):
        return False
    made = classes.find_method(ev, bases.classes, "__init__")
    return made is None or _passes_all_on(made)


def attribute_of_dict(ev: Evaluator, value: Mapping, name: str) -> Values | None:
    """What `options.name` is where the class of a dict gives its keys as attributes; None for other dicts."""
    if not isinstance(value.node, cst.Call):
        return None
    for callee in ev.values(value.node.func, value.frame):
        if not isinstance(callee, Class) or not is_dict_class(ev, callee):
            continue
        bases = ev.bases(callee).classes
        method = classes.find_method(ev, bases, name)
        if method is not None:
            return (Method(method, value),)
        if not hasattr(dict, name) and _gives_keys(ev, bases):  # `options.get` is a method, whatever the keys are
            found = dict_contents.in_value(ev, value, name)
            return tuple(each for each in found if each is not ABSENT) or NOTHING_KNOWN
    return None


def _gives_keys(ev: Evaluator, bases: tuple[Class, ...]) -> bool:
    """True for a class with `__getattr__`, `__getattr__ = dict.get`, or `self.__dict__ = self`."""
    return any(
        classes.find_method(ev, bases, name) is not None or any(name in bindings_of(each.scope) for each in bases)
        for name in _READING
    ) or any("__dict__" in classes.attribute_bindings(each.scope) for each in bases)


def _passes_all_on(constructor: Function) -> bool:
    """True for a constructor that takes `*args, **kwargs` and gives them to `super().__init__`."""
    if not isinstance(constructor.node, cst.FunctionDef):
        return False
    params = constructor.node.params
    names = [params.star_arg.name.value] if isinstance(params.star_arg, cst.Param) else []
    names += [params.star_kwarg.name.value] if params.star_kwarg is not None else []
    if len(params.params) != 1 or params.star_kwarg is None:
        return False
    calls = [
        call
        for call in constructor.scope.own(cst.Call)
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "__init__"
    ]
    given = [arg.value.value for call in calls for arg in call.args if arg.star and isinstance(arg.value, cst.Name)]
    return len(calls) == 1 and given == names
