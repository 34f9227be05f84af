"""Which `from x import *` statements give a module one of its names, beside its own bindings of that name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import libcst as cst

from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.flow import reaching
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, star_imports
from dataloader_lint.semantics.syntax.tree import Node, Scope, function_scope
from dataloader_lint.semantics.values.fixpoint import Solver

_DEFINED = (Kind.CLASS, Kind.FUNCTION, Kind.IMPORT)


class StarImports:
    """Finds the star imports that give a name in the modules of a project."""

    def __init__(self, project: Project, solver: Solver) -> None:
        self.project = project
        self.solver = solver

    def among(self, bindings: list[Binding], name: str, root: Scope, use: cst.Name | None = None) -> list[Binding]:
        """The bindings of a module's name that may be in force at `use`, star imports among them.

        `bindings` are those that are written out; the ones of an inner scope stay alone. Without `use`, in functions
        and for other modules, the whole module has run.
        """
        if not star_imports(root):
            return bindings
        gives = partial(self._gives, name)
        work_out = partial(_with_star_imports, root, name, bindings, use, gives)
        return self.solver.nested((id(root), hash(("*", name))), work_out, bindings)

    def module_of(self, star: Binding, name: str) -> Scope | None:
        """The module of the project from which a star import takes a name."""
        scope = self.project.find(star.imported, star.scope.module, star.level)
        if scope is None and not star.level:
            scope = self.project.find_by_path(star.imported, name, star.scope.module)
        return scope

    def _gives(self, name: str, star: Binding) -> bool | None:
        """True if a star import gives a name, False if it does not, None if it may."""
        scope = self.module_of(star, name)
        if scope is None:
            return None
        exported = _exports(scope, name)
        if exported is False:
            return False
        has = self.solver.nested((id(scope), hash(("*", name))), partial(self._has, scope, name), False)
        return exported if has else False

    def _has(self, scope: Scope, name: str) -> bool:
        return name in bindings_of(scope) or any(self._gives(name, star) for star in star_imports(scope))


def _with_star_imports(
    root: Scope,
    name: str,
    bindings: list[Binding],
    use: cst.Name | None,
    gives: Callable[[Binding], bool | None],
) -> list[Binding]:
    tree, own = root.module.tree, bindings_of(root).get(name, [])
    if bindings and not any(bindings[0] is each for each in own):
        return bindings
    inside = use if use is not None and function_scope(tree.scope_of(use)) is root else None
    before = own if inside is None else [each for each in own if tree.order(each.node) < tree.order(inside)]
    sure = next((tree.order(each.node) for each in reversed(before) if _replaces(each, root)), -1)
    later = [
        each
        for each in star_imports(root)
        if tree.order(each.node) > sure and (inside is None or tree.order(each.node) < tree.order(inside))
    ]
    given = {id(star): known for star in later if (known := gives(star)) is not False}
    # Of what no file is found a definition of the same name is not replaced: that would be an accident.
    if all(each.kind in _DEFINED for each in own):
        given = {key: known for key, known in given.items() if known}
    stars = [each for each in later if id(each) in given]
    if not stars:
        return bindings
    is_sure = all(given.values())
    placed = sorted((*(own if is_sure else bindings), *stars), key=lambda each: tree.order(each.node))
    if inside is not None and is_sure:
        placed = reaching(inside, placed, tree)
    last = next((each for each in reversed(stars) if given[id(each)] and _stands_alone(each.node, root)), None)
    if last is None:
        return placed
    return [each for each in placed if tree.order(each.node) >= tree.order(last.node) or each.scope is not root]


def _exports(module: Scope, name: str) -> bool | None:
    """True if `from module import *` takes a name of the module, False if not, None if its `__all__` is unknown."""
    listed = bindings_of(module).get("__all__", [])
    tree = module.module.tree
    if not listed:
        return not name.startswith("_")
    named: set[str] = set()
    known = len(tree.named(tree.module, "__all__")) == len(listed)  # no `__all__.extend(...)`
    for each in listed:
        if isinstance(each.value, cst.List | cst.Tuple) and not each.path:
            texts = [element.value for element in each.value.elements]
            named.update(str(text.evaluated_value) for text in texts if isinstance(text, cst.SimpleString))
            known = known and all(isinstance(text, cst.SimpleString) for text in texts)
        else:
            known = False
    return True if name in named else False if known else None


def _replaces(binding: Binding, root: Scope) -> bool:
    """True for a binding that always runs, and whose value does not use the one before."""
    is_conditional = binding.kind is Kind.AUGMENTED or isinstance(binding.node, cst.For)
    return binding.scope is root and not is_conditional and _stands_alone(binding.node, root)


def _stands_alone(node: Node, root: Scope) -> bool:
    """True for a statement of the module itself, in no branch, loop or handler."""
    above = root.module.tree.parent(node)
    line = root.module.tree.parent(above) if isinstance(above, cst.SimpleStatementLine) else above
    return line is root.node
