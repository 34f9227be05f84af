"""Iterable Datasets that yield all items in every worker, because nothing on the call path uses the worker id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.rules.samples.dl601_iterable_dataset_not_sharded.generators import (
    SHARING,
    arms_of,
    counts_to_end,
    is_endless,
    iterables_of,
    leaves,
    looped_over,
    names_below,
    names_bound_in,
    names_in,
    names_that_divide,
    only_reports,
    puts_in,
    stops_by_comparison,
    taken_from,
    words_of_sharing,
    yielding_loops,
)
from dataloader_lint.rules.samples.dl601_iterable_dataset_not_sharded.init_functions import (
    SEEDING,
    has_sharding_init_function,
    may_split,
)
from dataloader_lint.rules.samples.dl601_iterable_dataset_not_sharded.sources import Sources
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.datasets import ITERABLE_BASES
from dataloader_lint.semantics.limits import SHARDING_FUNCTIONS
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Frame,
    Function,
    Library,
    Method,
    Sequence,
    is_default,
)

# Those of them that divide the data among the ranks of a distributed program, each of which has workers.
_RANKS = re.compile(r"(^|_)rank(_|$)|world_size")
_PARTS = re.compile(r"worker|split|node|part|shard", re.IGNORECASE)
_PIPES = frozenset(name for name in ITERABLE_BASES if name.endswith("DataPipe"))


@dataclass(frozen=True, slots=True, eq=False)
class UnsharedStream:
    """An iterable Dataset whose items every worker yields in full; `loader` is one that may have several workers.

    `by_rank` is True if it divides its items among the ranks of a distributed program, and no further.
    """

    klass: Class
    method: cst.FunctionDef
    loader: Loader | None
    by_rank: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made, if one is known."""
        return loader_steps.made(self.loader, "num_workers") if self.loader is not None else ()

    @property
    def name(self) -> str:
        return self.klass.node.name.value

    @property
    def workers(self) -> int | None:
        """The number of workers of the loader, if it is known to have some."""
        known = self.loader.known("num_workers") if self.loader is not None else None
        number = known.value if known is not None and not known.default else None
        return number if isinstance(number, int) and number > 0 else None


def unshared_streams(reach: DatasetFlow, module: ModuleFacts) -> Iterator[UnsharedStream]:
    """Yields the iterable Datasets of a module whose items several workers repeat."""
    seen: set[int] = set()
    for klass in sorted(reach.workers.datasets(module), key=_inherits_iter):
        libraries = reach.ev.bases(klass).libraries
        if not ITERABLE_BASES.intersection(libraries) or _PIPES.intersection(libraries):
            continue
        found = classes.find_method(reach.ev, reach.ev.bases(klass).classes, "__iter__")
        method = found.scope if found is not None else None
        if method is None or id(method) in seen:
            continue
        stream = _Stream(reach, klass, method)
        place = method if method.module is module else stream.own_part()
        if place is None or not isinstance(place.node, cst.FunctionDef) or id(place) in seen or not stream.repeats():
            continue
        loaders = reach.loaders_of(klass)
        if loaders:
            loader = next((each for each in loaders if _may_repeat(each)), None)
            if loader is not None:
                seen.add(id(place))
                yield UnsharedStream(klass, place.node, loader, stream.by_rank)
        elif (
            not _inherits_iter(klass)
            and not stream.by_rank
            and not stream.sources.is_written_out
            and not has_sharding_init_function(klass)
            and _is_public_api(reach, klass)
        ):
            yield UnsharedStream(klass, place.node, None)


def _inherits_iter(klass: Class) -> bool:
    """True for a class that has its `__iter__` from a base: what this iterates over may be its own."""
    return "__iter__" not in classes.methods_of(klass.scope)


