"""`torchdata.datapipes` and `torchdata.dataloader2` are gone: importing them raises ModuleNotFoundError.

## What it does
Reports an import of `torchdata.datapipes` or `torchdata.dataloader2`.

## Why is this bad?
torchdata 0.10 took both away. Measured with torchdata 0.11: `ModuleNotFoundError: No module named
'torchdata.datapipes'`. The classes of `torch.utils.data.datapipes` are still there.

## Known limits
- Silent if the project requires a torchdata before 0.10.
- Silent in a `try` that catches the error.

## Example
```python
from torchdata.datapipes.iter import IterableWrapper

def make(paths):
    return IterableWrapper(paths).shuffle().sharding_filter()
```

## Use instead
```python
from torch.utils.data.datapipes.iter import IterableWrapper

def make(paths):
    return IterableWrapper(paths).shuffle().sharding_filter()
```

Or an `IterableDataset`, or the nodes of `torchdata.nodes`.

## Fix safety
No fix: torch has only some of the classes.

## When to ignore it
If the program runs with a torchdata before 0.10, and no requirements file says so.

## Error messages
- `... 'torchdata.datapipes'`
- `... 'torchdata.dataloader2'`

## References
- [torchdata: release notes](https://github.com/meta-pytorch/data/releases)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File

RULE = Rule("DL317", "removed-datapipes", Entity.SETTING, Level.ERROR, Claim.MUST)

_GONE = ("torchdata.datapipes", "torchdata.dataloader2")
# torchdata==0.7.1, torchdata<0.10, torchdata = "^0.9"
_OLD = re.compile(
    r"""\btorchdata\b[^\n#]{0,100}?(?:(?:={1,3}|~=|<=|\^|~)[\s"']{0,9}0\.[0-9](?![0-9])|<\s{0,9}0\.(?:10|[0-9])(?![0-9]))"""
)


def find(file: File) -> Iterator[tuple[cst.Import | cst.ImportFrom, str]]:
    import libcst as cst

    from dataloader_lint.semantics.syntax.names import dotted

    if "torchdata" not in file.tree.code or file.project.locate("torchdata", file.module.path, 0):
        return
    seen: set[str] = set()
    for scope in file.module.root.descend():
        imports: list[cst.Import | cst.ImportFrom] = [*scope.own(cst.Import), *scope.own(cst.ImportFrom)]
        for plain in imports:
            if isinstance(plain, cst.Import):
                names = [dotted(each.name) for each in plain.names]
            elif plain.relative or plain.module is None:
                continue
            else:
                members = [] if isinstance(plain.names, cst.ImportStar) else plain.names
                source = dotted(plain.module)
                names = [source, *(f"{source}.{dotted(each.name)}" for each in members)]
            gone = next((each for name in names for each in _GONE if f"{name}.".startswith(f"{each}.")), "")
            if gone and gone not in seen and not _is_tried(plain, file):
                seen.add(gone)
                yield plain, gone


def _is_tried(node: cst.CSTNode, file: File) -> bool:
    """True for an import in a `try`, and for one that only type checkers see."""
    import libcst as cst

    return any(
        isinstance(above, cst.Try) or (isinstance(above, cst.If) and "TYPE_CHECKING" in file.tree.words(above.test))
        for above in file.tree.ancestors(node)
    )


def check(found: tuple[cst.Import | cst.ImportFrom, str], file: File) -> Iterator[Finding]:
    node, gone = found
    if any(_OLD.search(text, 0, 100_000) for text in file.project.requirements(file.module.path)):
        return
    problem = f"`{gone}` is not in torchdata 0.10 and newer: ModuleNotFoundError"
    yield Finding(node, problem, "use an IterableDataset, or require `torchdata<0.10`")
