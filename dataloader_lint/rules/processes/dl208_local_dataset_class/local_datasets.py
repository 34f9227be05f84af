"""Dataset classes that cannot be imported by name: nested in a function, or defined in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.worker_processes import may_pickle
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.object_graph import PICKLE_METHODS
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.project.scripts import is_notebook_file, is_test
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, ItemOf, Sequence, Value


@dataclass(frozen=True, slots=True, eq=False)
class LocalDataset:
    """A Dataset class nested in a function; `loader` is one with workers that gets an instance, if one is known.

    `function` is empty for a class at module level of a notebook.
    """

    klass: Class
    function: str
    loader: Loader | None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made, if one is known."""
        return loader_steps.made(self.loader, "num_workers") if self.loader is not None else ()

    @property
    def is_in_notebook(self) -> bool:
        """True if it is defined in a notebook: spawned workers cannot import it."""
        return is_notebook_file(self.klass.scope.module)

    @property
    def name(self) -> str:
        return self.klass.node.name.value


def local_datasets(reach: DatasetFlow, module: ModuleFacts) -> Iterator[LocalDataset]:
    """Yields the Dataset classes nested in functions that reach a loader with workers, or that their function returns.

    Classes that a fixture or helper of a test file returns are left out: they stay in tests, whose loaders are known.
    """
    for klass in reach.workers.datasets(module):
        function = _enclosing_function(klass.scope)
        if function is None:
            if is_notebook_file(module):
                yield from _in_notebook(reach, klass)
            continue
        if _is_found_by_name(reach.ev, klass, function):
            continue
        assert isinstance(function.node, cst.FunctionDef)
        name = function.node.name.value
        loaders = reach.loaders_of(klass)
        loader = next((each for each in loaders if may_pickle(each)), None)
        if loader is not None:
            yield LocalDataset(klass, name, loader)
        elif not loaders and not is_test(module) and _is_returned(reach.ev, klass, function):
            yield LocalDataset(klass, name, None)


def _in_notebook(reach: DatasetFlow, klass: Class) -> Iterator[LocalDataset]:
    loaders = (each for each in reach.loaders_of(klass) if each.has_workers is True and may_pickle(each))
    loader = next(loaders, None)
    if loader is not None and not _customizes_pickling(reach.ev, klass):
        yield LocalDataset(klass, "", loader)


def _enclosing_function(scope: Scope) -> Scope | None:
    current = scope.parent
    while current is not None and not isinstance(current.node, cst.FunctionDef):
        current = current.parent
    return current


def _is_found_by_name(ev: Evaluator, klass: Class, function: Scope) -> bool:
    """True if the class is declared global after all, or customizes how its instances are pickled."""
    name = klass.node.name.value
    if any(each.value == name for item in function.own(cst.Global) for each in _declared_names(item)):
        return True
    if "__qualname__" in bindings_of(klass.scope):
        return True
    return _customizes_pickling(ev, klass)


def _customizes_pickling(ev: Evaluator, klass: Class) -> bool:
    bases = ev.bases(klass).classes
    return any(classes.find_method(ev, bases, each) is not None for each in PICKLE_METHODS[1:])


def _declared_names(statement: cst.Global) -> Iterator[cst.Name]:
    return (item.name for item in statement.names)


def _is_returned(ev: Evaluator, klass: Class, function: Scope) -> bool:
    """True if the enclosing function returns the class, or an instance of it."""
    frame = ev.frame_of(function)
    return any(
        _is_instance(value, klass)
        for statement in function.own(cst.Return)
        if statement.value is not None
        for value in ev.values(statement.value, frame)
    )


def _is_instance(value: Value, klass: Class) -> bool:
    if isinstance(value, ItemOf):
        return _is_instance(value.of, klass)
    if isinstance(value, Sequence) and value.items is not None:
        return any(_is_instance(each, klass) for item in value.items for each in item)
    if isinstance(value, CallResult):
        return isinstance(value.by, Class) and value.by.scope is klass.scope
    return isinstance(value, Class) and value.scope is klass.scope
