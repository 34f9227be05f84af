"""Messages that do not say what went wrong."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

UNCLEAR = (
    seen(
        "The DataLoader timed out",
        """A worker gave no batch in `timeout` seconds: it hangs, or the first batch takes longer. Measure: `py-spy dump
        --pid PID` of the worker shows its line.""",
        "DL209 DL205 DL501 DL616 DL503 DL213",
        r"dataloader timed out after",
        asked=(
            "timeout loader|worker",
            "timeout hang",
        ),
    ),
    seen(
        "Only a child process can be tested",
        """Not the error itself: the iterator of a loader was copied into a forked process, and its clean-up runs there.
        Look for an exception above it. `del` the iterator before other processes are started. No rule finds this.""",
        "",
        r"can only (?:test|join) a child process",
    ),
    seen(
        "A worker ended before it got the Dataset",
        """The worker failed while it started, and the other side of the pipe reports that. The cause is in another
        traceback above or below: something that cannot be pickled, or a main module without a guard. With
        `num_workers=0` the program shows other errors directly.""",
        "DL206 DL204 DL201 DL205",
        r"eoferror: ran out of input",
        r"pickle data was truncated",
        r"brokenpipeerror|\[errno 32\] broken pipe",
        r"connectionreseterror|\[errno 104\]|connection reset by peer",
        traced=((r"^", r"_fixup_main_from_path|\bin spawn_main\b"),),
        unless=(r"\b(?:requests|urllib3?|https?|httpx|aiohttp|ssl|boto3?|botocore)\b|connection aborted",),
        asked=(
            "ancdata worker|loader crash",
            "pickle worker exit",
        ),
    ),
    seen(
        "A worker exited unexpectedly",
        """The worker is gone, and this message does not say why. Look for another message above it. On Windows and
        macOS it is mostly an import or a pickling error while workers start; on Linux mostly memory (`dmesg -T | grep
        -i oom`) or shared memory (`df -h /dev/shm`). With `num_workers=0` an exception of the Dataset shows its own
        traceback.""",
        "DL206 DL201 DL204 DL101 DL102 DL104",
        r"dataloader workers? (?:\(pids?(?:\(s\))? .*\) )?(?:exited|quit) unexpectedly",
        asked=(
            "worker exit",
            "loader exit",
            "worker crash",
            "loader crash",
            "no_workers crash",
            "reading worker crash",
        ),
    ),
    seen(
        "Semaphores are left at shutdown",
        """The main process was killed before it could end its spawned workers, and the locks of their queues are left.
        Look for what killed it: a message above this one, or the kernel's in `dmesg -T | grep -i oom`.""",
        "DL101 DL102 DL104",
        r"leaked (?:semaphore|shared_memory) objects? to clean up",
        is_warning=True,
        asked=("leaked_semaphores",),
    ),
)
