"""What a lambda or local function takes from around it, and whether that can be bound beforehand instead."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import RefusedError
from dataloader_lint.semantics.syntax.expressions import Function, parameters
from dataloader_lint.semantics.syntax.flow import reaching_or_not
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, type_parameter_owner
from dataloader_lint.semantics.syntax.tree import LOOPS, Node, Scope

# What these give depends on the place from which they are called.
_PLACE_BOUND = frozenset({"super", "__class__", "locals", "vars", "dir", "eval", "exec"})
# Names that mean others inside of a class, keywords of calls among them. In a string or comment it is none.
_MANGLED = re.compile(r"\b__(?!\w*__\b)\w")
_BINDABLE = (Kind.VALUE, Kind.PARAMETER, Kind.ENTERED)


def captured_names(editor: Editor, function: Function, at: Node) -> tuple[str, ...]:
    """The names that a function must be given when it moves to module level, in the order of their first use.

    `at` is where they would be bound. Refused where binding them there could give other values than the function sees
    now: names that are bound more than once, in a loop or after `at`, `self`, local functions and modules.
    """
    _refuse_place_bound(editor, function)
    inner = editor.tree.inner_scope[id(function)]
    own = function.name.value if isinstance(function, cst.FunctionDef) else ""
    found: dict[str, None] = {}
    for name in editor.tree.find(function.body, cst.Name):
        if name.value in found:
            continue
        home = _home(editor, name, inner)
        if home is None or (home.parent is None and not _is_local_to_script(editor, home, name.value)):
            continue  # bound inside of the function, at module level, or a builtin
        if name.value == own and home is editor.tree.scope_of(function):
            continue  # it calls itself
        _check(editor, name.value, home, at)
        found[name.value] = None
    return tuple(found)


def resolves_at_module_level(editor: Editor, expression: Node) -> bool:
    """True if every name in an expression means the same at module level as in its own place."""
    return all(
        scope_of_name(editor, name) in (None, editor.tree.root) for name in editor.tree.find(expression, cst.Name)
    )


def _home(editor: Editor, name: cst.Name, inner: Scope) -> Scope | None:
    """The scope around the function whose name it is; None for its own names and for builtins."""
    home = scope_of_name(editor, name)
    return None if home is None or home in list(inner.descend()) else home


def scope_of_name(editor: Editor, name: cst.Name) -> Scope | None:
    """The scope that binds a name which is read; None for builtins and unknown names."""
    owner = type_parameter_owner(name, editor.tree)
    if owner is not None:
        return editor.tree.inner_scope.get(id(owner), editor.tree.scope_of(owner))
    own = editor.tree.scope_of(name)
    scope: Scope | None = own
    while scope is not None:
        # A class body is seen by its own statements only, not by its methods and comprehensions.
        if (scope is own or not scope.is_class) and _binds(scope, name.value):
            return scope
        scope = scope.parent
    return None


def _binds(scope: Scope, name: str) -> bool:
    """True if the name is local to the scope; a declared `global` is the module's."""
    return name in bindings_of(scope)


def _is_local_to_script(editor: Editor, root: Scope, name: str) -> bool:
    """True if a name of the module is bound only under `if __name__ == "__main__":`: spawned workers lack it."""
    return all(is_guarded(binding.node, editor.tree) for binding in bindings_of(root)[name])


def _check(editor: Editor, name: str, home: Scope, at: Node) -> None:
    tree = editor.tree
    bindings = bindings_of(home).get(name, [])
    if not bindings:
        raise RefusedError(f"`{name}` is a type parameter")
    if len(bindings) > 1 or name in _nonlocal_names(editor, home):
        raise RefusedError(f"`{name}` is bound more than once")
    binding = bindings[0]
    is_lambda = binding.kind is Kind.VALUE and isinstance(binding.value, cst.Lambda)
    if binding.kind not in _BINDABLE or is_lambda:
        raise RefusedError(f"`{name}` is no plain value")
    if binding.kind is Kind.PARAMETER:
        if _is_receiver(editor, binding):
            raise RefusedError(f"it uses `{name}`")
        return
    around = [at, *tree.ancestors(at)]
    here = next((each for each in around if each in tree and tree.scope_of(each) is home), at)
    inside = any(each is binding.node for each in around) and not isinstance(binding.node, cst.With)
    if inside or tree.order(binding.node) > tree.order(at) or not reaching_or_not(here, bindings, tree)[1]:
        raise RefusedError(f"`{name}` may not be bound yet")
    if _in_loop(editor, binding.node, home):
        raise RefusedError(f"`{name}` is bound in a loop")


def _is_receiver(editor: Editor, binding: Binding) -> bool:
    scope = binding.scope
    node = scope.node
    if binding.name in ("self", "cls"):
        return True
    if not isinstance(node, cst.FunctionDef) or scope.parent is None or not scope.parent.is_class:
        return False
    is_static = any(
        isinstance(each.decorator, cst.Name) and each.decorator.value == "staticmethod" for each in node.decorators
    )
    return not is_static and parameters(node)[:1] == [binding.node]


def _nonlocal_names(editor: Editor, home: Scope) -> frozenset[str]:
    """The names that a scope, or one in it, declares to be of a scope further out."""

    def collected() -> frozenset[str]:
        statements = (statement for scope in home.descend() for statement in scope.own(cst.Nonlocal))
        return frozenset(item.name.value for statement in statements for item in statement.names)

    return editor.once(("nonlocal", id(home)), collected)


def _in_loop(editor: Editor, node: Node, home: Scope) -> bool:
    for above in (node, *editor.tree.ancestors(node)):
        if above is home.node:
            return False
        if isinstance(above, LOOPS):
            return True
    return False


def _refuse_place_bound(editor: Editor, function: Function) -> None:
    tree = editor.tree
    for node in tree.walk(function):
        if isinstance(node, cst.Nonlocal):
            raise RefusedError("it binds a name outside")
        if isinstance(function, cst.Lambda) and isinstance(node, cst.Await | cst.Yield | cst.NamedExpr):
            raise RefusedError("it belongs to the function around")
        if isinstance(function, cst.Lambda) and isinstance(node, cst.CompFor) and node.asynchronous is not None:
            raise RefusedError("it belongs to the function around")
        if isinstance(node, cst.Name) and node.value in _PLACE_BOUND:
            raise RefusedError(f"`{node.value}` depends on its place")
    in_class = any(isinstance(above, cst.ClassDef) for above in tree.ancestors(function))
    if in_class and _MANGLED.search(editor.code(function)):
        raise RefusedError("a private name of its class")
