"""A thread limit in `os.environ` that is set after the library was imported has no effect.

## What it does
Reports `os.environ["OMP_NUM_THREADS"] = ...`, `setdefault` and `update` for these variables, after the module has
imported the library that reads them:

- `OMP_NUM_THREADS` and `MKL_NUM_THREADS`: torch
- `OPENBLAS_NUM_THREADS`: numpy or torch
- `NUMEXPR_NUM_THREADS`: numexpr or pandas

The first two are also reported after numpy alone, unless torch is imported later, or something that may import it:
torch still obeys them then.

The statements of one function, of the main guard or of the module's top are one finding, at the first of them. It is a
note in a function or under the main guard: what is set there is meant for processes that are started later, as a rule.

## Why is this bad?
torch and NumPy read these variables once, when they are loaded. Measured with torch 2.13: `OMP_NUM_THREADS=1` set
after `import torch` changes nothing (2 threads stay 2). Set before it, also after numpy, it works. NumPy's own
OpenBLAS needs it before numpy is imported. The statement looks like a limit but does not limit this process.
Processes that it starts later do inherit the variable.

## Known limits
- Only imports in the same module count. An import of torch by another module of the project is not seen.
- Nothing is reported in modules that start other programs, for which the variable may be meant.
- Nothing is reported if its function starts processes that load torch again after it (`torch.multiprocessing.spawn`),
  or if the program spawns all of them (`set_start_method("spawn")`). Forked processes do not load it again.

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

In a process that is already running, call `torch.set_num_threads(1)`.

## Fix safety
Unsafe: moves the statement before the import. The limit then takes effect, which can make the program slower. There is
no fix under a guard or in a function, nor in a module of a package or one that others import: importing it would limit
whoever does.

## When to ignore it
If the variable is meant for processes that are started later.

## Error messages
None: the program only uses more threads than intended.

## References
- [torch.set_num_threads](https://docs.pytorch.org/docs/stable/generated/torch.set_num_threads.html)
- [Threading environment variables](https://docs.pytorch.org/docs/stable/threading_environment_variables.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import THREADS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.threads.dl502_thread_limit_set_too_late.late_limits import LateLimit
    from dataloader_lint.semantics.syntax.tree import Node, Tree

RULE = Rule(
    "DL502",
    "thread-limit-set-too-late",
    Entity.SETTING,
    Level.SPEED,
    Claim.MUST,
    fix=FixLevel.UNSAFE,
    subjects=(THREADS,),
)


def find(file: File) -> Iterable[LateLimit]:
    from dataloader_lint.rules.threads.dl502_thread_limit_set_too_late.late_limits import late_limits

    return late_limits(file.ev, file.module)


def check(limit: LateLimit, file: File) -> Iterator[Finding]:
    problem = (
        f"`{limit.variable}` is set after `{limit.library}` was imported: it affects child processes, but not this one"
    )
    level = None if limit.is_at_import else Level.NOTE
    cause = f"{limit.block}:{limit.library}"
    yield Finding(limit.node, problem, "set it before the imports", partial(fix, limit, file), level=level, cause=cause)


def fix(limit: LateLimit, file: File, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, insert_before, remove_statement
    from dataloader_lint.semantics.project.imports import is_imported

    is_library = file.project.is_in_package(file.module) or is_imported(file.project, file.module)
    if not limit.is_movable:
        raise RefusedError("its value is known only there")
    if not limit.is_at_import or is_library:  # importing the module would limit others, or limit at all
        raise RefusedError("importing the module would limit others")
    code = editor.code(limit.statement)
    place = _first_foreign_import(limit, file.tree)
    edits = (insert_before(editor, place, code), remove_statement(editor, limit.node, moved=code))
    return Repair(Safety.UNSAFE, f"Set `{limit.variable}` before `{limit.library}` is imported", edits)


def _first_foreign_import(limit: LateLimit, tree: Tree) -> Node:
    """The first import between that of `os` and that of the library which is not of the standard library.

    NumPy and others read such variables as well when they are loaded.
    """
    import sys

    import libcst as cst

    from dataloader_lint.semantics.syntax.names import dotted

    home = tree.parent(tree.parent(limit.import_node) or limit.import_node)
    found: Node = limit.import_node
    for line in reversed(getattr(home, "body", ())):
        part = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if tree.order(line) >= tree.order(limit.import_node) or not isinstance(part, cst.Import | cst.ImportFrom):
            continue
        names = [dotted(each.name) for each in part.names] if isinstance(part, cst.Import) else [dotted(part.module)]
        roots = {name.partition(".")[0] for name in names}
        if isinstance(part, cst.Import) and any(dotted(each.name) == "os" and not each.asname for each in part.names):
            break
        if roots.isdisjoint(sys.stdlib_module_names):
            found = part
    else:
        return limit.import_node  # `os` is imported elsewhere
    return found
