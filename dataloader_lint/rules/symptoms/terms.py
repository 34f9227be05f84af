"""What the arguments of a DataLoader do, what they cost, and which rules look at them."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

TERMS = (
    seen(
        "What `num_workers` does",
        """So many processes load batches beside the main process. 0, the default, loads them in the main process,
        between the training steps. Each worker costs a start, the memory of what it copies of the Dataset, and the
        batches that it keeps ready. A good number is the least with which no iteration waits for its batch: measure an
        epoch with 0, 2, 4 and 8 workers, and use no more than the CPUs that the process may use.""",
        "DL306 DL305 DL307",
        asked=("num_workers what !slower", "worker what good", "num_workers good"),
    ),
    seen(
        "What `persistent_workers` does",
        """With `persistent_workers=True` the workers of the first epoch go on to the next one. Without it they end
        after each epoch, and the next epoch starts new ones: under spawn each of them imports torch and the script
        again. The price: the Dataset in the workers stays as it was in the first epoch, and their memory is not freed
        between epochs. It needs `num_workers` above 0.""",
        "DL309 DL609 DL301 DL310",
        asked=("persistent what", "persistent !no_workers !crash"),
    ),
    seen(
        "What `pin_memory` does",
        """With `pin_memory=True` a thread of the main process copies each batch into page-locked memory, from which a
        copy to CUDA can run beside the work of the CPU, if it is `non_blocking=True`. The price: another copy of each
        batch, in memory that the system cannot swap. Without a GPU it has no use. Batches of a class of your own need a
        `pin_memory` method.""",
        "DL401 DL402 DL403 DL406 DL407 DL408",
        asked=("pin what",),
    ),
    seen(
        "What `prefetch_factor` does",
        """Each worker keeps so many batches ready: 2, if it is left out. All of them, `num_workers` times
        `prefetch_factor`, are held in memory at once, and their tensors in shared memory. It needs `num_workers` above
        0. More smooths out samples that take unequally long; it makes workers no faster.""",
        "DL307 DL302 DL310",
        asked=("prefetch what", "prefetch !no_workers !crash"),
    ),
    seen(
        "What `drop_last` does",
        """`drop_last=True` leaves out the last batch where it is smaller than the others, of each worker for an
        iterable Dataset. Training loses up to `batch_size - 1` samples of an epoch, other ones in each if it shuffles.
        An evaluation should not use it: its metric leaves these samples out.""",
        "DL313 DL621",
        asked=("drop_last what", "drop_last"),
    ),
    seen(
        "What `worker_init_fn` does",
        """Each worker calls it once when it starts, with its number as the one argument. Use: seed generators of your
        own from `torch.initial_seed()`, open files, limit threads. torch seeds `torch`, `random` and NumPy's global
        state in each worker itself. Without workers it is not called.""",
        "DL212 DL602 DL501 DL201 DL202",
        asked=("worker_init_fn what", "worker_init_fn !same !random"),
    ),
    seen(
        "What `collate_fn` does",
        """It gets the list of the samples of a batch and returns the batch; the default one stacks tensors, and cannot
        do so with None or with different sizes. Workers run it. Where they are not forked it is pickled for them: use a
        function at the top level of a module, no lambda and no nested function.""",
        "DL201 DL202 DL604 DL606",
        asked=("collate_fn what", "collate_fn !crash !lambda !nested !none !stack"),
    ),
    seen(
        "What `timeout` does",
        """After so many seconds without a batch from a worker the loader raises; with 0, the default, it waits forever.
        It needs `num_workers` above 0. It shows that a worker hangs, not why, and the first batch of an epoch has to
        come in time, too.""",
        "DL303 DL310",
        asked=("timeout what !hang",),
    ),
    seen(
        "What `multiprocessing_context` does",
        """It says how workers are started. `"fork"` copies the main process, with its locks but without its threads,
        and was the default of Linux before Python 3.14. `"spawn"` (Windows, macOS) and `"forkserver"` (Linux from
        Python 3.14 on) pickle the Dataset, its transforms and functions for new processes, which import the main module
        again. It needs `num_workers` above 0.""",
        "DL303 DL209 DL217 DL210",
        asked=("context what", "context"),
    ),
    seen(
        "A list or dict of samples in the Dataset",
        """Forked workers copy the pages of Python objects as they read them, and spawned ones get a copy of all of
        them; NumPy arrays and tensors stay shared where workers are forked. What that costs depends on the size: a list
        of some thousand paths costs little, one of millions much. `--samples 3M` says how many there are, and findings
        then say how much memory they take. Cure: arrays, `np.dtypes.StringDType()` or one buffer with offsets.""",
        "DL101 DL102 DL103 DL105",
        asked=(
            "container path",
            "container bad",
            "container dataset worker|memory|bad",
            "container memory",
        ),
    ),
    seen(
        "Suppressing a finding",
        """`# noqa: DL201` in a line of the statement suppresses its findings of that rule, and a reason may follow: `#
        noqa: DL201 Linux only`. `per-file-ignores` in pyproject.toml suppresses rules in whole files, `ignore`
        everywhere. `--add-noqa` writes the comments for all findings, `--write-baseline` keeps them in a file. DL001
        reports comments that suppress nothing.""",
        "DL001",
        asked=("noqa",),
    ),
)
