"""Moves to the CPU, and whether a copy is read before it is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.devices.devices import KEEPING, Device
from dataloader_lint.pipeline.devices.moves import moves_in
from dataloader_lint.pipeline.file import File
from dataloader_lint.rules.transfers._shared.batches import Transfer, transfers_of
from dataloader_lint.rules.transfers._shared.to_cpu import device_of, is_constant, is_to_cpu
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted, resolve
from dataloader_lint.semantics.syntax.tree import Node, Tree
from dataloader_lint.semantics.values.values import Class, Evaluator, Frame, Function, Library, Method

_READING_METHODS = frozenset(
    {
        *("numpy", "item", "tolist"),
        # What computes on the CPU reads the numbers at once.
        *("all", "any", "argmax", "argmin", "argsort", "cumsum", "exp", "log_softmax", "max", "mean", "median", "min"),
        *("nonzero", "norm", "prod", "quantile", "sigmoid", "softmax", "sort", "std", "sum", "topk", "unique", "var"),
    }
)


_JOINING_CALLS = frozenset(
    f"torch.{name}" for name in ("cat", "concat", "concatenate", "dstack", "hstack", "stack", "vstack")
)


# What makes the host wait for the device, as a side effect at least.
_WAITING = frozenset(
    {
        "barrier",
        "cpu",
        "cuda",
        "item",
        "numpy",
        "query",
        "synchronize",
        "to",
        "tolist",
        "wait",
        "wait_event",
        "wait_stream",
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class EarlyRead:
    """A place that reads a tensor on the CPU while the copy to it may still be under way."""

    node: Node
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class EarlyCopy:
    """A move to the CPU whose result is read too early, with that place."""

    transfer: Transfer
    read: EarlyRead


def early_copies(file: File) -> Iterator[EarlyCopy]:
    """The moves to the CPU whose result is read too early."""
    for transfer in transfers_of(file):
        read = _early_read(transfer)
        if read is not None:
            yield EarlyCopy(transfer, read)


def _early_read(transfer: Transfer) -> EarlyRead | None:
    """Where the result of a `.to("cpu", non_blocking=True)` is read without waiting for it."""
    if not is_constant(transfer.non_blocking, True) or not is_to_cpu(transfer) or not _comes_from_device(transfer):
        return None
    tree = transfer.frame.scope.module.tree
    direct = _reader(transfer.ev, transfer.frame, tree, transfer.call)
    return direct or _read_later(transfer, tree) or _joined_later(transfer, tree)


def _comes_from_device(transfer: Transfer) -> bool:
    """True if what is moved lies on another device, as far as the code lets on.

    A batch of a loader does not. The target has to be written as the CPU, or the module has another device too.
    """
    if transfer.origins or (isinstance(transfer.moved, cst.Call) and _is_made_on_cpu(transfer)):
        return False
    given = device_of(transfer.call)
    if isinstance(given, cst.SimpleString | cst.Call):
        return True
    module = transfer.frame.scope.module
    return any(each.device in (Device.CUDA, Device.UNKNOWN) for each in moves_in(transfer.ev, module))


def _is_made_on_cpu(transfer: Transfer) -> bool:
    call = cst.ensure_type(transfer.moved, cst.Call)
    is_placed = any(arg.keyword is not None and arg.keyword.value == "device" for arg in call.args)
    callees = transfer.ev.values(call.func, transfer.frame)
    return not is_placed and any(isinstance(each, Library) and each.name.startswith("torch.") for each in callees)


def _reader(ev: Evaluator, frame: Frame, tree: Tree, node: Node) -> EarlyRead | None:
    """What reads an expression at once: `.numpy()`, `float(...)`, also behind `.float()` and the like."""
    above = tree.parent(node)
    while isinstance(above, cst.Subscript | cst.SubscriptElement | cst.Index) and not isinstance(above, cst.Index):
        if isinstance(above, cst.Subscript) and above.value is not node:
            return None
        node, above = above, tree.parent(above)
    if isinstance(above, cst.Attribute) and above.value is node:
        call = tree.parent(above)
        if not isinstance(call, cst.Call) or call.func is not above:
            return None
        if above.attr.value in _READING_METHODS:
            return EarlyRead(call, f"`.{above.attr.value}()`")
        return _reader(ev, frame, tree, call) if above.attr.value in KEEPING else None
    if isinstance(above, cst.BinaryOperation):  # both sides are on the CPU, which computes at once
        other = dotted(above.left if above.right is node else above.right)
        return EarlyRead(above, f"computing with {f'`{other}`' if other else 'it'}")
    if isinstance(above, cst.Arg):
        call = tree.parent(above)
        if isinstance(call, cst.Call):
            names = [each.name for each in ev.values(call.func, frame) if isinstance(each, Library)]
            name = next((name for name in names if row(name).copies_to_cpu), "")
            if name:
                return EarlyRead(call, f"`{name.removeprefix('builtins.')}()`")
    return None


def _read_later(transfer: Transfer, tree: Tree) -> EarlyRead | None:
    """True if a name that the result is bound to is read further down in the block, with nothing that waits between."""
    statement = tree.statement_of(transfer.call)
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(assign := statement.body[0], cst.Assign):
        return None
    target = assign.targets[0].target
    if len(assign.targets) != 1 or not isinstance(target, cst.Name) or not _is_kept_by(tree, transfer.call, assign):
        return None
    for following in _reached_after(tree, statement):
        for node in tree.walk(following):
            if isinstance(node, cst.Name) and node.value == target.value:
                read = _reader(transfer.ev, transfer.frame, tree, node)
                if read is not None and any(each.node is assign for each in resolve(node, tree)):
                    return read
            elif isinstance(node, cst.Call) and _may_wait(transfer, node, target.value):
                return None
            elif isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef):
                return None
    return None


def _after(tree: Tree, statement: Node) -> list[Node]:
    """The statements that follow one in its block."""
    block = list(getattr(tree.parent(statement), "body", ()))
    return block[next((i for i, each in enumerate(block) if each is statement), len(block)) + 1 :]


def _reached_after(tree: Tree, statement: Node) -> list[Node]:
    """The statements that follow one in its block, and behind the `if` whose arm this block is, as it goes on there."""
    found = _after(tree, statement)
    arm = tree.parent(tree.parent(statement) or statement)
    while isinstance(arm, cst.Else | cst.If) and not any(map(_leaves, found)):
        while isinstance(above := tree.parent(arm), cst.Else | cst.If):  # `elif` and `else`
            arm = above
        found.extend(_after(tree, arm))
        arm = tree.parent(above) if above is not None else None
    return found


def _leaves(statement: Node) -> bool:
    last = statement.body[-1] if isinstance(statement, cst.SimpleStatementLine) else None
    return isinstance(last, cst.Return | cst.Raise | cst.Break | cst.Continue)


def _joined_later(transfer: Transfer, tree: Tree) -> EarlyRead | None:
    """Copies that a loop collects in a list, which is joined behind the loop: the last one may be on its way still."""
    statement = tree.statement_of(transfer.call)
    loop = next((each for each in tree.ancestors(statement) if isinstance(each, cst.For | cst.While)), None)
    if loop is None or tree.parent(statement) is not loop.body or not isinstance(statement, cst.SimpleStatementLine):
        return None
    small = statement.body[0]
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    rest = _after(tree, statement)
    if isinstance(target, cst.Name) and isinstance(small, cst.Assign) and small.value is transfer.call:
        collecting = [call for each in rest for call in tree.find(each, cst.Call) if _appends(call, target.value)]
    else:
        call = next((each for each in tree.ancestors(transfer.call) if isinstance(each, cst.Call)), None)
        given = call.args[0].value if call is not None and call.args else None
        collecting = [call] if call is not None and given is transfer.call and last_name(call.func) == "append" else []
    if len(collecting) != 1 or not isinstance(collecting[0].func, cst.Attribute):
        return None
    kept = collecting[0].func.value
    calls = [call for each in (*rest, *_after(tree, loop)) for call in tree.find(each, cst.Call)]
    for call in calls if isinstance(kept, cst.Name) else ():
        names = {each.name for each in transfer.ev.values(call.func, transfer.frame) if isinstance(each, Library)}
        if names & _JOINING_CALLS and call.args and last_name(call.args[0].value) == last_name(kept):
            is_behind = all(above is not loop for above in tree.ancestors(call))
            return EarlyRead(call, f"`{names.pop()}()`") if is_behind else None
        if call is not collecting[0] and _may_wait(transfer, call, last_name(kept)):
            return None
    return None


def _appends(call: cst.Call, name: str) -> bool:
    return last_name(call.func) == "append" and len(call.args) == 1 and last_name(call.args[0].value) == name


def _is_kept_by(tree: Tree, node: Node, assign: cst.Assign) -> bool:
    """True if the value of an assignment is the move itself, or a comprehension or display of such moves."""
    for above in tree.ancestors(node):
        if above is assign:
            return True
        if isinstance(above, cst.Call | cst.Attribute | cst.Subscript | cst.BinaryOperation | cst.Comparison):
            return False
    return False


def _may_wait(transfer: Transfer, call: cst.Call, name: str) -> bool:
    """True if a call on the way may make the host wait: it says so, or it runs code of the project."""
    if last_name(call.func) in _WAITING:
        owner: cst.BaseExpression = call.func.value if isinstance(call.func, cst.Attribute) else call.func
        while isinstance(owner, cst.Subscript | cst.Attribute | cst.Call):
            owner = owner.func if isinstance(owner, cst.Call) else owner.value
        return not (isinstance(owner, cst.Name) and owner.value == name)
    if "sync" in last_name(call.func) or "wait" in last_name(call.func):
        return True
    return any(isinstance(each, Function | Method | Class) for each in transfer.ev.values(call.func, transfer.frame))
