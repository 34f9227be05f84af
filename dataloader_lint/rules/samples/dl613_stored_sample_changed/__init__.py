"""Worker code that changes a stored sample in place gives a different sample in the next epoch.

## What it does
Reports worker code of a Dataset that changes what it reads from the Dataset's own list, dict, tensor or array. The rule
is opt-in: in 316 repositories, its four findings were no bugs. What misled it then is not reported any more.

**Changes that count**, because running them again gives something else

- `x = self.x[index]`, then `x *= 2`, `x[0] += 1`, `x.mul_(2)`
- `item = self.items[index]`, then `item["boxes"] = flip(item["boxes"])`, `item["boxes"][:, 0] *= width`
- `item["label"] = self.numbers[item["label"]]`, which finds no such key the second time
- `item.pop("path")`, `item["words"].append(end)`, `del item["path"]`
- `row = self.rows[index]` of a NumPy array, then `row[0] /= 255` or `row[:, 1] *= -1`
- the same of a sample that is picked at random: `other = random.choice(self.items)`

## Why is this bad?
Indexing a list, a dict, a tensor or the rows of an array returns what is stored, not a copy. The change stays, and the
next epoch starts from it: images get darker each epoch, boxes are flipped back, a `pop` raises KeyError. How much
depends on the workers: forked for each epoch, they start from the unchanged sample again; without workers, or with
`persistent_workers=True`, changes add up. Measured with torch 2.13 for `x = self.x[index]; x *= 2` with ones, over
three epochs: 2, 4, 8 without workers; 2, 2, 2 with two workers; 2, 4, 8 with two persistent ones.

## Known limits
- Only lists, dicts, tensors and arrays that the class itself is known to keep. Another Dataset, a table or an open file
  may return a fresh object for each index.
- What is set to the same value each time, `item["index"] = index`, and what changes nothing the second time,
  `item["path"] = str(item["path"])` or `text.replace("<image>", "<IMAGE>")`, are not reported.
- Silent about padding, `words += [0] * (size - len(words))`, and about lists from which an element is taken and put
  back.
- Silent if the change is under a condition about the sample itself: `if "image" not in item`.
- `row *= 2` is not reported for a row of an array: with one dimension it is a number, and a copy.
- What a mask or a list of numbers picks from an array, `near = points[mask]`, is a copy. An index of unknown kind is
  not followed.

## Example
```python
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, rows):
        self.images = torch.tensor(rows)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        image /= image.max()
        return image
```

## Use instead
```python
import torch
from torch.utils.data import Dataset

class Images(Dataset):
    def __init__(self, rows):
        self.images = torch.tensor(rows)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        return image / image.max()
```

For records, `item = dict(self.items[index])` instead of `item = self.items[index]`.
`dict(item)` and `copy.copy(item)` copy one level; use `copy.deepcopy(item)` if what is inside is changed, and
`x.clone()` for tensors.

## Fix safety
No fix: how deep the copy must be depends on the data.

## When to ignore it
If the change is meant to stay, and no workers read the Dataset.

## Error messages
None of its own: samples differ from epoch to epoch, or a key that `pop` took out is missing in the second one.

## References
- [Multi-process data loading](https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.dataset_class import DatasetClass
    from dataloader_lint.pipeline.file import File

RULE = Rule("DL613", "stored-sample-changed", Entity.DATASET, Level.ERROR, Claim.MAY, default=False)


def check(dataset: DatasetClass, file: File) -> Iterator[Finding]:
    from dataloader_lint.rules.samples.dl613_stored_sample_changed.sample_mutations import sample_mutations

    for change in sample_mutations(dataset):
        if change.node not in file.tree:
            continue
        problem = f"`{change.function}` changes the sample in `self.{change.attribute}` itself: the next epoch differs"
        copy = "`copy.deepcopy(x)`, of tensors `x.clone()`" if change.is_nested else "`dict(x)`, `x.clone()`"
        yield Finding(change.node, problem, f"change a copy ({copy})", because=change.steps)
