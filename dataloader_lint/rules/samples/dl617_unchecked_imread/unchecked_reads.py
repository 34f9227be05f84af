"""Images that worker code reads with OpenCV, which returns None for a file that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.definitions import enclosing_definitions
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope


@dataclass(frozen=True, slots=True, eq=False)
class UncheckedRead:
    """A call that may return None, whose result is used as an image without a test."""

    call: cst.Call
    function: WorkerFunction
    name: str


def unchecked_reads(workers: Workers, module: ModuleFacts) -> Iterator[UncheckedRead]:
    """Yields the calls of a module by which workers read images, and that no code tests for None."""
    calls = [call for name in ("imread", "imdecode") for call in module.calls_named(name)]
    if not calls:
        return
    names = workers.names_that_use(module, enclosing_definitions(module, calls))
    seen: set[int] = set()
    for function in workers.functions_inside(module, names):
        for call, name in function.library_calls:
            if row(name).may_be_none and id(call) not in seen:
                seen.add(id(call))
                if _is_used_untested(call, function.scope):
                    yield UncheckedRead(call, function, name)


def _is_used_untested(call: cst.Call, scope: Scope) -> bool:
    """True if the result is indexed, measured or passed to OpenCV before anything tests it."""
    tree = scope.module.tree
    above = tree.parent(call)
    if _uses(above, call):
        return True
    if not isinstance(above, cst.Assign) or len(above.targets) != 1:
        return False
    target = above.targets[0].target
    if not isinstance(target, cst.Name):
        return False
    binding = next((each for each in bindings_of(scope).get(target.value, ()) if each.node is above), None)
    if binding is None or binding.kind is not Kind.VALUE:
        return False
    uses = [
        name
        for name in tree.named(scope.node, target.value)
        if name is not target and any(each is binding for each in resolve(name, tree))
    ]
    if any(_is_tested(scope, name) for name in uses):
        return False
    return any(_uses(tree.parent(name), name) for name in uses)


def _uses(above: cst.CSTNode | None, node: cst.CSTNode) -> bool:
    """True for `image.shape`, `image[...]`, `image / 255`: None has none of these."""
    if isinstance(above, cst.Attribute | cst.Subscript):
        return above.value is node
    return isinstance(above, cst.BinaryOperation | cst.Arg)


def _is_tested(scope: Scope, name: cst.Name) -> bool:
    """True if a condition, an assertion or a handler may deal with None."""
    tree = scope.module.tree
    child: cst.CSTNode = name
    for above in tree.ancestors(name):
        if isinstance(above, cst.Comparison | cst.Assert | cst.UnaryOperation | cst.BooleanOperation):
            return True
        if isinstance(above, cst.If | cst.While | cst.IfExp) and child is above.test:
            return True
        if isinstance(above, cst.Try) and child is above.body:
            return True
        if above is scope.node:
            return False
        child = above
    return False
