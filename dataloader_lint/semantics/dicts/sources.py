"""Dicts made without a display: from pairs, from keys with one value, from the fields of objects."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes, records
from dataloader_lint.semantics.dicts import writes as dict_writes
from dataloader_lint.semantics.dicts.decorator_tables import registered
from dataloader_lint.semantics.dicts.writes import key_of, touches, touches_of_attribute
from dataloader_lint.semantics.syntax.attribute_stores import Store, stores
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import Scope, Tree
from dataloader_lint.semantics.values import options
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Mapping,
    Sequence,
    Value,
    Values,
    constant,
    merge,
)

# Stands for every key of a dict, where its values are remembered by key.
_ANY_KEY = object()


def of_fields(ev: Evaluator, found: Values, key: object) -> Values:
    """What an object as a dict (`vars(args)`, `asdict(options)`) has under a key: its attribute of that name."""
    return merge(*(_of_object(ev, each, key) for each in found))


def _of_object(ev: Evaluator, value: Value, key: object) -> Values:
    if options.is_namespace(value):
        if not isinstance(key, str):
            return NOTHING_KNOWN
        return (ABSENT,) if key in _NO_OPTIONS else ev.attribute(value, key)
    made = value if isinstance(value, CallResult) else None
    if made is not None and made.frame is not None and _may_be_set(made.frame, key):
        return NOTHING_KNOWN
    if made is not None and made.library == "types.SimpleNamespace" and made.call is not None:
        assert made.frame is not None
        return _keyword(ev, made.call, key, made.frame)
    found = records.in_record(ev, value, key)
    if found is None and made is not None and isinstance(made.by, Class) and ev.bases(made.by).complete:
        return _of_plain(ev, made, made.by, key)
    return NOTHING_KNOWN if found is None else found


def _of_plain(ev: Evaluator, made: CallResult, klass: Class, key: object) -> Values:
    """What `vars(options)` has under a key where methods bind the attributes."""
    bases = ev.bases(klass)
    bound = {name for each in bases.classes for name in classes.attribute_bindings(each.scope)}
    if bases.libraries or "__dict__" in bound or not isinstance(key, str):
        return NOTHING_KNOWN
    return ev.attribute(made, key) if key in bound else (ABSENT,)


def _may_be_set(made_in: Frame, key: object) -> bool:
    """True if the file that makes an object sets an attribute of that name on anything."""
    module = made_in.scope.module
    return bool(module.calls_named("setattr")) or any(
        name == key and not _is_on_self(store) for name, store in stores(module)
    )


def _is_on_self(store: Store) -> bool:
    """True for what a method sets on its own object, which is known from its class."""
    return isinstance(store.owner, cst.Name) and store.owner.value == "self"


_NO_OPTIONS = frozenset({"collate_fn", "generator", "worker_init_fn"})  # no command-line value


def _keyword(ev: Evaluator, call: cst.Call, key: object, frame: Frame) -> Values:
    """What a call whose arguments are all written out gives a keyword."""
    if any(arg.keyword is None for arg in call.args):
        return NOTHING_KNOWN
    named = (arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == key)
    given = next(named, None)
    return ev.values(given, frame) if given is not None else (ABSENT,)


Pairs = list[tuple[Values, Values]]


def pairs_of(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> Pairs | None:
    """The pairs of keys and values that `dict(...)` is made from: `[("a", 1)]`, `zip(names, values)`."""
    if isinstance(node, cst.Name | cst.Dict):
        return None
    found = ev.values(node, frame)
    value = found[0] if len(found) == 1 else None
    if isinstance(value, CallResult) and value.library == "builtins.zip" and value.call and value.frame:
        sides = [_written_items(ev, arg.value, value.frame) for arg in value.call.args]
        return list(zip(*(side or () for side in sides), strict=False)) if len(sides) == 2 and all(sides) else None
    items = value.items if isinstance(value, Sequence) else None
    pairs: Pairs = []
    for item in items or ():
        inner = item[0] if len(item) == 1 else None
        if not isinstance(inner, Sequence) or inner.items is None or len(inner.items) != 2:
            return None
        pairs.append((inner.items[0], inner.items[1]))
    return pairs or None


def _written_items(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> tuple[Values, ...] | None:
    found = ev.values(node, frame)
    return found[0].items if len(found) == 1 and isinstance(found[0], Sequence) else None


def among(pairs: Pairs, key: object) -> Values:
    """What a key gives in a dict that is made from pairs; the last one with the key wins."""
    found: Values = (ABSENT,)
    for name, given in pairs:
        known = constant(name)
        if known is None:
            found = merge(found, NOTHING_KNOWN)
        elif known.value == key:
            found = given
    return found


def from_keys(ev: Evaluator, call: cst.Call, key: object, frame: Frame) -> Values:
    """What `dict.fromkeys(keys, value)` holds under a key."""
    keys = _written_items(ev, call.args[0].value, frame)
    if keys is None:
        return NOTHING_KNOWN
    given: Values = ev.values(call.args[1].value, frame) if len(call.args) > 1 else (NONE,)
    return among([(each, given) for each in keys], key)


def items_of(node: cst.DictComp) -> cst.BaseExpression | None:
    """The dict of `{k: v for k, v in options.items() if ...}`; None for comprehensions that change keys or values."""
    loop = node.for_in
    call, targets = loop.iter, loop.target
    names = [each.value for each in targets.elements] if isinstance(targets, cst.Tuple) else []
    if loop.inner_for_in is not None or len(names) != 2 or not isinstance(call, cst.Call) or call.args:
        return None
    same = all(
        isinstance(one, cst.Name) and isinstance(other, cst.Name) and one.value == other.value
        for one, other in zip(names, (node.key, node.value), strict=True)
    )
    is_items = isinstance(call.func, cst.Attribute) and call.func.attr.value == "items"
    return call.func.value if same and is_items and isinstance(call.func, cst.Attribute) else None


def is_let_through(
    ev: Evaluator, test: cst.BaseExpression, name: cst.BaseExpression, key: object, frame: Frame
) -> bool | None:
    """The answer to a test of a comprehension about its key, `k != "epochs"`, for one key; None where it is unknown."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(name, cst.Name):
        return None
    if not isinstance(test.left, cst.Name) or test.left.value != name.value:
        return None
    sign, other = test.comparisons[0].operator, test.comparisons[0].comparator
    if isinstance(sign, cst.Equal | cst.NotEqual):
        known = constant(ev.values(other, frame))
        return None if known is None else (known.value == key) is isinstance(sign, cst.Equal)
    items = _written_items(ev, other, frame) if isinstance(sign, cst.In | cst.NotIn) else None
    members = [constant(item) for item in items or ()]
    if not members or None in members:
        return None
    return any(each is not None and each.value == key for each in members) is isinstance(sign, cst.In)


