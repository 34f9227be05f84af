"""Slow ways to build a batch in a collate_fn: tensors that grow in a loop, tensors built from lists of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node
from dataloader_lint.semantics.values.values import Evaluator, Opaque, Sequence


@dataclass(frozen=True, slots=True, eq=False)
class SlowCollate:
    """A slow call in a collate_fn; `grows` is True if a loop extends a tensor.

    Otherwise the call builds a tensor from a list of arrays.
    """

    call: cst.Call
    name: str
    function: WorkerFunction
    grows: bool

    @property
    def arrays(self) -> cst.BaseExpression | None:
        """The list of arrays, if the call is `torch.tensor` with no other argument."""
        is_plain = not self.grows and self.name == "torch.tensor" and len(self.call.args) == 1
        return self.call.args[0].value if is_plain else None


def slow_collates(workers: Workers, module: ModuleFacts) -> Iterator[SlowCollate]:
    """Yields the slow calls in the collate functions of a module, and in functions that these call."""
    names = {
        scope.node.name.value for scope in module.root.inner if isinstance(scope.node, cst.FunctionDef | cst.ClassDef)
    }
    seen: set[int] = set()
    for function in workers.functions_inside(module, names):
        if function.argument != "collate_fn":
            continue
        for call, name in function.library_calls:
            if id(call) in seen:
                continue
            grows = row(name).joins and _grows(module, call)
            if grows or (
                (name.startswith("torch.") and row(name).from_elements)
                and _is_list_of_arrays(workers.ev, call, function)
            ):
                seen.add(id(call))
                yield SlowCollate(call, name, function, grows)


def _grows(module: ModuleFacts, call: cst.Call) -> bool:
    """True for `out = torch.cat((out, row))` in a loop."""
    tree = module.tree
    assign = tree.parent(call)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or not call.args:
        return False
    parts = call.args[0].value
    name = dotted(assign.targets[0].target)
    if not name or not isinstance(parts, cst.Tuple | cst.List):
        return False
    return any(dotted(part.value) == name for part in parts.elements) and _is_in_loop_over_samples(module, call)


def _is_in_loop_over_samples(module: ModuleFacts, node: Node) -> bool:
    """True if the nearest loop iterates over a parameter of the function."""
    tree = module.tree
    loop = next((above for above in tree.ancestors(node) if isinstance(above, cst.For | cst.FunctionDef)), None)
    if not isinstance(loop, cst.For):
        return False
    names = tree.find(loop.iter, cst.Name)
    return any(binding.kind is Kind.PARAMETER for name in names for binding in resolve(name, tree))


def _is_list_of_arrays(ev: Evaluator, call: cst.Call, function: WorkerFunction) -> bool:
    if not call.args or call.args[0].keyword is not None or call.args[0].star:
        return False
    values = ev.values(call.args[0].value, function.frame)
    return bool(values) and all(
        isinstance(value, Sequence) and value.kind == "list" and _holds_arrays(ev, value) for value in values
    )


def _holds_arrays(ev: Evaluator, value: Sequence) -> bool:
    inside = ev.element(value)
    return bool(inside) and all(isinstance(each, Opaque) and each.kind == "array" for each in inside)
