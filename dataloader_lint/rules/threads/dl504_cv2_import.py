"""A module with a Dataset or a DataLoader imports OpenCV without limiting its threads.

## What it does
Reports every import of `cv2` in a module that defines a Dataset or makes a DataLoader, if none of these calls
`cv2.setNumThreads`: the module, the modules that it imports, and the modules that import it.

The rule is opt-in. It does not check whether cv2 runs in worker code. DL501 does, and what DL501 reports is not
repeated.

## Why is this bad?
torch limits itself to one thread in a worker. OpenCV does not know about that: there `cv2.getNumThreads()` is the
number of CPUs. The cost depends on the machine. On 2 CPUs with 2 workers no difference in speed could be measured; 8
threads for each of the 2 workers cost 16 % (OpenCV 4.11).

## Known limits
- Imports that only type checkers see do not count.

## Example
```python
import cv2
from torch.utils.data import DataLoader

def make_loader(dataset):
    return DataLoader(dataset, num_workers=4)

def show(image):
    cv2.imshow("image", image)
```

## Use instead
```python
import cv2
from torch.utils.data import DataLoader

cv2.setNumThreads(0)

def make_loader(dataset):
    return DataLoader(dataset, num_workers=4)

def show(image):
    cv2.imshow("image", image)
```

## Fix safety
No fix: in a process that loads without workers, `cv2.setNumThreads(0)` halved the speed.

## When to ignore it
If cv2 does not run in workers. That is why the rule is opt-in.

## Error messages
None: the program only has more threads than it needs.

## References
- [cv2.setNumThreads](https://docs.opencv.org/4.x/db/de0/group__core__utils.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import OPENCV
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File

RULE = Rule("DL504", "cv2-import", Entity.FILE, Level.OPINION, Claim.MAY, default=False, subjects=(OPENCV,))


def check(file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.threads._shared.opencv import opencv

    imports = opencv(file).imports_without_limit(file.module)
    if not imports or next(opencv(file).calls_without_limit(file.module), None) is not None:
        return
    for node in imports:
        problem = (
            "`cv2` is imported next to a Dataset or DataLoader without `cv2.setNumThreads`: "
            "each worker may run a thread per CPU"
        )
        yield Finding(node, problem, "call `cv2.setNumThreads(0)` in workers")
