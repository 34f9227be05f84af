"""Functions for `worker_init_fn`: whether they may divide the data of an iterable Dataset among the workers."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.semantics.values.values import Class, Const, Function, Partial, Value

# What a `worker_init_fn` or an `__iter__` calls that only seeds, reports or limits threads.
SEEDING = frozenset(
    {
        *(
            "debug",
            "error",
            "info",
            "warning",
            "initial_seed",
            "int",
            "manual_seed",
            "manual_seed_all",
            "print",
            "seed",
        ),
        *("seed_everything", "set_num_threads", "set_seed", "setNumThreads", "SeedSequence", "str", "warning"),
    }
)


def may_split(value: Value) -> bool:
    """True if a `worker_init_fn` may give each worker a share: if it may store something, or calls unknown code."""
    if isinstance(value, Partial):
        return may_split(value.callee)
    if not isinstance(value, Function):
        return not isinstance(value, Const) or value.value is not None
    scope = value.scope
    stores = (target.target for assign in scope.within(cst.Assign) for target in assign.targets)
    if any(not isinstance(target, cst.Name) for target in stores) or any(True for _ in scope.within(cst.Global)):
        return True
    return not all(dotted(call.func).rpartition(".")[2] in SEEDING for call in scope.within(cst.Call))


def has_sharding_init_function(klass: Class) -> bool:
    """True if a function next to a class can serve as `worker_init_fn` and gives every copy a share.

    `dataset = get_worker_info().dataset`, `dataset.start = worker_id * dataset.share`.
    """
    kept = classes.attribute_bindings(klass.scope)
    for scope in klass.scope.module.root.inner:
        if any(dotted(call.func).rpartition(".")[2] == "get_worker_info" for call in scope.own(cst.Call)):
            stores: list[Node] = [each.target for store in scope.own(cst.Assign) for each in store.targets]
            stores.extend(store.target for store in scope.own(cst.AugAssign))
            stored = (each for target in stores for each in scope.module.tree.find(target, cst.Attribute))
            if any(each.attr.value in kept for each in stored):
                return True
    return False
