"""Worker code that retries with other samples without a bound when one fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.definitions import enclosing_definitions
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.names import bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree, function_scope

_ALL_ERRORS = frozenset({"BaseException", "Exception"})
_LOADED = (cst.Call, cst.Subscript, cst.List, cst.ListComp, cst.Tuple)
_LEAVING = (cst.Break, cst.Continue, cst.Return)


@dataclass(frozen=True, slots=True, eq=False)
class Retry:
    """A handler, or the call of a method by itself, that goes on with another sample."""

    node: Node
    function: WorkerFunction
    kind: Kind


class Kind(Enum):
    """How it goes on: the loop around the handler, a call in the handler, a call where a sample is no good."""

    LOOP = auto()
    AFTER_ERROR = auto()
    REJECTED = auto()


def unbounded_retries(workers: Workers, module: ModuleFacts) -> Iterator[Retry]:
    """Yields where a module's worker code tries again without a bound: after any exception, or for bad samples."""
    found: dict[int, list[tuple[Node, Kind]]] = {}
    for scope in module.root.descend():
        if isinstance(scope.node, cst.FunctionDef):
            retries = list(_retries(scope)) or list(_rejections(scope))
            if retries:
                found[id(scope)] = retries
    if not found:
        return
    nodes = [node for retries in found.values() for node, _ in retries]
    names = workers.names_that_use(module, enclosing_definitions(module, nodes))
    seen: set[int] = set()
    for function in workers.functions_inside(module, names):
        for node, kind in found.get(id(function.scope), ()):
            if id(node) not in seen and function.path[0].argument != "worker_init_fn":
                seen.add(id(node))
                yield Retry(node, function, kind)


def _retries(scope: Scope) -> Iterator[tuple[Node, Kind]]:
    tree = scope.module.tree
    recurses = False  # one count of attempts bounds all handlers that call the function again
    for handler in scope.own(cst.ExceptHandler):
        attempt = tree.parent(handler)
        if not isinstance(attempt, cst.Try) or not _catches_all(handler):
            continue
        if any(True for _ in tree.find(handler, cst.Raise)):
            continue
        calls = [call for call in _calls_of_itself(scope) if tree.is_inside(call, handler)]
        if calls:
            if all(_has_one_argument(call) for call in calls) and not (recurses or _is_bounded(handler, scope)):
                recurses = True
                yield handler, Kind.AFTER_ERROR
        elif _goes_on(attempt, handler, scope):
            yield handler, Kind.LOOP


def _rejections(scope: Scope) -> Iterator[tuple[Node, Kind]]:
    """The first `return self[other]` under a condition on what was loaded: `if image is None:`, `if not boxes:`."""
    assert isinstance(scope.node, cst.FunctionDef)
    if scope.node.name.value != "__getitem__":
        return
    tree = scope.module.tree
    for call in _calls_of_itself(scope):
        returned = tree.parent(call)
        if not isinstance(returned, cst.Return) or not _has_one_argument(call):
            continue
        above = list(tree.ancestors(returned))
        around = next((each for each in above if isinstance(each, cst.If | cst.For | cst.While | cst.Try)), None)
        if (
            isinstance(around, cst.If)
            and tree.is_inside(returned, around.body)
            and _is_about_sample(around.test, scope)
        ):
            if not any(True for _ in tree.find(around.body, cst.AugAssign)):
                yield call, Kind.REJECTED
                return


def _is_about_sample(test: cst.BaseExpression, scope: Scope) -> bool:
    """True if a condition is on what the method has loaded, and not on the index that it was given."""
    assert isinstance(scope.node, cst.FunctionDef)
    tree = scope.module.tree
    given = {param.name.value for param in parameters(scope.node)} - {classes.receiver_name(scope)}
    words = {each.value for each in tree.find(test, cst.Name)}
    if words & given:
        return False
    return any(
        isinstance(each.value, _LOADED) and not _is_length(each.value)
        for name in words
        for each in bindings_of(scope).get(name, ())
    )


def _is_length(value: cst.BaseExpression | None) -> bool:
    return isinstance(value, cst.Call) and last_name(value.func) == "len"


