"""Data loading that takes too long."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

SPEED = (
    seen(
        "The first batch of each epoch is slow",
        "The workers are restarted for each epoch. Measure an epoch with and without `persistent_workers=True`.",
        "DL309 DL308 DL206",
        asked=(
            "slow first each epoch",
            "slow each epoch",
            "hang first each epoch",
            "pause each epoch",
            "wait each epoch",
            "slow first batch",
            "slow first batch epoch",
            "wait first batch",
            "first batch each epoch",
            "worker respawn epoch",
            "respawn each epoch",
            "worker respawn loader",
            "worker persistent epoch",
            "persistent epoch each",
        ),
    ),
    seen(
        "The first epoch is slow, later ones are fast",
        """The first epoch reads the files from the disk or the network, later ones from the page cache of the system.
        Measure: `free -m` (buff/cache) after each epoch; the second epoch is slow as well if the data is larger than
        the memory. Cure: more workers, fewer and larger files, a local disk. No rule finds this.""",
        "",
        asked=(
            "slow first later epoch",
            "slow first epoch !each",
            "slow first epoch later",
            "slow disk first|later epoch",
        ),
    ),
    seen(
        "Epochs get slower and slower",
        """Something grows from epoch to epoch: memory until the system swaps, a list that is searched, workers or hooks
        that are added again; or the machine throttles. Measure: the time that an iteration waits for its batch, the
        memory (`free -m`), the number of processes and the clock of the GPU in an early and in a late epoch. If only
        loading gets slower, a cache or a list of the Dataset is the likeliest cause.""",
        "DL104 DL611 DL308 DL628",
        asked=(
            "ever_slower",
            "ever_slower evaluation|training|loader",
            "slower each epoch",
            "slower epoch !worker",
            "slower later epoch",
            "slower training over_time",
            "slow later epoch over_time",
            "slow loader over_time",
        ),
    ),
    seen(
        "Workers make it slower",
        """Each worker costs a start, in each epoch unless `persistent_workers=True`, and a copy of each batch. That
        pays where a sample takes long, not where the Dataset only indexes a tensor in memory. With more workers than
        CPUs, or several threads in each worker, they also get in each other's way. Spawned workers (Windows, macOS)
        start slowest. Measure an epoch with 0, 1, 2 and 4 workers, the first epoch apart from the others.""",
        "DL309 DL305 DL501 DL308",
        asked=(
            "worker slower",
            "many_workers slow|slower",
            "worker slow windows",
            "worker slower no_workers",
            "worker slow many_workers !gpu",
            "loader slower many_workers",
            "loader|training slower num_workers !no_workers",
        ),
    ),
    seen(
        "GPU use goes up and down, or stays low",
        """The GPU waits for batches. Measure the share of an iteration that passes before the batch is there, and an
        epoch with 0, 2, 4 and 8 workers. If only the first batches of each epoch are slow, workers are restarted.""",
        "DL306 DL605 DL309 DL401 DL606 DL614",
        asked=(
            "=bottleneck",
            "gpu use low !hang",
            "gpu low wait !hang",
            "gpu low reading !hang",
            "gpu low loader|cpu|worker !hang",
            "gpu wait",
            "gpu underused",
            "loader slow",
            "loader wait",
            "sample slow reading",
            "loader bottleneck",
            "batch slow reading",
            "worker slow reading",
            "dataset slow reading",
            "slow no_workers",
            "slow transform|image training|loader",
        ),
    ),
    seen(
        "A pause every few batches",
        """With N workers, N batches come at once and then none: loading is slower than training, and all workers work
        on the next ones. Measure the time of a single `dataset[i]`, times the batch size, divided by the workers: as
        long as that exceeds a training step, there are pauses. Cure: faster samples, or more workers up to the number
        of CPUs.""",
        "DL605 DL501 DL614 DL615",
        asked=(
            "pause batch",
            "pause loader|worker|many_workers",
            "pause training",
            "slow fast batch worker",
            "slow pause batch|loader|worker",
        ),
    ),
    seen(
        "How many workers",
        """As few as are needed so that no iteration waits for its batch. Measure an epoch with 0, 2, 4 and 8 workers.
        More than the CPUs that the process may use (`len(os.sched_getaffinity(0))`, divided by the ranks on the
        machine) are not faster, and each costs memory.""",
        "DL306 DL305",
        asked=(
            "worker set !slower !hang",
            "many_workers set !slower !hang",
            "worker improve !slower",
            "worker speed !slower",
            "many_workers fast !slower",
        ),
    ),
    seen(
        "Threads of OpenCV or BLAS in every worker",
        """Each worker starts as many threads as there are CPUs, so that workers slow each other down. Measure: `ps -eLf
        | wc -l`, and an epoch with `cv2.setNumThreads(0)` and `OMP_NUM_THREADS=1`.""",
        "DL501 DL502 DL503 DL504",
        asked=(
            "=threads",
            "=opencv",
            "opencv threads",
            "opencv slow|worker|hang",
            "threads worker busy|slow|set",
            "busy loader|worker",
            "busy",
            "threads worker",
        ),
    ),
    seen(
        "Copies to the GPU that wait",
        """A copy overlaps with the work of the CPU only if both hold: the batch is pinned (`pin_memory=True`) and the
        copy is `non_blocking=True`. Batches of a class of your own need a `pin_memory` method. Samples stay on the CPU
        in the workers; the training loop moves the batch.""",
        "DL401 DL402 DL406 DL407 DL403 DL408",
        asked=(
            "pin nonblocking",
            "pin slow|move|speed",
            "nonblocking move|slow|cuda|gpu",
            "move loader|batch|dataset|sample slow|gpu|cuda",
            "loader|batch|sample to_gpu !cpu",
            "overlap move",
            "pin",
            "nonblocking",
        ),
    ),
    seen(
        "Garbage collection or empty_cache in the loop",
        """Both take milliseconds to hundreds of them, and `torch.cuda.empty_cache()` makes the next batch allocate its
        memory again. Call them once per epoch, or not at all.""",
        "DL607",
        asked=("empty_cache slow", "empty_cache"),
    ),
    seen(
        "A large table or file that does not fit in memory",
        """Do not read the whole file for each sample, nor into each worker. Cure: convert it once into a format that
        can be read in part, such as Arrow, Parquet by row groups, LMDB or a NumPy array that is mapped into memory
        (`mmap_mode="r"`), and read the rows of a sample in `__getitem__`; or an IterableDataset of which each worker
        reads its own part.""",
        "DL605 DL601",
        asked=(
            "table loader|dataset",
            "table memory",
            "fit memory",
            "fit dataset reading",
            "fit table",
            "table worker|many_workers",
            "storage slow",
            "storage table",
            "storage fit",
        ),
    ),
)
