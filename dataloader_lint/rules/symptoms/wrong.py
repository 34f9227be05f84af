"""Wrong data without a message, and what the program that is right does instead."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

WRONG = (
    seen(
        "Workers draw the same random numbers",
        """Not those of `torch`, `random` and, since torch 1.9, of NumPy's global state: torch seeds these in each
        worker and epoch. But a generator of your own that was made before the workers start, such as `default_rng()` in
        `__init__`, is in the same state in each of them, and so is one seeded with a constant. Measure: print a random
        number and `get_worker_info().id` in `__getitem__`.""",
        "DL602 DL603",
        asked=(
            "=seed",
            "same random worker|many_workers",
            "same random batch|epoch|each",
            "same random !model !weighted",
            "same random image|sample|dataset !weighted",
            "random worker seed",
            "same seed worker",
            "worker seed",
        ),
    ),
    seen(
        "The order is the same in every epoch",
        """A shuffling `DistributedSampler` needs `sampler.set_epoch(epoch)` before each epoch. Other samplers repeat
        their order if their generator is seeded again in each epoch. Measure: print the first indices of two
        epochs.""",
        "DL603 DL602 DL622",
        asked=(
            "same order epoch",
            "same order shuffle",
            "shuffle same epoch",
            "sampler shuffle",
            "shuffle each epoch",
            "set_epoch",
            "sampler distributed shuffle|order|epoch|same",
            "distributed shuffle",
            "same sample each epoch",
            "same loader each epoch",
        ),
    ),
    seen(
        "Samples come twice",
        "Each worker, or each process, iterates over all of an iterable Dataset.",
        "DL601 DL603 DL623",
        asked=(
            "=twice",
            "=shard",
            "twice worker|many_workers",
            "twice sample|batch|dataset !padding",
            "same sample worker|many_workers|distributed",
            "iterable worker|many_workers|distributed",
            "iterable twice|same",
            "iterable shard",
            "sample times many_workers",
        ),
    ),
    seen(
        "Every rank trains on all samples",
        """Without a `DistributedSampler` each rank iterates over the whole Dataset, so that more GPUs do the same work
        again. A custom sampler has to share out its indices among the ranks. Measure: `len(loader)` with one and with
        two ranks.""",
        "DL618 DL603 DL623",
        asked=(
            "whole_data distributed !memory",
            "sampler scale",
            "sampler distributed",
            "distributed scale",
            "same sample each distributed",
        ),
    ),
    seen(
        "DistributedSampler pads: samples count twice in an evaluation",
        """It repeats samples until each rank has as many, so that a metric over all ranks counts some twice, and
        differs with the number of ranks. Cure: gather the indices with the results and keep each once, give each rank
        `dataset[rank::world_size]`, or evaluate on one rank. With `drop_last=True` samples are missing instead.""",
        "DL313",
        asked=(
            "=padding",
            "padding distributed",
            "padding sampler",
            "evaluation twice distributed",
            "evaluation differ distributed",
            "evaluation sampler twice",
        ),
    ),
    seen(
        "Evaluation leaves out the last samples",
        """`drop_last=True` drops the last, smaller batch, of each worker for an iterable Dataset. Use it for training
        only.""",
        "DL313 DL621",
        asked=("evaluation drop", "evaluation last drop", "evaluation drop sample|batch"),
    ),
    seen(
        "WeightedRandomSampler draws the same few samples",
        """It takes one weight for each sample of the Dataset. With one for each class it draws the first few samples
        only. Give it `class_weights[labels]`.""",
        "DL624",
        r"WeightedRandomSampler",
        asked=("weighted same", "weighted sampler", "weighted sample"),
    ),
    seen(
        "A transform of one split changes the others",
        """`random_split` and `Subset` share one Dataset: what is set on it holds for all splits, and what is set on a
        split is ignored. Cure: two Datasets with a transform each, of which each takes its indices, or a small Dataset
        that wraps a split and applies the transform.""",
        "DL612",
        asked=("split transform", "split transform evaluation", "transform evaluation training differ"),
    ),
    seen(
        "Changes of the Dataset do not reach the workers",
        """Workers have the Dataset as it was when they started. Persistent workers keep it for all epochs; others see
        changes from the next epoch on. Spawned workers do not see globals that the main process set. Cure: a
        `multiprocessing.Value` or shared tensor, or no persistent workers.""",
        "DL609 DL211",
        asked=(
            "stale persistent|worker",
            "stale dataset worker|persistent|epoch",
            "persistent same",
            "persistent dataset",
        ),
    ),
    seen(
        "A sample is another one in the next epoch",
        """`__getitem__` changes a stored sample in place (`+=`, `.sort()`, `transform(self.data[i])` that writes into
        its argument), and the next epoch starts from the changed one; each worker has its own. Copy the sample first.
        Measure: compare `dataset[0]` with `dataset[0]` again.""",
        "DL613",
        asked=("inplace sample|dataset|worker", "inplace transform", "sample differ each epoch", "sample stale epoch"),
    ),
    seen(
        "Results differ between runs, or with the number of workers",
        """Seed everything that draws: `torch.manual_seed`, `random`, NumPy, and a `generator` for the DataLoader; in
        workers NumPy and `random` by a `worker_init_fn`. The seeds of workers depend on their number. On a GPU add
        `torch.use_deterministic_algorithms(True)`. Measure: print the first indices and samples of two runs; if they
        agree, the data is not the cause.""",
        "DL602 DL625",
        asked=(
            "=seed",
            "=reproducible",
            "differ result worker|no_workers|many_workers|loader",
            "differ result seed|random",
            "differ worker|no_workers seed",
            "differ result !model !evaluation",
            "differ seed random",
            "worker affect model",
            "differ worker|many_workers",
        ),
    ),
    seen(
        "Resuming: the data starts from the beginning, or in another order",
        """A DataLoader keeps no state: after a restart it begins an epoch, in a new order or in that of the first one.
        Cure: `torchdata.stateful_dataloader.StatefulDataLoader`, whose `state_dict()` goes into the checkpoint; or save
        the epoch and the number of batches, seed the sampler by the epoch, and skip the first indices in the sampler.
        Skipping batches of the loader loads them all. Load the state before `iter(loader)`: DL619 finds loaders whose
        state comes after it, and no rule one that is never saved.""",
        "DL619",
        asked=(
            "=resume",
            "resume loader|dataset|sampler",
            "resume state loader|dataset|epoch|batch",
            "resume epoch",
            "resume shuffle|order|sample",
            "resume batch skip",
            "resume reading",
            "checkpoint loader|sampler",
            "checkpoint state dataset|epoch|batch",
            "state loader skip",
        ),
    ),
    seen(
        "Values are wrong after a non-blocking copy",
        """A copy from the GPU to the CPU, or to an Apple GPU (MPS), with `non_blocking=True` may not be complete when
        its memory is read or written again. Leave `non_blocking` out there, or synchronize first.""",
        "DL405 DL404",
        asked=("nonblocking mps", "nonblocking value", "mps value move", "nonblocking cpu"),
    ),
    seen(
        "Samples that cannot be read should be skipped",
        """Return None for such a sample and drop it in a `collate_fn`, or better find the bad files once and leave them
        out of the Dataset. A `__getitem__` that catches everything and tries another sample hides all errors, and never
        ends if all fail.""",
        "DL616 DL604 DL617",
        asked=(
            "=bad",
            "skip bad",
            "bad image",
            "skip sample|image|dataset none|bad",
            "bad sample|dataset loader|training|skip",
            "skip loader crash",
            "bad collate",
        ),
    ),
    seen(
        "A sampler or generator that is empty in the second epoch",
        """A generator can be iterated once, and a sampler or Dataset that keeps one is exhausted after the first epoch.
        Cure: make the iterator in `__iter__`, not in `__init__`. No rule finds this.""",
        "",
        asked=("exhausted sampler", "exhausted iterable", "exhausted loader", "exhausted epoch sampler|dataset|loader"),
    ),
    seen(
        "`__len__` and `__getitem__` disagree",
        """The sampler draws indices below `len(dataset)`, and one of them is no index of what `__getitem__` reads. As a
        rule `__len__` counts another list, or a filtered table kept its old index (use `iloc` or `reset_index`).
        Measure: `dataset[len(dataset) - 1]`, and `num_workers=0` for the line. No rule finds this.""",
        "",
        asked=("index dataset", "index sampler", "index loader", "length dataset index", "length differ dataset"),
    ),
)
