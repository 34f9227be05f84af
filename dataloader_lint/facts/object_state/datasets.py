"""The Datasets of a file, with what rules ask of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dataloader_lint.facts.datasets.construction import construction_of, with_setup_methods
from dataloader_lint.facts.datasets.reads import reads_of
from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.size_classes import Size
from dataloader_lint.facts.infer.values import Class
from dataloader_lint.facts.limits import SUBCLASS_MODULES
from dataloader_lint.facts.object_state.arrays import KeptArray, arrays_of
from dataloader_lint.facts.object_state.bound_containers import BoundContainer, bound_containers
from dataloader_lint.facts.object_state.dataset import Dataset
from dataloader_lint.facts.object_state.sample_mutations import SampleMutation, sample_mutations
from dataloader_lint.facts.object_state.sample_storage import SampleStorage, sample_storage
from dataloader_lint.facts.syntax.tree import ModuleFacts
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow


@dataclass(frozen=True, slots=True, eq=False)
class LintedDataset(Dataset):
    """A Dataset of the file that is being linted, with what it keeps that is bound there."""

    def sample_lists(self) -> list[SampleStorage]:
        """The Python lists that it binds in its own file and that are sample storage."""
        return self._stored(Size.LIST)

    def sample_dicts(self) -> list[SampleStorage]:
        """The dicts, sets and known holders of them that it binds in its own file and that are sample storage."""
        return self._stored(Size.DICT)

    def containers(self) -> list[BoundContainer]:
        """The other lists, dicts and sets that its constructor binds in its own file."""
        return list(bound_containers(self, {each.name for each in (*self.sample_lists(), *self.sample_dicts())}))

    def arrays(self) -> list[KeptArray]:
        """The arrays and tables that it binds in its own file and that are sample storage."""
        return list(arrays_of(self))

    def sample_mutations(self) -> list[SampleMutation]:
        """The places in its own file where worker code changes the samples that it stores."""
        tree = self.klass.scope.module.tree
        return [each for each in sample_mutations(self) if each.node in tree]

    def _stored(self, size: Size) -> list[SampleStorage]:
        tree = self.klass.scope.module.tree
        found: dict[tuple[int, str], SampleStorage] = {}
        for dataset in (*self._readers_elsewhere(), self):
            for stored in sample_storage(dataset, size, tree):
                if stored.node in tree:
                    found.setdefault((id(stored.node), stored.name), stored)
        return list(found.values())

    def _readers_elsewhere(self) -> Iterator[LintedDataset]:
        """Classes of other files that inherit this one, where it leaves to them how samples are found or read."""
        if not self.bases.complete or not self.construction:
            return
        reads_itself = not all(map(classes.is_left_to_subclasses, self.reads.functions))
        if reads_itself and not any(map(classes.is_left_to_subclasses, self.construction)):
            return
        name = self.klass.node.name.value
        for module in self.reach.ev.project.importers(self.klass.scope.module, [name], SUBCLASS_MODULES):
            for scope in module.classes:
                klass = Class(scope, self.ev.frame_of(scope))
                bases = self.ev.bases(klass)
                if any(each.scope is self.klass.scope for each in bases.classes[1:]):
                    yield _dataset(self.reach, klass)


def datasets_in(reach: DatasetFlow, module: ModuleFacts) -> Iterator[LintedDataset]:
    """The Datasets that a module defines: by their bases, or because an object of theirs reaches a DataLoader."""
    ev = reach.ev
    for scope in module.root.descend():
        if not scope.is_class or scope.parent is None:
            continue
        klass = Class(scope, ev.frame_of(scope.parent))
        if reach.workers.is_dataset(klass):
            yield _dataset(reach, klass)


def _dataset(reach: DatasetFlow, klass: Class) -> LintedDataset:
    ev = reach.ev
    bases = ev.bases(klass)
    reads = reads_of(ev, klass, bases)
    construction = with_setup_methods(ev, bases, construction_of(ev, bases), reads)
    return LintedDataset(klass, bases, ev, construction, reads, reach)
