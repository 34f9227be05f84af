"""The steps of a chain that say where a loader is made, and with which of the arguments that matter."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.steps import Step
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader, written_argument
from dataloader_lint.semantics.syntax.layout import code


def made(loader: Loader, *arguments: str) -> tuple[Step, ...]:
    """Where a loader is made, with what is known of some arguments: "`train` is made with `num_workers=8`".

    Then where a caller passes what their values come from, if the function that makes it gets that as parameters.
    """
    shown = [each for each in (_argument(loader, name) for name in arguments) if each]
    text = f"`{_name(loader)}` is made here"
    if shown:
        text += f" with {' and '.join(shown)}"
    call, frame = loader.construction
    return (Step(frame.scope.module, call, text), *_passed(loader, arguments))


def _passed(loader: Loader, arguments: tuple[str, ...]) -> Iterator[Step]:
    _, frame = loader.construction
    tree = frame.scope.module.tree
    seen: set[str] = set()
    for name in arguments if frame.args else ():
        known, written = loader.known(name), _written(loader, name)
        if known is None or known.default or written is None or written not in tree:
            continue
        for each in tree.find(written, cst.Name):
            given = (frame.args or {}).get(each.value)
            if given is None or each.value in seen or isinstance(tree.parent(each), cst.Attribute):
                continue
            seen.add(each.value)
            if given.node is not None and given.frame is not None and given.node in given.frame.scope.module.tree:
                yield Step(given.frame.scope.module, given.node, f"`{each.value}` is passed here")


def _name(loader: Loader) -> str:
    """What the user calls the loader: its variable, else its class."""
    klass = classes.class_of(loader.frame.scope)
    if loader.bound_name.startswith("super()") and klass is not None and isinstance(klass.node, cst.ClassDef):
        return klass.node.name.value
    return loader.bound_name


def _argument(loader: Loader, name: str) -> str:
    """An argument with its value, or as it is written; empty where it is left out or comes in another way."""
    known = loader.known(name)
    if known is not None and known.default and not known.value:
        known = None  # an option that is off by default: what is written says more
    if known is not None and known.default:
        return f"`{name}={known.value!r}` ({known.default})"
    if known is not None and loader.is_passed(name):
        return f"`{name}={known.value!r}`"
    written = _written(loader, name)
    tree = loader.construction[1].scope.module.tree
    return f"`{name}={code(tree, written)}`" if written is not None and written in tree else ""


def _written(loader: Loader, name: str) -> cst.BaseExpression | None:
    """An argument as its user writes it; a subclass may have other parameters, so positions are not read there."""
    call, _ = loader.construction
    found = written_argument(call, name, loader.kind.positions if call is loader.call else ())
    return found.value if found is not None else None
