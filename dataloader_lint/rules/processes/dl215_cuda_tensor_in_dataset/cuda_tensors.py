"""Tensors on CUDA that Datasets keep and that workers, or the thread that pins, then get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.devices.devices import KEEPING
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.constructor_steps import steps_of
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.stores import stores
from dataloader_lint.rules.processes._shared.cuda import calls_that_may_start_cuda, form_of_call
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import SAMPLE_WRAPPERS
from dataloader_lint.semantics.limits import OBJECT_HOPS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Library,
    Method,
    Value,
)

_TENSOR_DATASET = "torch.utils.data.TensorDataset"
# Start methods under which workers can use CUDA.
_WITHOUT_FORK = ("forkserver", "spawn")


@dataclass(frozen=True, slots=True, eq=False)
class KeptCudaTensor:
    """The call that puts a tensor on CUDA, the loader whose Dataset keeps it, and the attribute, if it has one."""

    node: cst.Call
    loader: Loader
    keeper: str
    has_workers: bool  # else pinning is all that it breaks

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made."""
        return loader_steps.made(self.loader, "num_workers", "pin_memory")


@dataclass(frozen=True, slots=True)
class _Held:
    node: cst.Call
    keeper: str
    is_copied_to_cpu: bool


def kept_cuda_tensors(reach: DatasetFlow, module: ModuleFacts) -> list[KeptCudaTensor]:
    """The tensors that this module puts on CUDA and that Datasets keep, of loaders with workers or pinning.

    Of several that one statement puts there for the same keeper, the first.
    """
    calls = calls_that_may_start_cuda(module)
    found: dict[int, KeptCudaTensor] = {}
    for each in reach.around(module, reach.workers.names_containing(module, calls)) if calls else ():
        for given in reach.given(each):
            loader = given.loader
            has_workers = loader.has_workers is True and loader.start_method not in _WITHOUT_FORK
            pins = loader.known("pin_memory")
            is_pinned = pins is not None and pins.value is True
            if not (has_workers or is_pinned) or not loader.is_reached:
                continue
            for held in _held(reach.ev, given.value):
                if held.node in module.tree and (has_workers or not held.is_copied_to_cpu):
                    found.setdefault(id(held.node), KeptCudaTensor(held.node, loader, held.keeper, has_workers))
    first: dict[tuple[str, int], KeptCudaTensor] = {}  # one finding for `self.both = x.cuda(), y.cuda()`
    for kept in sorted(found.values(), key=lambda one: module.tree.order(one.node)):
        first.setdefault((kept.keeper, id(module.tree.statement_of(kept.node))), kept)
    return list(first.values())


def _held(ev: Evaluator, value: Value, hops: int = 0) -> Iterator[_Held]:
    """The tensors on CUDA that a Dataset keeps."""
    if not isinstance(value, CallResult) or value.call is None or value.frame is None or hops > OBJECT_HOPS:
        return
    if isinstance(value.by, Class):
        yield from _held_by_object(ev, value, value.by)
    elif value.library == _TENSOR_DATASET:
        for arg in value.call.args:
            for node in _on_cuda(ev, arg.value, value.frame) if not arg.star else ():
                yield _Held(node, "TensorDataset", False)
    elif value.library in SAMPLE_WRAPPERS and value.call.args:
        for inner in ev.values(value.call.args[0].value, value.frame):
            yield from _held(ev, inner, hops + 1)


def _held_by_object(ev: Evaluator, made: CallResult, klass: Class) -> Iterator[_Held]:
    tree = klass.scope.module.tree
    copies = any(last_name(call.func) in ("cpu", "numpy") for call in tree.find(klass.node, cst.Call))
    last: dict[str, tuple[Node, cst.BaseExpression, Frame]] = {}
    for step in steps_of(ev, made):
        for name, node, added, position in stores(step):
            if is_reached(ev, node, step.frame):
                last.pop(name, None)
                if not position:
                    last[name] = (node, added, step.frame)
    for name, (_, added, frame) in last.items():
        for found in _on_cuda(ev, added, frame) if _is_indexed(ev, klass, name) else ():
            yield _Held(found, f"{klass.node.name.value}.{name}", copies)


def _is_indexed(ev: Evaluator, klass: Class, attribute: str) -> bool:
    """True if a method takes elements of an attribute: then it is a tensor or several, and no network."""
    return any(
        type(each.value) is cst.Attribute and each.value.attr.value == attribute
        for base in ev.bases(klass).classes
        for each in base.scope.module.tree.find(base.node, cst.Subscript)
    )


def _on_cuda(ev: Evaluator, node: cst.CSTNode, frame: Frame, hops: int = 0) -> Iterator[cst.Call]:
    """The call by which an expression surely is a tensor on CUDA, or a list or tuple of such tensors."""
    if hops > OBJECT_HOPS:
        return
    if isinstance(node, cst.List | cst.Tuple):
        for element in node.elements:
            yield from _on_cuda(ev, element.value, frame, hops + 1)
    elif isinstance(node, cst.ListComp):
        yield from _on_cuda(ev, node.elt, frame, hops + 1)
    elif isinstance(node, cst.Call):
        if _puts_on_cuda(ev, node, frame):
            yield node
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in KEEPING:
            yield from _on_cuda(ev, node.func.value, frame, hops + 1)
    elif isinstance(node, cst.Name):
        yield from _named_on_cuda(ev, node, frame, hops)


def _named_on_cuda(ev: Evaluator, node: cst.Name, frame: Frame, hops: int) -> Iterator[cst.Call]:
    """The same for a name, if all that it is bound to is on CUDA."""
    tree = frame.scope.module.tree
    several: list[list[cst.Call]] = []
    for binding in resolve(node, tree) if node in tree else ():
        passed = frame.args.get(binding.name) if frame.args is not None else None
        if (bound := binding.written) is not None:
            where = frame if binding.scope is frame.scope else ev.frame_of(binding.scope)
            several.append(list(_on_cuda(ev, bound, where, hops + 1)))
        elif binding.kind is Kind.PARAMETER and passed is not None and passed.node is not None and passed.frame:
            several.append(list(_on_cuda(ev, passed.node, passed.frame, hops + 1)))
        else:
            several.append([])
    if all(several):
        yield from (call for each in several for call in each)


def _puts_on_cuda(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True for `x.cuda()`, `x.to("cuda")` and `torch.zeros(3, device="cuda")`."""
    form = form_of_call(ev, call, frame)
    if not form or form == "`.pin_memory()`" or form.startswith("`torch.cuda."):
        return False
    if form.startswith("a call"):
        return any(isinstance(each, Library) and each.name.startswith("torch.") for each in ev.values(call.func, frame))
    moved = call.func.value if isinstance(call.func, cst.Attribute) else call
    return not any(
        isinstance(each, Function | Method) or (isinstance(each, CallResult) and isinstance(each.by, Class))
        for each in ev.values(moved, frame)
    )
