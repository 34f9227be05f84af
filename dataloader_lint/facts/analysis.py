"""The facts about one file, as rules ask for them: its entities, and the evaluator to ask further."""

from __future__ import annotations

from collections.abc import Iterable

from dataloader_lint.facts.batches import Transfer, transfers_in
from dataloader_lint.facts.callables import Handed, handed_over
from dataloader_lint.facts.datasets import Dataset, datasets_in
from dataloader_lint.facts.entity import Entity
from dataloader_lint.facts.evaluate import Evaluation
from dataloader_lint.facts.generators import SharedGenerator, shared_generators
from dataloader_lint.facts.loaders import Loader, loaders_in
from dataloader_lint.facts.local_datasets import LocalDataset, local_datasets
from dataloader_lint.facts.module import ModuleFacts
from dataloader_lint.facts.opencv import OpenCV
from dataloader_lint.facts.project import Project
from dataloader_lint.facts.reach import Reach
from dataloader_lint.facts.seeding import Seeding, seedings_at_start, seedings_for_samples
from dataloader_lint.facts.starts import Start, first_start
from dataloader_lint.facts.tree import Tree
from dataloader_lint.facts.unpicklable import KeptFunction, kept_functions
from dataloader_lint.facts.workers import Workers
from dataloader_lint.settings import Settings


class Session:
    """What the files of one run share: the project's modules and what has been worked out about them."""

    def __init__(self) -> None:
        self.project = Project()
        self.evaluation = Evaluation(self.project)
        self.with_cuda = Evaluation(self.project, cuda=True)
        self.workers = Workers(self.evaluation)
        self.opencv = OpenCV(self.workers)
        self.reach = Reach(self.workers)

    def analyse(self, path: str, text: str, settings: Settings | None = None) -> Analysis:
        """The facts about a file with the given text. Raises UnreadableError where it is not Python."""
        self.evaluation.steps = self.with_cuda.steps = 0
        return Analysis(self, self.project.module_for(path, text), settings or Settings())


class Analysis:
    """One file of a session. Every part is worked out when it is first asked for."""

    def __init__(self, session: Session, module: ModuleFacts, settings: Settings) -> None:
        self.session = session
        self.module = module
        self.settings = settings
        self.ev = session.evaluation
        self.workers = session.workers
        self.opencv = session.opencv
        self._loaders: list[Loader] | None = None
        self._transfers: list[Transfer] | None = None
        self._datasets: list[Dataset] | None = None
        self._handed: dict[str, list[Handed]] = {}

    @property
    def tree(self) -> Tree:
        return self.module.tree

    def entities(self, kind: Entity) -> Iterable[object]:
        """What a rule's `check` is called with, by the kind that it asks for."""
        if kind is Entity.LOADER:
            return self.loaders
        if kind is Entity.DATASET:
            return self.datasets
        if kind is Entity.TRANSFER:
            return self.transfers
        return (self,)

    def handed_over(self, argument: str) -> list[Handed]:
        """The project's functions that reach an argument of a loader and are handed over in this file."""
        if argument not in self._handed:
            self._handed[argument] = list(handed_over(self.ev, self.module, self.loaders, argument))
        return self._handed[argument]

    @property
    def kept_functions(self) -> list[KeptFunction]:
        """The functions of this file that cannot be pickled and that Datasets keep."""
        return kept_functions(self.session.reach, self.module)

    @property
    def local_datasets(self) -> list[LocalDataset]:
        """The Datasets that are defined inside functions and reach loaders."""
        return list(local_datasets(self.session.reach, self.module))

    @property
    def datasets(self) -> list[Dataset]:
        """Every class of the file that is a Dataset."""
        if self._datasets is None:
            self._datasets = list(datasets_in(self.ev, self.session.project, self.module, self.loaders))
        return self._datasets

    @property
    def transfers(self) -> list[Transfer]:
        """Every move of something to a device."""
        if self._transfers is None:
            self._transfers = list(transfers_in(self.session.with_cuda, self.module))
        return self._transfers

    @property
    def start(self) -> Start | None:
        """The first module-level statement outside a main guard that starts workers."""
        return first_start(self.ev, self.module)

    @property
    def shared_generators(self) -> Iterable[SharedGenerator]:
        """The random generators that are made here outside of worker code and that worker code draws from."""
        return shared_generators(self.workers, self.module)

    @property
    def seedings_at_start(self) -> Iterable[Seeding]:
        """The seeds that functions of this file set when a worker starts."""
        return seedings_at_start(self.workers, self.module)

    @property
    def seedings_for_samples(self) -> Iterable[Seeding]:
        """The seeds that worker code of this file sets for each sample."""
        return seedings_for_samples(self.workers, self.module)

    @property
    def loaders(self) -> list[Loader]:
        """Every call that constructs a DataLoader."""
        if self._loaders is None:
            self._loaders = list(loaders_in(self.ev, self.module))
        return self._loaders
