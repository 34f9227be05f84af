"""Ranks that shuffle or split in different ways share samples, and leave others out.

## What it does
Reports a `DistributedSampler`

- whose `seed` is made of the rank
- over a part of `random_split` without a `generator`, in a project that seeds nothing
- over a Dataset whose samples `__init__` lists without sorting them: from a `set` of texts; or from `os.listdir`,
  `glob` and the like, in a file that speaks of several machines (`num_nodes`, `node_rank`, `SLURM_NODEID`)

## Why is this bad?
Every rank takes each N-th sample of one shuffled list. If the lists differ, some samples come on several ranks and
others on none. Measured with two ranks and 1,000 samples (torch 2.13): with `seed=rank`, 240 samples come twice and 240
never; with one seed each comes once. Parts of a split that differs by rank also mix training and validation samples.

A set of texts has another order in each process, as Python seeds their hashes anew. A directory has no order of its
own: measured with 100 files that were copied in two orders, the listings were the same on ext4 and differed on tmpfs,
where two ranks shared 28 of 50 samples. The ranks of one machine read one directory, so they agree.

## Known limits
- The rank is recognized by `get_rank()` or a name that ends with `rank`.
- `random_split` is silent if anything in the project calls a function that seeds.
- Silent about Datasets that sort anything while they are constructed.

## Example
```python
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

def make(dataset, seed):
    sampler = DistributedSampler(dataset, seed=seed + dist.get_rank())
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

## Use instead
```python
from torch.utils.data import DataLoader, DistributedSampler

def make(dataset, seed):
    sampler = DistributedSampler(dataset, seed=seed)
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

## Fix safety
No fix: the seed may be used elsewhere as well.

## When to ignore it
Never for the seed. For a split, if all ranks are seeded by what starts them.

## Error messages
None: the samples are the wrong ones.

## References
- [torch.utils.data.distributed.DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.values.values import Frame

RULE = Rule("DL623", "sampler-differs-by-rank", Entity.SETTING, Level.ERROR, Claim.MAY)

_SAMPLERS = ("torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler")
_POSITIONS = ("dataset", "num_replicas", "rank", "shuffle", "seed", "drop_last")
_RANK = re.compile(r"(?:^|_)rank$")
_SEEDING = ("manual_seed", "seed_everything", "set_seed", "set_random_seed", "seed_all", "fork_rng", "seed(")


def find(file: File) -> Iterator[tuple[cst.Call, str]]:
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.rules.samples.dl623_sampler_differs_by_rank.listings import unsorted_samples
    from dataloader_lint.semantics.evaluation.loader_calls import written_argument
    from dataloader_lint.semantics.values.known_values import truth

    for call, frame, _ in library_calls(file, *_SAMPLERS):
        shuffle = written_argument(call, "shuffle", _POSITIONS)
        shuffles = shuffle is None or truth(file.ev.values(shuffle.value, frame)) is not False
        seed = written_argument(call, "seed", _POSITIONS)
        dataset = written_argument(call, "dataset", _POSITIONS)
        if seed is not None and shuffles and _names_rank(seed.value, file):
            yield call, "seed"
        elif dataset is not None and _is_unseeded_split(dataset.value, frame, file):
            yield call, "split"
        elif dataset is not None and (what := unsorted_samples(file, dataset.value, frame)):
            yield call, what


def _names_rank(node: cst.BaseExpression, file: File) -> bool:
    """True if an expression is made of the rank, in itself or by a name that stands in it."""
    from dataloader_lint.semantics.syntax.expressions import last_name
    from dataloader_lint.semantics.syntax.origins import ingredients

    def is_rank(each: cst.CSTNode) -> bool:
        return last_name(each) == "get_rank" or _RANK.search(last_name(each)) is not None

    return any(is_rank(each) for part in ingredients(node, file.tree) for each in file.tree.walk(part))


def _is_unseeded_split(node: cst.BaseExpression, frame: Frame, file: File) -> bool:
    """True for a part of `random_split` whose numbers nothing in the project seeds."""
    from dataloader_lint.semantics.libraries.datasets import SELECTING
    from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, positional_of
    from dataloader_lint.semantics.values.values import CallResult

    for value in file.ev.values(node, frame):
        call = value.call if isinstance(value, CallResult) and value.library in SELECTING else None
        if call is None or last_name(call.func) != "random_split":
            continue
        if keyword_of(call, "generator") is None and len(positional_of(call)) < 3:
            return not any(file.project.mentions_word(file.module, word) for word in _SEEDING)
    return False


def check(found: tuple[cst.Call, str], file: File) -> Iterator[Finding]:
    call, what = found
    if what == "seed":
        problem = "the `seed` of this sampler differs by rank: ranks share some samples and leave others out"
        advice = "give all ranks the same seed"
    elif what != "split":
        problem = f"ranks may have the samples in different orders: {what}; they share some and leave others out"
        advice = "sort them"
    else:
        problem = "each rank splits at random for itself: ranks share some samples and leave others out"
        advice = "give `random_split` a seeded generator"
    yield Finding(call, problem, advice)
