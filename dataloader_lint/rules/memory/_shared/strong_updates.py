"""Strong updates: attributes that construction binds again, so that earlier values are gone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.workers.unread_by_workers import is_made_for_parent
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.classes.classes import AttributeBinding
from dataloader_lint.semantics.control.reachability import path_conditions
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Value,
    Values,
)


def overwritten_bindings(bindings: list[AttributeBinding]) -> list[AttributeBinding]:
    """The bindings of an attribute that a later binding surely overwrites."""
    # By the innermost block around them that may not run: only those around a binding matter to it. The last one first.
    replacing: dict[tuple[int, bool], list[AttributeBinding]] = {}
    for later in sorted(bindings, key=lambda each: each.method.module.tree.order(each.node), reverse=True):
        if later.kind is Kind.VALUE and not _uses_itself(later):
            replacing.setdefault(next(_arms_around(later), _ALWAYS), []).append(later)
    return [
        earlier
        for earlier in bindings
        if any(
            surely_replaces(later, earlier)
            for arm in (_ALWAYS, *_arms_around(earlier))
            for later in replacing.get(arm, ())
        )
    ]


_ALWAYS = (0, False)


def _arms_around(binding: AttributeBinding) -> Iterator[tuple[int, bool]]:
    """The blocks around a binding that may not run, from the inside out; of an `if` the arm that the binding is in."""
    tree = binding.method.module.tree
    child = binding.node
    for above in tree.ancestors(child):
        if type(above) in _NOT_ALWAYS:
            yield id(above), isinstance(above, cst.If) and child is above.body
        child = above


def _uses_itself(binding: AttributeBinding) -> bool:
    """True if what is bound may be made from what the attribute holds already."""
    tree = binding.method.module.tree
    return binding.value is None or any(
        each.attr.value == binding.name for each in tree.find(binding.value, cst.Attribute)
    )


def surely_replaces(later: AttributeBinding, earlier: AttributeBinding) -> bool:
    """True if every object on which the earlier binding is made gets the later one as well, in the same function."""
    if later is earlier or later.method is not earlier.method or later.kind is not Kind.VALUE:
        return False
    tree = later.method.module.tree
    if tree.order(earlier.node) >= tree.order(later.node):
        return False
    around = {id(each) for each in tree.ancestors(earlier.node)}
    return all(id(each) in around for each in tree.ancestors(later.node) if type(each) in _NOT_ALWAYS) and {
        (id(each.test), each.wanted) for each in path_conditions(later.node, later.method) if not each.raises
    } <= {(id(each.test), each.wanted) for each in path_conditions(earlier.node, earlier.method)}


_NOT_ALWAYS = (
    cst.If,
    cst.Else,
    cst.For,
    cst.While,
    cst.Try,
    cst.TryStar,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)
_CONDITIONAL = (cst.If, cst.Try, cst.Else, cst.ExceptHandler)


def is_object(ev: Evaluator, value: Value, values: Values) -> bool:
    """True if a value, one of those that are bound, is an object of the project that is no list or dict itself."""
    return _is_object(ev, value) and all(each is UNKNOWN or _is_object(ev, each) for each in values)


def _is_object(ev: Evaluator, value: Value) -> bool:
    if not isinstance(value, CallResult) or not isinstance(value.by, Class):
        return False
    return not any(name.startswith(("builtins.", "collections.")) for name in ev.bases(value.by).libraries)


def replaces(ev: Evaluator, later: AttributeBinding, earlier: AttributeBinding) -> bool:
    """True if a binding surely comes after another one: in an outer or the same block, further down.

    Of an attempt to make something better of what the attribute holds (`try: self.x = pyarrow.array(self.x)`) nobody
    asks whether it works, and what is so unless a caller turns it off counts as sure.
    """
    tree = later.method.module.tree
    if later.method is earlier.method:
        return tree.order(later.node) >= tree.order(earlier.node) and _is_sure(
            ev, later, later.method, later.node, earlier.node
        )
    if earlier.method.is_class:  # a field, or an attribute of the class
        return not later.method.is_class and _is_sure(ev, later, later.method, later.node)
    if _calls(later.method, earlier.method):
        before = all(tree.order(call) <= tree.order(later.node) for call in _calls(later.method, earlier.method))
        return before and _is_sure(ev, later, later.method, later.node)
    return _is_run_after(ev, later, earlier) and _is_sure(ev, later, later.method, later.node)


def follows(ev: Evaluator, later: AttributeBinding, added: Node) -> bool:
    """True if a binding surely comes after what is added to the attribute, in the same method."""
    tree = later.method.module.tree
    if added not in tree or tree.scope_of(added).function is not later.method:
        return False
    return tree.order(added) < tree.order(later.node) and _is_sure(ev, later, later.method, later.node, added)


def _is_run_after(ev: Evaluator, later: AttributeBinding, earlier: AttributeBinding) -> bool:
    """True if the method of the later binding is surely called below the earlier one, or below what makes that.

    `self.rows = []`, `self.load()`, `self.to_array()`.
    """
    klass = classes.class_of(later.method)
    constructor = classes.methods_of(klass).get("__init__") if klass is not None else None
    starts: list[tuple[Scope, Node]] = [(earlier.method, earlier.node)]
    if constructor is not None and constructor is not earlier.method:
        starts.extend((constructor, call) for call in _calls(constructor, earlier.method)[-1:])
    for method, start in starts:
        own, tree = classes.receiver_name(method), method.module.tree
        for call in _calls(method, later.method):
            is_own = isinstance(call.func, cst.Attribute) and dotted(call.func.value) == own
            if is_own and tree.order(call) > tree.order(start) and _is_sure(ev, later, method, call, start):
                return True
    return False


def _calls(method: Scope, called: Scope) -> list[cst.Call]:
    """The calls of what has the name of a method, in another one."""
    name = getattr(called.node, "name", None)
    return [call for call in method.own(cst.Call) if name and last_name(call.func) == name.value]


def _is_sure(ev: Evaluator, later: AttributeBinding, method: Scope, node: Node, earlier: Node | None = None) -> bool:
    """True if control comes to a node of a method, which makes a binding, wherever it comes to an earlier one there."""
    tree = method.module.tree
    around = {id(above): child for above, child in _ways(earlier, tree)} if earlier is not None else {}
    tried = later.value is not None and any(
        each.attr.value == later.name for each in tree.find(later.value, cst.Attribute)
    )
    for above, child in _ways(node, tree):
        if id(above) in around:
            if isinstance(above, cst.If) and around[id(above)] is not child:
                return False  # on the other arm
        elif isinstance(above, cst.If):
            if child is above.body and _asks_for_any(above.test, later):
                continue  # what is left as it was has nothing in it
            if _is_set_on_other_arm(above, child, later):
                continue
            if not _is_so_by_default(ev, above.test, child is above.body, method):
                return False
        elif not (tried and isinstance(above, cst.Try)) and not isinstance(tree.parent(above), cst.If):
            return False
    return True


def _is_set_on_other_arm(condition: cst.If, arm: Node, binding: AttributeBinding) -> bool:
    """True if the other arm binds the attribute as well, and makes no use of what it holds: `self.masks = None`."""
    if not isinstance(condition.orelse, cst.Else):
        return False
    other = condition.orelse.body if arm is condition.body else condition.body
    own, tree = f"{classes.receiver_name(binding.method)}.{binding.name}", binding.method.module.tree
    return any(
        isinstance(statement, cst.Assign)
        and any(dotted(each.target) == own for each in statement.targets)
        and not any(each.attr.value == binding.name for each in tree.find(statement.value, cst.Attribute))
        for line in other.body
        if isinstance(line, cst.SimpleStatementLine)
        for statement in line.body
    )


def _asks_for_any(test: cst.BaseExpression, binding: AttributeBinding) -> bool:
    """`if self.rows:`, `if len(self.rows) > 0:`, of the attribute itself."""
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        operator, bound = test.comparisons[0].operator, test.comparisons[0].comparator
        if not isinstance(bound, cst.Integer) or (type(operator), bound.value) not in _MORE_THAN_NONE:
            return False
        test = test.left
        if not isinstance(test, cst.Call):
            return False
    if isinstance(test, cst.Call):
        if last_name(test.func) != "len" or len(test.args) != 1:
            return False
        test = test.args[0].value
    return dotted(test) == f"{classes.receiver_name(binding.method)}.{binding.name}"


_MORE_THAN_NONE = frozenset({(cst.GreaterThan, "0"), (cst.NotEqual, "0"), (cst.GreaterThanEqual, "1")})


def _ways(node: Node, tree: Tree) -> Iterator[tuple[Node, Node]]:
    """The conditional statements around a node, from the inside out, each with the part of it that holds the node."""
    child = node
    for above in tree.ancestors(node):
        if isinstance(above, _CONDITIONAL):
            yield above, child
        child = above


def _is_so_by_default(ev: Evaluator, test: cst.BaseExpression, wanted: bool, method: Scope) -> bool:
    """True if a condition comes out as wanted where the method's parameters are left to their defaults.

    Callers who set them otherwise do not count as long as they only look at what they make, and others go further.
    """
    receiver = ev.frame_of(method).receiver
    node = test
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        node, wanted = node.expression, not wanted
    klass = classes.class_of(method)
    if isinstance(node, cst.Attribute) and dotted(node.value) == classes.receiver_name(method) and klass is not None:
        bound = classes.attribute_bindings(klass).get(node.attr.value, [])
        if len(bound) == 1 and bound[0].kind is Kind.VALUE and bound[0].method is method and not bound[0].path:
            node = bound[0].value or node
    if truth(ev.values(node, Frame(method, {}, receiver, ev.frame_of(method).outer))) is not wanted:
        return False
    others = agreeing = 0
    for call, frame, callees in ev.callers(method):
        if is_test(frame.scope.module):
            continue
        is_looked_at = is_made_for_parent(ev, frame.scope.module.tree, call)
        for callee in callees:
            if isinstance(callee, Class) and klass is not None:
                made = ev.enter(Function(method, ev.frame_of(klass)), call, frame, CallResult(callee, call, frame))
                if truth(ev.values(node, made)) is wanted:
                    agreeing += not is_looked_at
                elif is_looked_at:
                    others += 1
                else:
                    return False
    return agreeing > 0 or not others
