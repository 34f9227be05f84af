"""Datasets that no worker reads: scripts that iterate over them directly, and trainers without workers.

Both follow from all visible constructions of the class and all uses of these objects.
"""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import names_where
from dataloader_lint.semantics.libraries.catalogue import TRAINER_WORKERS
from dataloader_lint.semantics.libraries.short_names import INSPECTING
from dataloader_lint.semantics.limits import UNREAD_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.names import bindings_of, uses_of
from dataloader_lint.semantics.syntax.tree import Node, Tree, function_scope
from dataloader_lint.semantics.values.values import Class, Evaluator, Frame, Library

_HANDED_ON = names_where(lambda call: call.yields_argument) | {"builtins.enumerate", "builtins.iter", "builtins.zip"}
_LOOKING = frozenset(f"builtins.{name}" for name in INSPECTING | {"next"})


def is_read_in_parent_only(reach: DatasetFlow, klass: Class) -> bool:
    """True if objects of a class are only iterated, indexed or measured, and never given to a loader.

    Its module makes no loaders; the caller must check if other modules may import it.
    """
    home = klass.scope.module
    outer = klass.scope.parent
    found = bindings_of(outer).get(klass.node.name.value, []) if outer is not None else []
    if len(found) != 1 or reach.workers.loaders(home):
        return False
    uses = list(uses_of(home.tree, found[0]))
    return bool(uses) and all(_is_made_for_parent(reach.ev, home.tree, use) for use in uses)


def is_read_by_own_code(ev: Evaluator, klass: Class) -> bool:
    """True if a class derives from no Dataset, and all its visible objects are read without a loader.

    They are iterated over, or batched by an object of the project.
    """
    made = classes.find_method(ev, ev.bases(klass).classes, "__init__")
    if dataset_kind(ev, klass) or made is None:
        return False
    found = ev.callers(made.scope)
    return bool(found) and all(
        last_name(call.func) != "__init__" and is_made_for_parent(ev, frame.scope.module.tree, call)
        for call, frame, _ in found
    )


def _is_made_for_parent(ev: Evaluator, tree: Tree, use: cst.Name) -> bool:
    call = tree.parent(use)
    return isinstance(call, cst.Call) and call.func is use and is_made_for_parent(ev, tree, call)


def is_made_for_parent(ev: Evaluator, tree: Tree, call: cst.Call) -> bool:
    """True if the object that a call makes is only iterated, indexed or measured.

    The object has one name at most.
    """
    above = tree.parent(call)
    if not isinstance(above, cst.Assign):
        return _is_read_in_parent(ev, tree, call)
    bound = [each for every in bindings_of(tree.scope_of(call)).values() for each in every if each.node is above]
    return bool(bound) and all(
        not each.path and all(_is_read_in_parent(ev, tree, inner) for inner in uses_of(tree, each)) for each in bound
    )


def _is_read_in_parent(ev: Evaluator, tree: Tree, node: Node, may_be_kept: bool = True) -> bool:
    """True if an object is iterated, indexed or measured, or stored by one that makes batches of it."""
    above = tree.parent(node)
    if isinstance(above, cst.Subscript | cst.Attribute):
        return above.value is node
    if isinstance(above, cst.For | cst.CompFor):
        return above.iter is node
    if isinstance(above, cst.From):
        return True
    call = tree.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return isinstance(above, cst.Expr | cst.Comparison | cst.ComparisonTarget)
    callees = ev.values(call.func, ev.frame_of(function_scope(tree.scope_of(call))))
    if may_be_kept and callees:
        if all(isinstance(each, Class) and _makes_batches(ev, each, call, node) for each in callees):
            return True
    names = {each.name if isinstance(each, Library) else "" for each in callees}
    return names <= _LOOKING or (names <= _HANDED_ON and _is_read_in_parent(ev, tree, call, may_be_kept))


def _makes_batches(ev: Evaluator, klass: Class, call: cst.Call, given: Node) -> bool:
    """True if an object of the project stores its constructor's argument and only iterates over it itself.

    `class Batches` with `self.data = data` in the constructor, and `[self.data[i] for i in batch]` in `__iter__`.
    """
    bases = ev.bases(klass)
    own = classes.methods_of(klass.scope)
    made = own.get("__init__")
    if bases.libraries or not bases.complete or made is None or "__iter__" not in own or "__getitem__" in own:
        return False
    assert isinstance(made.node, cst.FunctionDef)
    place = next(number for number, arg in enumerate(call.args) if arg.value is given)
    params = [param.name.value for param in parameters(made.node)[1:]]
    keyword = call.args[place].keyword
    name = keyword.value if keyword is not None else params[place] if place < len(params) else ""
    tree = klass.scope.module.tree
    kept: set[str] = set()
    for binding in bindings_of(made).get(name, []):
        for use in uses_of(tree, binding):
            above = tree.parent(use)
            target = above.targets[0].target if isinstance(above, cst.Assign) and above.value is use else None
            if isinstance(target, cst.Attribute):
                kept.add(target.attr.value)
            elif not _is_read_in_parent(ev, tree, use, may_be_kept=False):
                return False
    return bool(kept) and all(
        isinstance(tree.parent(each), cst.AssignTarget) or _is_read_in_parent(ev, tree, each, may_be_kept=False)
        for each in tree.find(klass.node, cst.Attribute)
        if each.attr.value in kept
    )


def trainer_has_no_workers(ev: Evaluator, klass: Class, depth: int = 0) -> bool:
    """True if a trainer's options are set to no workers wherever an object of a class, or of a subclass, is made."""
    made = classes.find_method(ev, ev.bases(klass).classes, "__init__")
    if made is None or classes.class_of(made.scope) is not klass.scope or depth > UNREAD_DEPTH:
        return False
    found = ev.callers(made.scope)
    return bool(found) and all(_has_none(ev, call, frame, depth) for call, frame, _ in found)


def _has_none(ev: Evaluator, call: cst.Call, frame: Frame, depth: int) -> bool:
    if last_name(call.func) != "__init__":
        return _is_beside_zero(call, frame.scope.module.tree)
    subclass = classes.class_of(frame.scope)  # its constructor runs this one
    if subclass is None or subclass.parent is None:
        return False
    return trainer_has_no_workers(ev, Class(subclass, ev.frame_of(subclass.parent)), depth + 1)


def _is_beside_zero(call: cst.Call, tree: Tree) -> bool:
    """True if a statement of a block around a call sets a trainer's number of workers to 0, or makes sure of that."""
    for block in tree.ancestors(call):
        if isinstance(block, cst.IndentedBlock) and any(
            _says_zero(small) for line in block.body if isinstance(line, cst.SimpleStatementLine) for small in line.body
        ):
            return True
        if isinstance(block, cst.FunctionDef):
            break
    return False


def _says_zero(statement: cst.BaseSmallStatement) -> bool:
    """`args.dataloader_num_workers = 0`, `assert args.dataloader_num_workers == 0`."""
    if isinstance(statement, cst.Assign):
        return _is_zero(statement.value) and any(_is_number_of_workers(each.target) for each in statement.targets)
    if not isinstance(statement, cst.Assert) or not isinstance(statement.test, cst.Comparison):
        return False
    asked = statement.test.comparisons
    is_equal = len(asked) == 1 and isinstance(asked[0].operator, cst.Equal) and _is_zero(asked[0].comparator)
    return is_equal and _is_number_of_workers(statement.test.left)


def _is_number_of_workers(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value in TRAINER_WORKERS


def _is_zero(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Integer) and node.evaluated_value == 0
