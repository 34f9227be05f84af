"""Options for the loaders that trainers construct: `TrainingArguments(dataloader_num_workers=4)`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader, written_argument
from dataloader_lint.semantics.libraries.catalogue import TRAINER_OPTIONS, TRAINERS, LoaderClass
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Library, Value

_SPELLINGS = frozenset(name for kind in TRAINER_OPTIONS.values() for name in kind.spellings.values())


def trainer_options(ev: Evaluator, module: ModuleFacts) -> Iterator[Loader]:
    """The calls of a module that give options to a trainer, each as the loader that is constructed with them.

    Nothing in a module that sets such an option afterwards: what the call gives is not what the trainer gets.
    """
    if not any(_gives_options(call) for call in module.all_calls()):
        return
    if any(store.attr.value in _SPELLINGS for store in _attribute_stores(module)):
        return
    for call in module.all_calls():
        if not _gives_options(call):
            continue
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        for callee in ev.values(call.func, frame):
            kind = _class_in(ev, callee, TRAINER_OPTIONS)
            if kind is not None:
                yield Loader(call, frame, kind, last_name(call.func), ev, site=call)
                break


def trainers(ev: Evaluator, module: ModuleFacts, given: str = "data_collator") -> Iterator[Loader]:
    """The trainers that a module constructs with an argument, each as its loader, which has workers."""
    for call in module.all_calls():
        if not any(arg.keyword is not None and arg.keyword.value == given for arg in call.args):
            continue
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        for callee in ev.values(call.func, frame):
            kind = _class_in(ev, callee, TRAINERS)
            options = written_argument(call, "args", kind.positions) if kind is not None else None
            if kind is None or options is None:
                continue
            for each in ev.values(options.value, frame):
                if not isinstance(each, CallResult) or each.call is None or each.frame is None:
                    continue
                before = ((each.call, each.frame),) if _class_in(ev, each.by, TRAINER_OPTIONS) is not None else ()
                loader = Loader(call, frame, kind, last_name(call.func), ev, before, call)
                if loader.has_workers:
                    yield loader


def _gives_options(call: cst.Call) -> bool:
    return any(arg.keyword is not None and arg.keyword.value in _SPELLINGS for arg in call.args)


def _class_in(ev: Evaluator, callee: Value, table: dict[str, LoaderClass]) -> LoaderClass | None:
    """The row of a table for a class of a library, or for a class of the project that only derives from it."""
    if isinstance(callee, Library):
        return table.get(callee.name)
    if isinstance(callee, Class) and classes.constructor(ev, callee) is None:
        return next((table[name] for name in ev.bases(callee).libraries if name in table), None)
    return None


def _attribute_stores(module: ModuleFacts) -> Iterator[cst.Attribute]:
    for scope in module.root.descend():
        for assign in scope.own(cst.Assign):
            yield from (each.target for each in assign.targets if isinstance(each.target, cst.Attribute))
