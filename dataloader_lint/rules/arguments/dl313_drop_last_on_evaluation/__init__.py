"""`drop_last=True` on a loader that evaluates leaves the last samples out of the metric.

## What it does
Reports a DataLoader with `drop_last=True`

- over which a loop goes in `torch.no_grad()` or `torch.inference_mode()`, or enters it for each batch, itself or in a
  function that is given the batch, or after `model.eval()`, if the loader, the function or its class is named for
  validation or test
- which `val_dataloader`, `test_dataloader` or `predict_dataloader` returns

A comprehension counts as a loop: `sum(metric(model(x), y) for x, y in val_loader)`. So does a loop over what
`accelerator.prepare(val_loader)` gives back, which keeps `drop_last`.

**Where**: at the DataLoader, also if a loop in another file evaluates with it. It is at the loop in large projects
whose imports do not connect the two files.

If the loop counts with the batch size that was asked for (`seen += BATCH_SIZE`), or makes an array of a list with one
entry for each batch, the message says what to change first: with a smaller last batch such a metric would be wrong, and
such an array fails.

## Why is this bad?
The last, smaller batch is skipped: up to `batch_size - 1` samples are not evaluated. The number then depends on the
batch size, and a small data set can lose most of its samples. In one repository the error of a
published model on 158 samples went from 1.89 to 2.94 when the last 30 counted.

Measured on 158 samples whose error is 1.00, but 8.75 for the last 31: with `batch_size=32` and `drop_last=True` the
mean error is 1.06 over 128 samples; without it 2.52 over all 158.

## Known limits
- Silent if the loop ends early, since it leaves samples out anyway.
- Silent if the loader or the loop is named for training.
- A function that makes loaders by a flag, `get_loader(args, "val")`, is followed with the flag that it gets.
- Silent if `batch_size` is 1 or `drop_last` comes from an option, and if an option or the key of a dict decides between
  this loader and one that keeps all samples.
- Silent if the loop compares the samples of a batch with each other, by the names of what it calls: `cdist`,
  `distance_matrix`, `r_precision`, `contrastive`.

## Example
```python
import torch
from torch.utils.data import DataLoader

def evaluate(model, dataset):
    test_loader = DataLoader(dataset, batch_size=32, drop_last=True)
    correct = 0
    with torch.no_grad():
        for images, labels in test_loader:
            correct += (model(images).argmax(1) == labels).sum()
    return correct / len(dataset)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader

def evaluate(model, dataset):
    test_loader = DataLoader(dataset, batch_size=32)
    correct = 0
    with torch.no_grad():
        for images, labels in test_loader:
            correct += (model(images).argmax(1) == labels).sum()
    return correct / len(dataset)
```

If the code divides by the number of batches, weigh each batch by its size.

## Fix safety
Unsafe: `drop_last=True` becomes `drop_last=False`, which changes the metric. This is done where that alone is the cure,
and where names or a branch say that the loader is for evaluation only.

There is no fix if the code that evaluates

- computes with the batch size, or has the same number elsewhere: `torch.zeros(32, 10)`
- gathers batches of several processes
- asks for the number of batches, or counts them: `steps += 1`, or the index of `enumerate` behind the loop
- divides by anything but a number of samples, or takes a mean behind the loop
- gives a meter one number for each batch, without a weight: `meter.update(loss)`
- does more with a list of one entry for each batch than `torch.cat`

In such a mean, the last batch would count as much as the others. If several loops go over the loader, none may do so.

## When to ignore it
If the model needs whole batches, as some contrastive and generative ones do, or the rest is counted elsewhere.

## Error messages
None: the metric is computed over fewer samples.

## References
- [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
- [Nonstationary Transformers issue 26](https://github.com/thuml/Nonstationary_Transformers/issues/26)
- [Autoformer issue 104](https://github.com/thuml/Autoformer/issues/104)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.gate import EVALUATIONS
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.arguments.dl313_drop_last_on_evaluation.evaluations import Evaluation
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule(
    "DL313",
    "drop-last-on-evaluation",
    Entity.LOOP,
    Level.ERROR,
    Claim.MUST,
    fix=FixLevel.UNSAFE,
    subjects=(EVALUATIONS,),
)


def find(file: File) -> Iterable[Evaluation]:
    from dataloader_lint.rules.arguments.dl313_drop_last_on_evaluation.evaluations import evaluations

    return evaluations(file)


def check(found: Evaluation, file: File) -> Iterator[Finding]:
    from dataloader_lint.semantics.syntax.outermost import outermost_definition

    drops, size = found.loader.known("drop_last"), found.loader.known("batch_size")
    if drops is None or drops.value is not True or drops.default or not found.loader.is_reached:
        return
    if any(_keeps_all(each) for each in found.alternatives):
        return  # an option decides which of them the loop goes through
    if size is not None and size.value in (None, 1):
        return
    number = f" (up to {size.value - 1} samples)" if size is not None and type(size.value) is int else ""
    name = f"`{found.loader.bound_name}`"
    where = f" ({found.where})" if found.where != name else ""
    loader = f"the loader that {found.where} returns has" if found.is_returned else f"{name} evaluates{where} with"
    problem = f"{loader} `drop_last=True`, which skips the last batch{number}"
    cause = f"{outermost_definition(found.node, file.tree)}:{found.loader.bound_name}"
    yield Finding(found.node, problem, _advice(found), partial(fix, found), found.steps, cause=cause)


def fix(found: Evaluation, editor: Editor) -> Repair | None:
    import libcst as cst

    from dataloader_lint.edits import RefusedError, Repair, replace
    from dataloader_lint.rules.arguments.dl313_drop_last_on_evaluation.last_batch import obstacle
    from dataloader_lint.semantics.syntax.expressions import keyword_of

    call, _ = found.loader.construction
    value = keyword_of(call, "drop_last")
    if call not in editor.tree or not isinstance(value, cst.Name) or value.value != "True":
        raise RefusedError("`drop_last=True` stands elsewhere")
    reason = obstacle(found)
    if reason:
        raise RefusedError(reason)
    return Repair(Safety.UNSAFE, "Keep the last batch", (replace(editor, value, "False"),))


def _advice(found: Evaluation) -> str:
    """What to do, in an order that keeps the metric right: a last batch with fewer samples must not upset it first."""
    from dataloader_lint.rules.arguments.dl313_drop_last_on_evaluation.batch_means import stacks_batches

    if found.counts_full_batches:
        return "count `len(batch)` samples in the loop, then use `drop_last=False`"
    if stacks_batches(found.step.node, found.step.module.tree):
        return "concatenate the batches there, then use `drop_last=False`"
    return "use `drop_last=False`"


def _keeps_all(loader: Loader) -> bool:
    drops = loader.known("drop_last")
    return drops is not None and not drops.value
