"""The visible loaders that may read a Dataset, and whether they start workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from dataloader_lint.pipeline.loaders.argument_sites import sites_of
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.unread_by_workers import (
    is_read_by_own_code,
    is_read_in_parent_only,
    trainer_has_no_workers,
)
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.project.imports import is_imported
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Frame, Value, constant


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """A loader that may read objects of a class: it is given one, or what it is given is unknown."""

    loader: Loader
    value: Value
    subclasses: tuple[Class, ...]  # of the class, itself among them, whose objects it is known to be given


def is_unread(reach: DatasetFlow, klass: Class) -> bool:
    """True if no visible code reads objects of a class through a loader that has workers, or may get some.

    The script only iterates over them itself, and no other code can reach the class; or a trainer is given no
    workers beside all that make one.
    """
    home = klass.scope.module
    names = _names(reach, klass)
    readers = _without_workers(reach, klass, names)
    if readers is None or any(subclass.scope.module is home for each in readers for subclass in each.subclasses):
        return False
    if trainer_has_no_workers(reach.ev, klass):
        return True
    if not readers and not reach.ev.project.is_in_package(home) and is_read_by_own_code(reach.ev, klass):
        return True
    # The loaders of a module that only running the module itself makes show what the class can do.
    if any(each.loader.frame.scope.module is not home for each in readers):
        return False
    if not all(is_guarded(each.loader.call, home.tree) for each in readers):
        return False
    return is_read_in_parent_only(reach, klass) and not _may_be_imported(reach, home, names)


class Readers(Enum):
    """Who reads the objects of a class, as far as anybody can see."""

    UNSEEN = "no loader is known to get them"
    WITHOUT_WORKERS = "all loaders that may get them have no workers, if only by default"
    SOME = "a loader that has workers, or may have some"


@dataclass(frozen=True, slots=True, eq=False)
class WorkersOf:
    """The loaders of a class: one that has workers, else any of them, and its number of workers if that is known."""

    readers: Readers
    loader: Loader | None = None
    number: int = 0


def workers_of(reach: DatasetFlow, klass: Class, fits: Callable[[Loader], bool]) -> WorkersOf:
    """Whether the visible loaders that get objects of a class have workers; by default, if nothing else is known.

    Loaders of unknown Datasets count where no loader is known to get objects of the class.
    """
    readers = [each for each in _readers(reach, klass, _names(reach, klass)) if fits(each.loader)]
    own = [each.loader for each in readers if each.subclasses]
    loaders = own or [each.loader for each in readers]
    if trainer_has_no_workers(reach.ev, klass):
        return WorkersOf(Readers.WITHOUT_WORKERS)
    for loader in loaders:
        known = constant(loader.values("num_workers"))
        if known is not None and isinstance(known.value, int) and known.value > 0:
            return WorkersOf(Readers.SOME, loader, int(known.value))
    if own and all(each.has_workers is False for each in own):
        return WorkersOf(Readers.WITHOUT_WORKERS, own[0])
    if not own:
        is_without = bool(loaders) and all(map(_starts_no_workers, loaders))
        return WorkersOf(Readers.WITHOUT_WORKERS if is_without else Readers.UNSEEN, loaders[0] if is_without else None)
    return WorkersOf(Readers.SOME, next(each for each in own if each.has_workers is not False))


def has_no_workers_yet(reach: DatasetFlow, klass: Class, fits: Callable[[Loader], bool] | None = None) -> bool:
    """True if visible loaders may read objects of a class, and all of them surely start no workers.

    Loaders that do not fit are left out, if `fits` is given.
    """
    return bool(_without_workers(reach, klass, _names(reach, klass), fits))


def _without_workers(
    reach: DatasetFlow, klass: Class, names: list[str], fits: Callable[[Loader], bool] | None = None
) -> list[_Reader] | None:
    """The loaders that may read objects of a class, where none of them starts workers; None where one may."""
    readers: list[_Reader] = []
    for reader in _readers(reach, klass, names):  # the nearest first, as those further off take time to find
        if not _starts_no_workers(reader.loader):
            if fits is not None and not fits(reader.loader):
                continue
            return None
        readers.append(reader)
    return readers


def _may_be_imported(reach: DatasetFlow, module: ModuleFacts, names: list[str]) -> bool:
    """True if others may get at names of a module: a package hands them on, or a file imports it."""
    return reach.ev.project.is_in_package(module) or is_imported(reach.ev.project, module, names)


def objects_in_workers(reach: DatasetFlow, klass: Class) -> list[CallResult]:
    """What the loaders that may read objects of a class with workers are given; empty where it is unknown."""
    found: list[CallResult] = []
    for reader in _readers(reach, klass, _names(reach, klass)):
        if _starts_no_workers(reader.loader):
            continue
        value = reader.value
        if not isinstance(value, CallResult) or not any(value.by == subclass for subclass in reader.subclasses):
            return []
        found.append(value)
    return found


def _names(reach: DatasetFlow, klass: Class) -> list[str]:
    """The names under which others get at a class: functions of its module carry it to files that do not know it."""
    name = klass.node.name.value
    return list(reach.workers.names_that_use(klass.scope.module, {name}) | {name})


def _readers(reach: DatasetFlow, klass: Class, names: list[str]) -> Iterator[_Reader]:
    home = klass.scope.module
    for module in reach.around(home, names):
        for given in reach.given(module) if module is home or not is_test(module) or is_test(home) else ():
            subclasses: tuple[Class, ...] = ()
            if id(klass.scope) in given.of:
                subclasses = tuple(
                    each
                    for each in given.held.classes
                    if any(base.scope is klass.scope for base in reach.ev.bases(each).classes)
                )
            if subclasses or (not given.held.classes and _may_be_any(given.value)):
                yield _Reader(given.loader, given.value, subclasses)


def _may_be_any(value: Value) -> bool:
    """True if a loader's dataset is unknown: it was not constructed in the project. Callers may override a default."""
    return bool(value.default) if isinstance(value, Const) else not isinstance(value, CallResult)


