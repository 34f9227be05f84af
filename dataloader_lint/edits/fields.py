"""What a function that moves to module level is given: a captured object, or the one or two fields that it reads."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import Edit
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.syntax.expressions import Function
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node

_WORD = re.compile(r"\w+")
_MOST = 2  # more fields of one object, and the function takes the object


@dataclass(frozen=True, slots=True)
class Bound:
    """A parameter that a function gets at module level: its name, what it is bound to, and where that is written."""

    name: str
    code: str
    reads: tuple[cst.Attribute, ...] = ()


def bound_parameters(editor: Editor, node: Function, captured: Sequence[str], whole: Sequence[str] = ()) -> list[Bound]:
    """The parameters for captured names: `args.seed` alone where a function reads no more, else the object.

    Those in `whole` are always passed as they are.
    """
    found = [
        each for one in captured for each in (() if one in whole else _fields(editor, node, one)) or [Bound(one, one)]
    ]
    if len({each.name for each in found}) < len(found):
        return [Bound(one, one) for one in captured]
    return found


def reads_replaced(editor: Editor, bound: Sequence[Bound], origin: int) -> list[Edit]:
    """Edits that put the parameters where fields are read, in a text that begins at the offset `origin`."""
    edits = []
    for each in bound:
        for read in each.reads:
            start, end = editor.outer(read)
            edits.append(Edit(start - origin, end - origin, each.name))
    return edits


def _fields(editor: Editor, node: Function, captured: str) -> list[Bound]:
    """The fields of a captured object, `args.seed`, if a function only reads one or two of them; else none."""
    tree = editor.tree
    found: dict[str, list[cst.Attribute]] = {}
    for use in names_in(tree, node, captured):
        above = tree.parent(use)
        if not isinstance(above, cst.Attribute):
            return []
        if above.value is not use:
            continue  # a field of this name
        above = _whole_read(editor, above)
        beside = tree.parent(above)
        is_read = not isinstance(
            beside, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.Del | cst.For | cst.CompFor
        )
        if not is_read or (isinstance(beside, cst.Call) and beside.func is above):
            return []
        if any(is_stored(editor, each) for each in tree.find(above, cst.Attribute)):
            return []
        found.setdefault(dotted(above), []).append(above)
    taken = {each.value for each in tree.find(node, cst.Name)}
    bound = [Bound(path.rpartition(".")[2], path, tuple(reads)) for path, reads in found.items()]
    if len(bound) > _MOST or any(each.name in taken or hasattr(builtins, each.name) for each in bound):
        return []
    return bound


def _whole_read(editor: Editor, read: cst.Attribute) -> cst.Attribute:
    """The last field of a chain: `cfg.data.length`; of a method that is called, the object that has it."""
    above = editor.tree.parent(read)
    while isinstance(above, cst.Attribute):
        beyond = editor.tree.parent(above)
        if isinstance(beyond, cst.Call) and beyond.func is above:
            break
        read, above = above, beyond
    return read


def is_stored(editor: Editor, node: cst.BaseExpression) -> bool:
    """True if the file stores something under the name of the attribute, or of the module's name, that this is."""
    if isinstance(node, cst.Attribute):
        return node.attr.value in editor.once("stored attributes", lambda: _stored_attributes(editor))
    return isinstance(node, cst.Name) and is_in_string(editor, node.value)


def _stored_attributes(editor: Editor) -> set[str]:
    tree = editor.tree
    targets: list[Node] = [*tree.find(tree.module, cst.AssignTarget)]
    targets += [each.target for each in tree.find(tree.module, cst.AugAssign)]
    targets += [each.target for each in tree.find(tree.module, cst.AnnAssign)]
    return {store.attr.value for each in targets for store in tree.find(each, cst.Attribute)}


def is_in_string(editor: Editor, name: str) -> bool:
    """True if a string holds the last part of a name, so that it may be patched: `mock.patch("train.pad")`."""
    last = name.rpartition(".")[2]
    tree = editor.tree
    holding = (each for each in tree.find(tree.module, cst.SimpleString) if last in each.value)
    used = (each for each in holding if not isinstance(tree.parent(each), cst.Expr))  # no docstring
    return any(last in _WORD.findall(each.value) for each in used)
