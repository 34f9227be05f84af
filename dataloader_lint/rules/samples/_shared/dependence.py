"""What a value depends on: constants and options, the worker id, torch's seed, randomness, or the sample.

Used for seeds and paths in worker code: shows if they differ between workers, between epochs and between samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

import libcst as cst

from dataloader_lint.semantics.callers.parameters import arguments_of_callers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import INGREDIENT_DEPTH
from dataloader_lint.semantics.syntax.control import deciding_tests
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.flow import reaching
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, resolve
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Evaluator,
    Frame,
    Library,
    Values,
)


class Dep(Enum):
    """One source that a value depends on."""

    FIXED = "fixed"  # a constant, an option, an attribute of the object: the same in all epochs
    WORKER = "worker"  # the id of the worker
    TORCH = "torch"  # the seed that torch gives each worker, new in each epoch
    FRESH = "fresh"  # random numbers, the clock: a new value each time
    SAMPLE = "sample"  # the argument from the loader
    EPOCH = "epoch"  # the number of the epoch: the same for all samples of one
    COUNTED = "counted"  # a value that changes while the program runs: a step, an epoch that workers count themselves
    UNKNOWN = "unknown"


Deps = frozenset[Dep]

_FIXED: Deps = frozenset({Dep.FIXED})
_UNKNOWN: Deps = frozenset({Dep.UNKNOWN})
_COUNTS: Deps = frozenset({Dep.COUNTED})
_EPOCH: Deps = frozenset({Dep.EPOCH})

WORKER_INFO = "torch.utils.data.get_worker_info"
# Names that suggest a counter (epoch, step).
_COUNTED = re.compile(
    r"epoch|(^|_)(n|cur(r|rent)?)?_?(iter(ation)?|step|round|count(er)?|tick)s?(_|\d|$)", re.IGNORECASE
)
_TORCH_SEED = frozenset({"torch.initial_seed", "torch.random.initial_seed"})
_FRESH = (
    *("time.", "uuid.", "secrets.", "datetime.", "os.urandom", "os.getpid", "random.", "numpy.random."),
    *("torch.rand", "torch.seed", "torch.random.", "torch.empty", "torch.normal", "torch.bernoulli"),
)
_STATE = frozenset({"numpy.random.get_state"})  # in a worker, the first word of its array is the same in all epochs
_RUN_BY_WORKERS = frozenset({"__getitem__", "__getitems__", "__iter__", "__next__", "__call__"})
_PROCESS_CONSTANTS = ("get_rank", "get_world_size", "get_local_rank", "device_count")
_PROPAGATING_METHODS = frozenset(
    {
        "encode",
        "expanduser",
        "from_bytes",
        "generate_state",
        "get",
        "item",
        "joinpath",
        "open",
        "resolve",
        "strip",
        "to_bytes",
        "format",
        "with_suffix",
        "as_posix",
        "absolute",
    }
)


def _before_workers(found: Deps) -> Deps:
    """The dependence of a value from before the workers started: all workers share it, but it may change over time."""
    if found & {Dep.TORCH, Dep.FRESH, Dep.COUNTED}:
        return _COUNTS
    return _EPOCH if Dep.EPOCH in found else _FIXED


class Dependence:
    """Finds the sources of expressions.

    `roots` gives the source of the first function's parameters, by `id`. `inside` holds the functions that workers run:
    names bound outside of them were bound before the workers started.
    """

    def __init__(self, ev: Evaluator, roots: dict[int, Dep], inside: Iterable[Scope]) -> None:
        self.ev = ev
        self.roots = roots
        self.inside = {id(scope) for scope in inside}
        self._running: set[tuple[int, int]] = set()
        self._of_tests: dict[tuple[int, int], Deps] = {}
        self._cuts = 0  # how often an answer was unknown because its question was open already, or too deep
        self._interim: dict[tuple[int, int], Deps] = {}  # of tests that were cut off so, for the outermost question

    def of(self, node: cst.CSTNode | None, frame: Frame, depth: int = 0) -> Deps:
        """Returns the sources that an expression in a frame depends on."""
        key = (id(node), id(frame))
        if node is None:
            return _UNKNOWN
        if depth > INGREDIENT_DEPTH or key in self._running:
            self._cuts += 1
            return _UNKNOWN
        self._running.add(key)
        try:
            found = self._sources(node, frame, depth + 1)
            return found if id(frame.scope) in self.inside else _before_workers(found)
        finally:
            self._running.discard(key)
            if not self._running:
                self._interim.clear()

    def _sources_of_all(self, nodes: Iterable[cst.CSTNode], frame: Frame, depth: int) -> Deps:
        found: set[Dep] = set()
        for node in nodes:
            found |= self.of(node, frame, depth)
        return frozenset(found) or _FIXED

    def _sources(self, node: cst.CSTNode, frame: Frame, depth: int) -> Deps:
        if isinstance(node, cst.Integer | cst.Float | cst.SimpleString | cst.ConcatenatedString):
            return _FIXED
        if isinstance(node, cst.FormattedString):
            inner = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
            return self._sources_of_all(inner, frame, depth)
        if isinstance(node, cst.Name):
            return self._name(node, frame, depth)
        if isinstance(node, cst.Attribute):
            return self._attribute(node, frame, depth)
        if isinstance(node, cst.Call):
            return self._call(node, frame, depth)
        if isinstance(node, cst.Subscript):
            indexes = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
            return self._sources_of_all((node.value, *indexes), frame, depth)
        if isinstance(node, cst.BinaryOperation | cst.BooleanOperation):
            return self._sources_of_all((node.left, node.right), frame, depth)
        if isinstance(node, cst.UnaryOperation):
            return self.of(node.expression, frame, depth)
        if isinstance(node, cst.IfExp):
            return self._sources_of_all((node.body, node.orelse), frame, depth) | self._known(node.test, frame, depth)
        if isinstance(node, cst.Tuple | cst.List):
            return self._sources_of_all([element.value for element in node.elements], frame, depth)
        return _UNKNOWN

    def _name(self, node: cst.Name, frame: Frame, depth: int) -> Deps:
        tree = frame.scope.module.tree
        bindings = resolve(node, tree) if node in tree else []
        if not bindings:
            return _FIXED if node.value in ("True", "False", "None", "__file__", "__name__") else _UNKNOWN
        if any(self.roots.get(id(each.node)) is None for each in bindings) and _COUNTED.search(node.value):
            return _COUNTS
        found: set[Dep] = set()
        for binding in bindings:
            found |= self._binding(binding, frame, depth)
            if len(bindings) > 1 and id(binding.scope) in self.inside:
                for test in deciding_tests(binding.node, node, tree):
                    found |= self._known(test, self.ev.at(binding.scope, frame), depth)
        return frozenset(found)

    def _known(self, test: cst.CSTNode, frame: Frame, depth: int) -> Deps:
        """The known sources of the names in a test; what is unknown says nothing about the value that it chooses."""
        key = (id(test), id(frame))
        if key in self._of_tests:
            return self._of_tests[key]
        if key in self._interim:
            self._cuts += 1
            return self._interim[key]
        cuts = self._cuts
        self._interim[key] = frozenset()
        tree = frame.scope.module.tree
        found = self._sources_of_all(tree.find(test, cst.Name), frame, depth) - {Dep.FIXED, Dep.UNKNOWN}
        if self._cuts == cuts:
            self._of_tests[key] = found
        else:
            self._interim[key] = found
        return found

    def _binding(self, binding: Binding, frame: Frame, depth: int) -> Deps:
        if binding.kind is Kind.PARAMETER:
            return self._parameter(binding, frame, depth)
        if binding.kind in (Kind.IMPORT, Kind.FUNCTION, Kind.CLASS):
            return _FIXED
        home = self.ev.at(binding.scope, frame)
        if binding.kind is Kind.VALUE and binding.value is not None:
            return self.of(binding.value, home, depth)
        if binding.kind is Kind.ENTERED and binding.value is not None:
            return self.of(binding.value, home, depth)
        if binding.kind is Kind.AUGMENTED and binding.value is not None:
            others = [each for each in bindings_of(binding.scope)[binding.name] if each is not binding]
            found = set(self.of(binding.value, home, depth))
            for each in reaching(binding.node, others, binding.scope.module.tree):
                found |= self._binding(each, frame, depth)
            return frozenset(found)
        return _UNKNOWN

    def _parameter(self, binding: Binding, frame: Frame, depth: int) -> Deps:
        part = self.roots.get(id(binding.node))
        if part is not None:
            return frozenset({part})
        scope = binding.scope
        if classes.class_of(scope) is not None and binding.name == classes.receiver_name(scope):
            receiver = self.ev.at(scope, frame).receiver
            made_in = receiver.frame.scope if isinstance(receiver, CallResult) and receiver.frame is not None else None
            return _UNKNOWN if made_in is not None and id(made_in) in self.inside else _FIXED
        assert isinstance(binding.node, cst.Param)
        if binding.node.star:
            return _UNKNOWN
        home = self.ev.at(scope, frame)
        if home.args is not None:
            given = home.args.get(binding.name)
            if given is not None:
                return self.of(given.node, given.frame, depth) if given.frame is not None else _UNKNOWN
            if "**" not in home.args and binding.node.default is not None:
                return _FIXED
            return _UNKNOWN
        if id(scope) in self.inside:
            return _UNKNOWN
        passed = arguments_of_callers(self.ev, scope, binding.name)
        found: set[Dep] = set()
        for each, where in passed:
            found |= self.of(each, where, depth)
        return frozenset(found) or _FIXED  # an option, as far as this file shows

    def _attribute(self, node: cst.Attribute, frame: Frame, depth: int) -> Deps:
        name = node.attr.value
        owners = self.ev.values(node.value, frame)
        if any(isinstance(each, CallResult) and each.library == WORKER_INFO for each in owners):
            return {"id": frozenset({Dep.WORKER}), "seed": frozenset({Dep.TORCH}), "num_workers": _FIXED}.get(
                name, _UNKNOWN
            )
        if _COUNTED.search(name):
            return _EPOCH if "epoch" in name.lower() and self._is_set_by_main_process(owners, name) else _COUNTS
        for each in owners:
            if isinstance(each, CallResult) and each.frame is not None and id(each.frame.scope) in self.inside:
                return _UNKNOWN  # an object that workers construct, possibly from the sample
            if isinstance(each, CallResult) and each.call is None and each != frame.receiver:
                break  # any instance of its class: the expression before the dot decides
            klass = each.by if isinstance(each, CallResult) else each
            if isinstance(klass, Class):
                if not self._is_bound_in_constructor_only(klass, name):
                    return _UNKNOWN
                return _FIXED
        return self.of(node.value, frame, depth)

    def _is_set_by_main_process(self, owners: Values, name: str) -> bool:
        """True if an attribute of the project's classes is bound, and by no function that workers run."""
        bound = [
            binding.method
            for each in owners
            if isinstance(each, CallResult) and isinstance(each.by, Class)
            for base in self.ev.bases(each.by).classes
            for binding in classes.attribute_bindings(base.scope).get(name, ())
        ]
        return bool(bound) and not any(
            id(method) in self.inside
            or (isinstance(method.node, cst.FunctionDef) and method.node.name.value in _RUN_BY_WORKERS)
            for method in bound
        )

    def _is_bound_in_constructor_only(self, klass: Class, name: str) -> bool:
        """True if only the constructor binds an attribute; a property or a setter may change it."""
        for each in self.ev.bases(klass).classes:
            if name in classes.methods_of(each.scope):
                return False
            for binding in classes.attribute_bindings(each.scope).get(name, ()):
                method = binding.method
                if not isinstance(method.node, cst.FunctionDef) or method.node.name.value != "__init__":
                    return False
        return True

    def _call(self, node: cst.Call, frame: Frame, depth: int) -> Deps:
        arguments = [arg.value for arg in node.args]
        name = last_name(node.func)
        if name in _PROCESS_CONSTANTS:
            return _FIXED
        found: set[Dep] = set()
        for callee in self.ev.values(node.func, frame):
            if isinstance(callee, Library):
                found |= self._library(callee.name, arguments, frame, depth)
            elif inner := self.ev.entered(callee, node, frame):
                found |= self._returned(inner, depth)
            elif isinstance(node.func, cst.Attribute) and name in _PROPAGATING_METHODS:
                found |= self._sources_of_all((node.func.value, *arguments), frame, depth)
            else:
                found.add(Dep.UNKNOWN)
        return frozenset(found) or _UNKNOWN

    def _library(self, name: str, arguments: list[cst.BaseExpression], frame: Frame, depth: int) -> Deps:
        if name in _TORCH_SEED:
            return frozenset({Dep.TORCH})
        if name in _STATE:
            return _FIXED
        if row(name).as_random_as_arguments:
            return self._sources_of_all(arguments, frame, depth)
        if name.startswith(_FRESH):
            return frozenset({Dep.FRESH})
        return _UNKNOWN

    def _returned(self, frame: Frame, depth: int) -> Deps:
        node = frame.scope.node
        self.inside.add(id(frame.scope))
        if isinstance(node, cst.Lambda):
            return self.of(node.body, frame, depth)
        found: set[Dep] = set()
        returns = [each for each in frame.scope.own(cst.Return) if each.value is not None]
        for statement in returns:
            found |= self.of(statement.value, frame, depth)
            if len(returns) > 1:
                for test in deciding_tests(statement, node, frame.scope.module.tree):
                    found |= self._known(test, frame, depth)
        return frozenset(found) or _UNKNOWN