def _starts_no_workers(loader: Loader) -> bool:
    """True if it has no workers whatever options are set to: a declared default of 0 may be set to more."""
    found = loader.values("num_workers")
    return (
        bool(found)
        and all(isinstance(value, Const) and not value.default and is_positive(value) is False for value in found)
        and _is_written_out(loader)
        and not _is_shared(loader)
        and not (loader.is_passed("num_workers") is False and _is_returned(loader))
    )


def _is_written_out(loader: Loader) -> bool:
    """True if the number stands in the code around the loader, or is left out: a parameter may be given another one."""
    places = sites_of(loader, "num_workers")
    return places is not None and all(
        place.node is None or isinstance(place.node, cst.Integer) or _is_number(place.node, place.frame)
        for place in places
    )


def _is_number(node: cst.BaseExpression, frame: Frame) -> bool:
    """True if a name means nothing but numbers that are written out."""
    found = resolve(node, frame.scope.module.tree) if isinstance(node, cst.Name) else []
    return bool(found) and all(each.kind is Kind.VALUE and isinstance(each.value, cst.Integer) for each in found)


def _is_shared(loader: Loader) -> bool:
    """True if another module has a say in its options: others may ask for workers, and not all are visible."""
    if not loader.before and not any(arg.star for arg in loader.call.args):
        return False
    args = loader.frame.args or {}
    home = loader.frame.scope.module
    return any(given.frame is not None and given.frame.scope.module is not home for given in args.values())


def _is_returned(loader: Loader) -> bool:
    """True if a function returns it that no visible code calls, as the hooks of a trainer do."""
    scope = loader.frame.scope
    if not scope.is_function or loader.frame.args is not None:
        return False
    tree = scope.module.tree
    above = tree.parent(loader.call)
    names = {dotted(each.target) for each in above.targets} if isinstance(above, cst.Assign) else set()
    return any(
        each is loader.call or (isinstance(each, cst.Name) and each.value in names)
        for returned in scope.own(cst.Return)
        if returned.value is not None
        for each in tree.walk(returned.value)
    )
