"""Lists of records that workers read by the numbers in a group: `[self.rows[i] for i in self.groups[index]]`.

Workers ask such a list for a part of the sample only, which may be one of few classes as well. But if construction
puts the number of each record into one group, the list is at least as long as there are groups with records.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.rules.memory._shared.container_fields import Container
from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.rules.memory._shared.mutations import filling, is_it
from dataloader_lint.rules.memory._shared.per_sample_entries import counter_of
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import LOOPS, Node, Scope


def is_numbered_by_groups(dataset: StoringDataset, container: Container) -> bool:
    """True if construction adds the number of each element of a list to a group, and there is one per sample."""
    for scope, own, name in filling(dataset, container.name, container.binding):
        for loop in scope.own(cst.For):
            for group in _groups(loop, scope, own, name):
                if _are_samples(dataset, _attributes_of(dataset, group, scope)):
                    return True
    return False


def _groups(loop: cst.For, scope: Scope, own: str, name: str) -> Iterator[cst.BaseExpression]:
    """What holds the groups to which a loop over the elements of a list adds the number of each."""
    tree = scope.module.tree
    counter = counter_of(loop, own, name)
    is_filling = any(
        isinstance(call.func, cst.Attribute)
        and call.func.attr.value == "append"
        and isinstance(call.func.value, cst.Attribute | cst.Name)
        and is_it(call.func.value, own, name)
        and _is_direct(call, loop, scope)
        for call in tree.find(loop.body, cst.Call)
    )
    if not counter and is_filling:
        counter = _number(loop)
    for call in tree.find(loop.body, cst.Call) if counter or is_filling else ():
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ("add", "append"):
            continue
        owner = call.func.value
        if (
            isinstance(owner, cst.Call)
            and last_name(owner.func) == "setdefault"
            and isinstance(owner.func, cst.Attribute)
        ):
            owner = owner.func.value
        elif isinstance(owner, cst.Subscript):
            owner = owner.value
        else:
            continue
        if len(call.args) == 1 and _is_direct(call, loop, scope):
            added = call.args[0].value
            if (counter and dotted(added) == counter) or (is_filling and _is_length(added, scope, own, name)):
                yield owner


def _number(loop: cst.For) -> str:
    """The name that counts the passes of a loop: `i` in `for i, line in enumerate(file)`."""
    node = loop.iter
    while isinstance(node, cst.Call) and node.args and last_name(node.func) in ("tqdm", "track"):
        node = node.args[0].value
    if isinstance(node, cst.Call) and last_name(node.func) == "enumerate" and isinstance(loop.target, cst.Tuple):
        return dotted(loop.target.elements[0].value) if loop.target.elements else ""
    return ""


def _is_length(node: cst.BaseExpression, scope: Scope, own: str, name: str) -> bool:
    """True for the number that the next element of the list gets: `len(self.rows)`, or a name for that."""
    if isinstance(node, cst.Name):
        bindings = resolve(node, scope.module.tree)
        return bool(bindings) and all(
            each.kind is Kind.VALUE and isinstance(each.value, cst.Call) and _is_length(each.value, scope, own, name)
            for each in bindings
        )
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Subtract):
        node = node.left
    is_len = isinstance(node, cst.Call) and last_name(node.func) == "len" and len(node.args) == 1
    return is_len and isinstance(node, cst.Call) and is_it(node.args[0].value, own, name)


def _is_direct(node: Node, loop: cst.For, scope: Scope) -> bool:
    """True if it runs once per pass of the loop, and not in a loop inside: each element gets into one group only."""
    return next((above for above in scope.module.tree.ancestors(node) if isinstance(above, LOOPS)), None) is loop


def _attributes_of(dataset: StoringDataset, group: cst.BaseExpression, scope: Scope) -> set[str]:
    """The attributes that hold the groups: the attribute itself, or those made from the local name."""
    if isinstance(group, cst.Attribute):
        return {group.attr.value}
    return set(_made_from(dataset, dotted(group), scope)) if isinstance(group, cst.Name) else set()


def _made_from(dataset: StoringDataset, source: str, scope: Scope | None = None) -> Iterator[str]:
    """The attributes that construction makes from something of that name: `self.groups = list(groups.values())`."""
    for name, bindings in dataset.bound().items():
        for binding in bindings:
            home = binding.method
            if binding.value is None or (scope is not None and home is not scope):
                continue
            kind = cst.Name if scope is not None else cst.Attribute
            if any(dotted(each) == source for each in home.module.tree.find(binding.value, kind)):
                yield name


def _are_samples(dataset: StoringDataset, names: set[str]) -> bool:
    """True if there is a group for each sample, or one under each of the keys that the index is looked up in."""
    uses = [(name, dataset.reads.of(name)) for name in sorted(names)]
    if any(use.is_length or use.itself is IndexDep.INDEX for _, use in uses):
        return True
    for name, use in uses:
        if use.itself is IndexDep.KEY:
            for keys in _made_from(dataset, f"self.{name}"):
                asked = dataset.reads.of(keys)
                if asked.is_length or asked.itself is IndexDep.INDEX:
                    return True
    return False
