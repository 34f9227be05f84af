"""Hooks that a trainer runs between epochs, and what they call its parts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.file import File
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Evaluator, Frame, Values, constant, merge

# Methods of Lightning's modules and callbacks, and of callbacks of Hugging Face, that run once for each epoch.
_HOOKS = frozenset(
    {
        *("on_epoch_begin", "on_epoch_end", "on_epoch_start", "on_train_epoch_end", "on_train_epoch_start"),
        *("on_validation_epoch_end", "training_epoch_end", "validation_epoch_end"),
    }
)
_OWNERS = ("Callback", "LightningDataModule", "LightningModule")
_FOR_EVALUATION = ("predict", "test", "val")
# With this option of Lightning's Trainer the loaders are made again, and their workers started again.
_RENEWING = "reload_dataloaders_every"


def epoch_hooks(file: File) -> Iterator[Frame]:
    """The hooks of the classes of a file that a trainer runs once for each epoch, each as the frame it runs in."""
    if _HOOKS.isdisjoint(name for scope in file.module.classes for name in classes.methods_of(scope)):
        return
    if any(file.project.mentions_word(file.module, f"{_RENEWING}_{end}") for end in ("epoch", "n_epochs")):
        return
    for scope in file.module.classes:
        libraries = file.ev.bases(Class(scope, file.ev.frame_of(scope))).libraries
        if any(name.endswith(_OWNERS) for name in libraries):
            yield from (
                file.ev.frame_of(method) for name, method in classes.methods_of(scope).items() if name in _HOOKS
            )


def loaders_that_train(file: File, hook: Frame) -> Iterator[Loader]:
    """The loaders that may be the trainer's: those of the file, and of the files that it knows or that know it."""
    owner = classes.class_of(hook.scope)
    names = [owner.node.name.value] if owner is not None and isinstance(owner.node, cst.ClassDef) else []
    for module in file.reach.around(file.module, names):
        for loader in (*file.workers.loaders(module), *file.trainers_in(module)):
            function = loader.frame.scope.node
            name = function.name.value if isinstance(function, cst.FunctionDef) else ""
            if not name.startswith(_FOR_EVALUATION):
                yield loader


def of_trainer(ev: Evaluator, node: cst.BaseExpression, frame: Frame, loader: Loader) -> Values:
    """What an expression of a hook is if the trainer uses this loader, such as `trainer.train_dataloader.dataset`.

    Empty for what has nothing to do with the trainer.
    """
    if isinstance(node, cst.Attribute):
        name = node.attr.value
        if name == "dataset" and _is_train_loader(ev, node.value, frame):
            return loader.values("dataset")
        if name in ("datamodule", "lightning_module"):
            return _owner_of(loader, "DataModule" if name == "datamodule" else "LightningModule", ev)
        return merge(*(ev.attribute(each, name) for each in of_trainer(ev, node.value, frame, loader)))
    if isinstance(node, cst.Name) and node.value == "pl_module":
        return _owner_of(loader, "LightningModule", ev)
    return ()


def _is_train_loader(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True for `trainer.train_dataloader`, a parameter `train_dataloader`, and `kwargs["train_dataloader"]`."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        return constant(ev.values(node.slice[0].slice.value, frame)) == Const("train_dataloader")
    if isinstance(node, cst.Attribute):
        return node.attr.value == "train_dataloader"
    return isinstance(node, cst.Name) and node.value == "train_dataloader"


def _owner_of(loader: Loader, kind: str, ev: Evaluator) -> Values:
    """The object whose method makes a loader, if it is of this class of Lightning's."""
    made = loader.frame.receiver
    if not isinstance(made, CallResult) or not isinstance(made.by, Class):
        return ()
    return (made,) if any(each.endswith(kind) for each in ev.bases(made.by).libraries) else ()
