"""The step of a chain that says where a loader is made, and with which of the arguments that matter."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.loader_calls import Loader, written_argument
from dataloader_lint.facts.syntax.layout import code
from dataloader_lint.facts.syntax.steps import Step


def made(loader: Loader, *arguments: str) -> Step:
    """Where a loader is made, with what is known of some arguments: "`train` is made with `num_workers=8`"."""
    shown = [each for each in (_argument(loader, name) for name in arguments) if each]
    text = f"`{_name(loader)}` is made here"
    if shown:
        text += f" with {' and '.join(shown)}"
    call, frame = loader.construction
    return Step(frame.scope.module, call, text)


def _name(loader: Loader) -> str:
    """What the user calls the loader: its variable, else its class."""
    klass = classes.class_of(loader.frame.scope)
    if loader.bound_name.startswith("super()") and klass is not None and isinstance(klass.node, cst.ClassDef):
        return klass.node.name.value
    return loader.bound_name


def _argument(loader: Loader, name: str) -> str:
    """An argument with its value, or as it is written; empty where it is left out or comes in another way."""
    known = loader.known(name)
    if known is not None and known.default:
        return f"`{name}={known.value!r}` ({known.default})"
    if known is not None and loader.is_passed(name):
        return f"`{name}={known.value!r}`"
    call, frame = loader.construction
    positions = loader.kind.positions if call is loader.call else ()  # a subclass may have other parameters
    written = written_argument(call, name, positions)
    tree = frame.scope.module.tree
    return f"`{name}={code(tree, written.value)}`" if written is not None and written.value in tree else ""
