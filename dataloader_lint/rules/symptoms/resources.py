"""What ran out: memory, shared memory, files, processes."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

RESOURCES = (
    seen(
        "Out of shared memory",
        """Workers hand batches over in shared memory (`/dev/shm`), and it is full. Docker gives 64 MB by default.
        Measure: `df -h /dev/shm` while the program runs. Cure: `docker run --shm-size=8g` or `--ipc=host`, an
        `emptyDir` with `medium: Memory` in Kubernetes, fewer workers, a smaller `prefetch_factor` or smaller
        samples.""",
        "DL307 DL608 DL305",
        r"\bbus error\b",
        r"insufficient shared memory",
        r"out of shared memory",
        r"unable to (?:write to|open|mmap|allocate|resize).*(?:shared memory|/torch_|/dev/shm)",
        r"no space left on device.*(?:shm|torch_)",
        traced=((r"\[errno 28\]", r"multiprocessing[\\/](?:synchronize|heap|shared_memory|reductions)\.py"),),
        unless=(r"too many open files|\(24\)|\[errno 24\]",),
        asked=(
            "shared_memory",
            "shared_memory grow",
            "shared_memory crash",
        ),
    ),
    seen(
        "Too many open files",
        """Each tensor from a worker is an open file of the main process until it is freed. Measure: `ulimit -n`, and
        `ls /proc/PID/fd | wc -l` while the program runs. Cure: free batches (`clone()` what you keep), close files,
        raise the limit with `ulimit -n 65536`, or call `torch.multiprocessing.set_sharing_strategy("file_system")`. Its
        price: each tensor is then a file in `/dev/shm`, which is left there if a whole container is killed (DL608).""",
        "DL611 DL205 DL620",
        r"\[errno 24\]",
        r"too many open files",
        r"received (?:\d+|%d) items of ancdata",
        r"\bancdata\b",
        r"too many fds",
        asked=(
            "files grow",
            "files worker",
            "files too_many",
            "files",
            "ancdata worker|loader",
            "ancdata",
        ),
    ),
    seen(
        "A worker was killed for its memory",
        """The system ended the worker, as a rule because memory ran out. Check with `dmesg -T | grep -i oom` or the
        limit of the container. Measure the memory of each worker (`Pss` in `/proc/PID/smaps_rollup`) over an epoch. If
        it grows from batch to batch, a Dataset or a cache is the likeliest cause. If not: fewer workers, or a smaller
        `prefetch_factor`, since all batches that workers keep ready are in memory at once.""",
        "DL101 DL102 DL104 DL103 DL105 DL307 DL305",
        r"signal: (?:killed|terminated)",
        r"worker .*exited unexpectedly with exit code -?9\b",
        r"signals?[ .]sigkill",
        r"^(?:.* \d+ +)?killed(?: +\S*python.*)?$",  # what a shell says of a process
        r"\boom.?kill",
        r"out of memory: killed process",
        r"tried to allocate more memory than is available",
        asked=(
            "worker kill",
            "loader kill",
            "training kill",
            "kill",
            "memory kill",
            "memory worker exit",
            "memory grow kill",
            "oom worker|loader|kill|many_workers",
            "oom memory cpu",
        ),
    ),
    seen(
        "No memory for another worker",
        """The system refused memory when a process was started or shared memory was made. A fork needs as much as the
        main process holds where memory must not be overcommitted. Measure: `free -m`, `ulimit -v`, the limit of the
        container. Cure: fewer workers, and less in the main process before they start.""",
        "DL305 DL101 DL102 DL611",
        r"\[errno 12\]",
        r"cannot allocate memory",
        asked=(
            "memory worker allocate",
            "memory allocate",
        ),
    ),
    seen(
        "No more processes or threads",
        """The system refused another process or thread: the limit of the user (`ulimit -u`) or of the container
        (`pids.max` of its cgroup) is reached. Every worker counts, and in it every thread of OpenMP, BLAS and OpenCV.
        Measure: `ps -eLf | wc -l` while the program runs. Cure: fewer workers, and `OMP_NUM_THREADS=1` in the
        environment before Python starts.""",
        "DL305 DL501 DL502",
        r"resource temporarily unavailable",
        r"cant start new thread",
        unless=(r"unable to lock file",),
        asked=(
            "worker grow respawn",
            "threads too_many worker",
        ),
    ),
    seen(
        "The thread that pins batches ended",
        """With `pin_memory=True`, a thread of the main process copies batches into page-locked memory. An exception
        ended it, and this message does not say which: look above it, or below `Original Traceback`, for another one,
        such as too many open files or a CUDA error. With `pin_memory=False` the program may show it directly.""",
        "DL611 DL215 DL608",
        r"pin memory thread exited unexpectedly",
        r"caught \w+ in pin memory thread",
        asked=(
            "pin crash",
            "pin exit",
        ),
    ),
    seen(
        "A worker crashed in native code",
        """A library crashed: one with threads or handles that do not survive a fork, a broken file, or versions that do
        not fit. Measure: `num_workers=0`, then `python -X faulthandler`, to see the line; then one worker with
        `multiprocessing_context="spawn"`. If only forked workers crash, the rules below can find the cause.""",
        "DL501 DL205 DL209 DL207",
        r"signal: (?:segmentation fault|aborted|floating point exception|illegal instruction|trace.?(?:/|trap)|bpt)",
        r"unexpected (?:segmentation fault|floating-point exception) encountered in worker",
        asked=(
            "worker segfault",
            "loader segfault",
        ),
    ),
    seen(
        "The paging file of Windows is too small",
        """Each worker of Windows imports torch and its CUDA libraries and reserves memory for them. Measure: the commit
        size of the processes in the task manager. Cure: fewer workers, or a larger paging file.""",
        "DL305",
        r"\[?winerror 1455\]?",
        r"paging file is too small",
    ),
)