def over(upper: Values, lower: Values) -> Values:
    """A key of one dict laid over another: the lower one shows where the upper one has none."""
    if ABSENT not in upper:
        return upper
    return merge(tuple(value for value in upper if value is not ABSENT), lower)


def literal_keys(node: cst.Dict, tree: Tree) -> dict[object, cst.BaseExpression] | None:
    """The values of a dict display by their keys, where all of these are plain texts; None for other displays."""

    def work_out() -> dict[object, cst.BaseExpression] | None:
        found: dict[object, cst.BaseExpression] = {}
        for each in node.elements:
            if not isinstance(each, cst.DictElement) or not isinstance(each.key, cst.SimpleString):
                return None
            found[each.key.evaluated_value] = each.value
        return found

    return tree.once(("literal keys", id(node)), work_out)


def known_keys(ev: Evaluator, value: Mapping) -> Iterator[object]:
    """The constant keys of a dict display or `dict(...)` call."""
    node = value.node
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                known = constant(ev.values(element.key, value.frame))
                if known is not None:
                    yield known.value
    elif isinstance(node, cst.Call):
        yield from (arg.keyword.value for arg in node.args if arg.keyword is not None)


def written_keys(ev: Evaluator, value: Value) -> Values:
    """All keys of a dict that is written out, `{"cuda": 1, "mps": 2}`, and never stored into; empty for all else."""
    if not isinstance(value, Mapping) or not isinstance(value.node, cst.Dict):
        return ()
    kept = dict_writes.kept_under(value)
    if kept and any(dict_writes.stores(ev, value, kept)):
        return ()
    return tuple(map(Const, literal_keys(value.node, value.frame.scope.module.tree) or ()))


