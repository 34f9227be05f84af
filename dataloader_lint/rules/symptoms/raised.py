"""Messages that stand for another one, or for a change of torch."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

RAISED = (
    seen(
        "Attributes that `prepare_data` sets are missing on other ranks",
        """Lightning calls `prepare_data` in one process only. Set attributes in `setup`, which runs in each.""",
        "DL627",
        r"prepare_data",
    ),
    seen(
        "An exception of the Dataset, raised again in the main process",
        """`Caught X in DataLoader worker process N` says where it happened, not why: the cause stands below `Original
        Traceback`, in `__getitem__`, the transforms or the `collate_fn`. It is an error of that code or its data, such
        as a missing file, and no rule finds it. With `num_workers=0` the program shows the line directly, and a
        debugger stops there. For an IndexError or KeyError compare `len(dataset)` with what `__getitem__` reads.""",
        "",
        r"caught \w+ in dataloader worker process",
    ),
    seen(
        "The iterator of a loader has no method `next`",
        "Python 2 spelled it `it.next()`. Write `next(it)`, with `it = iter(loader)`.",
        "DL316",
        r"dataloaderiter object has no attribute next",
        asked=("next loader", "next worker"),
    ),
    seen(
        "A tensor on an Apple GPU cannot be sent by a worker",
        """Shared memory holds CPU tensors only. Keep Dataset, transforms and `collate_fn` on the CPU, also without a
        default device, and move the batch in the training loop.""",
        "DL215 DL207",
        r"_share_filename_: only available on cpu",
        r"_share_fd_: only available on cpu",
    ),
)
