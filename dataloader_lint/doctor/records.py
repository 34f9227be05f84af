"""What was seen of one loader while it was iterated: plain data, filled by `watch` and read by `symptoms`."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass, field
from typing import Any

from dataloader_lint.doctor.budget import Budget, Budgets
from dataloader_lint.doctor.inert import state_of
from dataloader_lint.doctor.pickling import Pickled
from dataloader_lint.doctor.sizes import Attribute

MOST_TIMES = 20_000
MOST_INDICES = 20_000


@dataclass(slots=True)
class Epoch:
    """One pass over the loader, or the part of it that was watched. Times are in seconds."""

    started: float
    creating: float  # making the iterator, which starts the workers
    first_wait: float = 0.0
    batches: int = 0
    starts_workers: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that a DataLoader raised: its text with the type, where in the user's code, and in which files."""

    text: str
    place: tuple[str, int]
    files: tuple[str, ...]


@dataclass(slots=True)
class Settings:
    """What a loader was given."""

    num_workers: int
    batch_size: int | None
    prefetch_factor: int | None
    persistent_workers: bool
    pin_memory: bool
    pin_memory_device: str
    start_method: str
    in_order: bool
    timeout: float
    drop_last: bool
    shuffles: bool


@dataclass(slots=True)
class Contents:
    """What a loader holds, looked at once: sizes and names, and nothing of it itself.

    `batches` and `samples` are the lengths of the loader and of its sampler, where they were needed.
    """

    attributes: list[Attribute] = field(default_factory=list)
    pickles: dict[str, Pickled] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    sampler: str = ""
    batches: int | None = None
    samples: int | None = None

    @property
    def size(self) -> int:
        """The bytes of all attributes."""
        return sum(each.size for each in self.attributes)


@dataclass(slots=True)
class LoaderRecord:
    """One DataLoader: all that was measured of it. Keeps nothing of the user's alive.

    `dataset` is the class of its Dataset, `number` tells records apart. `made` are the lines of the user's code that
    led to its constructor, the innermost first.
    """

    place: tuple[str, int]
    settings: Settings
    folder: str
    dataset: str
    number: int = 0
    made: tuple[tuple[str, int], ...] = ()
    contents: Contents | None = None
    paused: float = 0.0  # seconds during which the contents were looked at, in the middle of the program
    epochs: list[Epoch] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    batches: int = 0
    batch_bytes: int = 0
    batch_tensors: int = 0
    unpinned: bool | None = None
    descriptors: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # by epoch: batches, and how many
    shm_free: list[int] = field(default_factory=list)
    workers: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    exit_codes: dict[int, int] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0
    budget: Budget = field(default_factory=lambda: Budget(0.0025))  # for looks at batches in the main process
    budgets: Budgets = field(default_factory=Budgets)  # for reading samples in the main process
    has_several_datasets: bool = False  # as where one function evaluates on two splits
    cpus: int = 0  # that this process might use when the workers were started
    stale: dict[str, tuple[str, str]] = field(default_factory=dict)  # by attribute: its value then, and now
    variables: dict[str, str] = field(default_factory=dict)  # globals of the main process when workers were spawned
    collections: int = 0  # of all generations, while the main process was in the loop
    collecting: float = 0.0
    shm_files: int = 0
    indices: list[int] = field(default_factory=list)  # of the first epoch, where ranks are to be compared
    digests: list[str | None] = field(default_factory=list)  # of the first batches, where they are to be compared
    batch_kind: str = ""  # of what the first of them is made
    shm_size: int | None = None
    descriptor_limit: int | None = None

    @property
    def waited(self) -> float:
        """Seconds that the loop waited for batches, without the first of each epoch."""
        return sum(self.waits)

    @property
    def started(self) -> float:
        """Seconds until the first batch, in all epochs."""
        return sum(each.creating + each.first_wait for each in self.epochs)

    @property
    def stepped(self) -> float:
        """Seconds between batches, in the code of the loop."""
        return sum(self.steps)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What all processes wrote."""
        return [line for lines in self.workers.values() for line in lines]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """The lines of one kind, from all processes."""
        return [line for line in self.lines if line.get("kind") == kind]

    @property
    def startup(self) -> float | None:
        """Seconds from the start of an epoch to its first batch, as a median over epochs that started workers."""
        times = sorted(each.creating + each.first_wait for each in self.epochs if each.starts_workers and each.batches)
        return times[len(times) // 2] if times else None


def settings_of(loader: Any) -> Settings:
    """The arguments of a DataLoader, as its attributes say."""
    context = getattr(loader, "multiprocessing_context", None)
    method = context.get_start_method() if context is not None else multiprocessing.get_start_method(allow_none=True)
    if method is None:
        method = multiprocessing.get_context().get_start_method()
    sampler = getattr(loader, "sampler", None)
    size = getattr(loader, "batch_size", None)
    inner = state_of(getattr(loader, "batch_sampler", None)).get("batch_size")
    return Settings(
        num_workers=int(loader.num_workers),
        batch_size=size if size is not None else inner if isinstance(inner, int) else None,
        prefetch_factor=getattr(loader, "prefetch_factor", None),
        persistent_workers=bool(getattr(loader, "persistent_workers", False)),
        pin_memory=bool(getattr(loader, "pin_memory", False)),
        pin_memory_device=str(getattr(loader, "pin_memory_device", "") or ""),
        start_method=str(method),
        in_order=bool(getattr(loader, "in_order", True)),
        timeout=float(getattr(loader, "timeout", 0) or 0),
        drop_last=bool(getattr(loader, "drop_last", False)),
        shuffles="Random" in type(sampler).__name__ or state_of(sampler).get("shuffle") is True,
    )
