"""Module-level statements that start DataLoader workers, directly or through the functions that they call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.pipeline.loaders.prepared import prepared
from dataloader_lint.rules.processes.dl206_missing_main_guard.harmless import HARMLESS
from dataloader_lint.rules.processes.dl206_missing_main_guard.worker_starts import (
    WorkerStart,
    WorkerStarts,
    bare,
    find,
    first,
)
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import loader_of
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.libraries.catalogue import MODULES, RUNNING_METHODS
from dataloader_lint.semantics.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.semantics.limits import START_DEPTH, START_STEPS, START_STEPS_OF_STATEMENT
from dataloader_lint.semantics.project.scripts import is_notebook, is_test
from dataloader_lint.semantics.syntax.guards import is_guarded
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Library,
    Method,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
)
from dataloader_lint.semantics.values.values import Iterator as Iterated

if TYPE_CHECKING:
    from dataloader_lint.semantics.syntax.tree import ModuleFacts


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """The first module-level statement of a script that starts workers, and how it starts them."""

    statement: Node
    name: str  # the user's name for the loader, or the call that constructs one
    workers: Values
    calls: tuple[str, ...]  # the call path from the statement to the loader, outermost first
    method: str  # the start method that the program sets; empty for Python's default
    option: str = ""  # the option that has to be above 0, if its default is unknown

    @property
    def count(self) -> Const | None:
        """The number of workers, if it is known; the maximum if it depends on a branch."""
        numbers = [value for value in self.workers if is_positive(value)]
        found = constant(tuple(numbers))
        if found is not None or not all(isinstance(value, Const) for value in numbers):
            return found
        return max((value for value in numbers if isinstance(value, Const)), key=lambda value: float(str(value.value)))

    @property
    def is_sure(self) -> bool:
        """True if the number is the same on every branch; False for `4 if sys.platform == "linux" else 0`."""
        return constant(self.workers) is not None


@dataclass(frozen=True, slots=True, eq=False)
class _Body:
    """Loops and calls that run, with their frame and the call path to them."""

    nodes: list[Node]
    frame: Frame
    calls: tuple[str, ...] = ()
    above: tuple[_Body, Node] | None = None


def first_start(ev: Evaluator, module: ModuleFacts) -> Start | None:
    """Returns the first module-level statement outside a main guard that starts workers, or None."""
    tree = module.tree
    statements: dict[int, tuple[Node, list[Node]]] = {}
    for node in _loops_and_calls_of(tree.root):
        if not is_guarded(node, tree):
            statement = _module_statement(node, tree)
            statements.setdefault(id(statement), (statement, []))[1].append(node)
    if not statements or is_notebook(module) or is_test(module):
        return None
    method = _start_method(ev, module)
    if method == "fork":
        return None
    search = _Search(ev, tree.root)
    for statement, nodes in statements.values():
        hit = search.statement(statement, nodes)
        if hit is not None:
            return Start(statement, hit.name, hit.workers, hit.calls, hit.method or method, hit.option)
    return None


class _Search:
    """Breadth-first search along calls; one search for all statements of a file."""

    def __init__(self, ev: Evaluator, root: Scope) -> None:
        self.ev = ev
        self.root = root
        self.started_by = WorkerStarts(ev, root)
        self.last_step = ev.steps + START_STEPS
        self.bodies: deque[_Body] = deque()
        self.place: tuple[_Body, Node] | None = None  # the current node
        self.iterated: set[int] = set()  # expressions that are being iterated over, by `id`

    def statement(self, statement: Node, nodes: list[Node]) -> WorkerStart | None:
        """The first worker start in the loops and calls of one statement of the module, or None."""
        self.started_by.running = statement
        last_step = min(self.last_step, self.ev.steps + START_STEPS_OF_STATEMENT)
        self.bodies.clear()
        self.bodies.append(_Body(nodes, self.ev.frame_of(self.root)))
        while self.bodies and self.ev.steps <= last_step:
            body = self.bodies.popleft()
            for node in body.nodes:
                if self.ev.steps > last_step:
                    break
                self.place = (body, node)
                hit = self.loop(node, body.frame) if not isinstance(node, cst.Call) else self.calling(node, body.frame)
                if hit is not None and self.may_run(body, node):
                    return replace(hit, calls=(*body.calls, *hit.calls))
        return None

    def may_run(self, body: _Body | None, node: Node) -> bool:
        """True if no condition on the call path from the statement to a node is known to be false."""
        while body is not None:
            if not is_reached(self.ev, node, body.frame):
                return False
            if body.above is None:
                return True
            body, node = body.above
        return True

    def enter(self, function: Function, frame: Frame, called: str) -> None:
        """Queues a function, unless it is on the call path already."""
        assert self.place is not None
        body: _Body | None = self.place[0]
        depth = 0
        while body is not None:
            if body.frame.scope is function.scope or depth >= START_DEPTH:
                return
            body, depth = body.above[0] if body.above is not None else None, depth + 1
        calls = (*self.place[0].calls, called)
        self.bodies.append(_Body(_loops_and_calls_of(function.scope), frame, calls, self.place))

    def loop(self, node: Node, frame: Frame) -> WorkerStart | None:
        if isinstance(node, cst.Yield):
            return self.iterating(node.value.item, frame) if isinstance(node.value, cst.From) else None
        assert isinstance(node, cst.For | cst.CompFor)
        return self.iterating(node.iter, frame)

    def iterating(self, node: cst.BaseExpression, frame: Frame) -> WorkerStart | None:
        """The worker start that iterating over an expression causes, or None."""
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "range":
            return None
        if id(node) in self.iterated:  # `batches = tqdm(batches)` in a loop refers to itself
            return None
        self.iterated.add(id(node))
        values = self.ev.values(node, frame)
        hit = first(self.over(value, node) for value in values)
        if hit is None and UNKNOWN in values:
            hit = first(self.iterating(given, where) for given, where in prepared(self.ev, node, frame))
        self.iterated.remove(id(node))
        return hit

    def over(self, value: Value, node: cst.BaseExpression) -> WorkerStart | None:
        """The worker start that iterating over a value causes, or None; `node` is its expression."""
        if isinstance(value, Iterated):
            return self.over(value.of, node)
        if isinstance(value, Sequence) and isinstance(value.node, cst.FunctionDef):  # a generator of the project
            scope = value.frame.scope
            if scope.node is value.node and scope.parent is not None:
                self.enter(Function(scope, self.ev.frame_of(scope.parent)), value.frame, scope_name(scope))
        if not isinstance(value, CallResult) or value.call is None or value.frame is None:
            return None
        if row(value.library).iterates:
            inner = value.frame
            return first(self.iterating(arg.value, inner) for arg in value.call.args if arg.keyword is None)
        loader = loader_of(self.ev, value)
        if loader is not None:
            return self.started_by.of_loader(loader, node)
        if isinstance(value.by, Library):
            return self.started_by.library_loader(value, node)
        if isinstance(value.by, Class):
            function = find(self.ev, value.by, "__iter__")
            if function is not None:
                self.enter(function, bare(function, value), f"{value.by.node.name.value}.__iter__")
        return None

    def calling(self, call: cst.Call, frame: Frame) -> WorkerStart | None:
        """The worker start that a call causes, or None."""
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value in HARMLESS:
            return None
        return first(self.call_of(callee, call, frame) for callee in self.ev.values(func, frame))

    def call_of(self, callee: Value, call: cst.Call, frame: Frame) -> WorkerStart | None:
        if isinstance(callee, Partial):
            return self.call_of(callee.callee, call, frame)
        if isinstance(callee, Library):
            return self.library(callee.name, call, frame)
        if isinstance(callee, AttributeOf) and isinstance(callee.of, CallResult):
            return self.library_method(callee.of, callee.name, call, frame)
        function: Function | None = None
        receiver: Value | None = None
        if isinstance(callee, Function):
            function = callee
        elif isinstance(callee, Method):
            function, receiver = callee.function, callee.receiver
        elif isinstance(callee, Class):
            if not any(base in _QUIET_BASES for base in classes.bases_of(self.ev, callee).libraries):
                function, receiver = find(self.ev, callee, "__init__"), CallResult(callee, call, frame)
        elif isinstance(callee, CallResult) and isinstance(callee.by, Class):
            function, receiver = find(self.ev, callee.by, "__call__"), callee
        # The body of a generator runs when it is iterated.
        if function is not None and not function.scope.own(cst.Yield):
            inner = self.ev.enter(function, call, frame, receiver)
            self.enter(function, inner, dotted(call.func) or scope_name(function.scope))
        return None

    def library(self, name: str, call: cst.Call, frame: Frame) -> WorkerStart | None:
        if row(name).iterates == "now":
            return first(self.iterating(arg.value, frame) for arg in call.args if arg.keyword is None)
        if row(name).runs_command_line:
            for arg in call.args:
                for value in self.ev.values(arg.value, frame):
                    if isinstance(value, Function):  # its parameters come from the command line
                        self.enter(value, self.ev.frame_of(value.scope), scope_name(value.scope))
        return None

    def library_method(self, of: CallResult, name: str, call: cst.Call, frame: Frame) -> WorkerStart | None:
        """`trainer.fit(loader)`: a library object that iterates over its own arguments or those of its constructor."""
        if name not in RUNNING_METHODS or of.library.startswith("method."):
            return None
        hit = self.started_by.given(call, frame, name)
        if hit is None and of.call is not None and of.frame is not None:
            hit = self.started_by.given(of.call, of.frame, name)
        written = dotted(call.func)
        return replace(hit, calls=(written, *hit.calls)) if hit is not None and written else hit


# Base classes whose constructors iterate over no loader.
_QUIET_BASES = DATASET_BASES | ITERABLE_BASES | MODULES


def scope_name(scope: Scope) -> str:
    """The name of a function."""
    return scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else "lambda"


def _loops_and_calls_of(scope: Scope) -> list[Node]:
    """The loops and calls that run in a scope, in document order, without those of nested functions."""
    tree = scope.module.tree
    found: list[Node] = [node for each in _with_comprehensions(scope) for node in _loops_and_calls(each)]
    found.sort(key=tree.order)
    return found


def _loops_and_calls(scope: Scope) -> Iterator[Node]:
    yield from scope.own(cst.For)
    yield from scope.own(cst.CompFor)
    yield from scope.own(cst.Yield)
    yield from scope.own(cst.Call)


def _with_comprehensions(scope: Scope) -> Iterator[Scope]:
    yield scope
    for inner in scope.inner:
        if inner.is_comprehension:
            yield from _with_comprehensions(inner)


def _module_statement(node: Node, tree: Tree) -> Node:
    """The statement of the module that contains a node."""
    outermost = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.Module):
            break
        outermost = above
    return outermost


def _start_method(ev: Evaluator, module: ModuleFacts) -> str:
    """The start method that the module sets; empty if it sets none."""
    for call in module.calls_named("set_start_method"):
        given = next((arg.value for arg in call.args if arg.keyword is None or arg.keyword.value == "method"), None)
        if given is not None:
            found = constant(ev.values(given, ev.frame_of(module.tree.root)))
            if found is not None and isinstance(found.value, str):
                return found.value
    return ""
