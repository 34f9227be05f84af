"""A file that cannot be read or parsed is not linted.

## What it does
Reports a file or directory that the linter was asked to check and could not:

- it may not be read
- its bytes are not in the encoding that it declares, or it holds NUL bytes
- it is not Python
- it is longer than 1,500,000 characters, has more than 160,000 lines and operators, or is nested deeper than LibCST can
  parse
- it takes more than 20 seconds of CPU time; the findings of the rules that came to an end stay
- it has a class with more than 200 base classes: what the others do is unknown

There is one such finding per file, at the first error if there is one. All other files are linted as usual.

**Notebooks** (`.ipynb`): each code cell that is not Python is one such finding, and the other cells are linted.
Magics, shell lines and questions (`%time`, `!ls`, `loader?`) are no errors. A notebook that is not JSON, has no
cells, or is in a format older than 4 is one finding.

**Not reported**: files in a directory, and cells, that do not mention data loading are not parsed, so their syntax
errors are not reported. Files that are named on the command line, and standard input, are always parsed. Pipes,
devices, dangling links and links out of the directory that are named `*.py` are skipped with a warning.

**Text that LibCST does not reproduce**: LibCST drops some blank space (form feeds, lines that hold only a backslash).
That is no problem: positions are those in the file. If LibCST changes anything else, no position would be right. The
file is then one such finding, at the first line that differs.

## Why is this bad?
A file that was silently skipped looks as clean as one that was checked. Python itself would refuse most of these
files on import.

## Known limits
- Notebooks and cells in another language than Python are skipped silently.
- So is a cell with a single line that is not Python, since IPython may run it as a command (`pip install torch`).
- The syntax is that of the newest Python that the installed LibCST knows, whichever Python runs the linter.
- flake8 reports such files itself (E902, E999). There, this code appears only for the few files that Python accepts
  and LibCST does not.
- A file in which a line holds only a backslash is linted but not fixed: a fix below such a line would be joined to
  it.

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
No fix: the intended content of the file is not known.

## When to ignore it
For files that are broken on purpose, such as templates and test data. Exclude them with `--extend-exclude` rather
than `--ignore DL000`, so that other broken files are still reported.

## Error messages
- `SyntaxError: invalid syntax`
- `SyntaxError: (unicode error) 'utf-8' codec can't decode byte`
- `SyntaxError: source code string cannot contain null bytes`

## References
- [PEP 263: source code encodings](https://peps.python.org/pep-0263/)
"""

from __future__ import annotations

from dataloader_lint.rules.base import Claim, Entity, Level, Rule

RULE = Rule("DL000", "unreadable-file", Entity.FILE, Level.ERROR, Claim.MUST)
