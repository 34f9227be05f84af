"""Keys of dicts: literals, `dict(...)`, merges, and later stores through the name that a dict is kept under."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce

import libcst as cst

from dataloader_lint.facts.infer import dict_stores
from dataloader_lint.facts.infer.dict_mutations import key_of, touches
from dataloader_lint.facts.infer.dict_sources import among, from_keys, is_let_through, items_of, of_fields, pairs_of
from dataloader_lint.facts.infer.reachability import is_reached, reaching_bindings
from dataloader_lint.facts.infer.values import (
    ABSENT,
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Const,
    Evaluator,
    Frame,
    Mapping,
    Values,
    constant,
    merge,
)
from dataloader_lint.facts.syntax.flow import reaching_or_not
from dataloader_lint.facts.syntax.module import last_name
from dataloader_lint.facts.syntax.names import Binding, Kind, bindings_of, resolve
from dataloader_lint.facts.syntax.tree import Node, Scope


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A binding of the name, or a store into the dict under it, as far as one key is concerned."""

    node: Node
    binding: Binding | None = None
    value: cst.BaseExpression | None = None  # what the key is set to; None together with `gone` for a removal
    source: cst.BaseExpression | None = None  # a dict that the key may come from (`update(source)`)
    gone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What decides about one key of a dict at one place: what is in force there, and what may have changed it."""

    reached: list[Change]
    unsure: list[Node]
    defaults: list[tuple[Node, cst.BaseExpression]]
    frame: Frame  # of the scope that binds the name
    is_near: bool  # whether the place is in that scope


def lookup(ev: Evaluator, node: cst.CSTNode, key: object, frame: Frame) -> Values:
    """What `node[key]` can be where the dict expression `node` stands; ABSENT among the values if it may be missing."""
    return ev.key(node, key, frame, partial(_lookup, ev, node, key, frame))


def _lookup(ev: Evaluator, node: cst.CSTNode, key: object, frame: Frame) -> Values:
    if not isinstance(node, cst.Name):
        return merge(*(in_value(ev, value, key, frame.scope) for value in ev.values(node, frame)))
    found_changes = changes_at(ev, node, key, frame)
    if found_changes is None:
        return NOTHING_KNOWN
    outer = found_changes.frame
    found = merge(*(_effect(ev, change, key, outer) for change in found_changes.reached)) or NOTHING_KNOWN
    for each in found_changes.unsure:  # a store under another key than this one changes nothing
        is_store = isinstance(each, cst.Assign)
        found = merge(found, ev.values(each.value, outer) if is_store else NOTHING_KNOWN)  # type: ignore[attr-defined]
    tree = frame.scope.module.tree
    for statement, default in found_changes.defaults:  # setdefault
        if ABSENT in found or UNKNOWN in found:
            certain = tuple(value for value in found if value is not ABSENT)
            is_near = found_changes.is_near
            _, surely = reaching_or_not(node, [Change(statement)], tree) if is_near else ([], False)
            found = merge(certain, ev.values(default, outer), () if surely else (ABSENT,))
    return found


def changes_at(ev: Evaluator, node: cst.Name, key: object, frame: Frame) -> Changes | None:
    """What decides about a key of the dict called `node` where the name stands; None where the name is not bound."""
    tree = frame.scope.module.tree
    bindings = resolve(node, tree)
    if not bindings:
        return None
    home = bindings[0].scope
    if any(map(_is_merge, bindings)):  # what it merges into counts as well, and `_changes` knows of the merge itself
        bindings = [each for each in bindings_of(home).get(node.value, ()) if not _is_merge(each)]
    changes, unsure, fallback = _changes(ev, home, node.value, key, frame)
    placed = [Change(binding.node, binding) for binding in bindings]
    use_scope: Scope | None = tree.scope_of(node)
    while use_scope is not None and use_scope.is_comprehension:
        use_scope = use_scope.parent
    reached = [*placed, *changes]
    if use_scope is home:
        reached, _ = reaching_or_not(node, reached, tree)
        order = tree.order(node)
        unsure = [each for each in unsure if tree.order(each) < order]
        fallback = [each for each in fallback if tree.order(each[0]) < order]
    outer = _home_frame(ev, home, frame)
    if ev.cuda:
        if use_scope is home:
            reached = reaching_bindings(ev, node, reached, outer)
        unsure = [each for each in unsure if is_reached(ev, each, outer)]
    return Changes(reached, unsure, fallback, outer, use_scope is home)


def _is_merge(binding: Binding) -> bool:
    """`options |= other`."""
    return isinstance(binding.node, cst.AugAssign) and isinstance(binding.node.operator, cst.BitOrAssign)


def _home_frame(ev: Evaluator, home: Scope, frame: Frame) -> Frame:
    current: Frame | None = frame
    while current is not None:
        if current.scope is home:
            return current
        current = current.outer
    return ev.frame_of(home)


def _effect(ev: Evaluator, change: Change, key: object, frame: Frame) -> Values:
    if change.gone:
        return (ABSENT,)
    if change.value is not None:
        return ev.values(change.value, frame)
    if change.source is not None:
        return tuple(value for value in lookup(ev, change.source, key, frame) if value is not ABSENT)
    assert change.binding is not None
    binding = change.binding
    if binding.kind is Kind.VALUE and not binding.path and isinstance(binding.value, cst.Name):
        return lookup(ev, binding.value, key, frame)
    return merge(*(in_value(ev, value, key, frame.scope) for value in ev.binding(binding, frame)))


def _changes(
    ev: Evaluator, scope: Scope, name: str, key: object, frame: Frame
) -> tuple[list[Change], list[Node], list[tuple[Node, cst.BaseExpression]]]:
    """Stores into the dict called `name`: those that set the key, those that may, and the defaults for it."""
    surely: list[Change] = []
    unsure: list[Node] = []
    defaults: list[tuple[Node, cst.BaseExpression]] = []
    home = _home_frame(ev, scope, frame)

    for touch in touches(scope, name):
        node, part = touch.node, touch.part
        if isinstance(node, cst.Assign) and isinstance(part, cst.Subscript):
            stored = key_of(ev, part, home)
            if stored == key:
                surely.append(Change(node, value=node.value))
            elif stored is UNKNOWN:
                unsure.append(node)
        elif isinstance(node, cst.AugAssign):
            if isinstance(node.operator, cst.BitOrAssign):
                _updated(ev, node, [cst.Arg(node.value)], key, home, surely, unsure)
        elif isinstance(node, cst.Del) and isinstance(part, cst.Subscript):
            if key_of(ev, part, home) == key:
                surely.append(Change(node, gone=True))
        elif isinstance(node, cst.Call) and isinstance(part, cst.Arg):
            if dict_stores.may_change(ev, node, name, home):
                unsure.append(node)
        elif isinstance(node, cst.Call):
            method = last_name(part)
            if method == "update":
                _updated(ev, node, list(node.args), key, home, surely, unsure)
            elif method in ("pop", "setdefault") and node.args:
                known = constant(ev.values(node.args[0].value, home))
                if known is None:
                    unsure.append(node)
                elif known.value == key and method == "pop":
                    surely.append(Change(node, gone=True))
                elif known.value == key and len(node.args) > 1:
                    defaults.append((node, node.args[1].value))
            elif method in ("clear", "popitem"):
                unsure.append(node)
    return surely, unsure, defaults


def _updated(
    ev: Evaluator,
    node: Node,
    args: list[cst.Arg],
    key: object,
    frame: Frame,
    surely: list[Change],
    unsure: list[Node],
) -> None:
    """`kw.update(args)` as far as the key is concerned; the last argument wins."""
    for arg in reversed(args):
        if arg.keyword is not None:
            if arg.keyword.value == key:
                surely.append(Change(node, value=arg.value))
                return
            continue
        found = lookup(ev, arg.value, key, frame)
        if found == (ABSENT,):
            continue
        if ABSENT in found or UNKNOWN in found:
            unsure.append(node)
        else:
            surely.append(Change(node, source=arg.value))
        return


def in_value(ev: Evaluator, value: object, key: object, at: Scope | None = None) -> Values:
    """What a key gives in a dict value, seen from the scope `at`; that scope's own stores are left to `changes_at`."""
    if not isinstance(value, Mapping):
        return (ABSENT,) if isinstance(value, Const) and value.value is None else NOTHING_KNOWN
    found = _as_made(ev, value, key)
    kept = dict_stores.kept_under(value)
    if not kept or (at is value.frame.scope and "." not in kept):
        return found
    for store in dict_stores.stores(ev, value, kept):
        if store.is_update or store.key is UNKNOWN or store.key == key:
            found = _after(ev, store, key, found)
    return found


