"""What may change the dict of one name, sorted by key: the same for every place that asks for a key of it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer import dict_stores
from dataloader_lint.facts.infer.dict_mutations import Touch, key_of, touches
from dataloader_lint.facts.infer.values import ABSENT, UNKNOWN, Evaluator, Frame, constant
from dataloader_lint.facts.syntax.expressions import last_name
from dataloader_lint.facts.syntax.tree import Node, Scope


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """What may change the dict of one name, in document order: by key, whatever the key, and under an unknown key."""

    by_key: dict[object, list[tuple[int, Touch]]]
    updates: list[tuple[int, Touch]]
    unsure: list[tuple[int, Node]]


def touches_by_key(ev: Evaluator, scope: Scope, name: str, home: Frame) -> Touches:
    """What may change a dict, sorted once for all of its keys, unless an open question cuts that short."""
    known = home.dicts.get(name)
    if isinstance(known, Touches):
        return known
    found, is_final = ev.settled(lambda: _sort(ev, scope, name, home))
    if is_final:
        home.dicts[name] = found
    return found


def _sort(ev: Evaluator, scope: Scope, name: str, home: Frame) -> Touches:
    found = Touches({}, [], [])
    for number, touch in enumerate(touches(scope, name)):
        node, part = touch.node, touch.part
        key: object = ABSENT
        if isinstance(node, cst.Assign | cst.Del) and isinstance(part, cst.Subscript | cst.Attribute):
            key = key_of(ev, part, home)
            if key is UNKNOWN and isinstance(node, cst.Del):
                continue
        elif isinstance(node, cst.AugAssign):
            if isinstance(node.operator, cst.BitOrAssign):
                found.updates.append((number, touch))
        elif isinstance(node, cst.Call) and isinstance(part, cst.Arg):
            if dict_stores.may_change(ev, node, name, home):
                key = UNKNOWN
        elif isinstance(node, cst.Call):
            method = last_name(part)
            if method == "update":
                found.updates.append((number, touch))
            elif method in ("pop", "setdefault") and node.args:
                first = constant(ev.values(node.args[0].value, home))
                key = first.value if first is not None else UNKNOWN
            elif method in ("clear", "popitem"):
                key = UNKNOWN
        if key is UNKNOWN:
            found.unsure.append((number, node))
        elif key is not ABSENT:
            found.by_key.setdefault(key, []).append((number, touch))
    return found