def all_values(ev: Evaluator, value: Mapping) -> Iterator[Values]:
    """What the keys of a dict hold, as far as it is written out."""
    node = value.node
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                yield ev.values(element.value, value.frame)
            else:
                yield NOTHING_KNOWN
    elif isinstance(node, cst.DictComp):
        yield ev.values(node.value, value.frame)
    elif isinstance(node, cst.Call):
        for arg in node.args:
            yield ev.values(arg.value, value.frame) if arg.keyword is not None else NOTHING_KNOWN
    else:
        yield NOTHING_KNOWN
    kept = dict_writes.kept_under(value)
    for store in dict_writes.stores(ev, value, kept) if kept else ():
        yield ev.values(store.node.value, store.frame) if isinstance(store.node, cst.Assign) else NOTHING_KNOWN
    by_decorator = tuple(registered(ev, value))
    if by_decorator:
        yield (*by_decorator, UNKNOWN)


def any_value(ev: Evaluator, value: Mapping) -> Values:
    """What a dict holds under one key or another: the same for each that asks, in however many places."""
    return ev.key(value.node, _ANY_KEY, value.frame, lambda: merge(*all_values(ev, value)) or NOTHING_KNOWN)


def stored(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> list[Values]:
    """What is stored under any key of the container called `node`, in the scope that binds the name.

    `x[k] = f(x[k])` reads what was there before it stores.
    """
    if not isinstance(node, cst.Name):
        return []
    tree = frame.scope.module.tree
    bindings = resolve(node, tree)
    if not bindings:
        return []
    home = bindings[0].scope
    inside = ev.at(home, frame)
    return [
        ev.values(assign.value, inside)
        for assign in home.own(cst.Assign)
        for target in assign.targets
        if type(target.target) is cst.Subscript
        and type(target.target.value) is cst.Name
        and target.target.value.value == node.value
        and not tree.is_inside(node, assign)
    ]


def stored_in_field(ev: Evaluator, node: cst.BaseExpression, keys: list[object], frame: Frame) -> Values:
    """What methods store under some keys of the dict that an attribute of an object keeps, wherever that is from.

    `self.data = read(path)`, then `self.data["rows"] = rows`; nothing where `node` is no attribute, or none is known.
    """
    if not isinstance(node, cst.Attribute):
        return ()
    found: list[Values] = []
    for owner in ev.values(node.value, frame):
        if not isinstance(owner, CallResult) or not isinstance(owner.by, Class):
            continue
        for base in ev.bases(owner.by).classes:
            for method, name in touches_of_attribute(base.scope, node.attr.value):
                inside = _entered(ev, method, base, owner)
                for touch in touches(method, name):
                    if isinstance(touch.node, cst.Assign) and isinstance(touch.part, cst.Subscript):
                        if key_of(ev, touch.part, inside) in keys:
                            found.append(ev.values(touch.node.value, inside))
    return merge(*found)


def _entered(ev: Evaluator, method: Scope, base: Class, owner: CallResult) -> Frame:
    """The frame in which a method runs for an object: the constructor with its arguments, if it is the object's."""
    is_constructor = isinstance(method.node, cst.FunctionDef) and method.node.name.value == "__init__"
    if is_constructor and base == owner.by and owner.call is not None and owner.frame is not None:
        return ev.enter(Function(method, ev.frame_of(base.scope)), owner.call, owner.frame, owner)
    return ev.method_frame(method, owner)
