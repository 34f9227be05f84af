"""An argument of a loader repaired or removed where it is written: in the call, or in the keyword dict behind `**`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.edits.arguments import remove_argument, remove_element
from dataloader_lint.edits.editor import Editor, replace
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.statements import remove_statement
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loaders_in
from dataloader_lint.semantics.syntax.names import Binding, Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.values import Library

# Who calls these may read any local name.
_READING_ALL = frozenset({"eval", "exec", "locals", "vars"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where an argument is written: `node` (an argument, a dict element, or a store) in `around`, with its value."""

    node: cst.Arg | cst.DictElement | cst.Assign
    around: cst.Call | cst.Dict | cst.Assign
    value: cst.BaseExpression


def remove_option(editor: Editor, loader: Loader, name: str, is_like: Callable[[Loader], bool]) -> Edit:
    """Remove an argument of a loader. A keyword dict that several loaders are made from counts where `is_like` them.

    Hand the same `is_like` on for all loaders, so that what it says of each is asked for once. Refused where a
    parameter or an option brings the value: it would be ignored without a word.
    """
    place = _only_place(editor, loader, name, is_like)
    _refuse_effects(place.value, loader)
    if is_passed_in(editor, place.value):
        raise RefusedError("callers may pass another value")
    around = place.around
    if isinstance(place.node, cst.DictElement):
        return remove_element(editor, cst.ensure_type(around, cst.Dict), place.node)
    if isinstance(place.node, cst.Assign):
        return remove_statement(editor, place.node)
    assert isinstance(around, cst.Call)
    if len(around.args) == 1 and around is not loader.call and isinstance(around.func, cst.Attribute):
        return remove_statement(editor, around)  # keywords.update(name=value)
    return remove_argument(editor, around, place.node)


def follow_workers(
    editor: Editor,
    loader: Loader,
    name: str,
    is_like: Callable[[Loader], bool],
    rewrite: Callable[[str, str], str],
) -> Edit | None:
    """Make an argument depend on the number of workers, where that has a name; None where it is 0 for good.

    `rewrite` gives the argument's new code, from its present one and that of the number of workers.
    """
    place = _only_place(editor, loader, name, is_like)
    _refuse_effects(place.value, loader)
    workers = _workers(editor, loader, place, is_like)
    return replace(editor, place.value, rewrite(_operand(editor, place.value), workers)) if workers else None


def is_passed_in(editor: Editor, value: cst.BaseExpression) -> bool:
    """True if a value depends on a parameter, or on an attribute of an object such as `self` or `args`."""
    tree = editor.tree
    names = [(name, resolve(name, tree)) for name in tree.find(value, cst.Name)]
    if any(binding.kind is Kind.PARAMETER for _, bindings in names for binding in bindings):
        return True
    return any(
        isinstance(tree.parent(name), cst.Attribute) and any(binding.kind is not Kind.IMPORT for binding in bindings)
        for name, bindings in names
    )


def _refuse_effects(value: cst.BaseExpression, loader: Loader) -> None:
    """Refuse to drop, or to make depend on something, what does more than to give a value."""
    tree = loader.frame.scope.module.tree
    for node in tree.walk(value):
        if isinstance(node, cst.NamedExpr | cst.Await | cst.Yield):
            raise RefusedError("the argument does more than that")
        if isinstance(node, cst.Call):
            callees = loader.ev.values(node.func, loader.frame)
            if not callees or not all(isinstance(each, Library) and _only_gives_value(each.name) for each in callees):
                raise RefusedError("the argument may do more than that")


_EFFECTS = frozenset({"delattr", "eval", "exec", "input", "next", "open", "print", "setattr", "__import__"})
_READING = ("math.", "multiprocessing.", "os.", "platform.", "sys.", "torch.")


def _only_gives_value(library: str) -> bool:
    """True for functions of Python and torch that arguments of loaders are worked out with."""
    module, _, name = library.rpartition(".")
    return name not in _EFFECTS if module == "builtins" else library.startswith(_READING)


def _workers(editor: Editor, loader: Loader, place: Place, is_like: Callable[[Loader], bool]) -> str:
    """How to write the number of workers where an argument is written; empty where no name holds it."""
    known = loader.known("num_workers")
    if loader.is_passed("num_workers") is False:
        if known is not None and known.default:
            raise RefusedError("`num_workers` is a default elsewhere")
        return ""
    workers = _only_place(editor, loader, "num_workers", is_like)
    if isinstance(workers.value, cst.Integer):
        return ""
    if workers.around is place.around and _is_name(workers.value):
        return editor.code(workers.value)
    star = next((arg.value for arg in loader.call.args if arg.star == "**"), None)
    is_stored = isinstance(workers.node, cst.DictElement | cst.Assign) or workers.around is not loader.call
    comes_first = editor.tree.order(workers.node) < editor.tree.order(place.node)
    if isinstance(star, cst.Name) and is_stored and comes_first and place.around is not workers.around:
        return f'{star.value}["num_workers"]'
    if known is not None and not known.default:
        return ""
    raise RefusedError("`num_workers` has no name there")


def _is_name(node: cst.BaseExpression) -> bool:
    """A name, an attribute, or a key of one."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        return bool(dotted(node.value)) and isinstance(node.slice[0].slice.value, cst.SimpleString | cst.Integer)
    return bool(dotted(node))


def _operand(editor: Editor, node: cst.BaseExpression) -> str:
    """An expression's code, in parentheses where an operator beside it could bind closer."""
    code = editor.code(node)
    simple = cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.SimpleString
    return code if isinstance(node, simple) or editor.is_in_parentheses(node) else f"({code})"


