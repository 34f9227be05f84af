"""Arguments of a DataLoader that torch refuses, or warns of."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

ARGUMENTS = (
    seen(
        "persistent_workers without workers",
        "`persistent_workers=True` needs `num_workers` above 0.",
        "DL301 DL310",
        r"persistent_workers option needs num_workers",
        asked=(
            "persistent no_workers",
            "persistent crash",
        ),
    ),
    seen(
        "prefetch_factor without workers",
        "`prefetch_factor` needs `num_workers` above 0; otherwise it must be left out or None.",
        "DL302 DL310",
        r"prefetch_factor option could only be specified in multiprocessing",
        r"prefetch_factor must be greater than 0",
        asked=(
            "prefetch no_workers",
            "prefetch crash",
        ),
    ),
    seen(
        "Worker options without workers",
        "`multiprocessing_context` and `timeout` need `num_workers` above 0.",
        "DL303 DL310",
        r"multiprocessing_context can only be used with multi-process loading",
        r"SingleProcessDataLoaderIter requires timeout == 0",
        asked=(
            "timeout no_workers",
            "no_workers cannot set",
        ),
    ),
    seen(
        "Arguments that exclude each other",
        "A sampler, a batch sampler or an iterable Dataset decides about order and batches itself.",
        "DL304",
        r"is mutually exclusive with",
        r"dataloader with iterabledataset: expected unspecified",
        asked=(
            "sampler shuffle crash",
            "exclusive",
            "iterable shuffle",
        ),
    ),
    seen(
        "A loader changed after it was made",
        "Most attributes of a DataLoader cannot be set later. Make another one.",
        "DL311",
        r"attribute should not be set after \w+ is initialized",
    ),
    seen(
        "The default device is CUDA",
        """`torch.set_default_device("cuda")` makes the random sampler ask for a generator on CUDA. Pass
        `generator=torch.Generator(device="cuda")` to the DataLoader, or set no default device. Without a default device
        the generator must be on the CPU.""",
        "DL314",
        r"expected a (?:cuda device type for generator but found cpu|cpu device type for generator but found cuda)",
    ),
    seen(
        "The Trainer drops the columns that a transform needs",
        """Before training the Trainer of Hugging Face removes the columns that `forward` does not take, and transforms
        run after that. Pass `remove_unused_columns=False`.""",
        "DL315",
        r"no columns in the dataset match the models? forward method signature",
    ),
    seen(
        "Parts of torchdata that are gone",
        """torchdata 0.10 took away `datapipes` and `dataloader2`. Require `torchdata<0.10`, or use an IterableDataset.
        Some of the classes are in `torch.utils.data.datapipes`.""",
        "DL317",
        r"no module named torchdata\.(?:datapipes|dataloader2)",
    ),
    seen(
        "More workers than CPUs",
        "More workers than CPUs cost memory and make nothing faster.",
        "DL305",
        r"suggested max number of worker",
        is_warning=True,
        asked=(
            "too_many worker",
            "worker cpu too_many",
            "worker cpu grow",
        ),
    ),
    seen(
        "Fewer workers than could be",
        "Lightning counts workers only. Measure an epoch with 0, 2, 4 and 8 workers before you change them.",
        "DL306",
        r"does not have many workers which may be a bottleneck",
        r"may result in data ?loading bottlenecks",
        is_warning=True,
    ),
    seen(
        "Pinned memory without a GPU",
        "`pin_memory=True` has no use here. Write `pin_memory=torch.cuda.is_available()`.",
        "DL403",
        r"pin_memory argument is set as true but (?:no accelerator|not supported)",
        is_warning=True,
        asked=("pin cpu",),
    ),
    seen(
        "A tensor is made of a list of arrays",
        "Make one array of them first.",
        "DL606",
        r"list of numpy\.ndarrays is extremely slow",
        is_warning=True,
    ),
)
