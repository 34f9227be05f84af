"""Functions in steps of a WebDataset that cannot be pickled: `WebDataset(...).map(lambda ...)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer.iterable_makers import is_iterable_of_library
from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.values import CallResult, Evaluator, Function
from dataloader_lint.facts.libraries.datasets import PIPELINES
from dataloader_lint.facts.limits import OBJECT_HOPS
from dataloader_lint.facts.loaders import loader_steps
from dataloader_lint.facts.loaders.picklable import is_unpicklable
from dataloader_lint.facts.loaders.worker_processes import may_pickle
from dataloader_lint.facts.project.scripts import is_notebook_file
from dataloader_lint.facts.syntax.steps import Step
from dataloader_lint.facts.syntax.tree import ModuleFacts


@dataclass(frozen=True, slots=True, eq=False)
class PipelineFunction:
    """A lambda or nested function that is an argument of a step, and the loader with workers that gets the pipeline."""

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
        if loader.has_workers is not True or not may_pickle(loader):
            continue
        for given in loader.values("dataset"):
            for found in _kept_by(ev, given, loader):
                if found.node in module.tree and id(found.node) not in seen:
                    seen.add(id(found.node))
                    yield found


def _kept_by(ev: Evaluator, value: object, loader: Loader) -> Iterator[PipelineFunction]:
    for _ in range(OBJECT_HOPS):
        if not isinstance(value, CallResult) or not is_iterable_of_library(ev, value):
            return
        call, frame = value.call, value.frame
        if call is None or frame is None or not isinstance(call.func, cst.Attribute) or value.library in PIPELINES:
            return
        owners = ev.values(call.func.value, frame)
        if len(owners) != 1 or not isinstance(owners[0], CallResult):
            return
        for arg in call.args if _begins_with(ev, owners[0]) else ():
            for each in ev.values(arg.value, frame):
                if isinstance(each, Function) and is_unpicklable(each):
                    yield PipelineFunction(arg.value, each, loader, _begins_with(ev, owners[0]), call.func.attr.value)
        value = owners[0]


def _begins_with(ev: Evaluator, value: CallResult) -> str:
    """The class of a library that a pipeline begins with; empty for other Datasets."""
    for _ in range(OBJECT_HOPS):
        if value.library in PIPELINES:
            return value.library.rpartition(".")[2]
        if value.call is None or value.frame is None or not isinstance(value.call.func, cst.Attribute):
            return ""
        owners = ev.values(value.call.func.value, value.frame)
        if len(owners) != 1 or not isinstance(owners[0], CallResult):
            return ""
        value = owners[0]
    return ""
