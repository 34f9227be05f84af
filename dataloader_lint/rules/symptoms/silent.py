"""What programs do that print no message: they hang, or fill the memory."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

SILENT = (
    seen(
        "It hangs without a message",
        """A worker waits for a lock that a thread of the main process held when the worker was forked, or a retry never
        ends. Measure: `py-spy dump --pid PID` for a worker. Then try `multiprocessing_context="spawn"`: if it runs, a
        fork is the cause. In a distributed program see whether all ranks get as many batches.""",
        "DL209 DL501 DL205 DL616",
        asked=(
            "hang loader|dataset",
            "hang worker",
            "hang many_workers",
            "hang training !transform",
            "hang epoch|batch",
            "hang distributed",
            "hang fork",
            "hang evaluation worker",
            "hang threads",
            "hang files",
            "hang mps",
            "hang use low",
            "hang cpu|gpu|disk",
            "hang",
        ),
    ),
    seen(
        "Ranks with different numbers of batches wait for each other",
        """DDP synchronizes the ranks in each step, and one rank has no batch left: the others wait until a timeout. A
        `DistributedSampler` gives each rank as many samples; an IterableDataset or a custom batch sampler need not.
        Measure: print `len(loader)`, or count the batches, on each rank. Cure: `drop_last=True`, the same number of
        steps on each rank (the least of all, by `all_reduce`), or `with model.join():`. No rule finds this.""",
        "",
        asked=("uneven distributed", "uneven batch distributed", "uneven hang", "uneven worker hang", "uneven batch"),
    ),
    seen(
        "Memory grows",
        """Within an epoch: forked workers copy the pages of Python objects that they read. From epoch to epoch: a
        cache, or batches that are kept, also by `itertools.cycle(loader)`. Measure `Pss` in `/proc/PID/smaps_rollup` of
        each process, not RSS, which counts shared pages several times.""",
        "DL101 DL102 DL104 DL611 DL103 DL620",
        asked=(
            "=leak",
            "memory grow !model",
            "memory leak",
            "memory grow loader|worker|many_workers|dataset",
            "memory grow epoch|batch|training",
            "leak loader|worker",
        ),
    ),
    seen(
        "Every worker needs as much memory as the main process",
        """A spawned worker gets a copy of the whole Dataset. A forked one shares it at first and copies the pages of
        Python objects as it reads them; NumPy arrays and tensors stay shared. Measure `Pss` in `/proc/PID/smaps_rollup`
        of each process.""",
        "DL101 DL102 DL106 DL103",
        r"cannot serialize a bytes object larger than 4 ?gib",
        asked=("memory worker times", "memory many_workers times", "memory loader times", "memory worker many_workers"),
    ),
    seen(
        "One copy of the Dataset for several ranks",
        """Each rank is a program of its own and loads the Dataset for itself; only the forked workers of one rank share
        it. Cure: a file that is mapped into memory (`numpy.load(path, mmap_mode="r")`, Arrow, `torch.load(path,
        mmap=True)`), of which the system keeps one copy for all processes. Measure `Pss`, not RSS. No rule finds
        this.""",
        "",
        asked=(
            "share dataset distributed|worker",
            "share memory distributed",
            "share dataset memory",
            "distributed memory dataset",
            "distributed each dataset reading",
            "memory distributed each dataset|table",
        ),
    ),
)
