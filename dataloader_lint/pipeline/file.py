"""One file as rules see it: its loaders and Datasets, and whom to ask about everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar, cast

from dataloader_lint.pipeline.dataset_class import DatasetClass, datasets_in
from dataloader_lint.pipeline.entity import Entity
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.loaders.callbacks import Callback, callbacks_of
from dataloader_lint.pipeline.loaders.trainer_options import trainer_options, trainers
from dataloader_lint.pipeline.project_facts import ProjectFacts
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.instances import may_construct
from dataloader_lint.pipeline.workers.object_graph import Reachable
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_steps import loader_of_class, to_function
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loaders_in
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Tree
from dataloader_lint.semantics.values.values import Class
from dataloader_lint.settings import Settings

Fact = TypeVar("Fact")


class File:
    """One file of a session, which is what every rule is given. What it holds is computed on first use."""

    def __init__(self, session: ProjectFacts, module: ModuleFacts, settings: Settings) -> None:
        self.session = session
        self.module = module
        self.settings = settings
        self.ev = session.evaluation
        self.workers = session.workers
        self._known: dict[Callable[[File], object], object] = {}
        self._callbacks: dict[str, list[Callback]] = {}

    @property
    def tree(self) -> Tree:
        return self.module.tree

    @property
    def project(self) -> Project:
        return self.session.project

    @property
    def reach(self) -> DatasetFlow:
        """Which objects reach which loaders."""
        return self.session.reach

    def once(self, make: Callable[[File], Fact]) -> Fact:
        """What a function says about this file. Several rules may ask; it is called for the first only."""
        if make not in self._known:
            self._known[make] = make(self)
        return cast("Fact", self._known[make])

    @property
    def loaders(self) -> list[Loader]:
        """Every call that constructs a DataLoader."""
        return self.once(_loaders)

    @property
    def datasets(self) -> list[DatasetClass]:
        """Every class of the file that is a Dataset."""
        return self.once(_datasets)

    def entities(self, kind: Entity) -> Iterable[object]:
        """What a rule without a `find` of its own is called with. Raises ValueError for other kinds."""
        if kind is Entity.LOADER:
            return [*self.loaders, *trainer_options(self.ev, self.module)]
        if kind is Entity.DATASET:
            return self.datasets
        raise ValueError(f"a rule on {kind} needs a function `find`")

    def callbacks_of(self, argument: str) -> list[Callback]:
        """The project's functions given to an argument of a loader in this file."""
        if argument not in self._callbacks:
            loaders = [*self.loaders, *(trainers(self.ev, self.module) if argument == "collate_fn" else ())]
            self._callbacks[argument] = list(callbacks_of(self.ev, self.module, loaders, argument))
        return self._callbacks[argument]

    def trainers_in(self, module: ModuleFacts) -> list[Loader]:
        """The trainers that a module gives a `train_dataset`, each as the loader that it makes of that."""
        return list(trainers(self.ev, module, "train_dataset"))

    def steps_to(self, function: WorkerFunction) -> tuple[Step, ...]:
        """The chain from a loader to a function that its workers run."""
        return to_function(self.reach, function, self.module)

    def steps_to_loader(self, kept: Reachable) -> tuple[Step, ...]:
        """The loader that gets the object which contains something, as far as one is known."""
        outer = kept.path.holdings[0] if kept.path.holdings else None
        made = outer.owner.by if outer is not None else None
        if outer is None or not isinstance(made, Class):
            return ()
        runs = partial(may_construct, self.ev, made, node=outer.node, method=outer.step.scope)
        fits = [partial(runs, if_unknown=each) for each in (False, True)]
        loader = loader_of_class(self.reach, made, self.module, fits)
        return loader_steps.made(loader, "num_workers") if loader is not None else ()

    @property
    def too_wide_classes(self) -> list[Node]:
        """The classes of this file that derive from too many for each to be known, as far as they were looked at."""
        return [each.node for each in self.ev.too_wide if each.module is self.module]


def _loaders(file: File) -> list[Loader]:
    return list(loaders_in(file.ev, file.module))


def _datasets(file: File) -> list[DatasetClass]:
    return list(datasets_in(file.reach, file.module))