def _may_repeat(loader: Loader) -> bool:
    """True if a loader has several workers, or an unknown number, and does not divide the data among them."""
    if any(map(may_split, loader.values("worker_init_fn"))) or not loader.is_reached:
        return False
    given = loader.is_passed("num_workers") is not False  # then a default is there to be set to another number
    return _others_set_workers(loader) or any(
        (given and is_default(value))
        or (is_positive(value) is not False and not (isinstance(value, Const) and value.value == 1))
        for value in loader.values("num_workers")
    )


def _others_set_workers(loader: Loader) -> bool:
    """True if the number of workers is a parameter of a public function or class of a published package.

    The package itself may leave the parameter at its default, but its users may not.
    """
    scope = loader.frame.scope
    owner = classes.class_of(scope) or scope
    given = loader.argument("num_workers")
    if (
        given is None
        or owner.parent is not scope.module.root
        or not isinstance(owner.node, cst.FunctionDef | cst.ClassDef)
    ):
        return False
    node: cst.BaseExpression | None = given.value
    if isinstance(node, cst.Attribute) and owner.is_class and dotted(node.value) == classes.receiver_name(scope):
        bound = classes.attribute_bindings(owner).get(node.attr.value, ())
        node = bound[0].value if len(bound) == 1 else None
    bindings = resolve(node, scope.module.tree) if isinstance(node, cst.Name) else []
    if len(bindings) != 1 or bindings[0].kind is not Kind.PARAMETER or owner.node.name.value.startswith("_"):
        return False
    project = loader.ev.project
    texts = project.requirements(scope.module.path) if project.is_in_package(scope.module) else ()
    return any(_PUBLISHING.search(text) for text in texts)


# What the file says by which a package is made: `setup.py`, `pyproject.toml`.
_PUBLISHING = re.compile(r"\bsetup\(|^\[build-system\]", re.MULTILINE)


def _is_public_api(reach: DatasetFlow, klass: Class) -> bool:
    """True if a class is meant for other projects: public, and neither instantiated nor subclassed in this one."""
    scope = klass.scope
    name = klass.node.name.value
    if scope.parent is not scope.module.root or name.startswith("_"):
        return False
    for module in (scope.module, *reach.ev.project.importers(scope.module, [name])):
        for inner in module.root.descend():
            nodes: list[cst.Call | cst.ClassDef] = [*inner.own(cst.Call), *inner.own(cst.ClassDef)]
            if any(_uses_class(node, name) for node in nodes):
                return False
    return True


def _uses_class(node: cst.Call | cst.ClassDef, name: str) -> bool:
    if isinstance(node, cst.Call):
        return dotted(node.func).rpartition(".")[2] == name or any(
            dotted(arg.value).rpartition(".")[2] == name for arg in node.args
        )
    return any(dotted(base.value).rpartition(".")[2] == name for base in node.bases)


