"""What a loop around a move does with the batches: it trains, it evaluates, or nothing says which.

While a model trains, the CPU has the next steps to prepare, so waiting for each copy costs time. An evaluation, a
notebook, or a loop that leaves after one batch has little to gain.
"""

from __future__ import annotations

import os
import re

import libcst as cst

from dataloader_lint.diagnostics import Level
from dataloader_lint.pipeline.loaders.epochs import trains
from dataloader_lint.rules.transfers._shared.batches import Transfer
from dataloader_lint.semantics.project.scripts import is_notebook
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree, function_scope

_STEPPING = frozenset({"backward", "manual_backward", "step", "zero_grad"})
_WITHOUT_GRADIENTS = frozenset({"inference_mode", "no_grad"})
_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")
# Words of a name that say what a function is for, at the start of the word or as the whole of it.
_EVALUATING = re.compile(
    r"(?:^|_)(?:(?:eval|valid|predict|infer|generat|embed)[a-z]*|val|vali|tests?|testing)(?=_|\d|$)"
)
_TRAINING = re.compile(r"(?:^|_)(?:train|fit|finetune|pretrain)")


def level_of_move(transfer: Transfer) -> Level | None:
    """NOTE if the batches are surely not trained with, or only one is moved; None, the rule's own level, if unknown."""
    scope = function_scope(transfer.frame.scope)
    tree = scope.module.tree
    loop = _loop_around(transfer.call, scope, tree)
    if is_notebook(scope.module) or (loop is not None and _leaves_after_one(loop)):
        return Level.NOTE
    around: Node = loop if loop is not None else scope.node
    if _steps(around, tree) or trains(transfer.ev, around, transfer.frame):
        return None
    return Level.NOTE if _evaluates(transfer.call, loop, scope, tree) else None


def function_around(transfer: Transfer) -> str:
    """The name of the function that a move stands in, with its class: `Trainer.fit`; empty at module level."""
    names: list[str] = []
    scope: Scope | None = function_scope(transfer.frame.scope)
    while scope is not None:
        if isinstance(scope.node, cst.FunctionDef | cst.ClassDef):
            names.append(scope.node.name.value)
        scope = scope.parent
    return ".".join(reversed(names))


def _loop_around(node: Node, scope: Scope, tree: Tree) -> cst.For | None:
    """The innermost `for` statement around a node, in its own function."""
    for above in tree.ancestors(node):
        if above is scope.node:
            return None
        if isinstance(above, cst.For):
            return above
    return None


def _leaves_after_one(loop: cst.For) -> bool:
    last = loop.body.body[-1] if loop.body.body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Break | cst.Return)


def _steps(root: Node, tree: Tree) -> bool:
    """True if gradients are computed, applied or reset below a node. A reset under `no_grad()` is no training."""
    stepping = (call for call in tree.find(root, cst.Call) if last_name(call.func) in _STEPPING)
    return any(last_name(call.func) != "zero_grad" or not _is_without_gradients(call, tree) for call in stepping)


def _is_without_gradients(node: Node, tree: Tree) -> bool:
    blocks = (each for each in tree.ancestors(node) if isinstance(each, cst.With))
    return any(_turns_gradients_off(item.item) for block in blocks for item in block.items)


def _evaluates(move: Node, loop: cst.For | None, scope: Scope, tree: Tree) -> bool:
    """True if no gradients are computed around a move, or a name says that its function or its loader evaluates."""
    node = scope.node
    decorators = [each.decorator for each in node.decorators] if isinstance(node, cst.FunctionDef) else []
    blocks = [each for each in loop.body.body if isinstance(each, cst.With)] if loop is not None else []
    if any(_turns_gradients_off(each) for each in decorators) or _is_without_gradients(move, tree):
        return True
    if any(_turns_gradients_off(item.item) for block in blocks for item in block.items):
        return True
    name = node.name.value if isinstance(node, cst.FunctionDef) else ""
    names = [name, *(tree.words(loop.iter).split() if loop is not None else ())]
    if any(_TRAINING.search(_in_snake(each)) for each in names):
        return False
    if name in ("", "main", "run"):
        names.append(os.path.splitext(os.path.basename(scope.module.path))[0])
    return any(_EVALUATING.search(_in_snake(each)) for each in names) or _sets_eval_mode(node, tree)


def _sets_eval_mode(node: Node, tree: Tree) -> bool:
    """True for `model.eval()` in a function that neither trains nor says `model.train()`."""
    modes = [last_name(call.func) for call in tree.find(node, cst.Call) if isinstance(call.func, cst.Attribute)]
    return "eval" in modes and "train" not in modes and _STEPPING.isdisjoint(modes)


def _turns_gradients_off(node: cst.BaseExpression) -> bool:
    return last_name(node.func if isinstance(node, cst.Call) else node) in _WITHOUT_GRADIENTS


def _in_snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()
