"""Functions that can be called with one positional argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.callbacks import Callback
from dataloader_lint.semantics.classes.classes import is_static
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.values import Function, Method, Partial, Value


@dataclass(frozen=True, slots=True, eq=False)
class SignatureMismatch:
    """A function that a loader's workers cannot call with their number: it takes none, or wants more than that."""

    function: cst.FunctionDef | cst.Lambda
    node: Node  # where it is passed
    loader: Loader
    takes_none: bool
    scope: Scope | None  # of the function, where it is passed as it is

    @property
    def name(self) -> str:
        return self.function.name.value if isinstance(self.function, cst.FunctionDef) else "the lambda"


def signature_mismatches(callbacks: list[Callback], loaders: list[Loader]) -> Iterator[SignatureMismatch]:
    """The functions given as `worker_init_fn` that fail in every worker."""
    for each in callbacks:
        for value in each.loader.values("worker_init_fn"):
            is_it = value == each.function or (isinstance(value, Partial) and value.callee == each.function)
            found = _mismatch(value, each.node, each.loader) if is_it else None
            if found is not None:
                yield found
    for loader in loaders:
        written = loader.argument("worker_init_fn")
        if written is not None and loader.is_written_here:
            for value in loader.values("worker_init_fn"):
                found = _mismatch(value, written.value, loader) if isinstance(value, Method) else None
                if found is not None:
                    yield found


def _mismatch(value: Value, node: Node, loader: Loader) -> SignatureMismatch | None:
    bound, named = 0, set[str]()
    scope = value.scope if isinstance(value, Function) else None
    if isinstance(value, Partial):
        for call in (value.call, *(each for each, _ in value.before)):
            if any(arg.star for arg in call.args):
                return None
            bound += sum(arg.keyword is None for arg in call.args) - 1
            named |= {arg.keyword.value for arg in call.args if arg.keyword is not None}
        value = value.callee
    if isinstance(value, Method):
        if isinstance(value.function.node, cst.FunctionDef) and not is_static(value.function.node):
            bound += 1
        value = value.function
    if not isinstance(value, Function) or (isinstance(value.node, cst.FunctionDef) and value.node.decorators):
        return None
    params = value.node.params
    if isinstance(params.star_arg, cst.Param):
        return None
    left = [*params.posonly_params, *params.params][bound:]
    wanted = [param for param in left if param.default is None and param.name.value not in named]
    if not left or left[0].name.value in named:
        return SignatureMismatch(value.node, node, loader, True, scope)
    return SignatureMismatch(value.node, node, loader, False, scope) if len(wanted) > 1 else None
