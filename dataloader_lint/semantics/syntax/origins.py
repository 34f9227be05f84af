"""Where a value comes from, as far as one function or module shows it: one walk back, from a name to what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import libcst as cst

from dataloader_lint.semantics.limits import ORIGINS
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.tree import Tree

Node = cst.BaseExpression


def origins(node: Node | None, tree: Tree, through: Callable[[Node], Iterable[Node]] = lambda _: ()) -> Iterator[Node]:
    """Yields the expressions that may give an expression its value, each once.

    Followed are assignments, unpackings where both sides are written out, `x if y else z`, `x or y` and `x := y`, and
    what `through` gives for an expression that hands on what others give. A name bound in another way, such as a
    parameter or the target of a loop, is yielded itself.
    """
    todo, seen = [node], set[int]()
    while todo:
        each = todo.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, cst.Name):
            bindings = resolve(each, tree) if each in tree else []
            behind = [written for binding in bindings if (written := binding.written) is not None]
            is_followed = bool(behind) and len(behind) == len(bindings)
        else:
            behind = list(_chosen(each) or through(each))
            is_followed = bool(behind)
        if len(seen) < ORIGINS:
            todo += reversed(behind)
        if not is_followed or len(seen) >= ORIGINS:
            yield each


def _chosen(node: Node) -> tuple[Node, ...]:
    if isinstance(node, cst.IfExp):
        return node.body, node.orelse
    if isinstance(node, cst.BooleanOperation):
        return node.left, node.right
    return (node.value,) if isinstance(node, cst.NamedExpr) else ()


def only_value(node: cst.CSTNode | None, tree: Tree) -> Node | None:
    """The expression that a name stands for, where one assignment alone gives it; None for all else."""
    bindings = resolve(node, tree) if isinstance(node, cst.Name) and node in tree else []
    return bindings[0].written if len(bindings) == 1 else None


def ingredients(node: Node | None, tree: Tree) -> Iterator[Node]:
    """Yields an expression, what assignments give the names in it, what they give the names in that, and so on."""
    todo, seen = [node] if node is not None else [], {id(node)}
    for each in todo:  # grows
        yield each
        bound = (binding for name in tree.find(each, cst.Name) for binding in resolve(name, tree))
        for value in (binding.value for binding in bound if binding.kind is Kind.VALUE):
            if value is not None and id(value) not in seen and len(seen) < ORIGINS:
                seen.add(id(value))
                todo.append(value)
