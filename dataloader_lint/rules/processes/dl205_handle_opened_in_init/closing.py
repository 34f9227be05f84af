"""Handles that are closed or dropped before workers start."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.workers.constructor_steps import Step
from dataloader_lint.pipeline.workers.object_graph import FieldOwner
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree
from dataloader_lint.semantics.values.values import Class

_CLOSING = frozenset({"close", "release", "shutdown", "terminate"})


def is_closed_locally(node: Node, module: ModuleFacts, owner: Class | Loader | None = None) -> bool:
    """True if a handle is closed where it is opened: by a `with` block, or in the same function.

    A loader that is made inside of the block finds it open.
    """
    tree = module.tree
    parent = tree.parent(node)
    if isinstance(parent, cst.WithItem) and parent.asname is None:
        return True
    block = closing_block(node, module)
    if block is not None:
        return owner is not None and not (
            isinstance(owner, Loader) and owner.node in tree and tree.is_inside(owner.node, block)
        )
    return isinstance(parent, cst.Assign) and any(
        isinstance(each.target, cst.Name) and _is_closed(tree.scope_of(node), each.target.value, "")
        for each in parent.targets
    )


def closing_block(node: Node, module: ModuleFacts) -> cst.With | None:
    """The `with` block that closes a handle: it enters the handle itself, or the stack that this is entered into."""
    tree = module.tree
    parent = tree.parent(node)
    if isinstance(parent, cst.WithItem):
        block = tree.parent(parent)
        return block if isinstance(block, cst.With) else None
    call = tree.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or last_name(call.func) != "enter_context":
        return None
    stack = call.func.value if isinstance(call.func, cst.Attribute) else None
    bindings = resolve(stack, tree) if isinstance(stack, cst.Name) else []
    return next((each.node for each in bindings if isinstance(each.node, cst.With)), None)


def makes_objects(block: cst.With, tree: Tree) -> bool:
    """A cheap look: whether something that is called like a class is given what a block enters."""

    def work_out() -> bool:
        named = (item.asname.name for item in block.items if item.asname is not None)
        entered = {name for each in named for name in tree.words(each).split()}
        return any(
            last_name(call.func)[:1].isupper()
            and entered & {word for arg in call.args for word in tree.words(arg.value).split()}
            for call in tree.find(block.body, cst.Call)
        )

    return tree.once(("makes objects", id(block)), work_out)


def is_released(holding: FieldOwner) -> bool:
    if any(_is_closed(step.scope, step.own, holding.attribute) for step in holding.steps):
        return True
    step: Step = holding.step
    after: Node = holding.node
    while not _is_overwritten(step.scope, step.own, holding.attribute, after):
        before, site = step.before, step.site
        if before is None or site is None:
            return False
        step, after = before, site
    return True


def _is_closed(scope: Scope, owner: str, attribute: str) -> bool:
    """True if a function closes `owner.attribute` (or the name `owner`), by a call or a `with` block."""

    def work_out() -> set[str]:
        closing = (call.func for call in scope.own(cst.Call) if isinstance(call.func, cst.Attribute))
        closed = [func.value for func in closing if func.attr.value in _CLOSING]
        closed += (item.item for block in scope.own(cst.With) for item in block.items)
        return {dotted(each) for each in closed}

    closed = scope.module.tree.once(("closed", id(scope)), work_out)
    return (f"{owner}.{attribute}" if attribute else owner) in closed


def _is_overwritten(scope: Scope, owner: str, attribute: str, after: Node) -> bool:
    """True if a function deletes the attribute, or sets it to None, a list or an array, after a place in it."""
    tree = scope.module.tree

    def work_out() -> dict[str, int]:
        without = (each for each in scope.own(cst.Assign) if _is_without_handle(each.value))
        places: list[tuple[Node, int]] = [(each.target, tree.order(one)) for one in without for each in one.targets]
        places += ((each.target, tree.order(each)) for each in scope.own(cst.Del))
        last: dict[str, int] = {}
        for target, place in places:
            last[dotted(target)] = max(place, last.get(dotted(target), -1))
        return last

    return tree.once(("overwritten", id(scope)), work_out).get(f"{owner}.{attribute}", -1) > tree.order(after)


def _is_without_handle(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call):
        return last_name(node.func) in ("array", "asarray", "list", "sorted", "tuple")
    return isinstance(node, cst.ListComp) or (isinstance(node, cst.Name) and node.value == "None")
