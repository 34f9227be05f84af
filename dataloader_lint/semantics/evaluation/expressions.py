"""What expressions give, by kind; names and attributes are in `evaluate`."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.dicts import sources as dict_sources
from dataloader_lint.semantics.evaluation import containers
from dataloader_lint.semantics.evaluation.calls import include_optional_branch
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values import operators
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.options import asks_for_gpu
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    UNKNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Mapping,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    merge,
)


def call_expression(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    assert isinstance(node, cst.Call)
    callees = ev.values(node.func, frame)
    if len(callees) == 1:
        return ev.call(callees[0], node, frame)
    return merge(*(ev.call(callee, node, frame) for callee in callees))


def subscript(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    assert isinstance(node, cst.Subscript)
    found = ev.values(node.value, frame)
    if len(found) > 1:  # a loader has no items, so it is one of the others: `loaders[0]`, a list but in test mode
        found = tuple(each for each in found if type(each) is not CallResult or each.library not in LOADERS) or found
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return containers.sliced(node, found, frame)
    index = ev.values(node.slice[0].slice.value, frame)
    keys = [value.value for value in index if isinstance(value, Const)] if index else []
    if len(keys) != len(index):
        stored = dict_sources.stored(ev, node.value, frame)
        is_key = _is_key_of(node.slice[0].slice.value, node.value, frame)
        parts = (
            NOTHING_KNOWN if not is_key and containers.picked(value, index) else ev.item(value, ABSENT)
            for value in found
        )
        return merge(*parts, *stored)
    if all(isinstance(value, Mapping) for value in found):
        chosen = merge(*(without_absent(dict_contents.lookup(ev, node.value, key, frame)) for key in keys))
        if any(isinstance(each, Const) and each.default for each in index) and all(map(_is_called, chosen)):
            # An option chooses what to make, and other runs choose something else.
            others = (dict_sources.all_values(ev, value) for value in found if isinstance(value, Mapping))
            every = merge(*(values for several in others for values in several))
            return every if UNKNOWN not in every else chosen
        return chosen if chosen not in ((), NOTHING_KNOWN) else _or_stored(ev, node, keys, chosen, frame)
    items = merge(*(ev.item(value, key) for value in found for key in keys))
    if any(isinstance(value, Sequence) and value.kind == "list" and value.items for value in found):
        items = merge(items, *dict_sources.stored(ev, node.value, frame))  # `names[0] = "c"`
    return _or_stored(ev, node, keys, items, frame)


def _or_stored(ev: Evaluator, node: cst.Subscript, keys: list[object], found: Values, frame: Frame) -> Values:
    """What is found of an item; where nothing is, what methods store there, which it may be."""
    if found not in ((), NOTHING_KNOWN):
        return found
    stored = dict_sources.stored_in_field(ev, node.value, keys, frame)
    return merge(stored, NOTHING_KNOWN) if stored else found


def _is_called(value: Value) -> bool:
    return isinstance(value, Class | Function | Library | Partial)


def _is_key_of(index: cst.BaseExpression, whole: cst.BaseExpression, frame: Frame) -> bool:
    """True if an index is a key that a loop takes from the same dict: `for key in batch.keys(): batch[key]`."""
    if not isinstance(index, cst.Name):
        return False
    tree = frame.scope.module.tree
    bindings = resolve(index, tree)
    for binding in bindings:
        keys = binding.value
        while isinstance(keys, cst.Call) and keys.args and last_name(keys.func) in ("list", "sorted", "tuple"):
            keys = keys.args[0].value
        if binding.kind is not Kind.ELEMENT or not isinstance(keys, cst.Call):
            return False
        owner = keys.func.value if isinstance(keys.func, cst.Attribute) else None
        name, path = last_name(keys.func), binding.path
        if owner is None or (name, path) not in (("keys", ()), ("items", (0,))):
            return False
        if tree.spelling(owner) != tree.spelling(whole):
            return False
    return bool(bindings)


def conditional(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    """`x if test else y`: where a declared default decides the test, the answer holds by that default too.

    Another run of the program makes what the other arm makes: `DistributedSampler(data) if args.distributed else None`.
    """
    assert isinstance(node, cst.IfExp)
    tested = ev.values(node.test, frame)
    sure = truth(tested)
    body = ev.values(node.body, frame) if sure is not False else ()
    orelse = ev.values(node.orelse, frame) if sure is not True else ()
    found = merge(body, orelse)
    decides = constant_of(tested)
    if decides is None or not decides.default:
        return found
    other = ev.values(node.orelse if sure else node.body, frame)
    return merge(_inherit_default(decides, found), tuple(each for each in other if include_optional_branch(ev, each)))


def boolean(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    """`and` / `or` give one of their operands: the left one where it decides, else the right one."""
    assert isinstance(node, cst.BooleanOperation)
    stops = isinstance(node.operator, cst.Or)
    if ev.cuda and not stops:  # who asks about a GPU asks what is there with this option
        for option, rest in ((node.left, node.right), (node.right, node.left)):
            if asks_for_gpu(option) and truth(ev.values(option, frame)) is None:
                return ev.values(rest, frame)
    left = ev.values(node.left, frame)
    if not stops and truth(left) is None and truth(right := ev.values(node.right, frame)) is False:
        return right  # false whatever the left one is
    found: list[Values] = []
    for value in left:
        sure = truth((value,))
        if sure is None and value is UNKNOWN and not stops:
            # `unknown and x` is x or something false; only the false half stays unknown.
            found.append(merge(NOTHING_KNOWN, ev.values(node.right, frame)))
        elif sure is None:
            found.append(merge((value,), ev.values(node.right, frame)))
        elif sure is stops:
            found.append((value,))
        else:
            found.append(_inherit_default(value, ev.values(node.right, frame)))
    return merge(*found)


def unary(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    assert isinstance(node, cst.UnaryOperation)
    found = ev.values(node.expression, frame)
    if isinstance(node.operator, cst.Not):
        sure = truth(found)
        return (Opaque("bool"),) if sure is None else (_like(constant_of(found), not sure),)
    constant = constant_of(found)
    if constant is not None and isinstance(constant.value, int | float) and isinstance(node.operator, cst.Minus):
        return (Const(-constant.value, constant.default),)
    return NOTHING_KNOWN


def comparison(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    assert isinstance(node, cst.Comparison)
    if len(node.comparisons) != 1:
        return _chain(ev, node, frame)
    target = node.comparisons[0]
    left, right = ev.values(node.left, frame), ev.values(target.comparator, frame)
    if isinstance(target.operator, cst.In | cst.NotIn) and right and all(isinstance(each, Mapping) for each in right):
        return _membership(ev, left, target.comparator, isinstance(target.operator, cst.In), frame)
    return operators.compared(left, target.operator, right)


def _chain(ev: Evaluator, node: cst.Comparison, frame: Frame) -> Values:
    """`0 < n <= 8`: false where one link is, true where all are."""
    left = ev.values(node.left, frame)
    links: list[Values] = []
    for each in node.comparisons:
        right = ev.values(each.comparator, frame)
        links.append(operators.compared(left, each.operator, right))
        left = right
    false = next((link for link in links if truth(link) is False), None)
    if false is not None:
        return false
    return links[-1] if all(truth(link) for link in links) else (Opaque("bool"),)


def _membership(ev: Evaluator, key: Values, whole: cst.BaseExpression, wanted: bool, frame: Frame) -> Values:
    """True if a dict has a key: `"sampler" in kwargs`."""
    known = constant_of(key)
    found = dict_contents.lookup(ev, whole, known.value, frame) if known is not None else NOTHING_KNOWN
    if found == (ABSENT,):
        return (Const(not wanted),)
    return (Opaque("bool"),) if ABSENT in found or UNKNOWN in found else (Const(wanted),)


def binary(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    assert isinstance(node, cst.BinaryOperation)
    left, right = ev.values(node.left, frame), ev.values(node.right, frame)
    return operators.arithmetic(node, left, right, frame)


def display(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    return containers.display(ev, node, frame)


def comprehension(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    kind = {cst.ListComp: "list", cst.SetComp: "set", cst.GeneratorExp: "generator"}[type(node)]
    return (Sequence(kind, node, frame),)


def dict_comprehension(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    return (Mapping(node, frame),)


def string(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    pieces: list[str | bytes | None] = []
    while isinstance(node, cst.ConcatenatedString):  # of its own accord LibCST goes as deep as there are pieces
        pieces.append(_content(node.left))
        node = node.right
    pieces.append(_content(node))
    first = node.parts[0] if isinstance(node, cst.FormattedString) and node.parts else None
    if len(pieces) == 1 and isinstance(first, cst.FormattedStringText):
        return (operators.text_after(first.value),)
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) == len(pieces):
        return (Const("".join(texts)),)
    parts = [piece for piece in pieces if isinstance(piece, bytes)]
    return (Const(b"".join(parts)),) if len(parts) == len(pieces) else (Opaque("str"),)


def _content(node: cst.CSTNode) -> str | bytes | None:
    return node.evaluated_value if isinstance(node, cst.SimpleString) else None


def number(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    assert isinstance(node, cst.Integer | cst.Float)
    return (Const(node.evaluated_value),)


def function(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    tree = frame.scope.module.tree
    return (Function(tree.inner_scope[id(node)], frame),)


def inner(ev: Evaluator, node: cst.CSTNode, frame: Frame) -> Values:
    """Expressions with the same value as the one inside them."""
    if isinstance(node, cst.Await):
        return ev.values(node.expression, frame)
    assert isinstance(node, cst.NamedExpr)
    return ev.values(node.value, frame)


def without_absent(found: Values) -> Values:
    """What reading a key gives: a key that is not there raises, so only the other alternatives go on."""
    return tuple(value for value in found if value is not ABSENT) or NOTHING_KNOWN


def constant_of(found: Values) -> Const | None:
    """The single constant among the values, or None."""
    return found[0] if len(found) == 1 and isinstance(found[0], Const) else None


def _like(source: Const | None, value: object) -> Const:
    return Const(value, source.default if source is not None else "")


def _inherit_default(source: Value, found: Values) -> Values:
    """What holds by the declared default that something else holds by: `x and y` where x is true by default."""
    if not isinstance(source, Const) or not source.default:
        return found
    return tuple(
        Const(value.value, source.default) if isinstance(value, Const) and not value.default else value
        for value in found
    )


BY_KIND: dict[type[cst.CSTNode], Callable[[Evaluator, cst.CSTNode, Frame], Values]] = {
    cst.Await: inner,
    cst.BinaryOperation: binary,
    cst.BooleanOperation: boolean,
    cst.Call: call_expression,
    cst.Comparison: comparison,
    cst.ConcatenatedString: string,
    cst.Dict: display,
    cst.DictComp: dict_comprehension,
    cst.Float: number,
    cst.FormattedString: string,
    cst.GeneratorExp: comprehension,
    cst.IfExp: conditional,
    cst.Integer: number,
    cst.Lambda: function,
    cst.List: display,
    cst.ListComp: comprehension,
    cst.NamedExpr: inner,
    cst.Set: display,
    cst.SetComp: comprehension,
    cst.SimpleString: string,
    cst.Subscript: subscript,
    cst.Tuple: display,
    cst.UnaryOperation: unary,
}
