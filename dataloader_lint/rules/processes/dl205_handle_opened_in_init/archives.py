"""Calls that open an archive for some paths only: by the ending of the path, or by how the result is used."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.evaluation.evaluate import Evaluation
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Tree
from dataloader_lint.semantics.values.values import CallResult, Evaluator, constant


def is_archive(ev: Evaluator, value: CallResult) -> bool:
    """True if a call opens an archive, judged by the ending of the path, or of `np.load` by how the result is used."""
    if value.call is None or value.frame is None or not value.call.args:
        return False
    ending = row(value.library).archive
    given = value.call.args[0].value
    found = ev.values(given, value.frame)
    known = constant(found)
    if known is not None:
        return isinstance(known.value, str) and known.value.endswith(ending)
    if any(isinstance(each, CallResult) and row(each.library).opens for each in found):
        return False  # that is the handle
    tree = value.frame.scope.module.tree
    return _ends_as_archive(given, ending, tree) or (ending == ".npz" and _is_queried_for_members(value.call, tree))


def may_be_archive(ev: Evaluation, call: cst.Call, ending: str, module: ModuleFacts) -> bool:
    """True if a call may open an archive: the path ends so, or is a name in a module that mentions the ending."""
    if not call.args:
        return False
    path = call.args[0].value
    if isinstance(path, cst.Name | cst.Attribute) and ev.project.mentions_word(module, ending):
        return True
    return _ends_as_archive(path, ending, module.tree) or (
        ending == ".npz" and _is_queried_for_members(call, module.tree)
    )


def _ends_as_archive(path: cst.BaseExpression, ending: str, tree: Tree) -> bool:
    texts = [
        text.evaluated_value if isinstance(text, cst.SimpleString) else text.value
        for text in tree.walk(path)
        if isinstance(text, cst.SimpleString | cst.FormattedStringText)
    ]
    return bool(texts) and isinstance(texts[-1], str) and texts[-1].endswith(ending)


def _is_queried_for_members(call: cst.Call, tree: Tree) -> bool:
    """True if the result of a call is used like an archive: `"x" in self.data`, `data.files`."""
    assign = tree.parent(call)
    kept = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    name = dotted(kept) if kept is not None else ""
    home = tree.scope_of(call).function
    if not name or home is None:
        return False
    return any(
        isinstance(asked.left, cst.SimpleString)
        and isinstance(asked.comparisons[0].operator, cst.In | cst.NotIn)
        and dotted(asked.comparisons[0].comparator) == name
        for asked in tree.find(home.node, cst.Comparison)
    ) or any(
        each.attr.value in ("files", "keys") and dotted(each.value) == name
        for each in tree.find(home.node, cst.Attribute)
    )
