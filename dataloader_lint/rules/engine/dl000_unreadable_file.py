"""A file that cannot be read or parsed, and so was not linted.

## What it does
Reports a file or directory that the linter was asked to look at and could not: it may not be read, its bytes are not
in the encoding that it declares, it holds NUL bytes, or it is no Python. There is one such finding for each file, at
the place of the first error where there is one, and all other files are linted as usual.

Of a notebook (`.ipynb`), each code cell that is no Python is one such finding, and its other cells are linted. Magics,
shell lines and questions (`%time`, `!ls`, `loader?`) are no errors. A notebook that is no JSON, has no cells, or is in
a format older than 4 is one finding.

A file in which nothing speaks of data loading is not parsed at all, so its syntax errors are not reported; neither are
those of such cells.

A file that is longer than 1,500,000 characters, nested deeper than LibCST can parse, or takes more than a minute of
CPU time is one such finding too. So is a class with more than 200 base classes: what the others do is unknown.
What is called like a Python file in a directory and is a pipe, a device, or a link that leads nowhere or out of that
directory, is left out with a warning instead.

LibCST does not give every file back byte for byte. Blank space that it drops (form feeds, lines that hold only a
backslash) is no obstacle: positions are those in the file. Where it changes anything else, no position would be right,
and the file is one such finding, at the first line that differs.

## Why is this bad?
A file that was silently left out looks as clean as one that was checked. Python itself would refuse most of these
files as soon as they are imported.

## Known limits
Notebooks and cells in another language than Python are left out without a word, and so is a cell of a single line that
is no Python, since IPython may run it as a command (`pip install torch`).

Syntax is that of the newest Python that the installed LibCST knows, whichever Python runs the linter. Under flake8,
which reports such files itself (E902, E999), this code appears only for the few files that Python accepts and LibCST
does not.

A file in which a line holds only a backslash is linted, but not fixed: what a fix puts below such a line would be
joined to it.

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
