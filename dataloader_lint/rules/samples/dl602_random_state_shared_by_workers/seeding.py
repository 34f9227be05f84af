"""Seeds that workers set, in a worker_init_fn or for each sample, and what these seeds depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.worker_processes import never_started
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.rules.samples._shared.dependence import Dep, Dependence, Deps
from dataloader_lint.rules.samples._shared.per_sample import calls_to_next, dependence_on_sample
from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.rng_use import may_draw
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import enclosing_tests, is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import SEEDING_DEPTH
from dataloader_lint.semantics.syntax.definitions import enclosing_definitions
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    Argument,
    CallResult,
    Class,
    Const,
    Frame,
    Function,
    Library,
    Method,
    Partial,
    Value,
)

_NAMES = ("seed", "manual_seed", "set_seed", "seed_everything", "default_rng", "RandomState", "Random")
_STATE_SAVING = frozenset(
    {"fork_rng", "get_rng_state", "get_state", "getstate", "set_rng_state", "set_state", "setstate"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Seeding:
    """A call that seeds a global generator in a worker, and what the seed depends on."""

    call: cst.Call
    function: str  # the name of the function that the loader, or the Dataset, runs
    scope: Scope  # the function that contains the call
    parts: Deps
    loader: Loader | None  # the loader of the worker_init_fn; None for a seed per sample
    reads_state: bool = False  # True if the function reads numpy's own state, apparently for the seed
    is_first: bool = False  # True if it runs only for the first sample of a worker
    is_generator: bool = False  # True if it makes a generator with this seed
    seeder: str = ""  # the library function that sets the seed in a worker_init_fn
    matters: bool = True  # True if workers may draw numbers that repeat in other workers or epochs

    @property
    def is_known(self) -> bool:
        """True if the seed has no unknown or changing source."""
        return bool(self.parts) and self.parts <= {Dep.FIXED, Dep.WORKER}

    @property
    def repeats(self) -> bool:
        """True if it is the same for all samples that a worker reads in an epoch."""
        return bool(self.parts) and self.parts <= {Dep.FIXED, Dep.WORKER, Dep.TORCH, Dep.EPOCH}

    @property
    def has_worker_id(self) -> bool:
        return Dep.WORKER in self.parts

    @property
    def has_option(self) -> bool:
        """True if the user gives a part of the seed, who then wants the numbers of each run to be the same.

        That is a parameter that something else than the loader fills, or an attribute that is called a seed.
        """
        seed = _seed_of(self.call)
        tree = self.scope.module.tree
        if seed is None:
            return False
        names = {name.value for name in tree.find(seed, cst.Name)}
        for assign in self.scope.own(cst.Assign):
            if any(last_name(target.target) in names for target in assign.targets):
                names.update(name.value for name in tree.find(assign.value, cst.Name))
                names.update(each.attr.value for each in tree.find(assign.value, cst.Attribute))
        names.update(each.attr.value for each in tree.find(seed, cst.Attribute))
        return "seed" in names or any(name.endswith("_seed") and name != "initial_seed" for name in names)

    @property
    def keeps_workers(self) -> bool:
        """True if the loader has persistent workers, or would have once it has workers."""
        return self.loader is not None and _keeps_workers(self.loader)


def _keeps_workers(loader: Loader) -> bool:
    values = loader.values("persistent_workers")
    return any(not isinstance(each, Const) or bool(each.value) for each in values if each is not UNKNOWN)


def seedings_at_start(workers: Workers, module: ModuleFacts) -> Iterator[Seeding]:
    """Yields the seeds that functions of the module set as the worker_init_fn of a loader, in any module."""
    names = _functions_that_seed(module)
    if not names:
        return
    names = workers.names_that_use(module, names)
    for each in (module, *workers.users(module, names)):
        for loader in workers.loaders(each):
            if loader.has_workers is False:
                continue
            for value in loader.values("worker_init_fn"):
                yield from _InitFunction(workers, module, each, loader).of(value)


def _functions_that_seed(module: ModuleFacts) -> set[str]:
    """The top-level functions and classes of a module that contain a seeding call."""
    return enclosing_definitions(module, (call for name in _NAMES for call in module.calls_named(name)))


def seeding_calls(scope: Scope) -> list[cst.Call]:
    """The calls in a function that set a seed, by their names."""
    return [call for call in scope.within(cst.Call) if last_name(call.func) in _NAMES]


class _InitFunction:
    """Follows one worker_init_fn."""

    def __init__(self, workers: Workers, module: ModuleFacts, user: ModuleFacts, loader: Loader) -> None:
        self.workers = workers
        self.ev = workers.ev
        self.module = module
        self.user = user  # the module that constructs the loader
        self.loader = loader

    def of(self, value: Value, partial: Partial | None = None) -> Iterator[Seeding]:
        if isinstance(value, Partial):
            yield from self.of(value.callee, value)
        elif isinstance(value, Function):
            yield from self._function(value, None, partial)
        elif isinstance(value, Method):
            yield from self._function(value.function, value.receiver, partial)
        elif isinstance(value, CallResult) and isinstance(value.by, Class):
            function = classes.find_method(self.ev, self.ev.bases(value.by).classes, "__call__")
            if function is not None:
                yield from self._function(function, value, partial)

    def _function(self, function: Function, receiver: Value | None, partial: Partial | None) -> Iterator[Seeding]:
        params = parameters(function.node)[1 if receiver is not None else 0 :]
        args = _arguments_of_partial(partial, params)
        worker_id = next((param for param in params if param.name.value not in args and not param.star), None)
        roots = {id(worker_id): Dep.WORKER} if worker_id is not None else {}
        frame = Frame(function.scope, args, receiver, function.outer)
        yield from self._calls(function.scope, frame, roots, ())

    def _may_matter(self, seeder: str, parts: Deps) -> bool:
        """True if workers may draw from the generator that a library function seeds, in more than one epoch."""
        if not parts <= {Dep.FIXED, Dep.WORKER}:
            return True  # the value differs between epochs
        generator = seeder.partition(".")[0]
        return generator not in ("numpy", "random") or may_draw(self.workers, self.user, self.loader, generator)

    def _calls(self, scope: Scope, frame: Frame, roots: dict[int, Dep], above: tuple[Scope, ...]) -> Iterator[Seeding]:
        path = (*above, scope)
        dependence = Dependence(self.ev, roots, path)
        for call in scope.within(cst.Call):
            for callee in self.ev.values(call.func, frame):
                if isinstance(callee, Library) and _seeds(callee.name):
                    if scope.module is self.module:  # also under `if seed is not None`, whatever the default is
                        seed = _seed_of(call)
                        if seed is not None:
                            parts = dependence.of(seed, frame)
                            reads_state = any(last_name(each.func) == "get_state" for each in scope.within(cst.Call))
                            matters = self._may_matter(callee.name, parts)
                            yield Seeding(
                                call,
                                _label(path[0]),
                                scope,
                                parts,
                                self.loader,
                                reads_state,
                                seeder=callee.name,
                                matters=matters,
                            )
                elif isinstance(callee, Function) and len(path) < SEEDING_DEPTH and callee.scope not in path:
                    inner = self.ev.enter(callee, call, frame, None)
                    yield from self._calls(callee.scope, inner, roots, path)


def _arguments_of_partial(partial: Partial | None, params: list[cst.Param]) -> dict[str, Argument]:
    """The arguments that a `partial` binds, by parameter."""
    if partial is None:
        return {}
    args: dict[str, Argument] = {}
    for call, frame in (*reversed(partial.before), (partial.call, partial.frame)):
        free = [param for param in params if param.name.value not in args and not param.star]
        position = 0
        for arg in call.args[1:]:
            if arg.star:
                args["**"] = Argument(arg.value, frame)
            elif arg.keyword is not None:
                args[arg.keyword.value] = Argument(arg.value, frame)
            elif position < len(free):
                args[free[position].name.value] = Argument(arg.value, frame)
                position += 1
    return args


def _seeds(name: str) -> bool:
    return row(name).seeds == "global" or name.rpartition(".")[2] == "seed_everything"


def _seed_of(call: cst.Call) -> cst.BaseExpression | None:
    """The seed expression; None if numpy or Python chooses the seed."""
    given = next((arg.value for arg in call.args if not arg.star), None)
    return None if given is None or (isinstance(given, cst.Name) and given.value == "None") else given


def _label(scope: Scope) -> str:
    node = scope.node
    return node.name.value if isinstance(node, cst.FunctionDef) else "lambda"


def seedings_for_samples(reach: DatasetFlow, module: ModuleFacts) -> Iterator[Seeding]:
    """Yields the seeds that worker code of the module sets for each sample, with the sources of each seed."""
    workers = reach.workers
    names = _functions_that_seed(module)
    if not names:
        return
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        if not _runs_for_each_sample(function):
            continue
        for call, name in function.library_calls:
            is_generator = row(name).seeds == "own"
            seed = _seed_of(call) if is_generator or _seeds(name) else None
            if seed is None or not is_reached(workers.ev, call, function.frame, True):
                continue
            is_first = _is_for_first_sample(call, function)
            if is_first and (_may_have_persistent_workers(reach, function) or _has_no_workers(reach, function)):
                continue  # then the sequence may continue in the next epoch
            if is_first or not (is_generator or _is_conditional(call, function)):
                parts = dependence_on_sample(workers.ev, function).of(seed, function.frame)
                if Dep.EPOCH in parts and _draws_order(function.scope):
                    continue
                yield Seeding(
                    call, function.label, function.scope, parts, None, is_first=is_first, is_generator=is_generator
                )


def _draws_order(scope: Scope) -> bool:
    """True if a function draws an order of all samples, which has to be the same one for all samples of an epoch."""
    return any(last_name(call.func) in ("permutation", "randperm", "shuffle") for call in scope.within(cst.Call))


def _runs_for_each_sample(function: WorkerFunction) -> bool:
    entry = function.path[0]
    if entry.argument == "worker_init_fn":
        return False
    node = entry.scope.node
    return not (isinstance(node, cst.FunctionDef) and node.name.value == "__iter__")


def _may_have_persistent_workers(reach: DatasetFlow, function: WorkerFunction) -> bool:
    """True if workers may be persistent, as far as the known loaders of the Dataset show."""
    klass = classes.class_of(function.path[0].scope)
    loaders = reach.loaders_of(Class(klass, reach.ev.frame_of(klass))) if klass is not None else []
    if not loaders:
        return reach.ev.project.mentions_word(function.module, "persistent_workers")
    return any(_keeps_workers(each) for each in loaders)


def _has_no_workers(reach: DatasetFlow, function: WorkerFunction) -> bool:
    """True if no known loader of the Dataset ever starts workers."""
    klass = classes.class_of(function.path[0].scope)
    loaders = reach.loaders_of(Class(klass, reach.ev.frame_of(klass))) if klass is not None else []
    return bool(loaders) and never_started(loaders)


def _is_for_first_sample(call: cst.Call, function: WorkerFunction) -> bool:
    """True if a condition around a call tests an attribute that the function sets: `if not self.done`."""
    tree = function.module.tree
    for test, _ in enclosing_tests(call, function.frame):
        own = classes.receiver_name(function.scope)
        marks = {each.attr.value for each in tree.find(test, cst.Attribute) if dotted(each.value) == own}
        for inner in tree.find(test, cst.Call):  # `if not hasattr(self, "rng")`
            if dotted(inner.func) == "hasattr":
                marks.update(str(each.evaluated_value) for each in tree.find(inner, cst.SimpleString))
        for assign in function.scope.own(cst.Assign):
            target = assign.targets[0].target
            if isinstance(target, cst.Attribute) and target.attr.value in marks and dotted(target.value) == own:
                return True
    return False


def _is_conditional(call: cst.Call, function: WorkerFunction) -> bool:
    """True if it depends on a condition of the object, or if the state of the generator is saved and restored."""
    for each in function.path:
        if any(last_name(inner.func) in _STATE_SAVING for inner in each.scope.within(cst.Call)):
            return True
    for each in function.path:
        sites = [call] if each is function else calls_to_next(each, function)
        if sites and all(_depends_on_object(site, each) for site in sites):
            return True
    return False


def _depends_on_object(call: cst.Call, function: WorkerFunction) -> bool:
    """True if a condition around a call reads the object, such as a flag set by a former call."""
    tree = function.module.tree
    return any(
        name.value in ("self", "hasattr")
        for test, _ in enclosing_tests(call, function.frame)
        for name in tree.find(test, cst.Name)
    )
