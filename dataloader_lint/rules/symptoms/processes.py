"""How workers are started, and what does not survive it."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

PROCESSES = (
    seen(
        "The main module starts workers while it is imported",
        "Workers that are not forked import the main module, which starts workers again. Guard its code.",
        "DL206 DL210",
        r"attempt has been made to start a new process before",
        r"freeze_support\(\)",
        asked=(
            "guard",
            "reimport worker|windows|loader",
            "spawn worker crash|hang",
            "windows worker crash",
            "windows worker hang",
            "windows loader crash",
            "windows loader hang",
            "mps worker crash",
            "mps loader crash",
            "windows worker",
        ),
    ),
    seen(
        "It works on Linux, but not on Windows or macOS",
        """Linux forks workers up to Python 3.13; Windows and macOS spawn them, and Linux starts them from a server
        (forkserver) from Python 3.14 on. Such workers import the main module again, and get the Dataset, its transforms
        and functions pickled. What cannot be pickled fails, and code outside the main guard runs in each worker.
        `--select portability` checks for all of that, `--select py314` also for memory that is no longer shared.""",
        "DL206 DL201 DL204 DL205 DL202 DL208 DL203",
        asked=(
            "windows linux",
            "windows crash !model",
            "spawn",
            "spawn crash|hang",
            "py314",
            "py314 crash|worker|fork|loader",
        ),
    ),
    seen(
        "The start method is set twice",
        "Set it once, under the main guard.",
        "DL210",
        r"context has already been set",
        asked=("set windows twice",),
    ),
    seen(
        "CUDA in a forked worker",
        "The main process has used CUDA before the workers were forked, and worker code uses it again.",
        "DL207 DL215",
        r"cannot re-initialize cuda in forked subprocess",
        r"cuda (?:runtime )?error(?: \(3\))? ?:.*initialization error",
        r"thcudacheck fail.*initialization error",
        r"cuda initialization error",
        asked=(
            "cuda_fork",
            "vram worker",
            "cuda fork",
            "cuda worker crash",
            "cuda worker many_workers crash",
            "cuda dataset worker",
        ),
    ),
    seen(
        "A CUDA tensor cannot be pinned",
        "With `pin_memory=True` batches must be on the CPU. Something moved the samples to CUDA before.",
        "DL215 DL207",
        r"cannot pin .*only dense cpu tensors can be pinned",
        r"cannot pin torch\.cuda",
        asked=("pin cuda crash",),
    ),
    seen(
        "A CUDA tensor cannot be pickled",
        "Workers that are not forked get the Dataset pickled. A part of it is on CUDA: keep its tensors on the CPU.",
        "DL215",
        r"cannot pickle cuda storage",
        asked=("cuda pickle worker|dataset|loader",),
    ),
    seen(
        "A worker may not start processes",
        "The workers of a DataLoader are daemonic. Use threads in them, more workers, or `num_workers=0`.",
        "DL214",
        r"daemonic processes are not allowed to have children",
        asked=("worker subprocess_start",),
    ),
    seen(
        "A library that does not survive a fork",
        "It has threads or locks of its own. Use it in workers only, or start these by spawn or forkserver.",
        "DL209 DL216 DL205",
        r"this class is not fork-safe",
        r"(?:opened|created|started) before fork\b",
        r"is multi-threaded, use of fork\(\) may lead to deadlocks",
        r"current process just got forked, after parallelism has already been used",
        is_warning=True,
        asked=(
            "tokenizer",
            "tokenizer threads|fork|worker",
            "fork crash",
            "fork hang threads",
        ),
    ),
    seen(
        "A worker_init_fn that does not take the worker id",
        "torch calls it with the number of the worker. Give it one parameter.",
        "DL212",
        traced=((r"takes \d+ positional arguments? but \d+ (?:was|were) given", r"\binit_fn\(worker_id\)"),),
    ),
)
