"""Functions in steps of pipelines that cannot be pickled: `WebDataset(...).map(lambda ...)`.

A Dataset of Hugging Face that is streamed keeps the functions of `map` and `filter`, another one only that of
`with_transform`: its `map` runs at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.picklable import is_notebooks_own, is_unpicklable
from dataloader_lint.pipeline.loaders.worker_processes import may_pickle
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import (
    ITERABLE_IF,
    ITERABLE_STEPS,
    PIPELINES,
    STREAMS,
    TABLE_STEPS,
    TABLES,
)
from dataloader_lint.semantics.limits import OBJECT_HOPS
from dataloader_lint.semantics.project.scripts import is_notebook_file
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Frame, Function, Partial, constant

_Call: TypeAlias = tuple[cst.Call, Frame]

# Methods that change a Dataset of Hugging Face in place: the last one counts.
_FORMATTING = ("set_transform", "set_format", "reset_format")


@dataclass(frozen=True, slots=True, eq=False)
class PipelineFunction:
    """A function that is an argument of a step and cannot be pickled, and the loader with workers that gets it."""

    node: cst.BaseExpression
    function: Function
    loader: Loader
    pipeline: str  # the class that the pipeline begins with: `WebDataset`
    step: str  # the method that keeps the function: `map`

    @property
    def is_lambda(self) -> bool:
        return isinstance(self.function.node, cst.Lambda)

    @property
    def is_in_notebook(self) -> bool:
        """True if it is defined in a notebook."""
        return is_notebook_file(self.function.scope.module)

    @property
    def is_notebooks_own(self) -> bool:
        """True if its definition in a notebook is the only problem."""
        return is_notebooks_own(self.function)

    @property
    def name(self) -> str:
        """Its name; empty for a lambda."""
        return self.function.node.name.value if isinstance(self.function.node, cst.FunctionDef) else ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made."""
        return loader_steps.made(self.loader, "num_workers")


def pipeline_functions(ev: Evaluator, module: ModuleFacts, loaders: Iterable[Loader]) -> Iterator[PipelineFunction]:
    """The functions of a module that cannot be pickled, in pipelines that loaders with workers get; each once."""
    seen: set[int] = set()
    for loader in loaders:
        if loader.has_workers is None or not may_pickle(loader):
            continue
        several = (each for given in loader.values("dataset") for each in _kept_by(ev, given, loader))
        for found in (*several, *_set_later(ev, loader)):
            if found.node in module.tree and id(found.node) not in seen:
                seen.add(id(found.node))
                yield found


def _kept_by(ev: Evaluator, given: object, loader: Loader) -> Iterator[PipelineFunction]:
    for begin, steps in _chains(ev, given):
        name, kept = _keeping(ev, begin, steps)
        for call, frame in kept:
            yield from _arguments(ev, call, frame, loader, name)


def _arguments(
    ev: Evaluator, call: cst.Call, frame: Frame, loader: Loader, pipeline: str
) -> Iterator[PipelineFunction]:
    """The arguments of a step that cannot be pickled for the workers of a loader."""
    for arg in call.args:
        for each in ev.values(arg.value, frame):
            function = each.callee if isinstance(each, Partial) else each
            if not isinstance(function, Function):
                continue
            if is_unpicklable(function) or (is_notebooks_own(function) and loader.has_workers is True):
                yield PipelineFunction(arg.value, function, loader, pipeline, last_name(call.func))


def _set_later(ev: Evaluator, loader: Loader) -> Iterator[PipelineFunction]:
    """What `set_transform` gives a Dataset of Hugging Face that a loader gets under the same name."""
    written = loader.argument("dataset") if loader.is_written_here else None
    if written is None:
        return
    scope = loader.frame.scope
    tree = scope.module.tree
    calls = [
        call
        for name in _FORMATTING
        for call in scope.module.calls_named(name)
        if isinstance(call.func, cst.Attribute)
        and tree.scope_of(call) is scope
        and tree.spelling(call.func.value) == tree.spelling(written.value)
    ]
    begins = (begin for value in loader.values("dataset") for begin, _ in _chains(ev, value))
    if (
        len(calls) == 1
        and last_name(calls[0].func) == "set_transform"
        and any(_is_stream(ev, each) is False for each in begins)
    ):
        yield from _arguments(ev, calls[0], loader.frame, loader, "Dataset")


def _chains(ev: Evaluator, given: object) -> Iterator[tuple[CallResult, tuple[_Call, ...]]]:
    """The calls that a pipeline may begin with, each with the calls of methods that follow."""
    waiting: list[tuple[object, tuple[_Call, ...]]] = [(given, ())]
    for _ in range(OBJECT_HOPS):
        further: list[tuple[object, tuple[_Call, ...]]] = []
        for value, steps in waiting:
            if not isinstance(value, CallResult) or value.call is None or value.frame is None:
                continue
            yield value, steps
            if isinstance(value.call.func, cst.Attribute):
                owners = ev.values(value.call.func.value, value.frame)
                further += [(each, ((value.call, value.frame), *steps)) for each in owners]
        waiting = further[:OBJECT_HOPS]


def _keeping(ev: Evaluator, begin: CallResult, steps: tuple[_Call, ...]) -> tuple[str, list[_Call]]:
    """The class that a pipeline is of, and the calls whose functions it keeps; none for what is no pipeline."""
    if begin.library in PIPELINES:
        if not all(_name(step) in ITERABLE_STEPS for step in steps):
            return "", []
        return begin.library.rpartition(".")[2], list(steps)
    kept: list[_Call] = []
    is_stream = _is_stream(ev, begin)
    if is_stream is None or not all(_name(step) in TABLE_STEPS for step in steps):
        return "", []
    if begin.library in STREAMS and begin.call is not None and begin.frame is not None:
        kept.append((begin.call, begin.frame))
    for step in steps:
        name = _name(step)
        if name == "to_iterable_dataset":
            is_stream = True
        elif is_stream and name in ("map", "filter"):
            kept.append(step)
        elif not is_stream and name == "with_transform":
            kept = [step]
        elif not is_stream and name == "with_format":  # in the place of the transform
            kept = []
    return "IterableDataset" if is_stream else "Dataset", kept


def _is_stream(ev: Evaluator, begin: CallResult) -> bool | None:
    """True for what Hugging Face streams, False for its other Datasets, None for all else."""
    if begin.library in STREAMS or begin.library in TABLES:
        return begin.library in STREAMS
    if begin.library not in ITERABLE_IF or begin.call is None or begin.frame is None:
        return None
    given = keyword_of(begin.call, ITERABLE_IF[begin.library])
    if given is None:
        return None if any(arg.star for arg in begin.call.args) else False
    known = constant(ev.values(given, begin.frame))
    return bool(known.value) if known is not None else None


def _name(step: _Call) -> str:
    return last_name(step[0].func)
