"""Samples and batches that are not as they should be."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

SAMPLES = (
    seen(
        "Samples of different sizes",
        """The default `collate_fn` stacks the tensors of a batch, and these have different sizes. Print the shapes with
        `num_workers=0` and `batch_size=1`. Cure: resize, crop or pad each sample, or a `collate_fn` that pads or
        returns a list. Images with one channel or four among others with three are a common cause. A collator of
        Hugging Face pads what its tokenizer made, but no labels of its own. No rule finds this.""",
        "",
        r"stack expects each tensor to be equal size",
        r"each element in list of batch should be of equal size",
        r"trying to resize storage that is not resizable",
        r"all input arrays must have the same shape",
        r"activate truncation and/or padding",
        r"expected sequence of length \d+ at dim \d+",
        asked=(
            "=padding",
            "stack batch|sample|collate",
            "stack image",
            "stack padding",
            "padding collate|batch !distributed !sampler",
            "stack crash",
            "collate uneven",
            "length differ collate",
            "collate crash",
        ),
    ),
    seen(
        "The last batch has a single sample",
        """BatchNorm computes no statistics of one value per channel while it trains. 33 samples in batches of 32 leave
        a last batch of one. Cure: `drop_last=True` for training, or another batch size. No rule finds this.""",
        "",
        r"expected more than 1 (?:value per channel|spatial element)",
    ),
    seen(
        "A sample is None",
        "`__getitem__` returns None for some samples, or a field of them is None.",
        "DL604 DL617",
        r"batch must contain tensors.*found <?(?:class )?nonetype",
        r"expected tensor as element \d+ in argument \d+, but got nonetype",
        r"could not infer dtype of nonetype",
        asked=(
            "none sample|image",
            "none collate",
            "none collate crash",
            "none stack crash",
            "none dataset",
            "none batch",
            "collate crash",
            "none skip",
        ),
    ),
    seen(
        "The default collate_fn does not know the class of a sample",
        """It takes tensors, NumPy arrays, numbers, strings, and dicts, tuples and lists of these. Return such, or write
        a `collate_fn`. For `torch_geometric.data.Data`, use the DataLoader of `torch_geometric.loader`. No rule finds
        this.""",
        "",
        r"batch must contain tensors.*found",
        asked=("collate crash",),
    ),
    seen(
        "An image could not be read",
        "`cv2.imread` returns None for a missing or broken file and says nothing.",
        "DL617 DL604",
        r"-215: ?assertion failed\) *!_?(?:src|ssize|img)\.empty\(\)",
        asked=(
            "image none",
            "opencv none",
            "opencv bad",
        ),
    ),
    seen(
        "An archive or database that forked workers share",
        """Forked workers share the position and the locks of what was opened before. Open it in the worker. If
        `num_workers=0` cannot read it either, the file is damaged.""",
        "DL205",
        r"bad magic number for file header",
        r"badzipfile",
        r"mdb_(?:readers_full|bad_rslot|txn_begin)",
        r"error -3 while decompressing data",
        r"database disk image is malformed",
        r"unable to (?:synchronously )?open object \((?!object \S+ doesnt exist|component not found)",
        r"cant (?:synchronously )?read data \(",
        asked=(
            "storage worker",
            "storage many_workers",
            "storage loader",
            "storage distributed",
            "storage fork",
            "storage crash worker|loader",
            "storage reading",
            "wrong sample|loader worker|many_workers",
            "ancdata worker|loader",
        ),
    ),
    seen(
        "The Dataset is empty",
        "The sampler got 0 samples. Print `len(dataset)`; as a rule a path or a pattern is wrong. No rule finds this.",
        "",
        r"num_samples should be (?:a )?positive",
        asked=(
            "dataset empty",
            "loader empty",
            "sampler empty",
        ),
    ),
    seen(
        "More workers than shards",
        """Hugging Face `datasets` gives each worker whole shards, as a rule files, and stops the workers that get none.
        Use at most `dataset.num_shards` workers, or split the data into more files. All samples come, each once.""",
        "DL626",
        r"too many dataloader workers: \d+ \(max is",
        is_warning=True,
        asked=(
            "=shard",
            "shard iterable",
            "shard worker",
            "shard too_many",
        ),
    ),
    seen(
        "WebDataset has to be told how ranks share the shards",
        """Without a `nodesplitter`, every rank would read all shards, so WebDataset refuses. Pass
        `nodesplitter=wds.split_by_node` to `WebDataset`. No rule finds this.""",
        "",
        r"add an explicit nodesplitter to your input pipeline",
        asked=(
            "shard distributed",
            "iterable shard distributed",
        ),
    ),
    seen(
        "The length of an iterable Dataset does not hold",
        "Each worker iterates over all of it: the samples come once per worker.",
        "DL601 DL621",
        r"length of iterabledataset .* was reported to be",
        is_warning=True,
        asked=("iterable length",),
    ),
    seen(
        "No worker info in the main process",
        "`get_worker_info()` is None without workers.",
        "DL610",
        r"nonetype object has no attribute (?:num_workers|id)\b",
        asked=(
            "get_worker_info",
            "get_worker_info none",
        ),
    ),
)
