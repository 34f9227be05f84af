"""Each rank of a distributed program trains on all samples, so that more GPUs do the same work again.

## What it does
Reports a DataLoader of a map-style Dataset from which a loop trains, in a module that wraps its model in
`DistributedDataParallel`, if the loader has no sampler, a `WeightedRandomSampler`, or one of a class of the project
that does not mention a rank. A generator that yields its batches to the loop counts as well. The rule is opt-in.

## Why is this bad?
`DistributedDataParallel` averages gradients and leaves the data alone. Without a `DistributedSampler` each of N ranks
goes through all samples: an epoch takes as long as with one, and each sample counts N times. Measured with two ranks
(gloo, torch 2.13) and 8 samples: 16 samples are trained on in an epoch, and 8 with a `DistributedSampler`.

## Known limits
- Silent if the class of the Dataset, its arguments or the loader's mention a rank, a world size or shards.
- Silent if the Dataset is not known, or iterable.
- Accelerate, Fabric and the trainers of Lightning and Hugging Face replace the sampler; they wrap the model themselves.

## Example
```python
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

def train(model, images, labels, epochs):
    model = DistributedDataParallel(model)
    loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        for batch, targets in loader:
            model(batch, targets).backward()
```

## Use instead
```python
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

def train(model, images, labels, epochs):
    model = DistributedDataParallel(model)
    dataset = TensorDataset(images, labels)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch, targets in loader:
            model(batch, targets).backward()
```

## Fix safety
No fix: the sampler needs `set_epoch` before each epoch, and the learning rate may need another value.

## When to ignore it
If each process gets files of its own, or draws samples at random from its own seed on purpose.

## Error messages
None: the program runs.

## References
- [torch.utils.data.distributed.DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl618_distributed_without_sampler.undivided_loaders import UndividedLoader

RULE = Rule("DL618", "distributed-without-sampler", Entity.LOOP, Level.SPEED, Claim.MUST, default=False)


def find(file: File) -> Iterable[UndividedLoader]:
    from dataloader_lint.rules.samples.dl618_distributed_without_sampler.undivided_loaders import undivided_loaders

    return undivided_loaders(file)


def check(found: UndividedLoader, file: File) -> Iterator[Finding]:
    why = "draws by weight on each rank for itself" if found.weighted else "has no `DistributedSampler`"
    advice = "share them out with a `DistributedSampler`"
    if found.blind:
        why, advice = (
            f"has a `{found.blind}`, which does not split by rank",
            "give each rank its share of the batches there",
        )
    problem = f"every rank trains on all samples: `{found.loader.bound_name}` {why}"
    yield Finding(found.node, problem, advice)
