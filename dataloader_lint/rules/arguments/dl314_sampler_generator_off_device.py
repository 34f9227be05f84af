"""Where the default device is CUDA, a loader that shuffles with a generator on the CPU raises RuntimeError.

## What it does
Reports, in a module that sets the default device or the default tensor type to CUDA (or that is imported by such a
module)

- `DataLoader(..., shuffle=True)`
- `RandomSampler(...)`
- `random_split(...)`

without a `generator`. The rule is opt-in, as its proof needs CUDA, which was not available.

## Why is this bad?
These draw their order with `torch.randperm(n, generator=generator)`. The generator that they make themselves is on the
CPU; the numbers are asked for on the default device. torch raises `RuntimeError: Expected a 'cuda' device type for
generator but found 'cpu'`. Seen here without a GPU (torch 2.13): `randperm` is among the functions that the default
device applies to, `torch.Generator` is not. The error itself is from eleven public reports.

## Known limits
- Silent if the device is not known, or if the module sets a default on the CPU as well.
- Silent for a CUDA device that is only entered in a `with` block.

## Example
```python
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")

def make(dataset):
    return DataLoader(dataset, batch_size=4, shuffle=True)
```

## Use instead
```python
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")

def make(dataset):
    return DataLoader(dataset, batch_size=4, shuffle=True, generator=torch.Generator(device="cuda"))
```

Better: no default device. Then samples are made on the CPU, and batches are moved.

## Fix safety
Unsafe: a `generator` on the device is passed. The device is written as it is set: `"cuda:1"`, or `device` where that is
a name of the module. A new `torch.Generator` starts from one seed in each run, whatever `torch.manual_seed` was given:
call its own `manual_seed` for another order.

No fix if the loader may have workers, as they make their samples on the default device too, and the default has to go.
So there is none for `random_split`, as it is not known which loaders get its parts, and none for a sampler whose loader
is not found.
None either if the default is set under a condition: a generator on CUDA cannot be made without it.

## When to ignore it
If the module runs only where CUDA is not available.

## Error messages
- `RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'`

## References
- [torch.set_default_device](https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html)
- [yolact issue 664](https://github.com/dbolya/yolact/issues/664)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Safety
from dataloader_lint.rules.base import Claim, Entity, Finding, FixLevel, Level, Rule

if TYPE_CHECKING:
    import libcst as cst

    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.semantics.evaluation.loader_calls import Loader
    from dataloader_lint.semantics.syntax.tree import ModuleFacts, Tree
    from dataloader_lint.semantics.values.values import Frame, Values

RULE = Rule(
    "DL314",
    "sampler-generator-off-device",
    Entity.LOADER,
    Level.ERROR,
    Claim.MAY,
    default=False,
    fix=FixLevel.UNSAFE,
)

_SETTERS = ("set_default_device", "set_default_tensor_type")
_SAMPLER = "torch.utils.data.RandomSampler"
_DRAWING = {_SAMPLER: 3, "torch.utils.data.random_split": 2}  # the place of `generator`


@dataclass(frozen=True, slots=True)
class Setter:
    """A call that sets the default device or tensor type, and what it may get."""

    name: str
    call: cst.Call
    frame: Frame
    values: Values
    is_cuda: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """A call that draws an order by a generator on the CPU, and the loaders that take their samples in this order."""

    call: cst.Call
    what: str
    setters: tuple[Setter, ...]
    loaders: tuple[Loader, ...] = ()


def find(file: File) -> Iterator[Drawing]:
    """The calls that draw an order by a generator on the CPU, where the default device is CUDA."""
    from dataloader_lint.pipeline.library_calls import library_calls
    from dataloader_lint.semantics.control.reachability import is_reached
    from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of

    setters = tuple(_setters(file))
    if not setters or not all(each.is_cuda for each in setters):
        return
    for loader in file.loaders:
        shuffle = loader.known("shuffle")
        if shuffle is not None and shuffle.value is True and loader.is_passed("generator") is False:
            if loader.is_passed("sampler") is False and loader.is_written_here and loader.is_reached:
                yield Drawing(loader.node, f"`{loader.name}(shuffle=True)`", setters, (loader,))
    for call, frame, name in library_calls(file, *_DRAWING):
        is_starred = any(arg.star for arg in call.args)
        if keyword_of(call, "generator") is None and len(positional_of(call)) <= _DRAWING[name] and not is_starred:
            if is_reached(file.ev, call, frame):
                loaders = tuple(_sampled_by(file, call)) if name == _SAMPLER else ()
                yield Drawing(call, f"`{name.rpartition('.')[2]}`", setters, loaders)


def _setters(file: File) -> Iterator[Setter]:
    """The calls of the module, or of one that imports it, that set the default device or tensor type."""
    from dataloader_lint.semantics.project.imports import may_import

    own = file.module
    name = own.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    for word in _SETTERS:
        yield from _setters_in(file, own, word)
        for module in file.project.modules_with(own, word):
            if module is not own and may_import(file.project, module, own, name):
                yield from _setters_in(file, module, word)


def _setters_in(file: File, module: ModuleFacts, name: str) -> Iterator[Setter]:
    """The calls of one setter, with what sets CUDA always or where that is available."""
    from dataloader_lint.pipeline.devices.devices import is_cuda
    from dataloader_lint.semantics.control.reachability import is_reached
    from dataloader_lint.semantics.syntax.tree import function_scope
    from dataloader_lint.semantics.values.values import Library

    ev = file.session.with_cuda
    for call in module.calls_named(name):
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        if Library(f"torch.{name}") not in ev.values(call.func, frame) or not call.args:
            continue
        if not is_reached(ev, call, frame):
            continue
        found = ev.values(call.args[0].value, frame)
        is_type = any(_text(each).startswith("torch.cuda.") for each in found)
        yield Setter(name, call, frame, found, is_cuda(ev, found) or is_type)


def _text(value: object) -> str:
    """The text of a constant, or the qualified name of what a library defines."""
    from dataloader_lint.semantics.values.values import Const

    return str(value.value) if isinstance(value, Const) else getattr(value, "name", "")


def _sampled_by(file: File, call: cst.Call) -> Iterator[Loader]:
    """The loaders that get the sampler that a call makes."""
    from dataloader_lint.semantics.values.values import CallResult

    for loader in file.loaders:
        if any(isinstance(each, CallResult) and each.call is call for each in loader.values("sampler")):
            yield loader


def check(found: Drawing, file: File) -> Iterator[Finding]:
    problem = f"{found.what} has a generator on the CPU, and the default device is CUDA: RuntimeError"
    advice = 'pass `generator=torch.Generator(device="cuda")`, or set no default device'
    yield Finding(found.call, problem, advice, partial(fix, found))


def fix(found: Drawing, editor: Editor) -> Repair | None:
    from dataloader_lint.edits import RefusedError, Repair, add_argument, need_import

    if not found.loaders:
        raise RefusedError("the loader is not known, and may have workers")
    if any((known := each.known("num_workers")) is None or known.value != 0 for each in found.loaders):
        raise RefusedError("workers need another default device")
    devices = {_device_code(found.call, each, editor) for each in found.setters}
    if len(devices) > 1:
        raise RefusedError("the default device is set in several ways")
    generator = need_import(editor, found.call, "torch", "Generator")
    edit = add_argument(editor, found.call, f"generator={generator.name}(device={devices.pop()})")
    return Repair(Safety.UNSAFE, "Pass a generator on the default device", (*generator.edits, edit))


def _device_code(use: cst.Call, setter: Setter, editor: Editor) -> str:
    """How to write the default device where it is used. Refused where that can be the CPU, or has no name there."""
    import libcst as cst

    from dataloader_lint.edits import RefusedError
    from dataloader_lint.semantics.control.reachability import path_conditions

    conditions = path_conditions(setter.call, setter.frame.scope)
    if not all(each.wanted and _is_main_guard(each.test) for each in conditions):  # it says nothing of devices
        raise RefusedError("the default device is set under a condition")
    given = setter.call.args[0].value
    if isinstance(given, cst.SimpleString | cst.Attribute):
        texts = {_text(each) for each in setter.values}
        text = texts.pop() if len(texts) == 1 else ""
        if text.startswith("torch.cuda."):
            return '"cuda"'
        if text.startswith("cuda"):
            return f'"{text}"'
    if isinstance(given, cst.Name) and setter.name == "set_default_device" and _is_name_at(given, use, editor.tree):
        return given.value
    raise RefusedError("the default device has no name there")


def _is_main_guard(test: cst.BaseExpression) -> bool:
    """True for `__name__ == "__main__"` alone: what else a test asks can leave the default on the CPU."""
    import libcst as cst

    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    operator, right = test.comparisons[0].operator, test.comparisons[0].comparator
    return (
        isinstance(operator, cst.Equal)
        and isinstance(test.left, cst.Name)
        and test.left.value == "__name__"
        and isinstance(right, cst.SimpleString)
        and right.raw_value == "__main__"
    )


def _is_name_at(name: cst.Name, use: cst.Call, tree: Tree) -> bool:
    """True if a name is bound once, by the module, and means the same where it is used."""
    from dataloader_lint.semantics.syntax.names import bindings_of, resolve

    bindings = resolve(name, tree) if name in tree else []
    if len(bindings) != 1 or bindings[0].scope is not tree.root:
        return False
    scope = tree.scope_of(use)
    if scope is tree.root:
        return tree.order(bindings[0].node) < tree.order(use)
    while scope.parent is not None:
        if name.value in bindings_of(scope):
            return False
        scope = scope.parent
    return True
