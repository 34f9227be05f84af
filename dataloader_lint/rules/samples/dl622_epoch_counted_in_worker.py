"""An epoch that a Dataset counts in its workers starts again with them, so every epoch has the same order.

## What it does
Reports `self.epoch += 1`, or the like, in the `__iter__` of an IterableDataset that seeds its order with the attribute,
if a DataLoader reads it with workers that are not persistent. So does `detshuffle` of WebDataset, which counts epochs
in its own copy: measured with webdataset 1.0, three epochs had one order with workers that were started again, and
three orders with persistent ones.

## Why is this bad?
Each worker counts in its own copy of the Dataset, and the workers end with the epoch. The next ones begin with the copy
of the main process, whose count never changed. Measured with torch 2.13 and one worker: three epochs have the same
order; with `persistent_workers=True` three different ones. There is no message.

## Known limits
- Silent if something else sets the attribute, or calls a method that does.
- Silent if the count stands in `while True`: one epoch never ends then.

## Example
```python
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Stream(IterableDataset):
    def __init__(self, size):
        self.size = size
        self.epoch = 0

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        self.epoch += 1
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        order = torch.randperm(self.size, generator=generator).tolist()
        yield from order[start::step]

def make(size):
    return DataLoader(Stream(size), num_workers=2)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Stream(IterableDataset):
    def __init__(self, size):
        self.size = size
        self.epoch = 0

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        self.epoch += 1
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        order = torch.randperm(self.size, generator=generator).tolist()
        yield from order[start::step]

def make(size):
    return DataLoader(Stream(size), num_workers=2, persistent_workers=True)
```

Or set `dataset.epoch` in the main process before each epoch: new workers get it.

## Fix safety
No fix: persistent workers keep their memory, and a value that is set from outside needs the loop.

## When to ignore it
If the program goes over the loader only once.

## Error messages
None: the order repeats.

## References
- [pytorch issue 35795](https://github.com/pytorch/pytorch/issues/35795)
- [webdataset issue 172](https://github.com/webdataset/webdataset/issues/172)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.dataset_class import DatasetClass
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader
    from dataloader_lint.semantics.syntax.tree import Scope

RULE = Rule("DL622", "epoch-counted-in-worker", Entity.DATASET, Level.ERROR, Claim.MAY)

# A stage whose order follows from the number of epochs that its own copy has begun.
_COUNTING = "webdataset.detshuffle"
# Calls that an order follows from, if they get the count.
_SEEDING = frozenset({"Random", "RandomState", "default_rng", "manual_seed", "seed"})


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """A statement that counts epochs in a worker, and the loader whose workers end with each."""

    node: cst.AugAssign | cst.Call
    written: str
    loader: Loader


def find(file: File) -> Iterator[Count]:
    yield from _counts_of_classes(file)
    seen: set[int] = set()
    for loader in file.loaders:
        for stage in _stages_that_count(loader, file) if _ends_workers(loader) else ():
            if id(stage) not in seen:
                seen.add(id(stage))
                yield Count(stage, "detshuffle", loader)


def _stages_that_count(loader: Loader, file: File) -> Iterator[cst.Call]:
    """The calls of this file that make a `detshuffle` in what a loader gets: its order follows from its own count."""
    from dataloader_lint.pipeline.datasets.wrappers import chain_of
    from dataloader_lint.semantics.libraries.datasets import PIPELINES
    from dataloader_lint.semantics.values.values import CallResult

    for value in loader.values("dataset"):
        chain = list(chain_of(file.ev, value))
        if not chain or chain[-1].library not in PIPELINES or any(step.library.endswith(".repeat") for step in chain):
            continue  # with `repeat` the first epoch never ends
        for step in chain:
            for arg in step.call.args if step.call is not None else ():
                for each in file.ev.values(arg.value, step.frame) if step.frame is not None else ():
                    if isinstance(each, CallResult) and each.library == _COUNTING and each.call is not None:
                        if each.call in file.tree:
                            yield each.call


def _counts_of_classes(file: File) -> Iterator[Count]:
    import libcst as cst

    from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
    from dataloader_lint.semantics.classes import classes

    for dataset in file.datasets:
        method = classes.methods_of(dataset.klass.scope).get("__iter__")
        if method is None or dataset_kind(file.ev, dataset.klass) != "iterable":
            continue
        own = classes.receiver_name(method)
        for node in method.own(cst.AugAssign):
            target = node.target
            if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
                continue
            name = target.attr.value
            if target.value.value != own or not isinstance(node.operator, cst.AddAssign) or _is_endless(node, file):
                continue
            if not _seeds(method, f"{own}.{name}", node) or _is_set_elsewhere(dataset, name, method, file):
                continue
            loader = next((each for each in file.reach.loaders_of(dataset.klass) if _ends_workers(each)), None)
            if loader is not None:
                yield Count(node, f"{own}.{name}", loader)


def _is_endless(node: cst.AugAssign, file: File) -> bool:
    import libcst as cst

    return any(isinstance(above, cst.While) for above in file.tree.ancestors(node))


def _ends_workers(loader: Loader) -> bool:
    """True if a loader has workers, and they surely end with the epoch."""
    persistent = loader.known("persistent_workers")
    return bool(loader.has_workers) and persistent is not None and not persistent.value and not persistent.default


def _seeds(method: Scope, name: str, count: cst.AugAssign) -> bool:
    """True if a call in the method seeds a generator with the attribute, or with a name that is made of it."""
    import libcst as cst

    from dataloader_lint.semantics.syntax.expressions import last_name
    from dataloader_lint.semantics.syntax.names import dotted, resolve

    tree = method.module.tree

    def holds(node: cst.CSTNode) -> bool:
        return any(dotted(each) == name for each in tree.find(node, cst.Attribute))

    for call in method.within(cst.Call):
        if last_name(call.func) not in _SEEDING or tree.is_inside(call, count):
            continue
        for arg in call.args:
            bound = (made.value for each in tree.find(arg.value, cst.Name) for made in resolve(each, tree))
            if holds(arg.value) or any(value is not None and holds(value) for value in bound):
                return True
    return False


def _is_set_elsewhere(dataset: DatasetClass, name: str, method: Scope, file: File) -> bool:
    """True if the main process may set the attribute: by a method that is called somewhere, or from outside."""
    import libcst as cst

    from dataloader_lint.semantics.classes import classes

    module = file.module
    for klass in dataset.bases.classes:
        for binding in classes.attribute_bindings(klass.scope).get(name, ()):
            setter = binding.method.node
            called = setter.name.value if isinstance(setter, cst.FunctionDef) else ""
            if binding.method is method or called in ("__init__", "__post_init__", ""):
                continue
            holding = file.project.opened(module, file.project.paths_with(module, called))
            if any(each.calls_named(called) for each in holding):
                return True
    stores = [
        target.target for scope in module.root.descend() for each in scope.own(cst.Assign) for target in each.targets
    ]
    return any(
        isinstance(store, cst.Attribute)
        and store.attr.value == name
        and not (isinstance(store.value, cst.Name) and store.value.value == classes.receiver_name(method))
        for store in stores
    )


def check(found: Count, file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps

    counted = f"`{found.written}` is counted" if found.written != "detshuffle" else "`detshuffle` counts its epochs"
    problem = f"{counted} in workers that end with the epoch: every epoch has the same order"
    steps = loader_steps.made(found.loader, "num_workers", "persistent_workers")
    other = "set it from outside" if found.written != "detshuffle" else "use `shuffle`"
    yield Finding(found.node, problem, f"{other}, or use `persistent_workers=True`", because=steps)
