"""Errors that a program expects: `pytest.raises`, `assertRaises`, `suppress`, `try ... except`, `xfail`.

Where the error is wanted, the code that raises it is no mistake, and a fix would break the test or the fallback.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import libcst as cst

from dataloader_lint.semantics.callers.parameters import arguments_of_callers
from dataloader_lint.semantics.errors.caught_errors import Errors
from dataloader_lint.semantics.errors.expecting_calls import (
    calls_in_tests,
    calls_under_another_name,
    given_away_in_tests,
    uses_by_binding,
)
from dataloader_lint.semantics.limits import EXPECTED_ERROR_DEPTH
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, parameters
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, dotted, resolve, written_part
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Class, Evaluator, Frame, Function, Library, Method, Partial

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
    can_fail: Callable[[Frame], bool] | None = None,
) -> bool:
    """True if the code around a node, or all its callers in the project, expect one of some errors from it.

    `errors` are names of builtin exceptions, or dotted names. With `at_use` the error comes when the result is used,
    so that uses of the name it is bound to count as well. With `by_name` a handler must name the error: one around a
    whole program that catches everything says nothing about an error that comes on some machines only. `can_fail` says
    of a frame that a call in a test opens around the node whether the error can come there; without it, it can in all.
    """
    return _Search(ev, frozenset(errors), at_use, by_name, can_fail or _always).is_wanted(node, frame)


def _always(_: Frame) -> bool:
    return True


class _Search:
    """One question: which errors, when they come, and which handlers count."""

    def __init__(
        self,
        ev: Evaluator,
        errors: frozenset[str],
        at_use: bool,
        by_name: bool,
        can_fail: Callable[[Frame], bool],
    ) -> None:
        self.ev = ev
        self.at_use = at_use
        self.can_fail = can_fail
        self.errors = Errors(ev, errors, by_name)
        self.asked: set[int] = set()
        self.inside: list[int] = []  # functions that are being asked whether they run a parameter

    def is_wanted(self, node: Node, frame: Frame, depth: int = 0) -> bool:
        """True if the error is expected around a node, or by everyone who runs the function around it."""
        tree = frame.scope.module.tree
        if node not in tree:
            return False
        if any(self.is_expected_around(each, frame, depth) for each in (node, *self.uses(node, tree))):
            return True
        scope = tree.scope_of(node).function
        if depth >= EXPECTED_ERROR_DEPTH or id(node) in self.asked:
            return False
        self.asked.add(id(node))
        if self.is_marked(node, tree, frame):
            return True
        return scope is not None and self.is_expected_by_callers(scope, depth + 1)

    def uses(self, node: Node, tree: Tree) -> Iterator[cst.Name]:
        """The places that read what a node is bound to by name, where the error comes when it is used."""
        above = tree.parent(node)
        if not self.at_use or not isinstance(above, cst.Assign) or above.value is not node:
            return
        for each in above.targets:
            if isinstance(each.target, cst.Name):
                yield from uses_by_binding(function_scope(tree.scope_of(above)), tree).get(id(above), ())

    # Around a place.

    def is_expected_around(self, node: Node, frame: Frame, depth: int) -> bool:
        """True if a `with` or `try` around a node, in the function that it stands in, expects the error."""
        tree = frame.scope.module.tree
        function = tree.scope_of(node).function
        child = node
        for above in tree.ancestors(node):
            if isinstance(above, cst.With):
                items = [each for each in above.items if tree.order(each) < tree.order(child) or child is above.body]
                if any(self.expects(each.item, frame) for each in items) or self.is_entered(above, node, frame):
                    return True
            elif isinstance(above, cst.Try | cst.TryStar) and child is above.body:
                if any(self.errors.are_swallowed(handler, frame, depth) for handler in above.handlers):
                    return True
            elif function is not None and above is function.node:
                return False
            elif self.at_use and isinstance(above, cst.Call) and self.is_expecting_call(above, frame):
                return True  # self.assertRaises(AssertionError, next, iter(loader))
            child = above
        return False

    def is_entered(self, around: cst.With, node: Node, frame: Frame) -> bool:
        """`stack.enter_context(pytest.raises(...))` ahead of a node in a `with ExitStack() as stack:`."""
        tree = frame.scope.module.tree
        return any(
            last_name(call.func) == "enter_context"
            and bool(call.args)
            and tree.order(call) < tree.order(node)
            and self.expects(call.args[0].value, frame)
            for call in tree.find(around.body, cst.Call)
        )

    def expects(self, item: cst.BaseExpression, frame: Frame, depth: int = 0) -> bool:
        """True if a context manager expects the error, on one path at least."""
        tree = frame.scope.module.tree
        if depth > EXPECTED_ERROR_DEPTH or item not in tree:
            return False
        if isinstance(item, cst.Call):
            return self.is_expecting_call(item, frame) or self.is_own_manager(item, frame)
        if isinstance(item, cst.IfExp):
            return self.expects(item.body, frame, depth + 1) or self.expects(item.orelse, frame, depth + 1)
        if isinstance(item, cst.NamedExpr):
            return self.expects(item.value, frame, depth + 1)
        if not isinstance(item, cst.Name):
            return False
        for binding in resolve(item, tree):
            if binding.kind is Kind.PARAMETER:
                given = [(each, where) for each, where in arguments_of_callers(self.ev, binding.scope, binding.name)]
                owner = binding.scope.node
                marks = owner.decorators if isinstance(owner, cst.FunctionDef) else ()
                if any(self.holds_expecting(each, frame) for each in marks if _calls(each.decorator, "parametrize")):
                    return True
                if any(self.expects(each, where, depth + 1) for each, where in given):
                    return True
                continue
            value = written_part(binding.value, binding.path) if binding.kind is Kind.VALUE else None
            if value is not None:
                if self.expects(value, frame, depth + 1):
                    return True
            elif binding.value is not None and self.holds_expecting(binding.value, frame):
                return True  # for workers, context in [(0, pytest.raises(ValueError)), ...]
        return False

    def holds_expecting(self, node: Node, frame: Frame) -> bool:
        """True if a context manager that expects the error is made somewhere in a node, or in a list that it names."""
        tree = frame.scope.module.tree
        if node not in tree:
            return False
        lists = [
            binding.value
            for name in tree.find(node, cst.Name)
            for binding in resolve(name, tree)
            if binding.kind is Kind.VALUE and isinstance(binding.value, cst.List | cst.Tuple | cst.Dict)
        ]
        calls = (call for each in (node, *lists) for call in tree.find(each, cst.Call))
        return any(self.is_expecting_call(call, frame) for call in calls)

    def is_expecting_call(self, call: cst.Call, frame: Frame) -> bool:
        """`pytest.raises(ValueError)`, under whatever name, also with the function to be called behind it."""
        given = self.expected_by(call, frame)
        return given is not None and any(self.errors.are_caught(each, where) for each, where in given)

    def expected_by(self, call: cst.Call, frame: Frame) -> list[tuple[cst.BaseExpression | None, Frame]] | None:
        """The exceptions that a call such as `pytest.raises(...)` names, None for any; None for other calls."""
        if _is_expecting(last_name(call.func)):
            return self.named_by(call, frame)
        tree = frame.scope.module.tree
        if isinstance(call.func, cst.Name):  # check = self.assertRaises
            for binding in resolve(call.func, tree):
                value = binding.value if binding.kind is Kind.VALUE and not binding.path else None
                if value is not None and _is_expecting(last_name(value)):
                    return self.named_by(call, frame)
        for callee in self.ev.values(call.func, frame):
            if isinstance(callee, Library) and _is_expecting(callee.name.rpartition(".")[2]):
                return self.named_by(call, frame)
            if isinstance(callee, Partial) and isinstance(callee.callee, Library):
                if _is_expecting(callee.callee.name.rpartition(".")[2]):
                    return [*self.named_by(callee.call, callee.frame, 1), *self.named_by(call, frame)]
        return None

    def named_by(self, call: cst.Call, frame: Frame, skipped: int = 0) -> list[tuple[cst.BaseExpression | None, Frame]]:
        positional = [arg.value for arg in call.args if arg.keyword is None][skipped:]
        keyword = keyword_of(call, "expected_exception") or keyword_of(call, "exception")
        if last_name(call.func) == "suppress" or any(arg.star == "*" for arg in call.args):
            return [(each, frame) for each in positional]
        first = positional[:1] or ([keyword] if keyword is not None else [])
        return [(each, frame) for each in first] or ([] if skipped else [(None, frame)])

    def is_own_manager(self, call: cst.Call, frame: Frame) -> bool:
        """True for a context manager of the project that lets its block raise the error: it yields in a `try` or so."""
        for callee in self.ev.values(call.func, frame):
            function = callee.function if isinstance(callee, Method) else callee
            if isinstance(function, Function):
                inner = self.ev.frame_of(function.scope)
                if any(self.is_expected_around(each, inner, 0) for each in function.scope.own(cst.Yield)):
                    return True
            elif isinstance(callee, Class):
                leave = next((each for each in callee.scope.inner if _is_named(each, "__exit__")), None)
                returned = leave.own(cst.Return) if leave is not None else ()
                if any(each.value is not None and dotted(each.value) not in ("None", "False") for each in returned):
                    return True
        return False

    # Who runs it.

    def is_marked(self, node: Node, tree: Tree, frame: Frame) -> bool:
        """`@pytest.mark.xfail`, `@unittest.expectedFailure`, or a decorator of the project that catches the error."""
        for above in tree.ancestors(node):
            if isinstance(above, cst.FunctionDef | cst.ClassDef):
                for decorator in above.decorators:
                    if self.is_failing_mark(decorator, frame) or self.is_catching_decorator(decorator, frame):
                        return True
        marks = bindings_of(tree.root).get("pytestmark", ())
        return any(each.value is not None and self.is_failing_mark(each.value, frame) for each in marks)

    def is_failing_mark(self, node: Node, frame: Frame) -> bool:
        tree = frame.scope.module.tree
        for each in tree.walk(node):
            if isinstance(each, cst.Name | cst.Attribute) and last_name(each) in ("xfail", "expectedFailure"):
                above = tree.parent(each)
                raised = keyword_of(above, "raises") if isinstance(above, cst.Call) and above.func is each else None
                if self.errors.are_caught(raised, frame):
                    return True
        return False

    def is_catching_decorator(self, decorator: cst.Decorator, frame: Frame) -> bool:
        node = decorator.decorator
        callees = self.ev.values(node.func if isinstance(node, cst.Call) else node, frame)
        return any(isinstance(each, Function) and self.runs_parameter(each.scope) for each in callees)

    def runs_parameter(self, function: Scope, wanted: str = "") -> bool:
        """True if a function, or one in it, calls a parameter of its own where the error is expected.

        Functions that pass their parameters on to each other, maybe in a circle, are followed a few times only.
        """
        if len(self.inside) > EXPECTED_ERROR_DEPTH or id(function) in self.inside:
            return False
        self.inside.append(id(function))
        try:
            return self.runs_own_parameter(function, wanted)
        finally:
            self.inside.pop()

    def runs_own_parameter(self, function: Scope, wanted: str) -> bool:
        tree = function.module.tree
        for scope in function.descend():
            names = {each.name.value for each in parameters(scope.node)} if scope.is_function else set()  # type: ignore[arg-type]
            for name in names & {wanted} if wanted else names:
                for use in tree.named(function.node, name):
                    above = tree.parent(use)
                    is_run = (isinstance(above, cst.Call) and above.func is use) or isinstance(above, cst.Arg)
                    if is_run and self.is_run_as_expected(use, self.ev.frame_of(function_scope(tree.scope_of(use)))):
                        return True
        return False

    def is_run_as_expected(self, use: Node, frame: Frame) -> bool:
        return self.is_expected_around(use, frame, 0) or self.is_given_to_expecting(use, frame) is True

    def is_expected_by_callers(self, scope: Scope, depth: int) -> bool:
        """True if a function is called in the project, and wherever it is, the error is expected."""
        tree = scope.module.tree
        found: list[bool] = []
        known = ((call, frame) for call, frame, _ in self.ev.callers(scope))
        for call, frame in (*known, *calls_under_another_name(self.ev, scope)):
            found.append(self.is_wanted(call, frame, depth))
        for use in self.references(scope):
            frame = self.ev.frame_of(function_scope(tree.scope_of(use)))
            above = tree.parent(use)
            if isinstance(above, cst.Call) and above.func is use:
                if isinstance(scope.node, cst.Lambda):  # calls of functions are found above
                    found.append(self.is_wanted(above, frame, depth))
            else:
                given = self.is_given_to_expecting(use, frame)
                if given is not None:
                    found.append(given)
        if all(found):  # the most expensive to find come last
            calls = calls_in_tests(self.ev, scope, self.can_fail if depth == 1 else _always)
            found += [self.is_wanted(call, frame, depth) for call, frame in calls]
            uses = given_away_in_tests(self.ev, scope)
            found += [self.is_given_to_expecting(use, frame) is True for use, frame in uses]
        return bool(found) and all(found)

    def references(self, scope: Scope) -> Iterator[Node]:
        """Where a function of a module is read by its name in that module, or the lambda where it stands."""
        tree = scope.module.tree
        node = scope.node
        above = tree.parent(node)
        if isinstance(node, cst.Lambda):
            yield node
            if isinstance(above, cst.Assign) and isinstance(above.targets[0].target, cst.Name):
                for use in tree.named(tree.module, above.targets[0].target.value):
                    if any(binding.value is node for binding in resolve(use, tree)):
                        yield use
        elif isinstance(node, cst.FunctionDef) and scope.parent is not None and scope.parent.is_class:
            yield from (each for each in tree.find(tree.module, cst.Attribute) if each.attr.value == node.name.value)
        elif isinstance(node, cst.FunctionDef):
            for use in tree.named(tree.module, node.name.value):
                if any(binding.node is node for binding in resolve(use, tree)):
                    yield use

    def is_given_to_expecting(self, use: Node, frame: Frame) -> bool | None:
        """True for the function in `assertRaises(ValueError, function)`; None where it is not an argument at all."""
        tree = frame.scope.module.tree
        above = tree.parent(use)
        call = tree.parent(above) if isinstance(above, cst.Arg) else None
        if isinstance(call, cst.Call):
            if last_name(call.func) == "partial":
                return self.is_given_to_expecting(call, frame)
            if self.is_expecting_call(call, frame):
                return True
            for callee in self.ev.values(call.func, frame):
                function = callee.function if isinstance(callee, Method) else callee
                if isinstance(function, Function) and self.runs_parameter(function.scope):
                    return True
            return self.is_expected_around(use, frame, 0)
        for each in tree.ancestors(use):
            if isinstance(each, cst.Decorator):
                if each.decorator is use:  # a lambda that decorates is called where it stands
                    return self.is_expected_around(each, frame, 0)
                owner = tree.parent(each)  # @pytest.mark.parametrize("make", [lambda: DataLoader(...)])
                if isinstance(owner, cst.FunctionDef) and _calls(each.decorator, "parametrize"):
                    return self.runs_parameter(tree.inner_scope[id(owner)])
        return None


def _is_expecting(name: str) -> bool:
    return _EXPECTING.match(name) is not None


def _is_named(scope: Scope, name: str) -> bool:
    return isinstance(scope.node, cst.FunctionDef) and scope.node.name.value == name


def _calls(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) == name
