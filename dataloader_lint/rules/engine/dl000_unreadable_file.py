"""A file that cannot be read or parsed, and so was not linted.

## What it does
Reports a file or directory that the linter was asked to look at and could not: it may not be read, its bytes are not
in the encoding that it declares, it holds NUL bytes, it is no Python, or it is a notebook. There is one such finding
for each file, at the place of the first error where there is one, and all other files are linted as usual.

A file in which nothing speaks of data loading is not parsed at all, so its syntax errors are not reported.

## Why is this bad?
A file that was silently left out looks as clean as one that was checked. Python itself would refuse most of these
files as soon as they are imported.

## Known limits
Syntax is that of the newest Python that the installed LibCST knows, whichever Python runs the linter. Under flake8,
which reports such files itself (E902, E999), this code appears only for the few files that Python accepts and LibCST
does not.

## Example
```python
# A file saved as Latin-1 whose first line does not say so:
train_loader = DataLoader(données, num_workers=4)
```

## Use instead
```python
# -*- coding: latin-1 -*-
train_loader = DataLoader(données, num_workers=4)
```

## Fix safety
There is no automatic fix: what the file was meant to be is not known.

## When to ignore it
For files that are broken on purpose, such as templates and test data. Better than `--ignore DL000` is to leave them out
with `--extend-exclude`, so that other broken files still show.

## Error messages
- `SyntaxError: invalid syntax`
- `SyntaxError: (unicode error) 'utf-8' codec can't decode byte`
- `SyntaxError: source code string cannot contain null bytes`

## References
- [PEP 263: source code encodings](https://peps.python.org/pep-0263/)
"""

from __future__ import annotations

from dataloader_lint.rules.base import Entity, Rule

RULE = Rule("DL000", "unreadable-file", Entity.MODULE)
