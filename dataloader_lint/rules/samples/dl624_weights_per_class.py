"""A `WeightedRandomSampler` with one weight for each class draws only the first few samples.

## What it does
Reports a `WeightedRandomSampler` whose weights are one for each class: counts of `bincount`, `value_counts` or
`unique`, class weights of scikit-learn, a short list of numbers, or what is computed from them.

## Why is this bad?
The sampler wants one weight for each **sample**, and draws indices below the number of weights. With two weights it
draws samples 0 and 1 only. Measured with torch 2.13 and 1,000 samples of two classes: 2 different samples are drawn,
and 644 with `weights[labels]`. There is no message, and the loss falls quickly.

## Known limits
- Silent if the number of weights is not known, whatever they are called.
- Silent if the weights are indexed, as in `weights[labels]`.

## Example
```python
import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

def make(dataset, labels):
    weights = 1.0 / torch.bincount(labels)
    return DataLoader(dataset, sampler=WeightedRandomSampler(weights, len(dataset)))
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

def make(dataset, labels):
    weights = 1.0 / torch.bincount(labels)
    return DataLoader(dataset, sampler=WeightedRandomSampler(weights[labels], len(dataset)))
```

## Fix safety
No fix: where the labels are is not known.

## When to ignore it
If the Dataset has as many samples as there are weights.

## Error messages
None: the same few samples come again and again.

## References
- [torch.utils.data.WeightedRandomSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.syntax.tree import Tree

RULE = Rule("DL624", "weights-per-class", Entity.SETTING, Level.ERROR, Claim.MUST)

_SAMPLER = "torch.utils.data.WeightedRandomSampler"
_COUNTING = frozenset({"bincount", "compute_class_weight", "value_counts"})
# Calls that keep the number of what they are given.
_KEEPING = frozenset(
    {
        *("DoubleTensor", "FloatTensor", "Tensor", "array", "as_tensor", "asarray", "from_numpy", "list", "tensor"),
        *("double", "float", "log", "numpy", "pow", "reciprocal", "sqrt", "sort_index", "to_list", "tolist"),
    }
)
_FEW = 20  # a list of so many numbers is no list of samples
_DEPTH = 8


def find(file: File) -> Iterator[cst.Call]:
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of

    for call, _, _ in library_calls(file, _SAMPLER, _SAMPLER.replace(".data.", ".data.sampler.")):
        weights = keyword_of(call, "weights") or next(iter(positional_of(call)), None)
        if weights is not None and _is_per_class(weights, file.tree, 0) and not _draws_few(call, file):
            yield call


def _draws_few(call: cst.Call, file: File) -> bool:
    """True if the sampler is asked for a small number of samples, such as that of its weights."""
    from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import constant

    given = keyword_of(call, "num_samples") or next(iter(positional_of(call)[1:2]), None)
    if given is None:
        return True
    weights = keyword_of(call, "weights") or positional_of(call)[0]
    words = file.tree.words
    if words(given) == f"len {words(weights)}":
        return True
    known = constant(file.ev.values(given, file.ev.frame_of(function_scope(file.tree.scope_of(call)))))
    return known is not None and isinstance(known.value, int) and known.value <= _FEW


def _is_per_class(node: cst.BaseExpression, tree: Tree, depth: int) -> bool:
    """True if an expression surely has one number for each class."""
    import libcst as cst

    from dataloader_lint.semantics.syntax.expressions import last_name, positional_of
    from dataloader_lint.semantics.syntax.names import Kind, resolve

    def inside(part: cst.BaseExpression) -> bool:
        return _is_per_class(part, tree, depth + 1)

    if depth > _DEPTH:
        return False
    if isinstance(node, cst.Name):
        bound = resolve(node, tree)
        return bool(bound) and all(
            each.kind is Kind.VALUE
            and each.value is not None
            and (each.path == (1,) and _counts_unique(each.value) if each.path else inside(each.value))
            for each in bound
        )
    if isinstance(node, cst.BinaryOperation):
        return inside(node.left) or inside(node.right)
    if isinstance(node, cst.List):
        numbers = (cst.Integer, cst.Float, cst.BinaryOperation)
        return 1 < len(node.elements) <= _FEW and all(isinstance(each.value, numbers) for each in node.elements)
    if isinstance(node, cst.ListComp):
        loop = node.for_in
        return not loop.ifs and loop.inner_for_in is None and inside(loop.iter)
    if isinstance(node, cst.Attribute):  # counts.values, counts.T
        return node.attr.value == "values" and inside(node.value)
    if not isinstance(node, cst.Call):
        return False
    name = last_name(node.func)
    if name in _COUNTING:
        return True
    if name not in _KEEPING:
        return False
    given = positional_of(node)[:1]
    receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
    return any(inside(each) for each in (*given, receiver) if each is not None)


def _counts_unique(node: cst.BaseExpression) -> bool:
    """True for `np.unique(labels, return_counts=True)`, whose second part are the counts."""
    import libcst as cst

    from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name

    if not isinstance(node, cst.Call) or last_name(node.func) != "unique":
        return False
    counts = keyword_of(node, "return_counts")
    return counts is not None and last_name(counts) == "True" and keyword_of(node, "return_inverse") is None


def check(call: cst.Call, file: File) -> Iterator[Finding]:
    problem = "these weights are one for each class: the sampler draws only so many of the first samples"
    yield Finding(call, problem, "give it one for each sample: `weights[labels]`")
