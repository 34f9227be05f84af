"""Which module-level statements start DataLoader workers, directly or through the functions that they call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.facts import classes, keywords
from dataloader_lint.facts.branches import is_reached
from dataloader_lint.facts.guards import is_guarded
from dataloader_lint.facts.library import (
    COMMAND_LINES,
    ITERATING,
    ITERATING_LAZILY,
    RUNNING_METHODS,
    WORKER_KEYWORDS,
)
from dataloader_lint.facts.loaders import Loader, loader_of
from dataloader_lint.facts.names import dotted
from dataloader_lint.facts.tree import COMPREHENSIONS, Node, Scope, Tree
from dataloader_lint.facts.values import (
    Attr,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    Iterator as Iterated,
    Library,
    Made,
    Mapping,
    Method,
    Partial,
    Sequence,
    Value,
    Values,
    constant,
    is_positive,
)

if TYPE_CHECKING:
    from dataloader_lint.facts.module import ModuleFacts

# How many function bodies are looked into for one file, and how deep calls are followed.
MAX_BODIES = 300
MAX_DEPTH = 6


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """The first module-level statement of a script that starts workers, and how it does."""

    statement: Node
    name: str  # what the user calls the loader, or the call that makes one
    workers: Values
    calls: tuple[str, ...]  # the functions that lead from the statement to the loader, the outermost first
    method: str  # the start method that the program asks for; empty where it leaves that to Python

    @property
    def count(self) -> Const | None:
        """How many workers, where that is known."""
        return constant(self.workers)

    @property
    def is_sure(self) -> bool:
        """Whether there are workers whatever branch is taken; False for `4 if sys.platform == "linux" else 0`."""
        return all(is_positive(value) for value in self.workers)


@dataclass(frozen=True, slots=True, eq=False)
class _Hit:
    name: str
    workers: Values
    method: str = ""
    calls: tuple[str, ...] = ()


def first_start(ev: Evaluator, module: ModuleFacts) -> Start | None:
    """The first module-level statement outside a main guard that starts workers; None where nothing does."""
    tree = module.tree
    nodes = [node for node in _run_by(tree.root) if not is_guarded(node, tree)]
    if not nodes or _is_notebook(module) or _is_test(module):
        return None
    method = _start_method(ev, module)
    if method == "fork":
        return None
    search = _Search(ev)
    frame = ev.frame_of(tree.root)
    for node in nodes:
        hit = search.at(node, frame)
        if hit is not None:
            return Start(_outermost(node, tree), hit.name, hit.workers, hit.calls, hit.method or method)
    return None


class _Search:
    """Follows what runs, from call to call; each body is looked into once for each way to enter it."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.left = MAX_BODIES
        self.inside: list[Scope] = []
        self.done: set[tuple[int, int]] = set()
        self.kept: list[Frame] = []  # so that the ids in `done` stay theirs

    def at(self, node: Node, frame: Frame) -> _Hit | None:
        """What a loop, a comprehension's clause or a call starts."""
        if isinstance(node, cst.For | cst.CompFor):
            hit = self.iterating(node.iter, frame)
        else:
            assert isinstance(node, cst.Call)
            hit = self.calling(node, frame)
        return hit if hit is not None and is_reached(self.ev, node, frame) else None

    def body(self, function: Function, frame: Frame, called: str = "") -> _Hit | None:
        """What running a function starts."""
        scope = function.scope
        if scope in self.inside or len(self.inside) >= MAX_DEPTH or self.left <= 0:
            return None
        key = (id(scope), id(frame))
        if key in self.done:
            return None
        self.done.add(key)
        self.kept.append(frame)
        self.left -= 1
        self.inside.append(scope)
        try:
            for node in _run_by(scope):
                hit = self.at(node, frame)
                if hit is not None:
                    return _Hit(hit.name, hit.workers, hit.method, (called, *hit.calls)) if called else hit
        finally:
            self.inside.pop()
        return None

    def iterating(self, node: cst.BaseExpression, frame: Frame) -> _Hit | None:
        """What iterating over an expression starts."""
        return _first(self.over(value, node) for value in self.ev.values(node, frame))

    def over(self, value: Value, node: cst.BaseExpression) -> _Hit | None:
        """What iterating over a value starts; `node` is how it is written."""
        if isinstance(value, Iterated):
            return self.over(value.of, node)
        if isinstance(value, Sequence) and isinstance(value.node, cst.FunctionDef):  # a generator of the project
            scope = value.frame.scope
            if scope.node is value.node and scope.parent is not None:
                return self.body(Function(scope, self.ev.frame_of(scope.parent)), value.frame, scope_name(scope))
        if not isinstance(value, Made) or value.call is None or value.frame is None:
            return None
        if value.library in ITERATING or value.library in ITERATING_LAZILY:
            return _first(self.iterating(arg.value, value.frame) for arg in value.call.args if arg.keyword is None)
        loader = loader_of(self.ev, value)
        if loader is not None:
            return _of_loader(loader, node)
        if isinstance(value.by, Class):
            return self.method(value, value.by, "__iter__")
        return None

    def method(self, value: Made, klass: Class, name: str) -> _Hit | None:
        """What running a method without arguments starts."""
        function = classes.find_method(self.ev, self.ev.bases(klass).classes, name)
        if function is None:
            return None
        return self.body(function, _bare(function, value), f"{klass.node.name.value}.{name}")

    def calling(self, call: cst.Call, frame: Frame) -> _Hit | None:
        """What a call starts."""
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value in _HARMLESS:
            return None
        return _first(self.call_of(callee, call, frame) for callee in self.ev.values(func, frame))

    def call_of(self, callee: Value, call: cst.Call, frame: Frame) -> _Hit | None:
        if isinstance(callee, Partial):
            return self.call_of(callee.callee, call, frame)
        if isinstance(callee, Library):
            return self.library(callee.name, call, frame)
        if isinstance(callee, Function):
            return self.entered(callee, None, call, frame)
        if isinstance(callee, Method):
            return self.entered(callee.function, callee.receiver, call, frame)
        if isinstance(callee, Class):
            return self.own_method(Made(callee, call, frame), callee, "__init__", call, frame)
        if isinstance(callee, Made) and isinstance(callee.by, Class):
            return self.own_method(callee, callee.by, "__call__", call, frame)
        if isinstance(callee, Attr) and isinstance(callee.of, Made):
            return self.library_method(callee.of, callee.name, call, frame)
        return None

    def own_method(self, value: Made, klass: Class, name: str, call: cst.Call, frame: Frame) -> _Hit | None:
        function = classes.find_method(self.ev, self.ev.bases(klass).classes, name)
        return self.entered(function, value, call, frame) if function is not None else None

    def entered(self, function: Function, receiver: Value | None, call: cst.Call, frame: Frame) -> _Hit | None:
        if any(True for _ in function.scope.own(cst.Yield)):
            return None  # a generator's body runs when it is iterated
        inner = self.ev.enter(function, call, frame, receiver)
        return self.body(function, inner, dotted(call.func) or scope_name(function.scope))

    def library(self, name: str, call: cst.Call, frame: Frame) -> _Hit | None:
        if name in ITERATING:
            return _first(self.iterating(arg.value, frame) for arg in call.args if arg.keyword is None)
        if name in COMMAND_LINES:
            for arg in call.args:
                for value in self.ev.values(arg.value, frame):
                    if isinstance(value, Function):  # its parameters are what the command line says
                        hit = self.body(value, self.ev.frame_of(value.scope), scope_name(value.scope))
                        if hit is not None:
                            return hit
        return None

    def library_method(self, of: Made, name: str, call: cst.Call, frame: Frame) -> _Hit | None:
        """`trainer.fit(loader)`: a library's object that loops over what it is given, now or when it was made."""
        if name not in RUNNING_METHODS or of.library.startswith("method."):
            return None
        hit = self.given(call, frame, name)
        if hit is None and of.call is not None and of.frame is not None:
            hit = self.given(of.call, of.frame, name)
        written = dotted(call.func)
        return _Hit(hit.name, hit.workers, hit.method, (written, *hit.calls)) if hit is not None and written else hit

    def given(self, call: cst.Call, frame: Frame, method: str) -> _Hit | None:
        """What a call's arguments bring for a loop: loaders, objects that make loaders, numbers of workers."""
        for arg in call.args:
            values = self.ev.values(arg.value, frame)
            name = arg.keyword.value if arg.keyword is not None else ""
            if name in WORKER_KEYWORDS:
                if _has_workers(values):
                    return _Hit("", values)
                continue
            hit = _first(self.brought(value, arg.value, method) for value in values)
            if hit is not None:
                return hit
        return None

    def brought(self, value: Value, node: cst.BaseExpression, method: str) -> _Hit | None:
        if isinstance(value, Sequence) and value.items is not None:
            return _first(self.brought(each, node, method) for item in value.items for each in item)
        if isinstance(value, Mapping):
            found = keywords.all_values(self.ev, value)
            return _first(self.brought(each, node, method) for item in found for each in item)
        if not isinstance(value, Made):
            return None
        loader = loader_of(self.ev, value)
        if loader is not None:
            return _of_loader(loader, node)
        if isinstance(value.by, Class):
            return self.made_by_hooks(value, value.by, node, method)
        if value.call is not None and value.frame is not None:  # a library's data module or options
            for arg in value.call.args:
                name = arg.keyword.value if arg.keyword is not None else ""
                if name in WORKER_KEYWORDS and (name != "num_workers" or "Data" in value.library):
                    workers = self.ev.values(arg.value, value.frame)
                    if _has_workers(workers):
                        return _Hit("", workers)
        return None

    def made_by_hooks(self, value: Made, klass: Class, node: cst.BaseExpression, method: str) -> _Hit | None:
        """The loaders that a LightningModule or data module of the project makes."""
        bases = self.ev.bases(klass).classes
        for stage in _STAGES.get(method, ()):
            function = classes.find_method(self.ev, bases, f"{stage}_dataloader")
            if function is not None and value.call is not None:
                for made in self.ev.run(function, _bare(function, value)):
                    hit = self.brought(made, node, "")
                    if hit is not None:
                        return hit
        return None


