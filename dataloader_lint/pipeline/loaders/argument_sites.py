"""Where an argument of a loader is written: in the call, in a keyword dict, in a call that passes it on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.callers.parameters import starred
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.dicts import writes as dict_writes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import ARGUMENT_SITE_DEPTH, ARGUMENT_SITES
from dataloader_lint.semantics.syntax.expressions import keyword_of
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from dataloader_lint.semantics.values.values import UNKNOWN, Const, Evaluator, Frame, Mapping, Value, constant


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentSite:
    """One expression that an argument can come from, with the frame to read it in; None where it is left out."""

    node: cst.BaseExpression | None
    frame: Frame


# None: unknown.
Sites = list[ArgumentSite] | None


def sites_of(loader: Loader, name: str) -> Sites:
    """Every expression that an argument of a loader can come from, one for each path."""
    found: Sites = []
    spelling = loader.kind.spelling(name)
    for call, frame in ((loader.call, loader.frame), *loader.before):
        here = _in_call(loader.ev, call, frame, spelling, loader.kind.positions)
        if here is None or found is None:
            return None
        found = [*found, *(each for each in here if each.node is not None)]
        if all(each.node is not None for each in here):
            return found
    return [*(found or ()), ArgumentSite(None, loader.frame)]


def _in_call(ev: Evaluator, call: cst.Call, frame: Frame, name: str, positions: tuple[str, ...]) -> Sites:
    position = 0
    dicts: list[cst.BaseExpression] = []
    for arg in call.args:
        if arg.keyword is not None:
            if arg.keyword.value == name:
                return [ArgumentSite(arg.value, frame)]
        elif arg.star == "**":
            dicts.append(arg.value)
        elif arg.star:
            rest = starred(arg.value, frame)
            if rest is None:
                if name in positions[position:]:
                    return None
                position = len(positions)
            for given in rest or ():
                if positions[position : position + 1] == (name,):
                    known = given.node is not None and given.frame is not None
                    return [ArgumentSite(given.node, given.frame)] if known else None  # type: ignore[arg-type]
                position += 1
        else:
            if positions[position : position + 1] == (name,):
                return [ArgumentSite(arg.value, frame)]
            position += 1
    return _over([in_dict(ev, each, name, frame) for each in dicts], frame)


def in_dict(ev: Evaluator, node: cst.BaseExpression, key: str, frame: Frame, depth: int = 0) -> Sites:
    """Every expression that a key of a dict can come from, where the expression for the dict stands."""
    if depth > ARGUMENT_SITE_DEPTH:
        return None
    if not isinstance(node, cst.Name):
        return _joined(_in_value(ev, value, key, frame, depth) for value in ev.values(node, frame))
    changes = dict_contents.changes_at(ev, node, key, frame)
    if changes is None or changes.unsure:
        return None
    found = _joined(_in_change(ev, change, key, changes.frame, depth) for change in changes.reached)
    for statement, default in changes.defaults:  # setdefault
        if found is None or not dict_contents.is_surely_set(node, statement, changes):
            return None
        site = ArgumentSite(default, changes.frame)
        found = [site if each.node is None else each for each in found]
    return found


def _in_change(ev: Evaluator, change: dict_contents.Change, key: str, frame: Frame, depth: int) -> Sites:
    if change.gone:
        return [ArgumentSite(None, frame)]
    if change.value is not None:
        return [ArgumentSite(change.value, frame)]
    if change.source is not None:
        found = in_dict(ev, change.source, key, frame, depth + 1)
        return None if found is None else [each for each in found if each.node is not None]
    binding = change.binding
    assert binding is not None
    if binding.kind is Kind.VALUE and not binding.path and binding.value is not None:
        return in_dict(ev, binding.value, key, frame, depth + 1)
    return _joined(_in_value(ev, value, key, frame, depth) for value in ev.binding(binding, frame))


def _in_value(ev: Evaluator, value: Value, key: str, outer: Frame, depth: int) -> Sites:
    if not isinstance(value, Mapping):
        return [ArgumentSite(None, outer)] if isinstance(value, Const) and value.value is None else None
    found = _as_made(ev, value, key, depth)
    kept = dict_writes.kept_under(value)
    if kept and (outer.scope is not value.frame.scope or "." in kept):
        for store in dict_writes.stores(ev, value, kept):
            found = _after(store, key, found)
    return found


def _after(store: dict_writes.Store, key: str, found: Sites) -> Sites:
    """The expressions that a key can come from after a change of the dict."""
    node = store.node
    given: cst.BaseExpression | None = None
    if store.is_update and isinstance(node, cst.Call) and all(arg.keyword is not None for arg in node.args):
        given = keyword_of(node, key)
    elif isinstance(node, cst.Assign) and store.key is not UNKNOWN:
        given = node.value if store.key == key else None
    elif store.is_update or store.key in (UNKNOWN, key):
        return None
    if given is None:
        return found
    site = ArgumentSite(given, store.frame)
    return [site] if store.is_sure else None if found is None else [*found, site]


def _as_made(ev: Evaluator, value: Mapping, key: str, depth: int) -> Sites:
    node, frame = value.node, value.frame
    if isinstance(node, cst.Dict):
        return _in_display(ev, node, key, frame, depth)
    if isinstance(node, cst.Param):
        return _in_rest(ev, node, key, frame, depth)
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute) and not node.args:
            return in_dict(ev, node.func.value, key, frame, depth + 1) if node.func.attr.value == "copy" else None
        named = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == key]
        if named:
            return [ArgumentSite(named[-1], frame)]
        return _over([in_dict(ev, arg.value, key, frame, depth + 1) for arg in node.args if not arg.keyword], frame)
    if isinstance(node, cst.BinaryOperation):
        return _over([in_dict(ev, side, key, frame, depth + 1) for side in (node.left, node.right)], frame)
    return None


def _in_display(ev: Evaluator, node: cst.Dict, key: str, frame: Frame, depth: int) -> Sites:
    layers: list[Sites] = []
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            layers.append(in_dict(ev, element.value, key, frame, depth + 1))
        elif isinstance(element, cst.DictElement):
            known = constant(ev.values(element.key, frame))
            if known is None:
                return None
            if known.value == key:
                layers.append([ArgumentSite(element.value, frame)])
    return _over(layers, frame)


def _in_rest(ev: Evaluator, param: cst.Param, key: str, frame: Frame, depth: int) -> Sites:
    """`**kwargs` of a function whose call is known."""
    if frame.args is None:
        return None
    named = {name for name, found in bindings_of(frame.scope).items() if any(b.kind is Kind.PARAMETER for b in found)}
    if key in named - {param.name.value}:
        return [ArgumentSite(None, frame)]
    passed = frame.args.get(key)
    if passed is not None:
        return (
            [ArgumentSite(passed.node, passed.frame)] if passed.node is not None and passed.frame is not None else None
        )
    layers: list[Sites] = []
    rest = frame.args.get("**")
    while rest is not None:
        if rest.node is None or rest.frame is None:
            return None
        layers.append(in_dict(ev, rest.node, key, rest.frame, depth + 1))
        rest = rest.below
    return _over(sorted(layers, key=lambda layer: layer is not None), frame)  # a key in two would be a TypeError


def _over(layers: list[Sites], frame: Frame) -> Sites:
    """Dicts laid one over the other, the last one on top."""
    found: list[ArgumentSite] = []
    for layer in reversed(layers):
        if layer is None:
            return None
        found.extend(each for each in layer if each.node is not None)
        if all(each.node is not None for each in layer):
            return found
    return [*found, ArgumentSite(None, frame)]


def _joined(several: Iterator[Sites]) -> Sites:
    """All of several; looked for one after the other, as each may lead on to many more."""
    found: list[ArgumentSite] = []
    for each in several:
        if each is None or len(found) > ARGUMENT_SITES:
            return None
        found.extend(each)
    return found or None
