"""How often a statement runs: once, or for each of many elements."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.callers.run_arguments import is_mapping, receiving_parameters
from dataloader_lint.semantics.limits import LOOP_CALLERS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import COMPREHENSIONS, Node, Scope, function_scope
from dataloader_lint.semantics.values.size_classes import is_few
from dataloader_lint.semantics.values.values import Evaluator


def runs_often(ev: Evaluator, scope: Scope, node: Node, depth: int = 0) -> bool:
    """True if a node of a scope runs again and again.

    It is in a loop over more than a few elements, or in a function that a loop calls, or that `map` gets.
    """
    if _in_long_loop(ev, scope, node):
        return True
    home = scope.function
    if home is None or home.parent is None or depth > LOOP_CALLERS:
        return False
    if isinstance(home.node, cst.FunctionDef):
        tree = home.module.tree
        for call in home.module.calls_named(home.node.name.value):
            if _in_long_loop(ev, tree.scope_of(call), call):
                return True
    return any(_is_run_often(ev, call, given, home, depth) for call, given in _passed_to(home))


def _in_long_loop(ev: Evaluator, scope: Scope, node: Node) -> bool:
    """True if a node is in a loop of its own function over more than a few elements."""
    home = scope.function
    for above in scope.module.tree.ancestors(node):
        if type(above) is cst.While:
            return True
        if type(above) is cst.For and not is_few(ev, above.iter, ev.frame_of(function_scope(scope))):
            return True
        if type(above) in COMPREHENSIONS and _is_long(ev, above, scope):
            return True
        if home is not None and above is home.node:
            break
    return False


def _is_long(ev: Evaluator, node: Node, scope: Scope) -> bool:
    """True if a comprehension iterates over more than a few elements."""
    loop: cst.CompFor | None = node.for_in  # type: ignore[attr-defined]
    frame = ev.frame_of(function_scope(scope))
    while loop is not None:
        if not is_few(ev, loop.iter, frame):
            return True
        loop = loop.inner_for_in
    return False


def _passed_to(home: Scope) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """The calls in its file that are given a function, instead of calling it."""
    if isinstance(home.node, cst.Lambda):
        arg = home.module.tree.parent(home.node)
        call = home.module.tree.parent(arg) if isinstance(arg, cst.Arg) else None
        if isinstance(call, cst.Call):
            yield call, home.node
    elif isinstance(home.node, cst.FunctionDef):
        tree = home.module.tree
        by_name = tree.of_text(("names of passed functions", id(tree.root)), lambda: _passed_names(home))
        yield from by_name.get(home.node.name.value, ())


def _passed_names(home: Scope) -> dict[str, list[tuple[cst.Call, cst.BaseExpression]]]:
    found: dict[str, list[tuple[cst.Call, cst.BaseExpression]]] = {}
    for call in home.module.all_calls():
        for arg in call.args:
            if isinstance(arg.value, cst.Name | cst.Attribute) and last_name(arg.value) in home.module.functions:
                found.setdefault(last_name(arg.value), []).append((call, arg.value))
    return found


def _is_run_often(ev: Evaluator, call: cst.Call, given: cst.BaseExpression, home: Scope, depth: int) -> bool:
    """True if a call runs the function that it is given again and again, or is itself made again and again."""
    tree = home.module.tree
    scope = tree.scope_of(call)
    if is_mapping(call, given):
        frame = ev.frame_of(function_scope(scope))
        return not all(is_few(ev, arg.value, frame) for arg in call.args if arg.value is not given)
    for function, param in receiving_parameters(ev, call, given, scope):
        for inner in function.descend():
            for run in inner.own(cst.Call):
                if isinstance(run.func, cst.Name) and run.func.value == param:
                    if runs_often(ev, inner, run, depth + 1):
                        return True
                for arg in run.args if depth < LOOP_CALLERS else ():
                    if isinstance(arg.value, cst.Name) and arg.value.value == param:
                        if _is_run_often(ev, run, arg.value, inner, depth + 1):
                            return True
    return last_name(call.func) in ("Thread", "submit", "apply_async") and runs_often(ev, scope, call, depth + 1)
