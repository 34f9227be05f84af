"""A loader whose state is loaded after `iter(loader)` goes on from the first sample.

## What it does
Reports `loader.load_state_dict(...)` if the program made an iterator of the same loader before, and takes batches from
that iterator afterwards.

## Why is this bad?
`load_state_dict` keeps the state for the next iterator. One that exists already does not read it. Measured with
torchdata 0.11, with 0 and 2 workers: the state of a run that had read 12 samples, loaded before `iter(loader)`, gives
12 and 13; loaded after it, 0 and 1. There is no error: every resumed run trains on the first samples again.

## Known limits
- Both must stand in one function, or in methods of one class.
- Silent if the iterator is made again after the state was loaded, on any path.

## Example
```python
from torchdata.stateful_dataloader import StatefulDataLoader

def train(model, dataset, state, steps):
    loader = StatefulDataLoader(dataset, batch_size=32)
    batches = iter(loader)
    loader.load_state_dict(state)
    for _ in range(steps):
        model(next(batches))
```

## Use instead
```python
from torchdata.stateful_dataloader import StatefulDataLoader

def train(model, dataset, state, steps):
    loader = StatefulDataLoader(dataset, batch_size=32)
    loader.load_state_dict(state)
    batches = iter(loader)
    for _ in range(steps):
        model(next(batches))
```

## Fix safety
No fix: statements have to change places.

## When to ignore it
If the state only counts for the iterator after this one.

## Error messages
None: the samples are the wrong ones.

## References
- [torchdata.stateful_dataloader](https://meta-pytorch.org/data/main/torchdata.stateful_dataloader.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader

RULE = Rule("DL619", "resumed-after-iter", Entity.LOADER, Level.ERROR, Claim.MAY)


def find(file: File) -> Iterator[tuple[cst.Call, cst.Call, Loader]]:
    """The calls that load a state too late, each with the call that made the iterator, and the loader."""
    import libcst as cst

    from dataloader_lint.pipeline.loaders.epochs import loaders_behind
    from dataloader_lint.semantics.syntax.tree import function_scope

    for call in file.module.calls_named("load_state_dict"):
        if not isinstance(call.func, cst.Attribute):
            continue
        frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
        for made, loader in loaders_behind(file.ev, file.ev.values(call.func.value, frame)):
            for start in _iterators(file, call):
                where = file.ev.frame_of(function_scope(file.tree.scope_of(start)))
                started = loaders_behind(file.ev, file.ev.values(start.args[0].value, where))
                if any(each == made for each, _ in started):
                    yield call, start, loader
                    break


def _iterators(file: File, load: cst.Call) -> Iterator[cst.Call]:
    """The calls of `iter` whose results were kept before `load`, and are read after it."""
    import libcst as cst

    from dataloader_lint.semantics.syntax.names import resolve
    from dataloader_lint.semantics.syntax.tree import function_scope

    tree = file.tree
    scope = function_scope(tree.scope_of(load))
    for start in file.module.calls_named("iter"):
        kept = tree.parent(start)
        if not isinstance(start.func, cst.Name) or len(start.args) != 1 or not isinstance(kept, cst.Assign):
            continue
        target = kept.targets[0].target
        if isinstance(target, cst.Attribute):
            if _is_read_later(file, target, start, load):
                yield start
        elif isinstance(target, cst.Name) and function_scope(tree.scope_of(start)) is scope:
            is_before = tree.order(start) < tree.order(load)
            later = (each for each in tree.named(scope.node, target.value) if tree.order(each) > tree.order(load))
            uses = [each for each in later if not isinstance(tree.parent(each), cst.AssignTarget)]
            made_by = [[made.node for made in resolve(each, tree)] for each in uses]
            if is_before and made_by and all(nodes == [kept] for nodes in made_by):
                yield start


def _is_read_later(file: File, target: cst.Attribute, start: cst.Call, load: cst.Call) -> bool:
    """True for `self.batches = iter(self.loader)` in the constructor, which nothing else in the class makes again."""
    from dataloader_lint.semantics.classes import classes
    from dataloader_lint.semantics.syntax.tree import function_scope

    method, loading = (function_scope(file.tree.scope_of(each)) for each in (start, load))
    owner = classes.class_of(method)
    if owner is None or classes.class_of(loading) is not owner:
        return False
    bound = classes.attribute_bindings(owner).get(target.attr.value, [])
    is_first = method is not loading or file.tree.order(start) < file.tree.order(load)
    name = getattr(getattr(method.node, "name", None), "value", "")
    return len(bound) == 1 and name == "__init__" and is_first


def check(found: tuple[cst.Call, cst.Call, Loader], file: File) -> Iterator[Finding]:
    from dataloader_lint.pipeline.loaders import loader_steps
    from dataloader_lint.pipeline.steps import Step

    load, start, loader = found
    name = loader.bound_name
    problem = f"the state of `{name}` is loaded after `iter`: its iterator starts at the first sample"
    steps = (*loader_steps.made(loader), Step(file.module, start, "the iterator is made here"))
    yield Finding(load, problem, "call `load_state_dict` before `iter`", because=steps)
