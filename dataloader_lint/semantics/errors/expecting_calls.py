"""Calls that only matter if they expect an error: under another name, and in files that say nothing about loading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import libcst as cst

from dataloader_lint.semantics.callers.parameters import entered_by
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import EXPECTING_MODULES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Class, Evaluator, Frame, Function, Method, Value


def calls_under_another_name(ev: Evaluator, scope: Scope) -> Iterator[tuple[cst.Call, Frame]]:
    """The calls of a function under another name: `from making import make as build`, `build = making.make`."""
    if not isinstance(scope.node, cst.FunctionDef) or scope.parent is not scope.module.root:
        return
    name = scope.node.name.value
    for module in (scope.module, *ev.project.importers(scope.module, [name], EXPECTING_MODULES)):
        by_name = module.tree.of_text(("calls by aliases", id(module.root)), partial(_calls_by_aliases, module))
        for call in by_name.get(name, ()):
            frame = _frame_at(ev, call, module)
            if any(isinstance(each, Function) and each.scope is scope for each in ev.values(call.func, frame)):
                yield call, frame


def calls_in_tests(ev: Evaluator, scope: Scope, can_fail: Callable[[Frame], bool]) -> Iterator[tuple[cst.Call, Frame]]:
    """The calls of a function in files that mention expected errors, but not loading, if the error can come there.

    Such files are no callers for other questions: a test says how a function may be called, not how it is.
    """
    for module in _tests_of(ev, scope):
        for call in module.all_calls():
            if not _may_be(call.func, scope, module.tree):
                continue
            frame = _frame_at(ev, call, module)
            found = [each for each in ev.values(call.func, frame) if _is_of(ev, each, scope)]
            inner = [entered_by(ev, scope, each, call, frame) for each in found]
            if any(each is None or can_fail(each) for each in inner):
                yield call, frame


def given_away_in_tests(ev: Evaluator, scope: Scope) -> Iterator[tuple[cst.BaseExpression, Frame]]:
    """The arguments in such files that are the function itself: `self.assertRaises(ValueError, make, data)`."""
    for module in _tests_of(ev, scope):
        for call in module.all_calls():
            for arg in call.args:
                if _may_be(arg.value, scope, module.tree):
                    frame = _frame_at(ev, call, module)
                    if any(_is_of(ev, each, scope) for each in ev.values(arg.value, frame)):
                        yield arg.value, frame


def _tests_of(ev: Evaluator, scope: Scope) -> list[ModuleFacts]:
    name = _name_of(scope)
    return ev.project.expecting(scope.module, name, EXPECTING_MODULES) if name else []


def _name_of(scope: Scope) -> str:
    """The name by which others call a function: for a constructor that of its class."""
    klass = classes.class_of(scope)
    if not isinstance(scope.node, cst.FunctionDef):
        return ""
    if scope.node.name.value == "__init__" and klass is not None and isinstance(klass.node, cst.ClassDef):
        return klass.node.name.value
    return scope.node.name.value


def _may_be(node: cst.BaseExpression, scope: Scope, tree: Tree) -> bool:
    """A cheap look before the evaluation: an expression ends in the name of a function, or in an alias of it."""
    name = _name_of(scope)
    return last_name(node) == name or (isinstance(node, cst.Name) and name in _stands_for(node, tree))


def _is_of(ev: Evaluator, callee: Value, scope: Scope) -> bool:
    if isinstance(callee, Class):
        method = classes.find_method(ev, ev.bases(callee).classes, "__init__")
        return method is not None and method.scope is scope
    function = callee.function if isinstance(callee, Method) else callee
    return isinstance(function, Function) and function.scope is scope


def _frame_at(ev: Evaluator, node: cst.CSTNode, module: ModuleFacts) -> Frame:
    return ev.frame_of(function_scope(module.tree.scope_of(node)))


def _calls_by_aliases(module: ModuleFacts) -> dict[str, list[cst.Call]]:
    """The calls of a module under other names, by what these mean."""
    found: dict[str, list[cst.Call]] = {}
    for call in module.all_calls():
        for name in _stands_for(call.func, module.tree) if isinstance(call.func, cst.Name) else ():
            found.setdefault(name, []).append(call)
    return found


def _stands_for(called: cst.Name, tree: Tree) -> set[str]:
    """What an import or an assignment binds a name to, where that has another name, or its own elsewhere."""
    found: set[str] = set()
    for binding in resolve(called, tree):
        if binding.kind is Kind.IMPORT and binding.member and binding.name != binding.member:
            found.add(binding.member)
        if binding.kind is Kind.VALUE and isinstance(binding.value, cst.Name | cst.Attribute):
            found.add(last_name(binding.value))
    return found


def uses_by_binding(function: Scope, tree: Tree) -> dict[int, list[cst.Name]]:
    """The uses of local names that an assignment to one name binds, by the `id` of the assignment."""

    def work_out() -> dict[int, list[cst.Name]]:
        found: dict[int, list[cst.Name]] = {}
        for use in tree.find(function.node, cst.Name):
            for binding in resolve(use, tree):
                if isinstance(binding.node, cst.Assign):
                    found.setdefault(id(binding.node), []).append(use)
        return found

    return tree.of_text(("uses by binding", id(function)), work_out)
