"""Where a program sets its start method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.project.scripts import is_notebook, is_test
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Tree, function_scope
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import Const, Evaluator, Frame, Library, constant


@dataclass(frozen=True, slots=True, eq=False)
class StartMethod:
    """A call of `set_start_method` with a known method."""

    call: cst.Call
    method: str
    may_be_forced: bool
    at_import: bool  # importing the module runs it, without a check for a method that is already set


def start_methods(ev: Evaluator, module: ModuleFacts) -> Iterator[StartMethod]:
    """Yields the calls of a module that set the start method."""
    tree = module.tree
    for call in module.calls_named("set_start_method"):
        frame = ev.frame_of(function_scope(tree.scope_of(call)))
        callees = ev.values(call.func, frame)
        if not callees or not all(isinstance(each, Library) and row(each.name).sets_start_method for each in callees):
            continue
        method = _method(ev, call, frame)
        if method:
            at_import = tree.scope_of(call) is tree.root and not is_test(module) and not is_notebook(module)
            at_import = at_import and not is_guarded(call, tree) and not _is_checked(call, tree)
            yield StartMethod(call, method, _may_be_forced(ev, call, frame), at_import)


def asks_for_spawn(ev: Evaluator, module: ModuleFacts) -> bool:
    """True if a module sets a start method that forks no workers from the main process."""
    return any(each.method in ("spawn", "forkserver") for each in start_methods(ev, module))


def _method(ev: Evaluator, call: cst.Call, frame: Frame) -> str:
    for number, arg in enumerate(call.args):
        if (arg.keyword is None and number == 0 and not arg.star) or (arg.keyword and arg.keyword.value == "method"):
            known = constant(ev.values(arg.value, frame))
            return known.value if isinstance(known, Const) and isinstance(known.value, str) else ""
    return ""


def _may_be_forced(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    for number, arg in enumerate(call.args):
        if arg.star:
            return True
        if (arg.keyword is None and number == 1) or (arg.keyword is not None and arg.keyword.value == "force"):
            return truth(ev.values(arg.value, frame)) is not False
    return False


def _is_checked(call: cst.Call, tree: Tree) -> bool:
    """True if the call is in a `try`, or after a check of the current method."""
    child: cst.CSTNode = call
    for above in tree.ancestors(call):
        if isinstance(above, cst.Try | cst.TryStar):
            return True
        if isinstance(above, cst.If) and child is not above.test:
            if any(last_name(node.func) == "get_start_method" for node in tree.find(above.test, cst.Call)):
                return True
        child = above
    return False
