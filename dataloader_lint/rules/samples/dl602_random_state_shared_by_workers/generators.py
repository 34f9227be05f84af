"""Random generators created once in the parent and used in workers: every worker has a copy in the same state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.worker_processes import never_started
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.instances import harms_one, of_object
from dataloader_lint.pipeline.workers.unread_by_workers import trainer_has_no_workers
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import WORKER_INFO
from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.augmentations import (
    PIPELINES,
    has_other_version,
    is_random_pipeline,
)
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import names_where, row
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import UNKNOWN, CallResult, Class, Library, Value

_CONSTRUCTOR_NAMES = tuple(
    sorted({name.rpartition(".")[2] for name in names_where(lambda call: call.gives == "rng") | PIPELINES})
)
# Methods that set the state of a generator.
_RESEEDING_METHODS = frozenset({"manual_seed", "seed", "set_random_seed", "set_random_state", "set_state", "setstate"})
# Methods of numpy and Python generators that draw random numbers.
_DRAWING_METHODS = frozenset(
    {
        "beta",
        "betavariate",
        "binomial",
        "binomialvariate",
        "bytes",
        "chisquare",
        "choice",
        "choices",
        "dirichlet",
        "expovariate",
        "exponential",
        "f",
        "gamma",
        "gammavariate",
        "gauss",
        "geometric",
        "getrandbits",
        "gumbel",
        "hypergeometric",
        "integers",
        "laplace",
        "logistic",
        "lognormal",
        "lognormvariate",
        "logseries",
        "multinomial",
        "multivariate_hypergeometric",
        "multivariate_normal",
        "negative_binomial",
        "noncentral_chisquare",
        "noncentral_f",
        "normal",
        "normalvariate",
        "pareto",
        "paretovariate",
        "permutation",
        "permuted",
        "poisson",
        "power",
        "rand",
        "randbytes",
        "randint",
        "randn",
        "random",
        "random_integers",
        "random_sample",
        "randrange",
        "ranf",
        "rayleigh",
        "sample",
        "shuffle",
        "standard_cauchy",
        "standard_exponential",
        "standard_gamma",
        "standard_normal",
        "standard_t",
        "tomaxint",
        "triangular",
        "uniform",
        "vonmises",
        "vonmisesvariate",
        "wald",
        "weibull",
        "weibullvariate",
        "zipf",
    }
)
# Workers draw a common order on purpose from generators in the same state.
_ORDERING_METHODS = frozenset({"permutation", "permuted", "randperm", "shuffle"})


def is_generator(name: str) -> bool:
    """True if a call of what has this qualified name makes a random number generator."""
    return row(name).gives == "rng"


@dataclass(frozen=True, slots=True, eq=False)
class SharedGenerator:
    """A generator constructed outside of worker code, and a place in worker code that draws from it."""

    made: cst.Call
    name: str  # its expression in the worker code
    kind: str  # the qualified name of its constructor
    drawn_in: WorkerFunction


def shared_generators(reach: DatasetFlow, module: ModuleFacts) -> Iterator[SharedGenerator]:
    """Yields the generators that a module constructs outside of worker code and that any worker code draws from."""
    workers = reach.workers
    constructor_calls = _constructor_calls(workers, module)
    if not constructor_calls:
        return
    functions = _worker_functions(workers, module, constructor_calls)
    inside = {id(each.scope) for each in functions}
    tree = module.tree
    remaining = {
        key: (call, kind)
        for key, (call, kind) in constructor_calls.items()
        if id(function_scope(tree.scope_of(call))) not in inside
    }
    if not remaining:
        return
    renewals = _Renewals(functions)
    is_skipped: dict[int, bool] = {}
    for function in functions:
        if not remaining:
            return
        for owner, value in _generators_used(workers, function):
            origin = _construction(workers, value)
            if origin is None or id(origin.call) not in remaining:
                continue
            if renewals.is_renewed(owner, function) or _is_intended(function, owner):
                continue
            call, kind = remaining[id(origin.call)]
            klass = _dataset_of(function)
            if klass is not None:
                key = id(klass.scope)
                if key not in is_skipped:
                    is_skipped[key] = _has_no_workers(reach, klass)
                if is_skipped[key] or not _is_held_by_one(reach, klass, function, owner, origin.call):
                    continue
                if kind != "torch.Generator" and not call.args and tree.scope_of(call) is module.root:
                    if _are_spawned(reach.loaders_of(klass)):
                        continue  # each worker imports the module, and gets a generator with a seed of its own
            if origin.frame is not None and not is_reached(workers.ev, call, origin.frame, with_options=True):
                continue
            del remaining[id(call)]
            yield SharedGenerator(call, dotted(owner), kind, function)


def _has_no_workers(reach: DatasetFlow, klass: Class) -> bool:
    """True if no loader that gets objects of a class starts workers, as far as one is known."""
    loaders = reach.loaders_of(klass)
    if not is_test(klass.scope.module):  # the number of workers in tests is no evidence for training
        loaders = [loader for loader in loaders if not is_test(loader.frame.scope.module)]
    return never_started(loaders) if loaders else trainer_has_no_workers(reach.ev, klass)


def _are_spawned(loaders: list[Loader]) -> bool:
    """True if all known loaders spawn their workers, of which at least one has any."""
    contexts = [loader.known("multiprocessing_context") for loader in loaders if loader.has_workers is not False]
    return bool(contexts) and all(each is not None and each.value in ("spawn", "forkserver") for each in contexts)


def _is_held_by_one(
    reach: DatasetFlow, klass: Class, function: WorkerFunction, owner: cst.BaseExpression, made: cst.Call | None
) -> bool:
    """False if every object of a class that a loader with workers gets is known to hold another generator, or none."""

    def holds(each: CallResult, loader: Loader) -> bool:
        found = reach.ev.values(owner, of_object(function.frame, each))
        origins = [_construction(reach.workers, value) for value in found]
        return UNKNOWN in found or any(origin is not None and origin.call is made for origin in origins)

    started = [loader for loader in reach.loaders_of(klass) if loader.has_workers is not False]
    return harms_one(reach.ev, klass, started, holds)


def _constructor_calls(workers: Workers, module: ModuleFacts) -> dict[int, tuple[cst.Call, str]]:
    found: dict[int, tuple[cst.Call, str]] = {}
    for name in _CONSTRUCTOR_NAMES:
        for call in module.calls_named(name):
            frame = workers.ev.frame_of(function_scope(module.tree.scope_of(call)))
            for callee in workers.ev.values(call.func, frame):
                if not isinstance(callee, Library) or not (is_generator(callee.name) or callee.name in PIPELINES):
                    continue
                if is_generator(callee.name) or is_random_pipeline(workers.ev, CallResult(callee, call, frame)):
                    found[id(call)] = (call, callee.name)
    if any(kind in PIPELINES for _, kind in found.values()) and has_other_version(workers.ev.project, module):
        found = {key: (call, kind) for key, (call, kind) in found.items() if is_generator(kind)}
    return found


def _worker_functions(
    workers: Workers, module: ModuleFacts, constructor_calls: dict[int, tuple[cst.Call, str]]
) -> list[WorkerFunction]:
    """The worker functions of the module and of modules that can refer to what contains its generators."""
    names: set[str] = set()
    for call, _ in constructor_calls.values():
        child: cst.CSTNode = call
        for above in module.tree.ancestors(call):
            if isinstance(above, cst.FunctionDef | cst.ClassDef):
                child = above
            elif isinstance(above, cst.Assign) and module.tree.scope_of(above) is module.root:
                names.update(dotted(target.target) for target in above.targets)
        if isinstance(child, cst.FunctionDef | cst.ClassDef):
            names.add(child.name.value)
    names = workers.names_that_use(module, names)
    modules = (module, *workers.users(module, names)) if names else (module,)
    return [function for each in modules for function in workers.functions(each)]


def _generators_used(workers: Workers, function: WorkerFunction) -> Iterator[tuple[cst.BaseExpression, Value]]:
    """Yields objects whose drawing methods a function calls, or that it passes to a library as a generator.

    Some of them are not generators. A pipeline of augmentations draws when it is called.
    """
    frame = function.frame
    for call in function.scope.within(cst.Call):
        if isinstance(call.func, cst.Name | cst.Attribute):
            for value in workers.ev.values(call.func, frame):
                if isinstance(value, CallResult) and value.library in PIPELINES:
                    yield call.func, value
        is_drawing = last_name(call.func) in _DRAWING_METHODS
        owner = call.func.value if is_drawing and type(call.func) is cst.Attribute else None
        if type(owner) is cst.Name or type(owner) is cst.Attribute:
            for value in workers.ev.values(owner, frame):
                yield owner, value
    for call, name in function.library_calls:
        if is_generator(name):
            continue
        for arg in call.args:
            if arg.keyword is not None and arg.keyword.value in ("generator", "random_state", "rng"):
                for value in workers.ev.values(arg.value, frame):
                    yield arg.value, value


def _construction(workers: Workers, value: Value) -> CallResult | None:
    """The constructor call of a generator: `torch.Generator().manual_seed(0)` returns the generator itself."""
    if not isinstance(value, CallResult) or value.call is None:
        return None
    if is_generator(value.library) or value.library in PIPELINES:
        return value
    if value.library == "torch.Generator.manual_seed" and value.frame is not None:
        if isinstance(value.call.func, cst.Attribute):
            for inner in workers.ev.values(value.call.func.value, value.frame):
                if isinstance(inner, CallResult) and inner.library == "torch.Generator":
                    return inner
    return None


def _dataset_of(function: WorkerFunction) -> Class | None:
    """The Dataset for which a function runs."""
    receiver = function.path[0].frame.receiver
    return receiver.by if isinstance(receiver, CallResult) and isinstance(receiver.by, Class) else None


def _is_intended(function: WorkerFunction, owner: cst.BaseExpression) -> bool:
    """True if workers draw an order that they divide among themselves, or use the worker info on the call path."""
    if any(_uses_worker_info(each.scope) for each in function.path):
        return True
    entry = function.path[0].scope.node
    if isinstance(entry, cst.FunctionDef) and entry.name.value == "__iter__":
        draws = [call for call in function.scope.within(cst.Call) if dotted(owner) in _operands(call)]
        return bool(draws) and all(last_name(call.func) in _ORDERING_METHODS for call in draws)
    return False


def _operands(call: cst.Call) -> set[str]:
    """The receiver and the arguments of a call, as dotted names."""
    owner = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    return {owner, *(dotted(arg.value) for arg in call.args)}


def _uses_worker_info(scope: Scope) -> bool:
    name = WORKER_INFO.rpartition(".")[2]
    return any(last_name(call.func) == name for call in scope.within(cst.Call))


class _Renewals:
    """Generators that worker code constructs again or reseeds, by the last part of their name."""

    def __init__(self, functions: list[WorkerFunction]) -> None:
        self.inside = {id(each.scope) for each in functions}
        self.names: set[str] = set()  # stored or seeded
        self.called: set[str] = set()
        for scope in {id(each.scope): each.scope for each in functions}.values():
            for inner in scope.descend():
                self._collect(inner)

    def _collect(self, scope: Scope) -> None:
        for assign in scope.own(cst.Assign):
            for target in assign.targets:
                if isinstance(target.target, cst.Attribute):
                    self.names.update(dotted(target.target).split(".")[-3:])
        for call in scope.own(cst.Call):
            name = last_name(call.func)
            self.called.add(name)
            if name == "setattr" and len(call.args) == 3 and isinstance(call.args[1].value, cst.SimpleString):
                self.names.add(str(call.args[1].value.evaluated_value))
            if name in _RESEEDING_METHODS and isinstance(call.func, cst.Attribute):
                self.names.add(last_name(call.func.value))

    def is_renewed(self, owner: cst.BaseExpression, function: WorkerFunction) -> bool:
        """True if each worker recreates or reseeds the generator that an expression refers to."""
        name = last_name(owner)
        if name in self.names:
            return True
        if isinstance(owner, cst.Name):
            return any(
                each.scope is not function.scope and self._is_bound_in_worker(each.node, function)
                for each in resolve(owner, function.module.tree)
            )
        klass = classes.class_of(function.scope)
        return klass is not None and any(
            binding.method.node.name.value in self.called
            for binding in classes.attribute_bindings(klass).get(name, ())
            if isinstance(binding.method.node, cst.FunctionDef) and binding.method.node.name.value != "__init__"
        )

    def _is_bound_in_worker(self, node: cst.CSTNode, function: WorkerFunction) -> bool:
        """True if a statement that binds a name of the module is in worker code."""
        tree = function.module.tree
        return node in tree and id(function_scope(tree.scope_of(node))) in self.inside
