"""How an attribute is used that becomes an array, or an array of another type; refused where that could be noticed."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import RefusedError
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Tree, function_scope

_TAKE_ANY_ITERABLE = ("enumerate", "iter", "len", "zip")
_NUMBERS = ("float", "int")
# Calls that make the same of a numpy scalar and of the Python number of the same value.
_TAKE_ANY_NUMBER = frozenset({"bool", "float", "format", "int", "len", "print", "range", "str"})
_TYPED_TENSORS = frozenset({"BoolTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor"})
# Of whole numbers these make int64, whichever they are given. Of a Python float they make float32.
_TENSORS = frozenset({"as_tensor", "tensor"})
# Whoever writes these has code that looks at samples: it may ask for their type, or make float32 of Python's floats.
_COLLATES = re.compile(r"collat|transformers|torch_geometric")
_LOCAL_NAMES = 3  # how many names a number is followed through, one bound to the other


def refuse_uses_elsewhere(project: Project, module: ModuleFacts, name: str) -> None:
    """Refuses where another file of the project that imports the module uses an attribute of that name."""
    use = re.compile(rf"\.{name}\b")
    if any(use.search(each.tree.code) for each in project.importers(module, [name])):
        raise RefusedError("another file may use the attribute")


def refuse_own_collation(project: Project, module: ModuleFacts) -> None:
    """Refuses where the module, or one that imports it, may make batches in a way that tells numpy's scalars."""
    importers = project.importers(module, ["collate", "collate_fn", "torch_geometric", "transformers"])
    if any(_COLLATES.search(each.tree.code) for each in (module, *importers)):
        raise RefusedError("tensors would get another dtype")


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
        _check_iterated(tree, use, kind)
        return
    subscript = tree.parent(use)
    if not isinstance(subscript, cst.Subscript) or subscript.value is not use or len(subscript.slice) != 1:
        raise RefusedError("an array may not allow a use")
    inside = subscript.slice[0].slice
    if isinstance(inside, cst.Slice):
        if not _is_iterated(tree, subscript):
            raise RefusedError("a slice is a view of the array")
        _check_iterated(tree, subscript, kind)
    elif not isinstance(inside, cst.Index) or _may_be_bool(inside.value):
        raise RefusedError("indexed with more than numbers")
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
    if kind in _NUMBERS:
        _check_number(tree, element, kind, 0)


def _check_iterated(tree: Tree, use: Node, kind: str) -> None:
    """Checks what becomes of the numbers of an attribute that is iterated over."""
    above = tree.parent(use)
    if kind not in _NUMBERS or (isinstance(above, cst.Arg) and _called(tree, above) == "len"):
        return
    target: Node | None = above.target if isinstance(above, cst.For | cst.CompFor) else None
    if isinstance(above, cst.Arg) and _called(tree, above) == "enumerate":
        loop = tree.parent(call) if (call := tree.parent(above)) is not None else None
        pair = loop.target if isinstance(loop, cst.For | cst.CompFor) else None
        is_pair = isinstance(pair, cst.Tuple) and len(pair.elements) == len(("index", "element"))
        target = pair.elements[1].value if isinstance(pair, cst.Tuple) and is_pair else None
    if not isinstance(target, cst.Name):
        raise RefusedError("NumPy's numbers have another type")
    _check_name(tree, target, kind, 0)


def _called(tree: Tree, arg: cst.Arg) -> str:
    """The last name of what an argument is passed to."""
    call = tree.parent(arg)
    return last_name(call.func) if isinstance(call, cst.Call) else ""


def _check_name(tree: Tree, bound: cst.Name, kind: str, depth: int) -> None:
    """Checks each use of a local name that a number is bound to."""
    scope = function_scope(tree.scope_of(bound))
    for name in names_in(tree, scope.node, bound.value):
        is_target = isinstance(tree.parent(name), cst.AssignTarget) or name is bound
        if depth > _LOCAL_NAMES or (not is_target and not resolve(name, tree)):
            raise RefusedError("NumPy's numbers have another type")
        if not is_target:
            _check_number(tree, name, kind, depth + 1)