def _only_place(editor: Editor, loader: Loader, name: str, is_like: Callable[[Loader], bool]) -> Place:
    """The one place where an argument is written. Refused where there is none in the file, or several."""
    if loader.call not in editor.tree:
        raise RefusedError("the loader is made in another file")
    makers = loader.ev.values(loader.call.func, loader.frame)
    if len(makers) > 1 and not all(isinstance(each, Library) for each in makers):
        raise RefusedError("a class of the project may take the argument")
    arg = loader.argument(name)
    if arg is not None:
        if arg.keyword is None:
            raise RefusedError("an argument that is passed by position")
        return Place(arg, loader.call, arg.value)
    if loader.kind.spellings:
        raise RefusedError("the trainer's call does not name it")
    places = [
        place
        for each in loader.call.args
        if each.star == "**"
        for place in _in_dict(editor, loader, each.value, name, is_like)
    ]
    if len(places) != 1:
        raise RefusedError(f"`{name}` is not written in one place")
    return places[0]


def _in_dict(
    editor: Editor, loader: Loader, node: cst.BaseExpression, name: str, is_like: Callable[[Loader], bool]
) -> Iterator[Place]:
    if not isinstance(node, cst.Name):
        yield from _in_display(node, name)
        return
    bindings = resolve(node, editor.tree)
    if len(bindings) != 1 or bindings[0].kind is not Kind.VALUE or bindings[0].path or bindings[0].value is None:
        raise RefusedError("the keyword dict is bound in several ways")
    binding = bindings[0]
    assert binding.value is not None
    if binding.scope.is_class or binding.scope.parent is None:
        raise RefusedError("the keyword dict may be used elsewhere")
    if any(name in _READING_ALL for name in map(_called, editor.tree.find(binding.scope.node, cst.Call))):
        raise RefusedError("the keyword dict is read elsewhere")
    if not isinstance(binding.value, cst.Dict) and not _is_dict_call(binding.value):
        raise RefusedError("the keyword dict is made elsewhere")
    yield from _in_display(binding.value, name)
    # Each loader that is made from the dict asks this, and each time about all of them.
    key = ("uses of a dict", id(binding), id(loader.ev), name, is_like)
    places, refused = editor.once(key, lambda: _in_uses(editor, loader, binding, name, is_like))
    for use, why in refused:
        if use is not node:
            raise RefusedError(why)
    for use, place in places:
        if use is not node:
            yield place


def _called(call: cst.Call) -> str:
    return call.func.value if isinstance(call.func, cst.Name) else ""


def _in_uses(
    editor: Editor, loader: Loader, binding: Binding, name: str, is_like: Callable[[Loader], bool]
) -> tuple[list[tuple[cst.Name, Place]], list[tuple[cst.Name, str]]]:
    """What the uses of a keyword dict do to a key, and those that stand in the way of a repair."""
    places: list[tuple[cst.Name, Place]] = []
    refused: list[tuple[cst.Name, str]] = []
    for use in names_in(editor.tree, binding.scope.node, binding.name):
        if resolve(use, editor.tree) != [binding]:
            continue
        if isinstance(editor.tree.parent(use), cst.AssignTarget | cst.AnnAssign):
            continue
        try:
            places.extend((use, place) for place in _in_use(editor, loader, use, name, is_like))
        except RefusedError as error:
            refused.append((use, str(error)))
            if len(refused) > 1:  # at most one of them is the loader's own
                break
    return places, refused


def _in_use(
    editor: Editor, loader: Loader, use: cst.Name, name: str, is_like: Callable[[Loader], bool]
) -> Iterator[Place]:
    """What a use of a keyword dict does to a key. Refused where other code could see the key."""
    tree = editor.tree
    above = tree.parent(use)
    outer = tree.parent(above) if above is not None else None
    if isinstance(above, cst.Arg) and above.star == "**" and isinstance(outer, cst.Call):
        others = [each for each in loaders_in(loader.ev, loader.frame.scope.module) if each.call is outer]
        if others and all(is_like(each) for each in others):
            return
    elif isinstance(above, cst.Subscript) and isinstance(outer, cst.AssignTarget):
        assign = tree.parent(outer)
        key = above.slice[0].slice
        if isinstance(assign, cst.Assign) and isinstance(key, cst.Index) and isinstance(key.value, cst.SimpleString):
            if key.value.evaluated_value == name:
                yield Place(assign, assign, assign.value)
            return
    elif isinstance(above, cst.Attribute) and above.attr.value == "update" and isinstance(outer, cst.Call):
        statement = tree.parent(outer)
        if isinstance(statement, cst.Expr):
            for arg in outer.args:
                if arg.keyword is None and arg.star != "**":
                    yield from _in_display(arg.value, name)
            yield from _in_keywords(outer, name)
            return
    raise RefusedError("the keyword dict is used elsewhere")


def _in_display(node: cst.BaseExpression, name: str) -> Iterator[Place]:
    """A key in `{...}` or `dict(...)`."""
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if not isinstance(element, cst.DictElement) or not isinstance(element.key, cst.SimpleString):
                raise RefusedError("a keyword dict with unknown keys")
            if element.key.evaluated_value == name:
                yield Place(element, node, element.value)
    elif isinstance(node, cst.Call) and _is_dict_call(node):
        yield from _in_keywords(node, name)
    else:
        raise RefusedError("the keyword dict is made elsewhere")


def _is_dict_call(node: Node) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "dict"
        and all(arg.keyword is not None for arg in node.args)
    )


def _in_keywords(call: cst.Call, name: str) -> Iterator[Place]:
    for arg in call.args:
        if arg.star == "**":
            raise RefusedError("a keyword dict inside of another one")
        if arg.keyword is not None and arg.keyword.value == name:
            yield Place(arg, call, arg.value)
