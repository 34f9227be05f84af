"""Which moves belong to one round of one loop, so that they are one thing to report."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.syntax.tree import Node, Tree, function_scope
from dataloader_lint.facts.transfers.batches import Transfer


def round_of(transfer: Transfer) -> Node:
    """The loop whose rounds a move belongs to; the function or module around it where no loop is in sight.

    A loop over a part of what the loop around it gives, such as `for key in batch`, is no round of its own.
    """
    tree = transfer.frame.scope.module.tree
    loops: list[cst.For | cst.While] = []
    for above in tree.ancestors(transfer.call):
        if isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(above, (cst.For, cst.While)):
            loops.append(above)
    if not loops:
        return function_scope(tree.scope_of(transfer.call)).node
    found = loops[0]
    for outer in loops[1:]:
        if not (isinstance(found, cst.For) and isinstance(outer, cst.For)):
            break
        if not _names(found.iter, tree) & _names(outer.target, tree):
            break
        found = outer
    return found


def kind_of(transfer: Transfer) -> tuple[str, bool, bool, bool, bool]:
    """Equal for moves to the same device that need the same change; it depends on the file alone."""
    device = transfer.named_device
    return (
        transfer.frame.scope.module.tree.words(device) if device is not None else "",
        transfer.may_change_type,
        transfer.takes_non_blocking,
        transfer.source_is_written_after,
        transfer.source_is_passed_on_after,
    )


def _names(node: Node, tree: Tree) -> set[str]:
    return {each.value for each in tree.walk(node) if isinstance(each, cst.Name)}
