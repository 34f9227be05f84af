"""A mistake in the linter itself: one rule could not finish on one file.

## What it does
Names the rule, the error and the place in the linter's own code. All other rules still looked at this file, and all
other files are linted as usual. The command ends with exit code 2, also with `--exit-zero`.

## Why is this bad?
The rule may have had something to say about this file and could not say it. It is our mistake, never yours.

## Known limits
None: every error that a rule raises is reported this way.

## Example
```python
# There is no code that deserves this.
```

## Use instead
```python
# Please report it: with the message, and with the file if you can share it.
```

## Fix safety
There is no automatic fix.

## When to ignore it
To keep a build green until the mistake is mended: leave out the rule that the message names with `--ignore`, and it
does not run any more.

## Error messages
- `internal error in rule DL...`

## References
- [Issues of this project](https://github.com/dataloader-lint/dataloader-lint/issues)
"""

from __future__ import annotations

from dataloader_lint.rules.base import Entity, Rule

RULE = Rule("DL999", "internal-error", Entity.MODULE)
