"""The Trainer of Hugging Face drops the columns that a transform of the Dataset needs.

## What it does
Reports a `transformers.Trainer` whose `train_dataset` has a transform (`with_transform`, `set_transform`), if its
`TrainingArguments` leave `remove_unused_columns` as it is.

## Why is this bad?
Before training the Trainer removes all columns that are no arguments of the model's `forward`. The transform runs
later, on what is left. Measured with transformers 5.24 and datasets 5.2, a column `text` and a transform that makes the
model's inputs of it: `ValueError: No columns in the dataset match the model's forward method signature`. If some
columns are left, the transform raises KeyError.

## Known limits
- Silent if the module mentions `remove_unused_columns`, or if the arguments come from a parser or a dict.
- Trainers of the project and of other libraries are not looked at.

## Example
```python
from datasets import load_dataset
from transformers import Trainer, TrainingArguments

def train(model, tokenize):
    reviews = load_dataset("imdb", split="train").with_transform(tokenize)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=reviews).train()
```

## Use instead
```python
from datasets import load_dataset
from transformers import Trainer, TrainingArguments

def train(model, tokenize):
    reviews = load_dataset("imdb", split="train").with_transform(tokenize)
    arguments = TrainingArguments("out", remove_unused_columns=False)
    Trainer(model=model, args=arguments, train_dataset=reviews).train()
```

## Fix safety
No fix: the collator then gets all columns that the transform returns.

## When to ignore it
If the transform only reads columns that are arguments of the model.

## Error messages
- `ValueError: No columns in the dataset match the model's forward method signature`

## References
- [transformers issue 22119](https://github.com/huggingface/transformers/issues/22119)
- [Dataset.with_transform](https://huggingface.co/docs/datasets/package_reference/main_classes)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.gate import TRAINERS
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.values.values import Frame, Value

RULE = Rule("DL315", "columns-dropped-by-trainer", Entity.SETTING, Level.ERROR, Claim.MAY, subjects=(TRAINERS,))

_POSITIONS = ("model", "args", "data_collator", "train_dataset")


def find(file: File) -> Iterator[cst.Call]:
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.semantics.evaluation.loader_calls import written_argument

    if "_transform" not in file.tree.code or "remove_unused_columns" in file.tree.code:
        return
    for call, frame, _ in library_calls(file, "transformers.Trainer", "transformers.Seq2SeqTrainer"):
        options = written_argument(call, "args", _POSITIONS)
        given = written_argument(call, "train_dataset", _POSITIONS)
        if options is None or given is None or not _drops(file, options.value, frame):
            continue
        if any(_is_transformed(file, given.value, each) for each in file.ev.values(given.value, frame)):
            yield call


def _drops(file: File, options: cst.BaseExpression, frame: Frame) -> bool:
    """True if the options are made by a call that shows all of them; none of them is the one that counts."""
    from dataloader_lint.semantics.libraries.catalogue import TRAINER_OPTIONS
    from dataloader_lint.semantics.values.values import CallResult

    found = file.ev.values(options, frame)
    return bool(found) and all(
        isinstance(each, CallResult)
        and each.library in TRAINER_OPTIONS
        and each.call is not None
        and each.call in file.tree
        and not any(arg.star for arg in each.call.args)
        for each in found
    )


def _is_transformed(file: File, written: cst.BaseExpression, value: Value) -> bool:
    """True for a Dataset of Hugging Face with a transform."""
    import libcst as cst

    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import CallResult, ItemOf

    def whole(each: Value) -> Value:
        while isinstance(each, ItemOf):
            each = each.of
        return each

    made = whole(value)
    if not isinstance(made, CallResult) or not made.library.startswith("datasets."):
        return False
    if made.library.endswith(".with_transform"):
        return True
    for call in file.module.calls_named("set_transform"):
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if owner is not None and file.tree.words(owner) == file.tree.words(written):
            if value in file.ev.values(owner, frame):
                return True
    return False


def check(call: cst.Call, file: File) -> Iterator[Finding]:
    problem = "the Trainer drops the columns that the transform of its `train_dataset` reads"
    yield Finding(call, problem, "pass `remove_unused_columns=False` to its arguments")
