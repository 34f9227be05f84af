"""`pin_memory=True` passes over batches of a class without a `pin_memory` method, so nothing is pinned.

## What it does
Reports a DataLoader with `pin_memory=True` whose `collate_fn` returns objects of a class of the project that has no
`pin_memory` method, or nothing but NumPy arrays, alone or in a tuple, list or dict.

## Why is this bad?
Pinning goes into tensors, mappings, tuples, named tuples, lists and objects with a `pin_memory` method. Everything else
comes back as it was, without a warning: the batch stays in pageable memory, and `non_blocking=True` on its tensors does
not overlap anything. This includes dataclasses.

Measured by counting the tensors that torch tries to pin in a batch with two tensors: 2 in a tuple, a named tuple, a
list, a dict and an object with `pin_memory`; 0 in a plain object and in a dataclass.

## Known limits
- Silent if the class, one of its bases, or what the `collate_fn` returns is not known.
- Silent about objects of such a class inside of a tuple or dict.

## Example
```python
import torch
from torch.utils.data import DataLoader

class Batch:
    def __init__(self, images, labels):
        self.images = images
        self.labels = labels

def collate(samples):
    images, labels = zip(*samples)
    return Batch(torch.stack(images), torch.stack(labels))

def make(dataset):
    return DataLoader(dataset, num_workers=4, collate_fn=collate, pin_memory=True)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader

class Batch:
    def __init__(self, images, labels):
        self.images = images
        self.labels = labels

    def pin_memory(self):
        self.images = self.images.pin_memory()
        self.labels = self.labels.pin_memory()
        return self

def collate(samples):
    images, labels = zip(*samples)
    return Batch(torch.stack(images), torch.stack(labels))

def make(dataset):
    return DataLoader(dataset, num_workers=4, collate_fn=collate, pin_memory=True)
```

## Fix safety
No fix: only you know which attributes hold tensors.

## When to ignore it
If the class pins its tensors in another way, such as when it is constructed.

## Error messages
None: nothing is pinned.

## References
- [torch.utils.data: memory pinning](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
- [pytorch issue 32150](https://github.com/pytorch/pytorch/issues/32150)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.steps import Step
    from dataloader_lint.semantics.evaluation.loader_calls import Loader
    from dataloader_lint.semantics.values.values import Value

RULE = Rule("DL407", "batch-class-not-pinned", Entity.LOADER, Level.SPEED, Claim.MUST)


def check(loader: Loader, file: File) -> Iterator[Finding]:
    pins = loader.known("pin_memory")
    if pins is None or pins.value is not True or pins.default or not loader.is_written_here or not loader.is_reached:
        return
    found = _class_not_pinned(loader)
    if found is not None:
        name, step = found
        problem = f"`pin_memory=True` pins nothing: the `collate_fn` returns `{name}`, which has no `pin_memory` method"
        yield Finding(loader.node, problem, "add one that pins its tensors and returns self", because=(step,))
    elif _gives_arrays(loader):
        problem = "`pin_memory=True` pins nothing: the `collate_fn` returns NumPy arrays"
        yield Finding(loader.node, problem, "return tensors: `torch.from_numpy(...)`")


def _gives_arrays(loader: Loader) -> bool:
    """True if a collate function returns arrays only, alone or in a tuple, list or dict."""
    from dataloader_lint.rules.transfers._shared.pinned_parts import collated
    from dataloader_lint.semantics.values.values import Const, merge

    given = loader.values("collate_fn")
    if loader.kind.drops_collate or any(isinstance(each, Const) for each in given):
        return False
    found = merge(*(collated(loader.ev, each) for each in given))
    return bool(found) and all(_holds_arrays(loader, value) for value in found)


def _holds_arrays(loader: Loader, value: Value) -> bool:
    from dataloader_lint.semantics.dicts.sources import any_value
    from dataloader_lint.semantics.values.values import Mapping, Opaque, Sequence

    if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
        parts = [each for item in value.items or () for each in item]
    elif isinstance(value, Mapping):
        parts = list(any_value(loader.ev, value))
    else:
        return isinstance(value, Opaque) and value.kind == "array"
    return bool(parts) and all(isinstance(each, Opaque) and each.kind == "array" for each in parts)


def _class_not_pinned(loader: Loader) -> tuple[str, Step] | None:
    """The class of a loader's batches, and its step, if pinning leaves all of these as they are."""
    from dataloader_lint.pipeline.steps import Step
    from dataloader_lint.rules.transfers._shared.pinned_parts import collated, has_method, is_passed_over
    from dataloader_lint.semantics.values.values import CallResult, Class, Const, merge

    given = loader.values("collate_fn")
    if loader.kind.drops_collate or all(isinstance(each, Const) for each in given):
        return None
    found = merge(*(collated(loader.ev, each) for each in given))
    if not found or not all(is_passed_over(loader.ev, value) for value in found):
        return None
    klass = found[0].by if isinstance(found[0], CallResult) else None
    if not isinstance(klass, Class) or has_method(loader.ev, klass, "__getattr__"):
        return None
    step = Step(klass.scope.module, klass.node, f"`{klass.node.name.value}` has no `pin_memory` method")
    return klass.node.name.value, step
