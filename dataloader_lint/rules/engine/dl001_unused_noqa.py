"""A `# noqa: DL...` comment that suppresses nothing hides what comes next.

## What it does
Reports `# noqa` comments with codes of this linter that suppress no finding.

It also reports comments that are read otherwise than they are meant: `# noqa: dl301`, which suppresses nothing, as
codes are in capitals, and `# noqa: persistent-workers-without-workers`, which flake8 reads as a bare `# noqa`: it
suppresses every finding of the line.

Only codes whose rules ran are reported: not those that the settings turn off, and not a bare `# noqa`, which belongs to
all linters.

## Why is this bad?
The comment says that something is wrong with the line, and nothing is. If the pitfall comes back later, the comment
hides it.

## Known limits
- Files that do not mention data loading are not read, so their comments are not checked.
- flake8 reads `# noqa` comments itself. Its plugin does not report unused ones.

## Example
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=4)  # noqa: DL301
```

## Use instead
```python
from torch.utils.data import DataLoader

def make(dataset):
    return DataLoader(dataset, num_workers=4)
```

## Fix safety
Safe: only the comment changes. Other codes and the reason beside them stay. Comments that are read otherwise than they
are meant have no fix.

## When to ignore it
If the same file is linted with different settings, and a rule runs in only some of them.

## Error messages
None: nothing fails.

## References
- [RUF100 unused-noqa](https://docs.astral.sh/ruff/rules/unused-noqa/), which does the same for ruff's own codes
"""

from __future__ import annotations

from dataloader_lint.rules.base import Claim, Entity, FixLevel, Level, Rule

RULE = Rule("DL001", "unused-noqa", Entity.FILE, Level.OPINION, Claim.MUST, fix=FixLevel.SAFE)
