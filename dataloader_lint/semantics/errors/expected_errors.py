"""Errors that a program expects: its tests make them on purpose, or a `try ... except` goes on without the result.

Where the error is wanted, the code that raises it is no mistake, and a fix would break the test or the fallback.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.errors.caught_errors import Errors
from dataloader_lint.semantics.limits import EXPECTED_ERROR_DEPTH
from dataloader_lint.semantics.project.scripts import is_in_tests
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library

# `pytest.raises`, `self.assertRaisesRegex`, `nose.tools.assert_raises`, `contextlib.suppress` and their like.
_EXPECTING = re.compile(r"^(raises(group|exc)?|suppress|(assert|fail_?unless)_?raises\w*)$", re.IGNORECASE)


def is_error_expected(
    ev: Evaluator,
    node: Node,
    frame: Frame,
    errors: tuple[str, ...],
    *,
    at_use: bool = False,
    by_name: bool = False,
) -> bool:
    """True if one of some errors is wanted from a node: in tests, in code that only tests run, and where it is caught.

    `errors` are names of builtin exceptions, or dotted names. With `at_use` the error comes when the result is used,
    so that uses of the name it is bound to count as well. With `by_name` the code must name the error, in tests too: a
    handler around a whole program that catches everything says nothing about an error that comes on some machines only.
    """
    return _Search(ev, frozenset(errors), at_use, by_name).is_wanted(node, frame)


class _Search:
    """One question: which errors, when they come, and which handlers count."""

    def __init__(self, ev: Evaluator, errors: frozenset[str], at_use: bool, by_name: bool) -> None:
        self.ev = ev
        self.at_use = at_use
        self.by_name = by_name
        self.errors = Errors(ev, errors, by_name)
        self.asked: set[int] = set()

    def is_wanted(self, node: Node, frame: Frame, depth: int = 0) -> bool:
        """True if the error is expected around a node, or by everyone who runs the function around it."""
        module = frame.scope.module
        tree = module.tree
        if node not in tree:
            return False
        if not self.by_name and is_in_tests(self.ev.project, module):
            return True
        if any(self.is_expected_around(each, frame, depth) for each in (node, *self.uses(node, tree))):
            return True
        scope = tree.scope_of(node).function
        if scope is None or depth >= EXPECTED_ERROR_DEPTH or id(scope) in self.asked:
            return False
        self.asked.add(id(scope))
        return self.is_expected_by_callers(scope, depth + 1)

    def is_expected_by_callers(self, scope: Scope, depth: int) -> bool:
        """True if a function is called in the project, and wherever it is, the error is expected."""
        callers = [(call, frame) for call, frame, _ in self.ev.callers(scope)]
        if callers:
            return all(self.is_wanted(call, frame, depth) for call, frame in callers)
        node = scope.node
        if self.by_name or not isinstance(node, cst.FunctionDef):
            return False
        module = scope.module
        is_used = any(True for _ in module.tree.named(module.tree.module, node.name.value))
        return not is_used and self.ev.project.is_named_in_tests(module, _name_for_others(scope, node))

    def uses(self, node: Node, tree: Tree) -> Iterator[cst.Name]:
        """The places that read what a node is bound to by name, where the error comes when it is used."""
        above = tree.parent(node)
        if not self.at_use or not isinstance(above, cst.Assign) or above.value is not node:
            return
        for each in above.targets:
            if isinstance(each.target, cst.Name):
                around = function_scope(tree.scope_of(above)).node
                for use in tree.named(around, each.target.value):
                    if any(binding.node is above for binding in resolve(use, tree)):
                        yield use

    # Around a place.

    def is_expected_around(self, node: Node, frame: Frame, depth: int) -> bool:
        """True if a `with` or `try` around a node, in the function that it stands in, expects the error."""
        tree = frame.scope.module.tree
        function = tree.scope_of(node).function
        child = node
        for above in tree.ancestors(node):
            if isinstance(above, cst.With):
                items = [each for each in above.items if tree.order(each) < tree.order(child) or child is above.body]
                if any(self.is_expecting(each.item, frame) for each in items):
                    return True
            elif isinstance(above, cst.Try | cst.TryStar) and child is above.body:
                if any(self.errors.are_swallowed(handler, frame, depth) for handler in above.handlers):
                    return True
            elif function is not None and above is function.node:
                return False
            elif self.at_use and isinstance(above, cst.Call) and self.is_expecting(above, frame):
                return True  # self.assertRaises(AssertionError, next, iter(loader))
            child = above
        return False

    def is_expecting(self, item: cst.BaseExpression, frame: Frame) -> bool:
        """True for `pytest.raises(ValueError)` and `suppress(ValueError)` that name the error."""
        if not isinstance(item, cst.Call):
            return False
        libraries = (each.name for each in self.ev.values(item.func, frame) if isinstance(each, Library))
        names = {last_name(item.func), *(each.rpartition(".")[2] for each in libraries)}
        if not any(_EXPECTING.match(name) for name in names):
            return False
        named = [arg.value for arg in item.args if arg.keyword is None]
        keyword = keyword_of(item, "expected_exception") or keyword_of(item, "exception")
        given = [*(named if "suppress" in names else named[:1]), *([] if keyword is None else [keyword])]
        return any(self.errors.are_caught(each, frame) for each in given)


def _name_for_others(scope: Scope, node: cst.FunctionDef) -> str:
    """The name by which others call a function: for a constructor that of its class."""
    klass = scope.parent.node if scope.parent is not None else None
    return klass.name.value if isinstance(klass, cst.ClassDef) and node.name.value == "__init__" else node.name.value