class _Stream:
    """What one class iterates over, in its `__iter__` and the generators of its own that this runs."""

    def __init__(self, reach: DatasetFlow, klass: Class, method: Scope) -> None:
        self.reach = reach
        self.ev = reach.ev
        self.klass = klass
        self.method = method
        self.sources = Sources(reach.ev)
        self.by_rank = False

    def own_part(self) -> Scope | None:
        """The generator of the class that a base of another module iterates over: `for row in self.rows():`.

        None if the base repeats its items without it, which is reported there.
        """
        owner = next(each for each in self.ev.bases(self.klass).classes if each.scope is classes.class_of(self.method))
        if _Stream(self.reach, owner, self.method).repeats():
            return None
        own = classes.methods_of(self.klass.scope).values()
        frame = self.ev.method_frame(self.method, CallResult(self.klass, None, None))
        inner = (self._generator(value, frame) for value in iterables_of(self.method))
        return next((each[0] for each in inner if each is not None and each[0] in own), None)

    def repeats(self) -> bool:
        """True if two workers surely yield the same items, as far as the code shows."""
        if self._mentions_sharding():
            return self.method.module is self.klass.scope.module and self._has_arm_that_repeats()
        found: list[tuple[cst.BaseExpression, Frame]] = []
        is_finite = False
        made = CallResult(self.klass, None, None)
        functions = [(self.method, self.ev.method_frame(self.method, made))]
        for scope, frame in functions:  # grows during the iteration
            if filling := self._threads_of(scope, frame):
                functions.extend(filling)
                continue  # what it yields comes from them
            if self.sources.is_unlike_for_each(scope, frame):
                return False
            if any(self.sources.reads_to_end(loop, frame) or counts_to_end(loop) for loop in yielding_loops(scope)):
                self.sources.is_written_out = False
                is_finite = True
            for value in iterables_of(scope) or looped_over(puts_in(scope), scope):
                following = self._next_of(value, frame)
                if following is not None and not self.sources.is_unlike_for_each(following.scope, following):
                    self.sources.is_written_out = False
                    taken = taken_from(following.scope)
                    found.extend((each, following) for each in taken)
                    is_finite = is_finite or bool(taken) or stops_by_comparison(following.scope)
                    continue
                inner = self._generator(value, frame)
                if inner is None:
                    found.append((value, frame))
                elif len(functions) < SHARDING_FUNCTIONS and all(inner[0] is not known for known, _ in functions):
                    if self._divides_elsewhere(inner[0]):
                        return False
                    functions.append(inner)
        return (bool(found) or is_finite) and all(self.sources.is_plain(value, frame, 0) for value, frame in found)

    def _has_arm_that_repeats(self) -> bool:
        """True if `__iter__` divides the items on some of its paths only, and another one goes over all of them."""
        if self.by_rank or not self._divides_here_alone():
            return False
        frame = self.ev.frame_of(self.method)
        dividing = names_that_divide(self.method)
        for arm, tests in arms_of(self.method):
            tree = self.method.module.tree
            names = set(names_below(arm, tree)) - names_bound_in(arm, tree)
            names.update(name for test in tests for name in names_below(test, tree))
            given = [] if names & dividing else iterables_of(self.method, arm)
            if (
                given
                and not self.sources.is_unlike_for_each(self.method, frame, arm)
                and is_reached(self.ev, arm, frame)
            ):
                self.sources.is_written_out = True
                if all(self.sources.is_plain(each, frame, 0) and not self._delegates(each, frame) for each in given):
                    return True
        return False

    def _divides_here_alone(self) -> bool:
        """True if nothing of the class but `__iter__` speaks of workers, nor a function that it calls."""
        for klass in self.ev.bases(self.klass).classes:
            for scope in classes.methods_of(klass.scope).values():
                if scope is not self.method and any(SHARING.search(name) for name in names_in(scope)):
                    return False
        return not any(
            SHARING.search(name) for helper in self._called_helpers(self.method) for name in names_in(helper)
        )

    def _delegates(self, given: cst.BaseExpression, frame: Frame) -> bool:
        """True if functions of the project return what a loop goes over: they may divide the items themselves."""
        calls = self.method.module.tree.find(given, cst.Call)
        return any(
            isinstance(callee, Function | Method) for call in calls for callee in self.ev.values(call.func, frame)
        )

    def _next_of(self, value: cst.BaseExpression, frame: Frame) -> Frame | None:
        """Where `__next__` runs, if `__iter__` returns the object itself."""
        if CallResult(self.klass, None, None) not in self.ev.values(value, frame):
            return None
        following = classes.find_method(self.ev, self.ev.bases(self.klass).classes, "__next__")
        return self.ev.frame_of(following.scope) if following is not None else None

    def _mentions_sharding(self) -> bool:
        scopes = {id(each.scope): each.scope for each in self.ev.bases(self.klass).classes}
        for function in self.reach.workers.functions(self.klass.scope.module):
            receiver = function.path[0].frame.receiver
            if (
                isinstance(receiver, CallResult)
                and isinstance(receiver.by, Class)
                and receiver.by.scope is self.klass.scope
            ):
                scopes[id(function.scope)] = function.scope
        called = list(scopes.values())
        for scope in called:  # grows; the call graph does not list a shared function for each class that calls it
            for helper in self._called_helpers(scope) if len(called) < SHARDING_FUNCTIONS else ():
                if all(helper is not known for known in called):
                    called.append(helper)
        words = [name for scope in called for name in names_in(scope) if SHARING.search(name)]
        self.by_rank = bool(words) and all(map(_is_of_ranks, words)) and self._asks_for_rank(called)
        return bool(words) and not self.by_rank and not all(map(self._only_reports, called))

    def _only_reports(self, scope: Scope) -> bool:
        """True if all that speaks of workers in a class or function is there to log or to seed."""
        inner = [each for each in scope.inner if each.is_function] if scope.is_class else [scope]
        reported = [words for each in inner if (words := words_of_sharing(each)) and only_reports(each, SEEDING)]
        return sum(map(len, reported)) == len(words_of_sharing(scope))

    def _asks_for_rank(self, scopes: list[Scope]) -> bool:
        """True if a class takes its rank from `torch.distributed` only; a caller may pass one that counts workers."""
        inner = [each for scope in scopes for each in scope.descend()]
        bound = {name for each in inner for name, found in bindings_of(each).items() if _has_parameter(found)}
        calls = [(call, each) for each in inner for call in each.own(cst.Call) if last_name(call.func) == "get_rank"]
        return not any(map(_is_of_ranks, bound)) and any(
            Library("torch.distributed.get_rank") in self.ev.values(call.func, self.ev.frame_of(function_scope(each)))
            for call, each in calls
        )

    def _called_helpers(self, scope: Scope) -> Iterator[Scope]:
        """The functions of the project that a class or function calls by a plain name."""
        for inner in scope.descend():
            for call in inner.own(cst.Call):
                if isinstance(call.func, cst.Name):
                    for callee in self.ev.values(call.func, self.ev.frame_of(function_scope(inner))):
                        if isinstance(callee, Function):
                            yield callee.scope

    def _generator(self, value: cst.BaseExpression, frame: Frame) -> tuple[Scope, Frame] | None:
        """The function of the project that yields what is iterated over: `self._lines()`."""
        if not isinstance(value, cst.Call):
            return None
        for made in self.ev.values(value, frame):
            if isinstance(made, Sequence) and isinstance(made.node, cst.FunctionDef):
                return made.frame.scope, made.frame
        return None

    def _divides_elsewhere(self, scope: Scope) -> bool:
        """True if a generator of another class or module speaks of workers: it may divide what it is given."""
        owner = classes.class_of(scope)
        is_own = any(each.scope is owner for each in self.ev.bases(self.klass).classes)
        return not is_own and any(SHARING.search(name) for name in names_in(scope))

    def _threads_of(self, scope: Scope, frame: Frame) -> list[tuple[Scope, Frame]]:
        """The functions of the threads that fill the queue from which a function takes its items, until one ends it."""
        tree = scope.module.tree
        if not any(
            is_endless(loop) and any(map(leaves, tree.find(loop.body, cst.If))) for loop in yielding_loops(scope)
        ):
            return []
        targets = (
            each
            for call in scope.own(cst.Call)
            if last_name(call.func) == "Thread" and (given := keyword_of(call, "target")) is not None
            for each in self.ev.values(given, frame)
        )
        run = [each.function if isinstance(each, Method) else each for each in targets]
        found = [each.scope for each in run if isinstance(each, Function) and puts_in(each.scope)]
        made = CallResult(self.klass, None, None)
        return [(each, self.ev.method_frame(each, made)) for each in found]


def _is_of_ranks(name: str) -> bool:
    return bool(_RANKS.search(name)) and not _PARTS.search(name)


def _has_parameter(bindings: list[Binding]) -> bool:
    return any(each.kind is Kind.PARAMETER for each in bindings)
