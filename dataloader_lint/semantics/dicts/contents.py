"""Values of dict keys: literals, `dict(...)`, merges, and later stores through the dict's name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TypeVar

import libcst as cst

from dataloader_lint.semantics.control.reachability import is_reached, reaching_bindings
from dataloader_lint.semantics.dicts import writes as dict_writes
from dataloader_lint.semantics.dicts.sources import (
    among,
    from_keys,
    is_let_through,
    items_of,
    literal_keys,
    of_fields,
    over,
    pairs_of,
)
from dataloader_lint.semantics.dicts.writes import touches_by_key
from dataloader_lint.semantics.limits import DICT_CHANGES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.flow import Flow, reaching_or_not
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, resolve
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NONE,
    NOTHING_KNOWN,
    UNKNOWN,
    Argument,
    Const,
    Evaluator,
    Frame,
    Mapping,
    Values,
    constant,
    merge,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What a binding of the dict's name, or a store into the dict, does to one key."""

    node: Node
    binding: Binding | None = None
    value: cst.BaseExpression | None = None  # what the key is set to; None together with `gone` for a removal
    source: cst.BaseExpression | None = None  # a dict that the key may come from (`update(source)`)
    gone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The changes of one key of a dict that reach one place, and those that may have."""

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
    if len(found_changes.reached) > DICT_CHANGES:
        return NOTHING_KNOWN
    found = merge(*(_effect(ev, change, key, outer) for change in found_changes.reached)) or NOTHING_KNOWN
    for each in found_changes.unsure:  # a store under another key than this one changes nothing
        is_store = isinstance(each, cst.Assign)
        found = merge(found, ev.values(each.value, outer) if is_store else NOTHING_KNOWN)  # type: ignore[attr-defined]
    for statement, default in found_changes.defaults:  # setdefault
        if ABSENT in found or UNKNOWN in found:
            certain = tuple(value for value in found if value is not ABSENT)
            surely = is_surely_set(node, statement, found_changes)
            found = merge(certain, ev.values(default, outer), () if surely else (ABSENT,))
    return found


def is_surely_set(node: cst.Name, statement: Node, changes: Changes) -> bool:
    """True if control passes a `setdefault` before it gets to the place where the dict is called `node`."""
    tree = changes.frame.scope.module.tree
    return changes.is_near and reaching_or_not(node, [Change(statement)], tree)[1]


def changes_at(ev: Evaluator, node: cst.Name, key: object, frame: Frame) -> Changes | None:
    """The changes of a key that reach the place of the name `node`; None where the name is not bound."""
    tree = frame.scope.module.tree
    bindings = resolve(node, tree)
    if not bindings:
        return None
    home = bindings[0].scope
    outer = ev.at(home, frame)
    history = _history(ev, home, node.value, key, outer)
    use_scope: Scope | None = tree.scope_of(node)
    while use_scope is not None and use_scope.is_comprehension:
        use_scope = use_scope.parent
    unsure, fallback = history.unsure, history.defaults
    is_near = use_scope is home
    has_merge = any(map(_is_merge, bindings))  # what it merges into counts as well; the merge itself is a store
    if is_near and (has_merge or history.stores or len(bindings) == 1):
        reached, _ = history.flow.reaching(node)
    else:
        reached = [*(_placed(each, outer) for each in (history.bound if has_merge else bindings)), *history.stores]
    if is_near:
        order = tree.order(node)
        unsure = [each for each in unsure if tree.order(each) < order]
        fallback = [each for each in fallback if tree.order(each[0]) < order]
    if ev.cuda:
        if is_near:
            reached = reaching_bindings(ev, node, reached, outer)
        unsure = [each for each in unsure if is_reached(ev, each, outer)]
    return Changes(reached, unsure, fallback, outer, is_near)


def _placed(binding: Binding, frame: Frame) -> Change:
    """A binding of a name as a change of the dict, the same one each time."""
    key = ("binding", id(binding))
    found = frame.dicts.get(key)
    if not isinstance(found, Change):
        found = frame.dicts[key] = Change(binding.node, binding)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _History:
    """All changes of one key of a named dict, in the scope that binds the name."""

    bound: list[Binding]  # without merges
    stores: list[Change]
    unsure: list[Node]
    defaults: list[tuple[Node, cst.BaseExpression]]
    flow: Flow[Change]


def _history(ev: Evaluator, home: Scope, name: str, key: object, frame: Frame) -> _History:
    """The changes of a key; computed once for all uses, unless the result is provisional."""
    kept = (name, key)
    known = frame.dicts.get(kept)
    if isinstance(known, _History):
        return known

    def work_out() -> _History:
        stores, unsure, defaults = _changes(ev, home, name, key, frame)
        bound = [each for each in bindings_of(home).get(name, ()) if not _is_merge(each)]
        flow = Flow(home.module.tree, [*(_placed(each, frame) for each in bound), *stores])
        return _History(bound, stores, unsure, defaults, flow)

    found, is_final = ev.settled(work_out)
    if is_final:
        frame.dicts[kept] = found
    return found


def _is_merge(binding: Binding) -> bool:
    """`options |= other`."""
    return isinstance(binding.node, cst.AugAssign) and isinstance(binding.node.operator, cst.BitOrAssign)


def _effect(ev: Evaluator, change: Change, key: object, frame: Frame) -> Values:
    """The value of a key after a change; computed once for all places that it reaches."""
    kept = (id(change), key)
    known = frame.dicts.get(kept)
    if isinstance(known, _Effect):
        return known.values
    found, is_final = ev.settled(lambda: _work_out_effect(ev, change, key, frame))
    if is_final:
        frame.dicts[kept] = _Effect(change, found)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Effect:
    change: Change  # held for its `id`
    values: Values


def _work_out_effect(ev: Evaluator, change: Change, key: object, frame: Frame) -> Values:
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
    ev: Evaluator, scope: Scope, name: str, key: object, home: Frame
) -> tuple[list[Change], list[Node], list[tuple[Node, cst.BaseExpression]]]:
    """Stores into the dict called `name`: those that set the key, those that may, and the defaults for it."""
    surely: list[tuple[int, Change]] = []
    defaults: list[tuple[Node, cst.BaseExpression]] = []
    known = touches_by_key(ev, scope, name, home)
    unsure = list(known.unsure)
    for number, touch in known.by_key.get(key, ()):
        node = touch.node
        if isinstance(node, cst.Assign):
            surely.append((number, Change(node, value=node.value)))
        elif isinstance(node, cst.Call) and last_name(touch.part) == "setdefault":
            if len(node.args) > 1:
                defaults.append((node, node.args[1].value))
        else:
            surely.append((number, Change(node, gone=True)))
    for number, touch in known.updates:
        node = touch.node
        args = list(node.args) if isinstance(node, cst.Call) else [cst.Arg(node.value)]  # type: ignore[attr-defined]
        sets: list[Change] = []
        may_set: list[Node] = []
        _updated(ev, node, args, key, home, sets, may_set)
        surely += ((number, each) for each in sets)
        unsure += ((number, each) for each in may_set)
    return _in_order(surely), _in_order(unsure), defaults


def _in_order(numbered: list[tuple[int, T]]) -> list[T]:
    return [each for _, each in sorted(numbered, key=lambda pair: pair[0])]


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
    kept = dict_writes.kept_under(value)
    if not kept or (at is value.frame.scope and "." not in kept):
        return found
    for store in dict_writes.stores(ev, value, kept):
        if store.is_update or store.key is UNKNOWN or store.key == key:
            found = _after(ev, store, key, found)
    return found


def _after(ev: Evaluator, store: dict_writes.Store, key: object, found: Values) -> Values:
    """What a key holds after a change of the dict that may concern it; `found` is what it held before."""
    node = store.node
    given: Values = NOTHING_KNOWN
    if store.is_removal:
        return (ABSENT,) if store.is_sure and store.key is not UNKNOWN else merge(found, (ABSENT,))
    if store.is_default and isinstance(node, cst.Call):
        given = ev.values(node.args[1].value, store.frame) if len(node.args) > 1 else (NONE,)
        return over(found, given) if store.is_sure else merge(found, given if ABSENT in found else ())
    if isinstance(node, cst.Assign):
        given = ev.values(node.value, store.frame)
    elif isinstance(node, cst.AugAssign) and store.is_update:
        given = lookup(ev, node.value, key, store.frame)
    elif isinstance(node, cst.Call) and store.is_update:
        given = in_arguments(ev, node, key, store.frame)
    if store.is_sure and store.key is not UNKNOWN:
        return over(given, found)
    return merge(found, tuple(each for each in given if each is not ABSENT))


def _as_made(ev: Evaluator, value: Mapping, key: object) -> Values:
    """What a key gives in a dict value before anything is stored into it."""
    node, frame = value.node, value.frame
    if isinstance(node, cst.Dict):
        return _in_display(ev, node, key, frame)
    if isinstance(node, cst.Param):  # **kwargs of a function whose call is known
        return _in_rest(ev, node, key, frame)
    if isinstance(node, cst.Call) and last_name(node.func) in ("asdict", "vars"):
        return of_fields(ev, ev.values(node.args[0].value, frame), key)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "_asdict":
        return of_fields(ev, ev.values(node.func.value, frame), key)
    if isinstance(node, cst.Call) and last_name(node.func) == "ChainMap":
        layers = [lookup(ev, arg.value, key, frame) if not arg.star else NOTHING_KNOWN for arg in node.args]
        return reduce(lambda lower, upper: over(upper, lower), reversed(layers), (ABSENT,))
    if isinstance(node, cst.Call) and last_name(node.func) == "fromkeys":
        return from_keys(ev, node, key, frame)
    if isinstance(node, cst.Call):  # dict(other, a=1)
        return in_arguments(ev, node, key, frame)
    if isinstance(node, cst.BinaryOperation):
        return over(lookup(ev, node.right, key, frame), lookup(ev, node.left, key, frame))
    if isinstance(node, cst.DictComp):
        return _in_comprehension(ev, node, key, frame)
    return NOTHING_KNOWN


def _in_display(ev: Evaluator, node: cst.Dict, key: object, frame: Frame) -> Values:
    by_key = literal_keys(node, frame.scope.module.tree)
    if by_key is not None:
        return ev.values(by_key[key], frame) if key in by_key else (ABSENT,)
    found: Values = (ABSENT,)
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            found = over(lookup(ev, element.value, key, frame), found)
        elif isinstance(element, cst.DictElement):
            known = constant(ev.values(element.key, frame))
            if known is None:
                found = merge(found, NOTHING_KNOWN)
            elif known.value == key:
                found = ev.values(element.value, frame)
    return found


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
            found = over(inside, found)
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
    return in_keywords(ev, rest, key) if rest is not None else (ABSENT,)


def in_keywords(ev: Evaluator, passed: Argument, key: str) -> Values:
    """What a keyword is in the dicts that a call passes with `**`; ABSENT among the values if it may be missing."""
    if passed.node is None or passed.frame is None:
        return NOTHING_KNOWN
    found = lookup(ev, passed.node, key, passed.frame)
    if passed.below is None:
        return found
    others = in_keywords(ev, passed.below, key)
    is_elsewhere = ABSENT not in others and UNKNOWN not in others  # in both it would be a TypeError
    return others if is_elsewhere else over(found, others)
