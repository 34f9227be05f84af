"""`cv2.imread` returns None for a file that it cannot read, and the error comes later without the path.

## What it does
Reports `cv2.imread` and `cv2.imdecode` in worker code whose result is used as an image without a test.

**What counts as a test**: a comparison, `if`, `assert` or `try` that mentions the result.

## Why is this bad?
OpenCV raises nothing for a missing or broken file. The next line fails instead, in a worker, hours into a run:
`cv2.cvtColor` with `(-215:Assertion failed) !_src.empty()`, and `image.shape` with `'NoneType' object has no attribute
'shape'`. Neither names the file. Run with OpenCV 5.0: the same file raises FileNotFoundError with its path once the
result is tested.

## Known limits
- Results that are returned or stored are not followed.
- Readers of other libraries raise an exception that names the file.

## Example
```python
import cv2
from torch.utils.data import Dataset

class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = cv2.imread(self.paths[index])
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

cv2.setNumThreads(0)
```

## Use instead
```python
import cv2
from torch.utils.data import Dataset

class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = cv2.imread(self.paths[index])
        if image is None:
            raise FileNotFoundError(self.paths[index])
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

cv2.setNumThreads(0)
```

## Fix safety
No fix: what a broken file means is for you to say.

## When to ignore it
If all files were read once before the training.

## Error messages
- `cv2.error: OpenCV(...) error: (-215:Assertion failed) !_src.empty() in function 'cvtColor'`
- `AttributeError: 'NoneType' object has no attribute 'shape'`

## References
- [cv2.imread](https://docs.opencv.org/4.x/d4/da8/group__imgcodecs.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import OPENCV
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl617_unchecked_imread.unchecked_reads import UncheckedRead

RULE = Rule(
    "DL617", "unchecked-imread", Entity.WORKER_CODE, Level.OPINION, Claim.MAY, default=False, subjects=(OPENCV,)
)


def find(file: File) -> Iterable[UncheckedRead]:
    from dataloader_lint.rules.samples.dl617_unchecked_imread.unchecked_reads import unchecked_reads

    return unchecked_reads(file.workers, file.module)


def check(read: UncheckedRead, file: File) -> Iterator[Finding]:
    problem = f"`{read.function.label}` uses the result of `{read.name}`, which is None for a broken file"
    advice = "check for None, and raise an error with the path"
    yield Finding(read.call, problem, advice, because=file.steps_to(read.function))