def _check_number(tree: Tree, number: Node, kind: str, depth: int) -> None:
    """Refuses what numpy's scalars do in another way than Python's numbers: dtypes, overflow, types.

    A `kind` of "ratio" is a float that came of whole numbers.
    """
    above = tree.parent(number)
    if isinstance(above, cst.Arg):
        _check_passed(tree, above, kind, depth)
    elif isinstance(above, cst.Element | cst.DictElement | cst.Return | cst.AssignTarget | cst.Assign):
        _check_stored(tree, number, above, kind, depth)
    elif isinstance(above, cst.BinaryOperation):
        other = above.right if above.left is number else above.left
        is_text = isinstance(above.operator, cst.Modulo) and isinstance(above.left, cst.SimpleString)
        is_ratio = isinstance(above.operator, cst.Divide)
        if is_text:
            return
        if not isinstance(other, cst.Integer | cst.Float) or isinstance(above.operator, cst.Power):
            raise RefusedError("NumPy's numbers may overflow")
        becomes_float = kind == "int" and (is_ratio or isinstance(other, cst.Float))
        _check_number(tree, above, "ratio" if becomes_float else kind, depth)
    elif not (
        (isinstance(above, cst.Index) and kind == "int")
        or isinstance(above, cst.Comparison | cst.ComparisonTarget | cst.FormattedStringExpression)
        or (isinstance(above, cst.If | cst.IfExp | cst.While | cst.Assert) and above.test is number)
    ):
        raise RefusedError("NumPy's numbers have another type")


def _check_passed(tree: Tree, arg: cst.Arg, kind: str, depth: int) -> None:
    call = tree.parent(arg)
    if not isinstance(call, cst.Call):
        raise RefusedError("NumPy's numbers have another type")
    name = last_name(call.func)
    root = dotted(call.func).partition(".")[0]
    is_typed = any(each.keyword is not None and each.keyword.value == "dtype" for each in call.args)
    is_safe = (
        (name in _TAKE_ANY_NUMBER and isinstance(call.func, cst.Name) and not resolve(call.func, tree))
        or name in _TYPED_TENSORS
        or (is_typed and root in ("np", "numpy", "torch"))
        or (name in _TENSORS and root == "torch" and kind == "int")
    )
    if not is_safe:
        raise RefusedError("NumPy's numbers have another type")


def _check_stored(tree: Tree, number: Node, above: Node, kind: str, depth: int) -> None:
    """A number in a container, under a name, or given as the sample."""
    if isinstance(above, cst.Return) and kind != "ratio":
        return  # the sample, which `refuse_own_collation` asks about
    if isinstance(above, cst.Assign) and len(above.targets) == 1:
        target = above.targets[0].target
        if isinstance(target, cst.Name):
            _check_name(tree, target, kind, depth)
            return
        if isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name) and kind != "ratio":
            _check_container_name(tree, target.value)
            return
    container = tree.parent(above)
    if isinstance(above, cst.Element | cst.DictElement) and above.value is number and container is not None:
        holder = tree.parent(container)
        if isinstance(holder, cst.Arg) and isinstance(above, cst.Element):
            _check_passed(tree, holder, kind, depth)
            return
        if isinstance(holder, cst.Return) and kind != "ratio":
            return
        if isinstance(holder, cst.Assign) and kind != "ratio" and isinstance(holder.targets[0].target, cst.Name):
            _check_container_name(tree, holder.targets[0].target)
            return
    raise RefusedError("NumPy's numbers have another type")


def _check_container_name(tree: Tree, bound: cst.Name) -> None:
    """A sample that is put together under a local name: only filled and returned."""
    scope = function_scope(tree.scope_of(bound))
    for name in names_in(tree, scope.node, bound.value):
        above = tree.parent(name)
        is_filled = isinstance(above, cst.Subscript) and isinstance(tree.parent(above), cst.AssignTarget)
        if not (is_filled or isinstance(above, cst.AssignTarget | cst.Return)):
            raise RefusedError("NumPy's numbers have another type")
