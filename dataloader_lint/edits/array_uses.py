"""How an attribute is used that becomes an array, or an array of another type; refused where that could be noticed."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import RefusedError
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Tree

_TAKE_ANY_ITERABLE = ("enumerate", "iter", "len", "zip")
# What distinguishes a numpy scalar from the Python number of the same value.
_ASK_FOR_THE_TYPE = ("dump", "dumps", "isinstance", "type")


def refuse_uses_elsewhere(project: Project, module: ModuleFacts, name: str) -> None:
    """Refuses where another file of the project that imports the module uses an attribute of that name."""
    use = re.compile(rf"\.{name}\b")
    if any(use.search(each.tree.code) for each in project.importers(module, [name])):
        raise RefusedError("another file may use the attribute")


def check_elements(editor: Editor, name: str, kind: str) -> None:
    """Refuses where the file uses an element of any attribute of that name in a way that tells numpy's scalars."""
    tree = editor.tree
    elements = tree.once(("elements of attributes", id(tree.module)), lambda: _elements_of_attributes(tree))

    def reason() -> str:
        try:
            for element in elements.get(name, ()):
                _check_element(tree, element, kind)
        except RefusedError as refused:
            return str(refused)
        return ""

    found = tree.once((f"why no array of {kind} as {name}", id(tree.module)), reason)
    if found:
        raise RefusedError(found)


def _elements_of_attributes(tree: Tree) -> dict[str, list[cst.Subscript]]:
    """The subscripts of attributes in a file, `self.rows[i]`, by the attribute's name."""
    found: dict[str, list[cst.Subscript]] = {}
    for element in tree.find(tree.module, cst.Subscript):
        if isinstance(element.value, cst.Attribute):
            found.setdefault(element.value.attr.value, []).append(element)
    return found


def check_use(tree: Tree, use: cst.BaseExpression, kind: str) -> None:
    """Refuses what a list allows and an array does not, or in another way. `kind` is that of the elements."""
    if _is_iterated(tree, use):
        return
    subscript = tree.parent(use)
    if not isinstance(subscript, cst.Subscript) or subscript.value is not use or len(subscript.slice) != 1:
        raise RefusedError("used in a way that an array may not allow")
    inside = subscript.slice[0].slice
    if isinstance(inside, cst.Slice):
        if not _is_iterated(tree, subscript):
            raise RefusedError("a slice is a view of the array")
    elif not isinstance(inside, cst.Index) or _may_be_bool(inside.value):
        raise RefusedError("indexed with something else than a number")
    else:
        _check_element(tree, subscript, kind)


def _is_iterated(tree: Tree, use: Node) -> bool:
    """True if it is only iterated over, or passed to `len`."""
    above = tree.parent(use)
    if isinstance(above, cst.For | cst.CompFor):
        return above.iter is use
    if isinstance(above, cst.From):
        return True
    if not isinstance(above, cst.Arg) or above.star or above.keyword is not None:
        return False
    call = tree.parent(above)
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _TAKE_ANY_ITERABLE
        and not resolve(call.func, tree)
    )


def _may_be_bool(index: cst.BaseExpression) -> bool:
    """`x[a > b]` is an element of a list and a new axis of an array."""
    return isinstance(index, cst.Comparison | cst.BooleanOperation | cst.Tuple | cst.List) or (
        isinstance(index, cst.UnaryOperation) and isinstance(index.operator, cst.Not)
    )


def _check_element(tree: Tree, element: cst.Subscript, kind: str) -> None:
    above = tree.parent(element)
    if isinstance(above, cst.AssignTarget | cst.Del | cst.StarredElement) or (
        isinstance(above, cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor | cst.NamedExpr)
        and above.target is element
    ):
        raise RefusedError("an element is replaced")
    if isinstance(above, cst.Element) and any(isinstance(each, cst.AssignTarget) for each in tree.ancestors(element)):
        raise RefusedError("an element is replaced")
    if kind in ("int", "float"):
        if isinstance(above, cst.Attribute):
            raise RefusedError("numpy's numbers have other methods")
        call = tree.parent(above) if isinstance(above, cst.Arg) else None
        if isinstance(call, cst.Call):
            name = last_name(call.func)
            is_typed = any(arg.keyword is not None and arg.keyword.value == "dtype" for arg in call.args)
            if name in _ASK_FOR_THE_TYPE or (kind == "float" and name in ("tensor", "as_tensor") and not is_typed):
                raise RefusedError("numpy's numbers are of another type")
