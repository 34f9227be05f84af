"""A thread limit in the environment that is set after the library that reads it was imported has no effect.

## What it does
Reports `os.environ["OMP_NUM_THREADS"] = ...` and the same for `MKL_NUM_THREADS`, `OPENBLAS_NUM_THREADS` and
`NUMEXPR_NUM_THREADS`, also through `setdefault` and `update`, where the module has imported the library before:
torch for the first two, numpy or torch for the third, numexpr or pandas for the last. After numpy alone the first two
are reported as well, unless torch, or something that may bring it, is imported later: torch still obeys them then.

## Why is this bad?
torch and numpy read these variables once, when they are loaded. Measured with torch 2.13: `OMP_NUM_THREADS=1` set after
`import torch` changes nothing (2 threads stay 2), set before it works, also after numpy. numpy's own OpenBLAS wants it
before numpy is imported. The statement looks like a limit and is none for this process. Processes that it starts later
do inherit the variable.

## Known limits
Only imports in the same module count; that another module of the project has loaded torch already is not seen.
Nothing is said in modules that start other programs, for which the variable may be meant, nor where processes that load
torch anew are started after it (`torch.multiprocessing.spawn`, or contexts that spawn). Forked processes do not.

## Example
```python
import os
import torch

os.environ["OMP_NUM_THREADS"] = "1"
```

## Use instead
```python
import os

os.environ["OMP_NUM_THREADS"] = "1"
import torch
```

Or, for a process that is running already, `torch.set_num_threads(1)`.

## Fix safety
Unsafe: moves the statement above the import. From then on the limit is in force, which can make the program slower.

## When to ignore it
When the variable is meant for processes that are started later.

## Error messages
None: the program only uses more threads than it was told to.

## References
- [torch.set_num_threads](https://docs.pytorch.org/docs/stable/generated/torch.set_num_threads.html)
- [Threading environment variables](https://docs.pytorch.org/docs/stable/threading_environment_variables.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import THREADS
from dataloader_lint.rules.base import Entity, Finding, FixLevel, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.facts.analysis import Analysis
    from dataloader_lint.facts.threads.threads import LateLimit

RULE = Rule("DL502", "thread-limit-set-too-late", Entity.MODULE, fix=FixLevel.UNSAFE, subjects=(THREADS,))


def check(facts: Analysis) -> Iterator[Finding]:
    for limit in facts.late_thread_limits:
        problem = (
            f"`{limit.variable}` is set after `{limit.library}` was imported, which has read it by then: "
            "too late for this process, though processes that it starts later do inherit it"
        )
        yield Finding(limit.node, problem, "set it above the imports", partial(fix, limit))


def fix(limit: LateLimit, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import Repair, insert_before, remove_statement

    if not limit.is_movable:
        return None
    code = editor.code(limit.statement)
    edits = (insert_before(editor, limit.import_node, code), remove_statement(editor, limit.node, moved=code))
    return Repair(Safety.UNSAFE, f"Set `{limit.variable}` before `{limit.library}` is imported", edits)
