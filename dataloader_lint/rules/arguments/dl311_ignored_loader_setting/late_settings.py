"""Settings of a loader that torch ignores or refuses: attributes that are assigned after it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.errors.expected_errors import is_error_expected
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of
from dataloader_lint.semantics.syntax.names import bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, function_scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Method,
    Opaque,
    Partial,
    Value,
)

REFUSED = frozenset({"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"})
_WATCHED = REFUSED | {"shuffle"}


@dataclass(frozen=True, slots=True, eq=False)
class LateSetting:
    """`loader.shuffle = True` on a loader that is made already."""

    node: Node
    owner: str  # what the user calls the loader
    name: str

    @property
    def is_refused(self) -> bool:
        return self.name in REFUSED


def names_pin_device(loader: Loader) -> bool:
    """True if a loader is given a device to pin for; not where a parameter that may be empty is only passed on."""
    found = loader.passed("pin_memory_device")
    return bool(found) and all(
        (isinstance(value, Const) and bool(value.value) and not value.default)
        or (isinstance(value, Opaque) and value.kind == "str")
        or isinstance(value, CallResult)
        for value in found
    )


def drops_collate(loader: Loader) -> bool:
    """True if a loader of torch_geometric is given a function that it throws away."""
    if not loader.kind.drops_collate:
        return False
    found = loader.passed("collate_fn")
    return bool(found) and all(isinstance(value, Function | Method | Partial | CallResult | Library) for value in found)


def late_settings(ev: Evaluator, module: ModuleFacts) -> Iterator[LateSetting]:
    """The assignments of a module to attributes of loaders that come too late."""
    for scope in module.root.descend():
        statements: list[tuple[cst.Assign | cst.AugAssign, cst.BaseExpression]] = [
            (assign, target.target) for assign in scope.own(cst.Assign) for target in assign.targets
        ]
        statements.extend((augmented, augmented.target) for augmented in scope.own(cst.AugAssign))
        for statement, target in statements:
            if not isinstance(target, cst.Attribute) or target.attr.value not in _WATCHED:
                continue
            name = target.attr.value
            frame = ev.frame_of(function_scope(scope))
            owners = ev.values(target.value, frame)
            if not owners or not all(_is_loader(ev, owner, name) for owner in owners):
                continue
            if name == "shuffle" and any(_notes_down(statement, owner, scope) for owner in owners):
                continue
            if is_reached(ev, statement, frame) and not _is_refusal_expected(ev, statement, frame, name):
                yield LateSetting(statement, dotted(target.value) or "the loader", name)


def _is_refusal_expected(ev: Evaluator, statement: cst.Assign | cst.AugAssign, frame: Frame, name: str) -> bool:
    """True if the program expects that torch refuses the assignment."""
    return name in REFUSED and is_error_expected(ev, statement, frame, ("ValueError",))


def _notes_down(statement: cst.Assign | cst.AugAssign, loader: Value, scope: Scope) -> bool:
    """True if what is assigned decided already how the loader was made, or its sampler, and is only kept with it."""
    source = statement.value
    if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):  # keywords.get("shuffle", False)
        source = source.func.value
    elif isinstance(source, cst.Subscript):
        source = source.value
    given = [arg.value for call in scope.own(cst.Call) for arg in call.args if _is_shuffle(arg)]
    if isinstance(loader, CallResult) and loader.call is not None and loader.call in scope.module.tree:
        given.extend(arg.value for arg in loader.call.args)
    return dotted(source) != "" and any(dotted(each) == dotted(source) for each in given)


def _is_shuffle(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value == "shuffle"


def _is_loader(ev: Evaluator, value: Value, name: str) -> bool:
    """True if a value is a loader that leaves the attribute to torch, which a pipeline of webdataset is not."""
    if not isinstance(value, CallResult):
        return False
    loader = loader_of(ev, value)
    if loader is None or loader.kind.moves_batches or value.library == "webdataset.WebLoader":
        return False
    if isinstance(value.by, Class):
        for each in ev.bases(value.by).classes:
            own = {*classes.methods_of(each.scope), *bindings_of(each.scope), *classes.attribute_bindings(each.scope)}
            if name in own or "__setattr__" in own:
                return False
    return True
