"""A tokenizer, model or decoder is made again for every sample, which can take longer than the sample.

## What it does
Reports worker code that makes one of these for every sample, or in a `collate_fn` for every batch, with arguments that
do not depend on the sample. The rule is opt-in.

- `from_pretrained` of the tokenizers, processors and models of transformers, `SentenceTransformer`
- `torch.jit.load`, `torch.hub.load`, `whisper.load_model`, `spacy.load`
- `TurboJPEG()`, which loads a shared library

## Why is this bad?
Each call reads files and builds an object that all samples could share. Measured on one CPU:
`AutoTokenizer.from_pretrained` with a vocabulary of 30,000 words took 152 ms, and tokenizing a sample 0.02 ms
(transformers 5.24). `torch.jit.load` of a model with 270,000 weights took 17 ms.

## Known limits
- Silent if the result is stored or cached, or if the call is under a condition such as `if self.tokenizer is None`.
- `Compose` and other objects that read no file are not reported.
- Only the classes in a table are known, by the names that the library gives them.

## Example
```python
from torch.utils.data import Dataset
from transformers import AutoTokenizer

class Texts(Dataset):
    def __init__(self, texts):
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        return tokenizer(self.texts[index])["input_ids"]
```

## Use instead
```python
from torch.utils.data import Dataset
from transformers import AutoTokenizer

class Texts(Dataset):
    def __init__(self, texts):
        self.texts = texts
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.tokenizer(self.texts[index])["input_ids"]
```

An object that cannot be pickled is made in the worker on first use, and kept.

## Fix safety
No fix: some of these objects cannot be pickled, or must not be shared by forked workers.

## When to ignore it
If the object changes with use, so that each sample needs a new one.

## Error messages
None: the program runs.

## References
- [torch.jit.load](https://docs.pytorch.org/docs/stable/generated/torch.jit.load.html)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.rules.samples.dl615_object_built_per_sample.built_objects import BuiltObject

RULE = Rule("DL615", "object-built-per-sample", Entity.WORKER_CODE, Level.SPEED, Claim.MAY, default=False)


def find(file: File) -> Iterable[BuiltObject]:
    from dataloader_lint.rules.samples.dl615_object_built_per_sample.built_objects import built_objects

    return built_objects(file.workers, file.module)


def check(built: BuiltObject, file: File) -> Iterator[Finding]:
    problem = f"`{built.function.label}` makes {built.what} with `{built.name}` for every {built.each}"
    yield Finding(built.call, problem, "make it once and keep it", because=file.steps_to(built.function))