def _catches_all(handler: cst.ExceptHandler) -> bool:
    caught = handler.type
    if isinstance(caught, cst.Tuple):
        return any(last_name(each.value) in _ALL_ERRORS for each in caught.elements)
    return caught is None or last_name(caught) in _ALL_ERRORS


def _calls_of_itself(scope: Scope) -> Iterator[Node]:
    """`self[other]` and `self.__getitem__(other)` in a `__getitem__`, `self.load(other)` in a `load`."""
    assert isinstance(scope.node, cst.FunctionDef)
    name = scope.node.name.value
    own = classes.receiver_name(scope) if classes.class_of(scope) is not None else ""
    if not own:
        return
    for call in scope.own(cst.Call):
        if dotted(call.func) == f"{own}.{name}":
            yield call
    for subscript in scope.own(cst.Subscript) if name == "__getitem__" else ():
        if dotted(subscript.value) == own:
            yield subscript


def _has_one_argument(node: Node) -> bool:
    """True if nothing but the index is given: more may be a count of attempts."""
    return not isinstance(node, cst.Call) or (len(node.args) == 1 and not node.args[0].star)


def _is_bounded(handler: cst.ExceptHandler, scope: Scope) -> bool:
    """True if a condition or a count decides if the handler tries again; `index += 1` is the next sample."""
    tree = scope.module.tree
    assert isinstance(scope.node, cst.FunctionDef)
    given = {param.name.value for param in parameters(scope.node)}
    if any(dotted(each.target) not in given for each in tree.find(handler, cst.AugAssign)):
        return True
    tests = [test for kind in (cst.If, cst.IfExp) for test in tree.find(handler, kind)]
    decisive = [*_calls_of_itself(scope), *(each for kind in _LEAVING for each in tree.find(handler, kind))]
    return any(tree.is_inside(each, test) for test in tests for each in decisive)


def _goes_on(attempt: cst.Try, handler: cst.ExceptHandler, scope: Scope) -> bool:
    """True if control comes back to the attempt whenever it fails: a loop without an end, and no way out."""
    tree = scope.module.tree
    loop = _loop_of(attempt, tree)
    if not isinstance(loop, cst.While) or function_scope(tree.scope_of(loop)) is not scope:
        return False
    if _is_bounded(handler, scope) or any(True for kind in (cst.Return, cst.Break) for _ in tree.find(handler, kind)):
        return False
    if not _leaves_by_success(loop, attempt, tree):
        return False
    ways_out = [each for kind in (cst.Return, cst.Break, cst.Raise) for each in tree.find(loop.body, kind)]
    ways_out = [each for each in ways_out if not isinstance(each, cst.Break) or _loop_of(each, tree) is loop]
    return all(tree.is_inside(each, attempt.body) or _follows_success(each, attempt, tree) for each in ways_out)


def _loop_of(node: Node, tree: Tree) -> cst.For | cst.While | None:
    """The innermost loop that a node stands in."""
    return next((each for each in tree.ancestors(node) if isinstance(each, cst.For | cst.While)), None)


def _leaves_by_success(loop: cst.While, attempt: cst.Try, tree: Tree) -> bool:
    """True for `while True` that what was loaded ends, and for `while sample is None`, which the attempt sets."""
    test = loop.test
    if (isinstance(test, cst.Name) and test.value == "True") or isinstance(test, cst.Integer):
        return any(True for kind in (cst.Return, cst.Break) for _ in tree.find(loop.body, kind))
    name = ""
    if isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, cst.Is):
        if dotted(test.comparisons[0].comparator) == "None":
            name = dotted(test.left)
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        name = dotted(test.expression)
    return name != "" and any(
        dotted(target.target) == name for assign in tree.find(attempt.body, cst.Assign) for target in assign.targets
    )


def _follows_success(node: Node, attempt: cst.Try, tree: Tree) -> bool:
    """True for what runs only after the attempt: an `else`, or the statements behind it when the handler continues."""
    if attempt.orelse is not None and tree.is_inside(node, attempt.orelse):
        return True
    continues = all(any(True for _ in tree.find(each, cst.Continue)) for each in attempt.handlers)
    return continues and tree.order(node) > tree.order(attempt)
