"""Attributes that `prepare_data` of Lightning sets exist in one process only.

## What it does
Reports an assignment to an attribute in `prepare_data` of a `LightningDataModule` or `LightningModule`, if another
method reads the attribute.

## Why is this bad?
Lightning calls `prepare_data` in one process of each machine, and `setup` in all. With several GPUs the others find no
such attribute, or the None of the constructor. Measured with Lightning and two processes: the second one ends with
`AttributeError: 'Rows' object has no attribute 'rows'`.

## Known limits
- Silent if another method than `__init__` sets the attribute as well, or calls `prepare_data`.
- Silent if the module makes a Trainer with one device: `devices=1`, `devices=[0]`.

## Example
```python
import lightning as L
from torch.utils.data import DataLoader

class Rows(L.LightningDataModule):
    def prepare_data(self):
        self.rows = list(range(1000))

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=4)
```

## Use instead
```python
import lightning as L
from torch.utils.data import DataLoader

class Rows(L.LightningDataModule):
    def setup(self, stage):
        self.rows = list(range(1000))

    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=4)
```

## Fix safety
No fix: downloads have to stay in `prepare_data`.

## When to ignore it
If the program only ever runs in one process.

## Error messages
- `AttributeError: 'Rows' object has no attribute 'rows'`

## References
- [LightningDataModule](https://lightning.ai/docs/pytorch/stable/data/datamodule.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.classes.classes import AttributeBinding
    from dataloader_lint.semantics.syntax.tree import Scope

RULE = Rule("DL627", "state-set-in-prepare-data", Entity.STORED, Level.ERROR, Claim.MAY)

_BASES = ("LightningDataModule", "LightningModule")
_PREPARING = "prepare_data"


def find(file: File) -> Iterator[AttributeBinding]:
    from dataloader_lint.semantics.classes import classes
    from dataloader_lint.semantics.values.values import Class

    for scope in file.module.classes:
        method = classes.methods_of(scope).get(_PREPARING)
        if method is None:
            continue
        bases = file.ev.bases(Class(scope, file.ev.frame_of(scope)))
        if not any(name.endswith(_BASES) for name in bases.libraries) or _is_called(file) or _has_one_device(file):
            continue
        seen: set[int] = set()
        for name, bound in classes.attribute_bindings(scope).items():
            mine = [each for each in bound if each.method is method and each.value is not None]
            others = {getattr(each.method.node, "name", None) for each in bound if each.method is not method}
            if mine and {getattr(each, "value", "") for each in others} <= {"__init__"}:
                if id(mine[0].node) not in seen and _is_read(name, scope, method):
                    seen.add(id(mine[0].node))
                    yield mine[0]


def _is_called(file: File) -> bool:
    """True if the module calls the method itself: then every process may run it."""
    return bool(file.module.calls_named(_PREPARING))


def _has_one_device(file: File) -> bool:
    """True if the module makes a Trainer, and each that it makes gets one device."""
    from dataloader_lint.semantics.syntax.expressions import keyword_of
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import Const, Sequence, Value

    def is_one(value: Value) -> bool:
        if isinstance(value, Sequence):
            return value.items is not None and len(value.items) == 1
        return isinstance(value, Const) and value.value in (1, "1") and not value.default

    calls = file.module.calls_named("Trainer")
    for call in calls:
        devices = keyword_of(call, "devices") or keyword_of(call, "gpus")
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
        found = file.ev.values(devices, frame) if devices is not None else ()
        if not found or not all(is_one(each) for each in found):
            return False
    return bool(calls)


def _is_read(name: str, klass: Scope, method: Scope) -> bool:
    """True if another method of the class, which all processes run, reads an attribute."""
    import libcst as cst

    from dataloader_lint.semantics.classes import classes
    from dataloader_lint.semantics.syntax.names import dotted

    tree = klass.module.tree
    for other in classes.methods_of(klass).values():
        if other is method or getattr(getattr(other.node, "name", None), "value", "") == "__init__":
            continue
        wanted = f"{classes.receiver_name(other)}.{name}"
        for node in tree.find(other.node, cst.Attribute):
            if dotted(node) == wanted and not isinstance(tree.parent(node), cst.AssignTarget):
                return True
    return False


def check(binding: AttributeBinding, file: File) -> Iterator[Finding]:
    problem = f"`prepare_data` sets `{binding.owner}.{binding.name}` in one process: the others do not have it"
    yield Finding(binding.node, problem, "set it in `setup`")