_STAGES = {
    "fit": ("train", "val"),
    "fit_loop": ("train", "val"),
    "validate": ("val",),
    "test": ("test",),
    "predict": ("predict",),
}
# Methods of tensors, modules, optimizers, strings and containers: what they are called on need not be worked out.
_HARMLESS = frozenset(
    "add add_ append argmax backward clone close copy cpu cuda decode detach encode endswith eq eval extend float flush"
    " format half info insert int item items join keys load_state_dict log long lower max mean mkdir min mul "
    " named_parameters no_grad numel numpy parameters permute print pow remove reshape replace reset set_description"
    " set_postfix size softmax split squeeze startswith state_dict std strip sub sum to tolist transpose type unsqueeze"
    " upper values view warning write zero_ zero_grad add_argument add_scalar parse_args".split()
)


def _bare(function: Function, value: Made) -> Frame:
    depth = value.frame.depth if value.frame is not None else 0
    return Frame(function.scope, {}, value, function.outer, depth + 1)


def _first(hits: Iterable[_Hit | None]) -> _Hit | None:
    return next((hit for hit in hits if hit is not None), None)


def _has_workers(values: Values) -> bool:
    """Whether there are workers on one branch at least, and nothing unknown on any."""
    answers = {is_positive(value) for value in values}
    return True in answers and None not in answers