def _after(ev: Evaluator, store: dict_stores.Store, key: object, found: Values) -> Values:
    """What a key holds after a change of the dict that may concern it; `found` is what it held before."""
    node = store.node
    given: Values = NOTHING_KNOWN
    if store.is_removal:
        return (ABSENT,) if store.is_sure and store.key is not UNKNOWN else merge(found, (ABSENT,))
    if store.is_default and isinstance(node, cst.Call):
        given = ev.values(node.args[1].value, store.frame) if len(node.args) > 1 else (NONE,)
        return _over(found, given) if store.is_sure else merge(found, given if ABSENT in found else ())
    if isinstance(node, cst.Assign):
        given = ev.values(node.value, store.frame)
    elif isinstance(node, cst.AugAssign) and store.is_update:
        given = lookup(ev, node.value, key, store.frame)
    elif isinstance(node, cst.Call) and store.is_update:
        given = in_arguments(ev, node, key, store.frame)
    if store.is_sure and store.key is not UNKNOWN:
        return _over(given, found)
    return merge(found, tuple(each for each in given if each is not ABSENT))


def _as_made(ev: Evaluator, value: Mapping, key: object) -> Values:
    """What a key gives in a dict value before anything is stored into it."""
    node, frame = value.node, value.frame
    if isinstance(node, cst.Dict):
        found: Values = (ABSENT,)
        for element in node.elements:
            if isinstance(element, cst.StarredDictElement):
                found = _over(lookup(ev, element.value, key, frame), found)
            elif isinstance(element, cst.DictElement):
                known = constant(ev.values(element.key, frame))
                if known is None:
                    found = merge(found, NOTHING_KNOWN)
                elif known.value == key:
                    found = ev.values(element.value, frame)
        return found
    if isinstance(node, cst.Param):  # **kwargs of a function whose call is known
        return _in_rest(ev, node, key, frame)
    if isinstance(node, cst.Call) and last_name(node.func) in ("asdict", "vars"):
        return of_fields(ev, ev.values(node.args[0].value, frame), key)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "_asdict":
        return of_fields(ev, ev.values(node.func.value, frame), key)
    if isinstance(node, cst.Call) and last_name(node.func) == "ChainMap":
        layers = [lookup(ev, arg.value, key, frame) if not arg.star else NOTHING_KNOWN for arg in node.args]
        return reduce(lambda lower, upper: _over(upper, lower), reversed(layers), (ABSENT,))
    if isinstance(node, cst.Call) and last_name(node.func) == "fromkeys":
        return from_keys(ev, node, key, frame)
    if isinstance(node, cst.Call):  # dict(other, a=1)
        return in_arguments(ev, node, key, frame)
    if isinstance(node, cst.BinaryOperation):
        return _over(lookup(ev, node.right, key, frame), lookup(ev, node.left, key, frame))
    if isinstance(node, cst.DictComp):
        return _in_comprehension(ev, node, key, frame)
    return NOTHING_KNOWN


