"""Folders that worker code lists again for every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import Dep, Dependence
from dataloader_lint.rules.samples._shared.per_sample import (
    calls_for_each,
    dependence_on_sample,
    has_one_sample,
    is_cached,
    runs_for_each,
)
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.short_names import LISTING_FILES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import Evaluator, Opaque

_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True, eq=False)
class DirectoryListing:
    """A call that lists the same folder for every sample or batch."""

    call: cst.Call
    function: WorkerFunction
    name: str

    @property
    def each(self) -> str:
        """What it is listed again for: `sample` or `batch`."""
        return runs_for_each(self.function)


def directory_listings(workers: Workers, module: ModuleFacts) -> Iterator[DirectoryListing]:
    """Yields the calls of a module that list a folder that is the same for all samples, for each of them."""
    ev = workers.ev
    seen: set[int] = set()
    for function, wanted in calls_for_each(workers, module, LISTING_FILES):
        known = {id(call): name for call, name in function.library_calls}
        for call in function.scope.within(cst.Call):
            if id(call) not in wanted or id(call) in seen:
                continue
            name = known.get(id(call), f"Path.{last_name(call.func)}")
            if _lists_fixed_folder(ev, call, name, function) and not is_cached(call, function):
                seen.add(id(call))
                if not has_one_sample(workers, function):
                    yield DirectoryListing(call, function, name)


def _lists_fixed_folder(ev: Evaluator, call: cst.Call, name: str, function: WorkerFunction) -> bool:
    if not is_reached(ev, call, function.frame, True) or any(arg.star for arg in call.args):
        return False
    dependence = dependence_on_sample(ev, function)
    if row(name).lists_files == "folder":
        return bool(call.args) and dependence.of(call.args[0].value, function.frame) == {Dep.FIXED}
    if row(name).lists_files == "pattern":
        return bool(call.args) and _is_fixed_before_wildcard(dependence, _parts(call.args[0].value), function)
    if not isinstance(call.func, cst.Attribute) or not name.startswith("Path."):
        return False
    held = ev.values(call.func.value, function.frame)
    if not held or not all(isinstance(each, Opaque) and each.kind == "path" for each in held):
        return False
    if dependence.of(call.func.value, function.frame) != {Dep.FIXED}:
        return False
    if last_name(call.func) != "glob":
        return True  # all that is in the folder
    return bool(call.args) and _is_fixed_before_wildcard(dependence, _parts(call.args[0].value), function)


def _is_fixed_before_wildcard(
    dependence: Dependence, parts: list[str | cst.BaseExpression], function: WorkerFunction
) -> bool:
    """True if no folder of a pattern depends on the sample: all before the last `/` ahead of the first wildcard.

    `f"{self.folder}/{name}.*"` lists one folder, `f"{self.folder}/{name}/*.jpg"` that of the sample.
    """
    before: list[str | cst.BaseExpression] = []
    for part in parts:
        if isinstance(part, str):
            places = [place for place, letter in enumerate(part) if letter in _WILDCARDS]
            if places:
                before.append(part[: places[0]])
                break
        before.append(part)
    else:
        return False  # no wildcard that is known
    while before:
        part = before[-1]
        if isinstance(part, str) and ("/" in part or "\\" in part):
            break
        before.pop()
    return all(isinstance(part, str) or dependence.of(part, function.frame) == {Dep.FIXED} for part in before)


def _parts(node: cst.BaseExpression) -> list[str | cst.BaseExpression]:
    """The texts and expressions that a pattern is made of, in order; joined parts have a `/` between them."""
    if isinstance(node, cst.SimpleString):
        return [str(node.evaluated_value)]
    if isinstance(node, cst.FormattedString):
        return [
            part.value if isinstance(part, cst.FormattedStringText) else part.expression
            for part in node.parts
            if isinstance(part, cst.FormattedStringText | cst.FormattedStringExpression)
        ]
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
        return [*_parts(node.left), "/", *_parts(node.right)]
    if (
        isinstance(node, cst.Call)
        and last_name(node.func) in ("join", "joinpath", "Path", "str", "fspath")
        and node.args
    ):
        owner: list[str | cst.BaseExpression] = []
        if last_name(node.func) == "joinpath" and isinstance(node.func, cst.Attribute):
            owner = [*_parts(node.func.value), "/"]
        inside = [piece for arg in node.args for piece in (*_parts(arg.value), "/")]
        return [*owner, *inside[:-1]]
    return [node]