def _of_loader(loader: Loader, node: cst.BaseExpression) -> _Hit | None:
    workers = loader.values("num_workers")
    if not _has_workers(workers) or loader.pickles_nothing or not loader.is_reached:
        return None
    return _Hit(_name_of(loader, node), workers, loader.start_method)


def _name_of(loader: Loader, node: cst.BaseExpression) -> str:
    """What the user calls a loader: the name it is bound to where it is made, else where it is used, else its class."""
    tree = loader.frame.scope.module.tree
    for call in (loader.site, loader.call):
        parent = tree.parent(call) if call is not None and call in tree else None
        if isinstance(parent, cst.Assign) and (name := dotted(parent.targets[0].target)):
            return name
    while isinstance(node, cst.Call) and node.args and not node.args[0].keyword and dotted(node.func) != loader.name:
        node = node.args[0].value
    return dotted(node) or loader.name


def scope_name(scope: Scope) -> str:
    """What a function is called."""
    return scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else "lambda"


def _run_by(scope: Scope) -> list[Node]:
    """The loops and calls that run when a scope does, in document order; not those of inner functions."""
    tree = scope.module.tree
    found: list[Node] = [node for each in _with_comprehensions(scope) for node in _loops_and_calls(each)]
    found.sort(key=tree.order)
    return found


def _loops_and_calls(scope: Scope) -> Iterator[Node]:
    yield from scope.own(cst.For)
    yield from scope.own(cst.CompFor)
    yield from scope.own(cst.Call)


def _with_comprehensions(scope: Scope) -> Iterator[Scope]:
    yield scope
    for inner in scope.inner:
        if isinstance(inner.node, COMPREHENSIONS):
            yield from _with_comprehensions(inner)


def _outermost(node: Node, tree: Tree) -> Node:
    """The statement of the module that holds a node."""
    outermost = node
    for above in tree.ancestors(node):
        if isinstance(above, cst.Module):
            break
        outermost = above
    return outermost


def _start_method(ev: Evaluator, module: ModuleFacts) -> str:
    """The start method that the module sets; empty where it sets none."""
    for call in module.calls_named("set_start_method"):
        given = next((arg.value for arg in call.args if arg.keyword is None or arg.keyword.value == "method"), None)
        if given is not None:
            found = constant(ev.values(given, ev.frame_of(module.tree.root)))
            if found is not None and isinstance(found.value, str):
                return found.value
    return ""


_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")


def _is_test(module: ModuleFacts) -> bool:
    """Whether pytest or unittest runs the file. A script that is only called like a test is none."""
    name = os.path.basename(module.path)
    if name == "conftest.py":
        return True
    if not _TEST_FILE.fullmatch(name):
        return False
    functions = [node.name.value for node in module.root.own(cst.FunctionDef)]
    return (
        any(function.startswith("test_") for function in functions)
        or any(klass.name.value.startswith("Test") for klass in module.root.own(cst.ClassDef))
        or any(
            dotted(alias.name).partition(".")[0] in ("pytest", "unittest")
            for statement in module.root.own(cst.Import)
            for alias in statement.names
        )
    )


def _is_notebook(module: ModuleFacts) -> bool:
    """Whether the code runs in a notebook's kernel."""
    return module.path.endswith(".ipynb") or bool(module.calls_named("get_ipython"))