def _in_comprehension(ev: Evaluator, node: cst.DictComp, key: object, frame: Frame) -> Values:
    """What a key gives in a dict that is made from the items of another one: `{k: v for k, v in options.items()}`."""
    source = items_of(node)
    if source is None:
        return merge(ev.values(node.value, frame), (ABSENT,))
    wanted = {is_let_through(ev, each.test, node.key, key, frame) for each in node.for_in.ifs}
    if False in wanted:
        return (ABSENT,)
    found = lookup(ev, source, key, frame)
    return found if wanted <= {True} else merge(found, (ABSENT,))


def in_arguments(ev: Evaluator, call: cst.Call, key: object, frame: Frame) -> Values:
    """What `dict(...)` holds under a key."""
    found: Values = (ABSENT,)
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "copy" and not call.args:
        return lookup(ev, call.func.value, key, frame)
    for arg in call.args:
        if arg.keyword is not None:
            if arg.keyword.value == key:
                found = ev.values(arg.value, frame)
        else:
            pairs = pairs_of(ev, arg.value, frame) if not arg.star else None
            inside = lookup(ev, arg.value, key, frame) if pairs is None else among(pairs, key)
            found = _over(inside, found)
    return found


def _in_rest(ev: Evaluator, param: cst.Param, key: object, frame: Frame) -> Values:
    if frame.args is None or not isinstance(key, str):
        return (UNKNOWN, ABSENT)
    passed = frame.args.get(key)
    if passed is not None:
        named = {
            binding.name
            for found in bindings_of(frame.scope).values()
            for binding in found
            if binding.kind is Kind.PARAMETER
        }
        if key in named - {param.name.value}:
            return (ABSENT,)
        if passed.value is not None:
            return (passed.value,)
        if passed.node is not None and passed.frame is not None:
            return ev.values(passed.node, passed.frame)
        return NOTHING_KNOWN
    rest = frame.args.get("**")
    if rest is None:
        return (ABSENT,)
    if rest.node is not None and rest.frame is not None:
        return lookup(ev, rest.node, key, rest.frame)
    return NOTHING_KNOWN


def _over(upper: Values, lower: Values) -> Values:
    """A key of one dict laid over another: the lower one shows where the upper one has none."""
    if ABSENT not in upper:
        return upper
    return merge(tuple(value for value in upper if value is not ABSENT), lower)


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
    kept = dict_stores.kept_under(value)
    for store in dict_stores.stores(ev, value, kept) if kept else ():
        yield ev.values(store.node.value, store.frame) if isinstance(store.node, cst.Assign) else NOTHING_KNOWN


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
    inside = _home_frame(ev, home, frame)
    return [
        ev.values(assign.value, inside)
        for assign in home.own(cst.Assign)
        for target in assign.targets
        if isinstance(target.target, cst.Subscript)
        and isinstance(target.target.value, cst.Name)
        and target.target.value.value == node.value
        and not any(above is assign for above in tree.ancestors(node))
    ]
