"""Workers that iterating over a value starts: loaders, and objects that construct loaders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.pipeline.loaders.worker_processes import has_workers
from dataloader_lint.rules.processes.dl206_missing_main_guard.option_overrides import with_overrides
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts import sources as dict_sources
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loader_of
from dataloader_lint.semantics.libraries.catalogue import FOREIGN, WORKER_KEYWORDS
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.options import is_namespace
from dataloader_lint.semantics.values.values import (
    NOTHING_KNOWN,
    CallResult,
    Class,
    Evaluator,
    Frame,
    Function,
    Mapping,
    Opaque,
    Sequence,
    Value,
    Values,
)


@dataclass(frozen=True, slots=True, eq=False)
class WorkerStart:
    """Workers that something starts, and the functions that lead to it, the outermost first."""

    name: str
    workers: Values
    method: str = ""
    calls: tuple[str, ...] = ()
    option: str = ""  # the option that has to be above 0, whose default is unknown


class WorkerStarts:
    """Answers for the statements of one script; `running` is the statement of the module that is looked at."""

    def __init__(self, ev: Evaluator, root: Scope) -> None:
        self._ev = ev
        self._root = root
        self.running: Node = root.node

    def given(self, call: cst.Call, frame: Frame, method: str) -> WorkerStart | None:
        """What a call's arguments bring for a loop: loaders, objects that make loaders, numbers of workers."""
        for arg in call.args:
            values = self._ev.values(arg.value, frame)
            name = arg.keyword.value if arg.keyword is not None else ""
            if name in WORKER_KEYWORDS:
                if has_workers(values):
                    return WorkerStart("", values)
                continue
            hit = first(self.started_by(value, arg.value, method) for value in values)
            if hit is not None:
                return hit
        return None

    def started_by(self, value: Value, node: cst.BaseExpression, method: str) -> WorkerStart | None:
        """What a value, written as `node`, brings for a library's method that runs a loop."""
        if isinstance(value, Sequence) and value.items is not None:
            return first(self.started_by(each, node, method) for item in value.items for each in item)
        if isinstance(value, Mapping):
            found = dict_sources.all_values(self._ev, value)
            return first(self.started_by(each, node, method) for item in found for each in item)
        if not isinstance(value, CallResult):
            return None
        loader = loader_of(self._ev, value)
        if loader is not None:
            return self.of_loader(loader, node)
        if isinstance(value.by, Class):
            return self.made_by_hooks(value, value.by, node, method)
        hit = self.library_loader(value, node)
        if hit is None and value.call is not None and value.frame is not None:  # a library's data module or options
            for arg in value.call.args:
                name = arg.keyword.value if arg.keyword is not None else ""
                if name in WORKER_KEYWORDS and (name != "num_workers" or "Data" in value.library):
                    workers = self._ev.values(arg.value, value.frame)
                    if has_workers(workers):
                        return WorkerStart("", workers)
        return hit

    def of_loader(self, loader: Loader, node: cst.BaseExpression) -> WorkerStart | None:
        """The workers of a loader that starts some when it is iterated."""
        workers = loader.values("num_workers")
        option = self._open_option(loader) if workers == NOTHING_KNOWN else ""
        if not (has_workers(workers) or option) or loader.pickles_nothing or not loader.is_reached:
            return None
        if option:
            return WorkerStart(_name_of(loader, node), (Opaque("int", True),), loader.start_method, option=option)
        workers = with_overrides(self._ev, workers, self.running, self._root)
        return WorkerStart(_name_of(loader, node), workers, loader.start_method) if has_workers(workers) else None

    def _open_option(self, loader: Loader) -> str:
        """The option of a command line that the number of workers is, where no visible declaration has a default.

        `parser.set_defaults(**json.load(file))`: such an option is there to be set.
        """
        for place in sites_of(loader, "num_workers") or ():
            if isinstance(place.node, cst.Attribute):
                if any(is_namespace(owner) for owner in self._ev.values(place.node.value, place.frame)):
                    return dotted(place.node)
        return ""

    def library_loader(self, value: CallResult, node: cst.BaseExpression) -> WorkerStart | None:
        """What a library calls a loader and makes with workers, though nothing else is known of it."""
        if value.call is None or value.frame is None or "loader" not in value.library.rpartition(".")[2].lower():
            return None
        if value.library.partition(".")[0] in FOREIGN:
            return None
        for arg in value.call.args:
            if arg.keyword is not None and arg.keyword.value == "num_workers":
                workers = self._ev.values(arg.value, value.frame)
                if has_workers(workers):
                    return WorkerStart(dotted(node), workers)
        return None

    def made_by_hooks(
        self, value: CallResult, klass: Class, node: cst.BaseExpression, method: str
    ) -> WorkerStart | None:
        """The loaders that a LightningModule or data module of the project makes."""
        for stage in _STAGES.get(method, ()):
            function = find(self._ev, klass, f"{stage}_dataloader")
            if function is not None and value.call is not None:
                for made in self._ev.run(function, bare(function, value)):
                    hit = self.started_by(made, node, "")
                    if hit is not None:
                        return replace(hit, name=f"{klass.node.name.value}.{stage}_dataloader()")
        return None


_STAGES = {
    "fit": ("train", "val"),
    "fit_loop": ("train", "val"),
    "validate": ("val",),
    "test": ("test",),
    "predict": ("predict",),
}


def bare(function: Function, value: CallResult) -> Frame:
    """A method's frame when it is called on an object with arguments of which nothing is known."""
    depth = value.frame.depth if value.frame is not None else 0
    return Frame(function.scope, {}, value, function.outer, depth + 1)


def first(hits: Iterable[WorkerStart | None]) -> WorkerStart | None:
    """The first of some looks that found something; the others are not taken."""
    return next((hit for hit in hits if hit is not None), None)


def _name_of(loader: Loader, node: cst.BaseExpression) -> str:
    """What the user calls a loader: the name it is bound to where it is made, else where it is used, else its class."""
    tree = loader.frame.scope.module.tree
    for call in (loader.site, loader.call):
        parent = tree.parent(call) if call is not None and call in tree else None
        if isinstance(parent, cst.Assign) and (name := dotted(parent.targets[0].target)):
            return name
    while isinstance(node, cst.Call) and node.args and not node.args[0].keyword and dotted(node.func) != loader.name:
        node = node.args[0].value
    return dotted(node) or loader.name


def find(ev: Evaluator, klass: Class, name: str) -> Function | None:
    """A method of a class or of one of its bases."""
    return classes.find_method(ev, classes.bases_of(ev, klass).classes, name)
