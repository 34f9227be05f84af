"""Functions that cannot be imported by name, reachable from objects that are pickled for a loader's workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.picklable import is_local, is_notebooks_own, is_plain, is_unpicklable
from dataloader_lint.pipeline.loaders.worker_processes import may_pickle, never_pickled
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.object_graph import Reachable
from dataloader_lint.rules.processes.dl204_lambda_in_dataset.definition_site import definition_site
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import SAMPLE_WRAPPERS
from dataloader_lint.semantics.project.scripts import is_notebook_file, is_test
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import CallResult, Class, Function, Value


@dataclass(frozen=True, slots=True, eq=False)
class KeptFunction:
    """A function that cannot be pickled, the expression that supplies it, and the object that stores it."""

    node: cst.BaseExpression
    value: Value
    kept: Reachable
    others: int  # number of other such functions in the same list or dict
    loader: Loader | None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made, if one is known."""
        return loader_steps.made(self.loader, "num_workers") if self.loader is not None else ()

    @property
    def function(self) -> Function | None:
        """The function itself; None for a wrapper that a library created."""
        return self.value if isinstance(self.value, Function) else None

    @property
    def is_lambda(self) -> bool:
        return isinstance(self.value, Function) and isinstance(self.value.node, cst.Lambda)

    @property
    def is_in_notebook(self) -> bool:
        """True if it is defined in a notebook: spawned workers cannot import it."""
        return isinstance(self.value, Function) and is_notebook_file(self.value.scope.module)

    @property
    def is_notebooks_own(self) -> bool:
        """True if its definition in a notebook is the only problem."""
        return is_notebooks_own(self.value)

    @property
    def name(self) -> str:
        """Its name for the user: the local function's name, `functools.lru_cache`; empty for a lambda."""
        if isinstance(self.value, CallResult):
            return self.value.library
        node = self.value.node if isinstance(self.value, Function) else None
        return node.name.value if isinstance(node, cst.FunctionDef) else ""

    @property
    def keeper(self) -> str:
        """`Images.transform`, or the class of a library that gets it as an argument: `ImageFolder`."""
        path = self.kept.path
        for holding in reversed(path.holdings):
            if isinstance(holding.owner.by, Class):
                owner = holding.owner.by.node.name.value
                return f"{owner}.{holding.attribute}" if holding.attribute else owner
        names = [name.rpartition(".")[2] for name in path.through]
        outer = [name.rpartition(".")[2] for name in path.through if name not in SAMPLE_WRAPPERS]
        return (outer or names or [""])[0]

    @property
    def through(self) -> str:
        """The library class that it is an argument of: `Lambda`, `Compose`; empty if there is none."""
        return self.kept.path.through[-1].rpartition(".")[2] if self.kept.path.through else ""

    @property
    def role(self) -> str:
        """Its purpose: the name of the argument or attribute that holds it."""
        path = self.kept.path
        return path.keyword or (path.holdings[-1].attribute if path.holdings else "") or "function"


def kept_functions(reach: DatasetFlow, module: ModuleFacts) -> list[KeptFunction]:
    """Returns the unpicklable functions of this module that are stored by a Dataset whose workers may be spawned."""
    candidates = _candidates(module)
    found: dict[int, KeptFunction] = {}
    counts: dict[int, int] = {}
    silent: dict[int, bool] = {}
    # Without candidates of its own, its Datasets may still store functions that other files create and return.
    around = reach.around(module, reach.workers.names_containing(module, candidates)) if candidates else [module]
    for kept, owner in reach.reachable_in(around):
        is_notebooks = is_notebooks_own(kept.value)
        if not is_notebooks and not is_unpicklable(kept.value):
            continue
        node = _report_site(reach, kept)
        if node not in module.tree or id(node) in found:
            continue
        if is_notebooks:
            loaders = [owner] if isinstance(owner, Loader) else reach.loaders_of(owner)
            if not any(each.has_workers is True and may_pickle(each) for each in loaders):
                continue
        elif isinstance(owner, Loader):
            if not may_pickle(owner):
                continue
        else:
            key = id(owner.scope)
            if key not in silent:
                silent[key] = never_pickled(reach.loaders_of(owner))
            if silent[key] or _is_never_held(reach, owner, node):
                continue
        container = kept.path.container
        if container is not None and container in module.tree:
            counts[id(container)] = counts.get(id(container), 0) + 1
        found[id(node)] = KeptFunction(node, kept.value, kept, 0, owner if isinstance(owner, Loader) else None)
    return list(_one_per_container(found, counts, module))


def _is_never_held(reach: DatasetFlow, klass: Class, node: cst.BaseExpression) -> bool:
    """True if nothing that loaders get holds the function of an expression, and all of that is known.

    `Images(folder, name=file_name)` has no use for the lambda that is the default of `name`. What tests construct says
    nothing about the objects of others.
    """
    made: list[CallResult] = []
    for loader in reach.loaders_of(klass):
        for value in () if is_test(loader.frame.scope.module) else loader.values("dataset"):
            inside = list(wrapped_datasets(reach.ev, value))
            if not inside or any(each.call is None for each in inside):
                return False
            made += inside
    held = (kept for each in made for kept in reach.graph_of(each).kept)
    return bool(made) and not any(_report_site(reach, kept) is node for kept in held)


def _one_per_container(
    found: dict[int, KeptFunction], counts: dict[int, int], module: ModuleFacts
) -> Iterator[KeptFunction]:
    """Yields the first of several functions in one list or dict, with the number of the others.

    A local function stored twice under one name, directly and through a base class, counts once.
    """
    seen: set[int] = set()
    named: set[tuple[int, str]] = set()
    for each in sorted(found.values(), key=lambda one: module.tree.order(one.node)):
        container = each.kept.path.container
        if isinstance(each.value, Function):
            key = (id(each.value.scope), each.keeper)
            if key in named:
                continue
            named.add(key)
        if container is None:
            yield each
        elif id(container) not in seen:
            seen.add(id(container))
            others = counts.get(id(container), 1) - 1
            yield KeptFunction(each.node, each.value, each.kept, others, each.loader)


def _report_site(reach: DatasetFlow, kept: Reachable) -> cst.BaseExpression:
    """The lambda, the wrapping call, or the expression that first names the local function."""
    value = kept.value
    if isinstance(value, CallResult):
        assert value.call is not None
        return value.call
    if isinstance(value, Function) and isinstance(value.node, cst.Lambda):
        return value.node
    return definition_site(reach.ev, kept.node, kept.frame, value)[0]


def _candidates(module: ModuleFacts) -> list[cst.CSTNode]:
    """Lambdas, local functions and caching calls: what may not be pickled if it is stored."""
    in_notebook = is_notebook_file(module)
    found: list[cst.CSTNode] = [
        scope.node
        for scope in module.root.descend()
        if isinstance(scope.node, cst.Lambda)
        or (isinstance(scope.node, cst.FunctionDef) and (is_local(scope) or (in_notebook and is_plain(scope))))
    ]
    return [*found, *module.calls_named("lru_cache"), *module.calls_named("cache")]
