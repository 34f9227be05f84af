"""Facts about samples in one file: randomness, sharding, epochs, and what comes out of workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dataloader_lint.facts.loaders.epochs import EpochLoop, Loop, epoch_loop, loops_of, training_loops
from dataloader_lint.facts.project.imports import Imports
from dataloader_lint.facts.samples.built_objects import BuiltObject, built_objects
from dataloader_lint.facts.samples.collating import SlowCollate, slow_collates
from dataloader_lint.facts.samples.directory_listings import DirectoryListing, directory_listings
from dataloader_lint.facts.samples.distributed import UndividedLoader, undivided_loaders
from dataloader_lint.facts.samples.file_sharing import shared_by_files
from dataloader_lint.facts.samples.generators import SharedGenerator, shared_generators
from dataloader_lint.facts.samples.image_reads import UncheckedRead, unchecked_reads
from dataloader_lint.facts.samples.memory_cleanup import CleanupCall, cleanup_calls
from dataloader_lint.facts.samples.missing_samples import MissingSample, missing_samples
from dataloader_lint.facts.samples.repeated_reads import RepeatedRead, repeated_reads
from dataloader_lint.facts.samples.retained_batches import RetainedBatches, retained_batches
from dataloader_lint.facts.samples.retries import Retry, unbounded_retries
from dataloader_lint.facts.samples.samplers import SETTER, StuckSampler, stuck_samplers
from dataloader_lint.facts.samples.seeding import Seeding, seedings_at_start, seedings_for_samples
from dataloader_lint.facts.samples.sharding import UnsharedStream, unshared_streams
from dataloader_lint.facts.samples.split_transforms import SplitTransform, split_transforms
from dataloader_lint.facts.samples.stale_attributes import StaleAttribute, sets_in_loops, stale_attributes
from dataloader_lint.facts.samples.worker_info import UncheckedInfo, unchecked_infos
from dataloader_lint.facts.syntax.tree import ModuleFacts
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow

if TYPE_CHECKING:
    import libcst as cst

PERSISTENT = "persistent_workers"


class Samples:
    """Facts about samples in one file; each is computed on request."""

    def __init__(self, reach: DatasetFlow, imports: Imports, module: ModuleFacts) -> None:
        self.reach = reach
        self.workers = reach.workers
        self.ev = reach.ev
        self.imports = imports
        self.module = module
        self.project = self.workers.ev.project
        self._searched: dict[tuple[int, bool], EpochLoop | None] = {}

    @property
    def shared_generators(self) -> Iterable[SharedGenerator]:
        """The random generators constructed here outside of worker code that worker code draws from."""
        return shared_generators(self.reach, self.module)

    @property
    def seedings_at_start(self) -> Iterable[Seeding]:
        """The seeds that functions of this file set when a worker starts."""
        return seedings_at_start(self.workers, self.module)

    @property
    def seedings_for_samples(self) -> Iterable[Seeding]:
        """The seeds that worker code of this file sets for each sample."""
        return seedings_for_samples(self.reach, self.module)

    @property
    def unchecked_infos(self) -> Iterable[UncheckedInfo]:
        """The uses of the worker info that fail in the main process."""
        return unchecked_infos(self.workers, self.module)

    @property
    def stuck_samplers(self) -> Iterable[StuckSampler]:
        """The epoch loops whose distributed samplers repeat one order."""
        if self.module.calls_named(SETTER):  # on any object; then no loop of the file is reported
            return ()
        # Stale attributes need all loops over loaders; a search for these finds the training loops too.
        only_training = not self.project.mentions_word(self.module, PERSISTENT)
        return stuck_samplers(self.workers, self.imports, self._training_loops("DistributedSampler", only_training))

    @property
    def stale_attributes(self) -> Iterable[StaleAttribute]:
        """The changes to Datasets between epochs that persistent workers never see."""
        if self.project.mentions_word(self.module, PERSISTENT):
            return stale_attributes(self.workers, self.epoch_loops)
        if sets_in_loops(self.module):
            loops = training_loops(self.project, self.module)
            return stale_attributes(self.workers, self._loops_with_passes(loops, False))
        return ()

    @property
    def unshared_streams(self) -> Iterable[UnsharedStream]:
        """The iterable Datasets whose items every worker yields in full."""
        return unshared_streams(self.reach, self.module)

    @property
    def missing_samples(self) -> Iterable[MissingSample]:
        """The places that return None to a loader as a sample."""
        return missing_samples(self.reach, self.module)

    @property
    def repeated_reads(self) -> Iterable[RepeatedRead]:
        """The files that workers read again for every sample."""
        return repeated_reads(self.workers, self.module)

    @property
    def directory_listings(self) -> Iterable[DirectoryListing]:
        """The folders that workers list again for every sample."""
        return directory_listings(self.workers, self.module)

    @property
    def built_objects(self) -> Iterable[BuiltObject]:
        """The tokenizers, models and decoders that workers make again for every sample."""
        return built_objects(self.workers, self.module)

    @property
    def undivided_loaders(self) -> Iterable[UndividedLoader]:
        """The loaders from which every rank trains on all samples."""
        return undivided_loaders(self.ev, self.module, self._training_loops("DistributedDataParallel", True))

    @property
    def split_transforms(self) -> Iterable[SplitTransform]:
        """The transforms that are set on one split of a Dataset."""
        return split_transforms(self.ev, self.module)

    @property
    def unbounded_retries(self) -> Iterable[Retry]:
        """The handlers of worker code that try another sample without an end."""
        return unbounded_retries(self.workers, self.module)

    @property
    def unchecked_reads(self) -> Iterable[UncheckedRead]:
        """The images that workers read without a test for None."""
        return unchecked_reads(self.workers, self.module)

    @property
    def slow_collates(self) -> Iterable[SlowCollate]:
        """The slow ways in which collate functions of this file build batches."""
        return slow_collates(self.workers, self.module)

    @property
    def cleanup_calls(self) -> Iterable[CleanupCall]:
        """The calls that free memory for every sample or step."""
        return cleanup_calls(self.workers, self.module)

    @property
    def shared_by_files(self) -> Iterable[cst.Call]:
        """The calls that share tensors through files."""
        return shared_by_files(self.ev, self.module)

    @property
    def retained_batches(self) -> Iterable[RetainedBatches]:
        """The calls that store batches of loaders with workers."""
        return retained_batches(self.ev, self.module)

    @property
    def epoch_loops(self) -> list[EpochLoop]:
        """The loops that iterate over a loader repeatedly."""
        return self._loops_with_passes(loops_of(self.module), False)

    def _training_loops(self, word: str, only_training: bool) -> list[EpochLoop]:
        """The epoch loops that may train, if the word occurs in this file or in related ones."""
        if not self.project.mentions_word(self.module, word):
            return []
        return self._loops_with_passes(training_loops(self.project, self.module), only_training)

    def _loops_with_passes(self, loops: Iterable[Loop], only_training: bool) -> list[EpochLoop]:
        """The loops that iterate over a loader, optionally only in training; each is searched once."""
        found = []
        for loop in loops:
            key = (id(loop), only_training)
            if key not in self._searched:
                self._searched[key] = epoch_loop(self.ev, self.project, self.module, loop, only_training)
            searched = self._searched[key]
            if searched is not None:
                found.append(searched)
        return found
