"""A bug in the linter itself: one rule could not finish on one file.

## What it does
Names the rule, the error and the place in the linter's own code. All other rules still checked this file, and all
other files are linted as usual. The command ends with exit code 2, also with `--exit-zero`.

## Why is this bad?
The rule may have missed a finding in this file. It is our bug, never yours.

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
No fix.

## When to ignore it
To keep a build green until the bug is fixed: disable the rule that the message names with `--ignore`, and it does not
run any more.

## Error messages
- `internal error in rule DL...`

## References
- [Issues of this project](https://github.com/dataloader-lint/dataloader-lint/issues)
"""

from __future__ import annotations

from dataloader_lint.rules.base import Claim, Entity, Level, Rule

RULE = Rule("DL999", "internal-error", Entity.FILE, Level.ERROR, Claim.MUST)
