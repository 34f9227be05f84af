"""Loaders that a script iterates over at most once, as an evaluation does."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.loaders.epochs import loaders_behind
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.limits import SINGLE_PASS_DEPTH
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.names import Binding, bindings_of, uses_of
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope
from dataloader_lint.semantics.values.values import Evaluator, Function

_REPEATING = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda)


def is_iterated_once(ev: Evaluator, project: Project, loader: Loader) -> bool:
    """True if the loader is bound to one name, of which one loop is all that makes batches, and that runs once.

    False wherever more may be done with it than can be followed, or others may import what does it.
    """
    tree = loader.frame.scope.module.tree
    assign = tree.parent(loader.call)
    if loader.before or not loader.is_written_here or not isinstance(assign, cst.Assign):
        return False
    scope = function_scope(tree.scope_of(loader.call))
    binding = next((each for found in bindings_of(scope).values() for each in found if each.node is assign), None)
    if binding is None or binding.path or len(assign.targets) != 1 or len(bindings_of(scope)[binding.name]) != 1:
        return False
    search = _Search(ev, tree, loader)
    names = [binding.name]
    for place in search.passes(binding, 0):
        if search.found > 1 or not search.runs_once(place, scope, 0, names):
            return False
    is_once = search.found == 1 and not search.is_lost and search.runs_once(assign, None, 0, names)
    return is_once and not project.importers(loader.frame.scope.module, names)


class _Search:
    """Follows one loader through one module."""

    def __init__(self, ev: Evaluator, tree: Tree, loader: Loader) -> None:
        self.ev = ev
        self.tree = tree
        self.loader = loader
        self.found = 0  # how many places go through it
        self.is_lost = False  # whether it goes where it cannot be followed

    def passes(self, binding: Binding, depth: int) -> Iterator[Node]:
        """The places at which what a name means is iterated over, or is given to a function that does so."""
        for use in uses_of(self.tree, binding):
            if _is_harmless(self.tree, use):
                continue
            loop = self._loop_over(use)
            if loop is not None:
                self.found += 1
                yield loop
                continue
            arg = self.tree.parent(use)
            call = self.tree.parent(arg) if isinstance(arg, cst.Arg) else None
            parameter = self._parameter(use, call) if isinstance(call, cst.Call) and depth < SINGLE_PASS_DEPTH else None
            if parameter is None or not isinstance(call, cst.Call):
                self.is_lost = True
                return
            for inner in self.passes(parameter, depth + 1):
                if self._home(inner) is not parameter.scope or _is_repeated(self.tree, inner, parameter.scope.node):
                    self.is_lost = True
                yield call

    def _loop_over(self, use: cst.Name) -> Node | None:
        """The loop that goes over the loader: `for x in loader`, `for x in enumerate(loader)`."""
        child: Node = use
        for above in self.tree.ancestors(use):
            if isinstance(above, cst.For | cst.CompFor):
                if child is not above.iter:
                    return None
                values = self.ev.values(above.iter, self.ev.frame_of(self._home(above)))
                given = {id(each.call) for _, each in loaders_behind(self.ev, values)}
                return above if id(self.loader.call) in given else None
            if not isinstance(above, cst.Call | cst.Arg):
                break
            child = above
        return None

    def _parameter(self, use: cst.Name, call: cst.Call) -> Binding | None:
        """The parameter that brings it to a function of the module, where the call surely runs that one."""
        frame = self.ev.frame_of(self._home(call))
        callees = self.ev.values(call.func, frame)
        callee = callees[0] if len(callees) == 1 else None
        if not isinstance(callee, Function) or callee.scope.node not in self.tree or callee.scope is self._home(call):
            return None
        entered = self.ev.enter(callee, call, frame, None)
        name = next((name for name, each in (entered.args or {}).items() if each.node is use), "")
        found = bindings_of(callee.scope).get(name, [])
        return found[0] if len(found) == 1 and isinstance(found[0].node, cst.Param) and not found[0].node.star else None

    def _home(self, node: Node) -> Scope:
        return function_scope(self.tree.scope_of(node))

    def runs_once(self, node: Node, until: Scope | None, depth: int, names: list[str]) -> bool:
        """True if a place runs once at most each time that `until` does, or in all; adds the functions on the way."""
        home = self._home(node)
        if _is_repeated(self.tree, node, home.node) or depth > SINGLE_PASS_DEPTH:
            return False
        if home is until or not home.is_function:
            return True
        if not isinstance(home.node, cst.FunctionDef) or classes.class_of(home) is not None or home.node.decorators:
            return False
        outer = home.parent
        found = bindings_of(outer).get(home.node.name.value, []) if outer is not None else []
        uses = list(uses_of(self.tree, found[0])) if len(found) == 1 else []
        call = self.tree.parent(uses[0]) if len(uses) == 1 else None
        if not isinstance(call, cst.Call) or call.func is not uses[0]:
            return False
        names.append(home.node.name.value)
        return self.runs_once(call, until, depth + 1, names)


def _is_harmless(tree: Tree, use: cst.Name) -> bool:
    """True if no batch is made: `len(loader)`, `loader.dataset`."""
    above = tree.parent(use)
    if isinstance(above, cst.Attribute):
        return not isinstance(tree.parent(above), cst.Call)
    call = tree.parent(above) if above is not None else None
    return isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == "len"


def _is_repeated(tree: Tree, node: Node, until: Node) -> bool:
    """True if a place stands in the body of a loop, inside `until`."""
    child = node
    for above in tree.ancestors(node):
        if isinstance(above, _REPEATING) and not (isinstance(above, cst.For) and child is above.iter):
            return True
        if above is until:
            return False
        child = above
    return False
