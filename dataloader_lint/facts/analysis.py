"""The facts about one file, as rules request them: its entities, and the evaluator for further questions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from dataloader_lint.facts.arguments.late_settings import LateSetting, late_settings
from dataloader_lint.facts.arguments.restarts import Restart, restarts
from dataloader_lint.facts.arguments.trainings import Training, trainings_without_workers
from dataloader_lint.facts.entity import Entity
from dataloader_lint.facts.infer.loader_calls import Loader, loaders_in
from dataloader_lint.facts.infer.values import Class
from dataloader_lint.facts.loaders import loader_steps
from dataloader_lint.facts.loaders.callbacks import Callback, callbacks_of
from dataloader_lint.facts.loaders.evaluations import Evaluation as LoaderEvaluation
from dataloader_lint.facts.loaders.evaluations import evaluations
from dataloader_lint.facts.loaders.signatures import SignatureMismatch, signature_mismatches
from dataloader_lint.facts.loaders.trainer_options import trainer_options, trainers
from dataloader_lint.facts.memory.caches import Growth, growths_in
from dataloader_lint.facts.object_state.arrays import KeptArray
from dataloader_lint.facts.object_state.datasets import LintedDataset, datasets_in
from dataloader_lint.facts.processes.calls_in_workers import WorkerCall
from dataloader_lint.facts.processes.cuda import cuda_in_workers
from dataloader_lint.facts.processes.cuda_tensors import KeptCudaTensor, kept_cuda_tensors
from dataloader_lint.facts.processes.forked_threads import forked_threads
from dataloader_lint.facts.processes.forks import ForcedFork, forced_forks
from dataloader_lint.facts.processes.global_handles import GlobalHandle, global_handles
from dataloader_lint.facts.processes.handles import KeptHandle, kept_handles
from dataloader_lint.facts.processes.local_datasets import LocalDataset, local_datasets
from dataloader_lint.facts.processes.nested import processes_in_workers
from dataloader_lint.facts.processes.stale_globals import StaleGlobal, stale_globals
from dataloader_lint.facts.processes.start_methods import StartMethod, start_methods
from dataloader_lint.facts.processes.unguarded_starts import Start, first_start
from dataloader_lint.facts.processes.unpicklable import KeptFunction, kept_functions
from dataloader_lint.facts.processes.unpicklable_samples import UnpicklableSample, unpicklable_samples
from dataloader_lint.facts.project.imports import may_be_imported
from dataloader_lint.facts.project_facts import ProjectFacts
from dataloader_lint.facts.samples.samples import Samples
from dataloader_lint.facts.syntax.steps import Step
from dataloader_lint.facts.syntax.tree import ModuleFacts, Node, Tree
from dataloader_lint.facts.threads.threads import LateLimit, late_limits
from dataloader_lint.facts.threads.worker_limits import ThreadCall, limits_in_workers
from dataloader_lint.facts.transfers.batches import Origin, Transfer, transfers_in
from dataloader_lint.facts.transfers.cpu import EarlyRead, early_reads
from dataloader_lint.facts.transfers.mps import MpsMove, moves_to_mps
from dataloader_lint.facts.transfers.pinning import UselessPin, useless_pins
from dataloader_lint.facts.transfers.unpinned_moves import unpinned_moves
from dataloader_lint.facts.transfers.unpinned_trainings import unpinned_trainings
from dataloader_lint.facts.workers.instances import may_construct
from dataloader_lint.facts.workers.object_graph import Reachable
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction
from dataloader_lint.facts.workers.worker_steps import loader_of_class, to_function
from dataloader_lint.settings import Settings


class Analysis:
    """One file of a session. Each fact is computed on first use."""

    def __init__(self, session: ProjectFacts, module: ModuleFacts, settings: Settings) -> None:
        self.session = session
        self.module = module
        self.settings = settings
        self.ev = session.evaluation
        self.workers = session.workers
        self.opencv = session.opencv
        self._loaders: list[Loader] | None = None
        self._transfers: list[Transfer] | None = None
        self._datasets: list[LintedDataset] | None = None
        self._callbacks: dict[str, list[Callback]] = {}
        self.samples = Samples(session.reach, session.imports, self.module)

    @property
    def tree(self) -> Tree:
        return self.module.tree

    def steps_to(self, function: WorkerFunction) -> tuple[Step, ...]:
        """The chain from a loader to a function that its workers run."""
        return to_function(self.session.reach, function, self.module)

    def steps_to_loader(self, kept: Reachable) -> tuple[Step, ...]:
        """The loader that gets the object which contains something, as far as one is known."""
        outer = kept.path.holdings[0] if kept.path.holdings else None
        made = outer.owner.by if outer is not None else None
        if outer is None or not isinstance(made, Class):
            return ()
        runs = partial(may_construct, self.ev, made, node=outer.node, method=outer.step.scope)
        fits = [partial(runs, if_unknown=each) for each in (False, True)]
        loader = loader_of_class(self.session.reach, made, self.module, fits)
        return loader_steps.made(loader, "num_workers") if loader is not None else ()

    def entities(self, kind: Entity) -> Iterable[object]:
        """Returns the arguments for a rule's `check`, by the kind of entity that the rule requests."""
        if kind is Entity.LOADER:
            return [*self.loaders, *trainer_options(self.ev, self.module)]
        if kind is Entity.DATASET:
            return self.datasets
        if kind is Entity.TRANSFER:
            return self.transfers
        return (self,)

    def callbacks_of(self, argument: str) -> list[Callback]:
        """The project's functions given to an argument of a loader in this file."""
        if argument not in self._callbacks:
            loaders = [*self.loaders, *(trainers(self.ev, self.module) if argument == "collate_fn" else ())]
            self._callbacks[argument] = list(callbacks_of(self.ev, self.module, loaders, argument))
        return self._callbacks[argument]

    @property
    def too_wide_classes(self) -> list[Node]:
        """The classes of this file that derive from too many for each to be known, as far as they were looked at."""
        return [each.node for each in self.session.evaluation.too_wide if each.module is self.module]

    @property
    def kept_functions(self) -> list[KeptFunction]:
        """The functions of this file that cannot be pickled and that Datasets store."""
        return kept_functions(self.session.reach, self.module)

    @property
    def kept_handles(self) -> list[KeptHandle]:
        """The handles opened in this file that Datasets hold when workers start."""
        return kept_handles(self.session.reach, self.module)

    @property
    def global_handles(self) -> list[GlobalHandle]:
        """The handles of this file that the main process keeps in a global, and that forked workers read."""
        return global_handles(self.session.reach, self.module)

    @property
    def cuda_calls(self) -> list[WorkerCall]:
        """The calls in this file that initialize CUDA in workers."""
        return cuda_in_workers(self.session.reach, self.module)

    @property
    def kept_cuda_tensors(self) -> list[KeptCudaTensor]:
        """The tensors that this file puts on CUDA and that Datasets keep, where that raises."""
        return kept_cuda_tensors(self.session.reach, self.module)

    @property
    def nested_processes(self) -> list[WorkerCall]:
        """The calls in this file that start processes in workers."""
        return processes_in_workers(self.session.reach, self.module)

    @property
    def unpicklable_samples(self) -> list[UnpicklableSample]:
        """What worker code of this file returns that cannot be sent to the main process."""
        return unpicklable_samples(self.session.reach, self.module)

    @property
    def stale_globals(self) -> list[StaleGlobal]:
        """What this file sets in the parent at run time and reads in worker code."""
        return stale_globals(self.session.reach, self.module)

    @property
    def local_datasets(self) -> list[LocalDataset]:
        """The nested Dataset classes that reach loaders."""
        return list(local_datasets(self.session.reach, self.module))

    @property
    def datasets(self) -> list[LintedDataset]:
        """Every class of the file that is a Dataset."""
        if self._datasets is None:
            self._datasets = list(datasets_in(self.session.reach, self.module))
        return self._datasets

    @property
    def growths(self) -> list[Growth]:
        """What worker code adds to containers that outlive the sample."""
        return list(growths_in(self.session.reach, self.module))

    @property
    def copied_arrays(self) -> list[KeptArray]:
        """The numeric arrays that Datasets load from files and store, unless loaders only fork or have no workers."""
        reach = self.session.reach
        found: list[KeptArray] = []
        for dataset in self.datasets:
            arrays = [array for array in dataset.arrays() if array.source]
            if arrays and (dataset.has_no_workers_yet or dataset.is_unread):
                continue
            loaders = reach.loaders_of(dataset.klass) if arrays else []
            if not loaders or not all(loader.pickles_nothing for loader in loaders):
                found.extend(arrays)
        return found

    @property
    def late_thread_limits(self) -> list[LateLimit]:
        """The thread limits that are set in the environment after the import of the library that reads them."""
        return list(late_limits(self.ev, self.module))

    @property
    def worker_thread_calls(self) -> list[ThreadCall]:
        """The calls of `torch.set_num_threads` that workers run."""
        return list(limits_in_workers(self.session.reach, self.module))

    @property
    def early_reads(self) -> list[tuple[Transfer, EarlyRead]]:
        """The copies to the CPU that are read before they are complete."""
        return list(early_reads(self.transfers))

    @property
    def useless_pins(self) -> list[UselessPin]:
        """The loaders that pin batches which stay on the CPU."""
        return list(useless_pins(self.ev, self.module, self.loaders, self.transfers))

    @property
    def unpinned_moves(self) -> list[tuple[Origin, Transfer]]:
        """The non-blocking moves of batches that are not pinned."""
        return list(unpinned_moves(self.transfers))

    @property
    def unpinned_trainings(self) -> list[tuple[Origin, Transfer]]:
        """The blocking moves to CUDA of batches that a loop trains with and that are not pinned."""
        return list(unpinned_trainings(self.transfers))

    @property
    def moves_to_mps(self) -> list[MpsMove]:
        """The non-blocking moves that may go to MPS."""
        return list(moves_to_mps(self.transfers))

    @property
    def transfers(self) -> list[Transfer]:
        """Every move of a value to a device."""
        if self._transfers is None:
            may_be_pinned = self.session.project.mentions_word(self.module, "pin_memory")
            self._transfers = list(transfers_in(self.session.with_cuda, self.ev, self.module, may_be_pinned))
        return self._transfers

    @property
    def start(self) -> Start | None:
        """The first module-level statement outside a main guard that starts workers."""
        return first_start(self.ev, self.module)

    @property
    def may_be_imported(self) -> bool:
        """True if anything in the project, such as a notebook or an entry point, may import this file."""
        return may_be_imported(self.session.project, self.module)

    @property
    def restarts(self) -> Iterable[Restart]:
        """The places that start the workers of one loader repeatedly."""
        return restarts(self.ev, self.module, self.loaders)

    @property
    def late_settings(self) -> Iterable[LateSetting]:
        """The attributes of loaders that are set after construction."""
        return late_settings(self.ev, self.module)

    @property
    def start_methods(self) -> Iterable[StartMethod]:
        """The calls that set the start method."""
        return start_methods(self.ev, self.module)

    @property
    def forced_forks(self) -> Iterable[ForcedFork]:
        """The places that force fork next to something that a forked process breaks."""
        return forced_forks(self.module, self.loaders, self.start_methods, self.transfers)

    @property
    def forked_threads(self) -> list[WorkerCall]:
        """The calls in this file that forked workers make of objects whose threads stay in the main process."""
        return forked_threads(self.session.reach, self.module)

    @property
    def trainings_without_workers(self) -> Iterable[Training]:
        """The loaders without workers that loops of this file train with."""
        return trainings_without_workers(self.ev, self.module)

    @property
    def evaluations(self) -> list[LoaderEvaluation]:
        """The loaders that this file evaluates with."""
        if "drop_last" not in self.tree.code and not self.session.project.mentions_word(self.module, "drop_last"):
            return []
        return list(evaluations(self.ev, self.session.with_cuda, self.module, self.loaders))

    @property
    def signature_mismatches(self) -> Iterable[SignatureMismatch]:
        """The functions given as `worker_init_fn` that cannot take the worker id."""
        return signature_mismatches(self.callbacks_of("worker_init_fn"), self.loaders)

    @property
    def loaders(self) -> list[Loader]:
        """Every call that constructs a DataLoader."""
        if self._loaders is None:
            self._loaders = list(loaders_in(self.ev, self.module))
        return self._loaders
