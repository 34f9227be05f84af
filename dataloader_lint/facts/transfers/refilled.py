"""Parts of a batch that something else takes the place of: `batch["image"] = augment(batch["image"])`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.facts.syntax.names import Kind, resolve, written_part
from dataloader_lint.facts.syntax.tree import Node, Tree, function_scope

_MAX_DEPTH = 3


def stores_before(node: cst.BaseExpression, tree: Tree, depth: int = 0) -> Iterator[cst.Assign]:
    """What may be stored into a part of a thing before an expression reads that part, or what it was read into."""
    root, steps = _way_to(node)
    if root is None or root not in tree or depth > _MAX_DEPTH:
        return
    bindings = resolve(root, tree)
    if not steps:
        for binding in bindings:
            value = written_part(binding.value, binding.path) if binding.kind is Kind.VALUE else None
            if value is not None:
                yield from stores_before(value, tree, depth + 1)
        return
    known = {id(binding) for binding in bindings}
    for assign in function_scope(tree.scope_of(node)).own(cst.Assign):
        if tree.order(assign) >= tree.order(node) or any(above is assign for above in tree.ancestors(node)):
            continue
        for each in assign.targets:
            owner, stored = _way_to(each.target)
            if owner is None or owner.value != root.value or not stored or len(stored) > len(steps):
                continue
            if all(one == other or "" in (one, other) for one, other in zip(stored, steps, strict=False)):
                if any(id(binding) in known for binding in resolve(owner, tree)):
                    yield assign


def _way_to(node: Node) -> tuple[cst.Name | None, list[str]]:
    """The name from which subscripts and attributes lead to an expression, and these as written; empty for any key."""
    steps: list[str] = []
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value  # x.squeeze(0)
        elif isinstance(node, cst.Attribute):
            steps.insert(0, node.attr.value)
            node = node.value
        elif isinstance(node, cst.Subscript):
            index = node.slice[0].slice
            key = index.value if isinstance(index, cst.Index) and len(node.slice) == 1 else None
            is_written = isinstance(key, cst.SimpleString | cst.Integer)
            steps.insert(0, repr(key.evaluated_value) if is_written else "")  # type: ignore[union-attr]
            node = node.value
        else:
            return (node, steps) if isinstance(node, cst.Name) else (None, [])
