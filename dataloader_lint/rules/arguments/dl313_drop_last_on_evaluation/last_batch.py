"""What stands in the way of the last batch: code that a smaller one would upset, or another use of the loader."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.arguments.dl313_drop_last_on_evaluation.batch_means import (
    MEANS,
    averages_batches,
    stacks_batches,
)
from dataloader_lint.rules.arguments.dl313_drop_last_on_evaluation.evaluations import (
    BATCH_SIZE,
    LOADER_METHODS,
    TRAINING,
    Evaluation,
    says_evaluation,
)
from dataloader_lint.semantics.control.reachability import path_conditions
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import Node, Tree


def obstacle(found: Evaluation) -> str:
    """Why `drop_last=False` alone would not do; empty if the loader only evaluates, with batches of any size."""
    return next((reason for each in (found, *found.others) if (reason := _obstacle_of(each))), "")


def _obstacle_of(found: Evaluation) -> str:
    """The same for one of the loops or methods that evaluate with a loader."""
    loop, tree = found.step.node, found.step.module.tree
    if found.counts_full_batches or stacks_batches(loop, tree):
        return "the loop has to change first"
    if not _is_for_evaluation(found):
        return "the loader may train as well"
    if _writes_size_again(found):
        return "the evaluation has the batch size as a number"
    if isinstance(loop, cst.Return):
        return _obstacle_in_class(loop, tree)
    home = tree.scope_of(loop).function or tree.root
    if any(not _is_given_to_a_loader(each, tree) for each in _batch_sizes(home.node, tree)):
        return "the evaluation uses the batch size"
    if any("gather" in last_name(call.func) for call in tree.find(home.node, cst.Call)):
        return "other processes get batches of this size"
    return "the metric is a mean over batches" if averages_batches(loop, home, tree) else ""


def _obstacle_in_class(returned: cst.Return, tree: Tree) -> str:
    """The same for a Trainer, which weighs what is logged by the size of the batch, unless its class has a mean."""
    around = next((each for each in tree.ancestors(returned) if isinstance(each, cst.ClassDef)), None)
    if around is None:
        return ""
    if any(isinstance(tree.parent(each), cst.BinaryOperation) for each in _batch_sizes(around, tree)):
        return "the class computes with the batch size"
    ends = (each for each in tree.find(around, cst.FunctionDef) if each.name.value.endswith("_epoch_end"))
    calls = (call for each in ends for call in tree.find(each, cst.Call))
    return "the metric is a mean over batches" if any(last_name(call.func) in MEANS for call in calls) else ""


def _is_for_evaluation(found: Evaluation) -> bool:
    """True if the name of the loader, of the function or class around it, or a branch says that it evaluates."""
    call, frame = found.loader.construction
    tree = frame.scope.module.tree
    around = [each.name.value for each in tree.ancestors(call) if isinstance(each, cst.FunctionDef | cst.ClassDef)]
    names = [found.loader.bound_name, *around]
    if any(TRAINING.search(name.lower()) for name in names[:2]):
        return any(name in LOADER_METHODS or says_evaluation(name) for name in names[:1])
    if any(name in LOADER_METHODS or says_evaluation(name) for name in names):
        return True
    return any(each.wanted and _asks_for_evaluation(each.test) for each in path_conditions(call, frame.scope))


def _asks_for_evaluation(test: cst.BaseExpression) -> bool:
    """True for `mode == "val"`."""
    if not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, cst.Equal):
        return False
    right = test.comparisons[0].comparator
    return isinstance(right, cst.SimpleString) and says_evaluation(right.raw_value)


def _batch_sizes(home: Node, tree: Tree) -> Iterator[Node]:
    """The names and attributes in a function or class that mean the batch size that was asked for."""
    for kind in (cst.Name, cst.Attribute):
        yield from (each for each in tree.find(home, kind) if BATCH_SIZE.fullmatch(last_name(each)))


def _writes_size_again(found: Evaluation) -> bool:
    """True if the code that evaluates has the batch size of its loader elsewhere: `torch.zeros(32, 10)`."""
    loop, tree = found.step.node, found.step.module.tree
    home = (tree.scope_of(loop).function or tree.root).node
    area = next((each for each in tree.ancestors(loop) if isinstance(each, cst.ClassDef)), home)
    size, passed = found.loader.known("batch_size"), found.loader.argument("batch_size")
    same: list[Node] = []
    if size is not None and type(size.value) is int:
        same += [each for each in tree.find(area, cst.Integer) if each.evaluated_value == size.value]
    if passed is not None and isinstance(passed.value, cst.Name):  # by whatever name
        same += [each for each in tree.named(home, passed.value.value) if each is not passed.value]
    same = [each for each in same if not isinstance(tree.parent(each), cst.AssignTarget | cst.Param)]
    return any(not _is_given_to_a_loader(each, tree) for each in same)


def _is_given_to_a_loader(node: Node, tree: Tree) -> bool:
    calls = (each for each in tree.ancestors(node) if isinstance(each, cst.Call))
    return any("loader" in last_name(call.func).lower() for call in calls)
