"""Random generators that the parent makes once and that workers draw from: each worker has a copy in the same state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.reachability import is_reached
from dataloader_lint.facts.infer.values import CallResult, Class, Library, Value
from dataloader_lint.facts.loaders.unread_by_workers import trainer_has_no_workers
from dataloader_lint.facts.loaders.worker_processes import never_started
from dataloader_lint.facts.project.scripts import is_test
from dataloader_lint.facts.samples.dependence import WORKER_INFO
from dataloader_lint.facts.syntax.module import ModuleFacts, last_name
from dataloader_lint.facts.syntax.names import dotted, resolve
from dataloader_lint.facts.syntax.tree import Scope, function_scope
from dataloader_lint.facts.workers.dataset_flow import DatasetFlow
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction
from dataloader_lint.facts.workers.workers import Workers

GENERATORS = frozenset(
    {
        "numpy.random.default_rng",
        "numpy.random.Generator",
        "numpy.random.RandomState",
        "numpy.random.mtrand.RandomState",
        "random.Random",
        "torch.Generator",
    }
)
_MAKERS = tuple(sorted({name.rpartition(".")[2] for name in GENERATORS}))
# What sets a generator to a state of its own.
_RESEEDING = frozenset({"manual_seed", "seed", "set_state", "setstate"})
# The methods of numpy's and Python's generators that draw.
_DRAWING = frozenset(
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
# An order that all workers must agree on is drawn from generators in the same state on purpose.
_ORDERING = frozenset({"permutation", "permuted", "randperm", "shuffle"})


@dataclass(frozen=True, slots=True, eq=False)
class SharedGenerator:
    """A generator made outside of worker code, and a place in worker code that draws from it."""

    made: cst.Call
    name: str  # what the worker code calls it
    kind: str  # the qualified name of its constructor
    drawn_in: WorkerFunction


def shared_generators(reach: DatasetFlow, module: ModuleFacts) -> Iterator[SharedGenerator]:
    """The generators that are made in a module outside of worker code and that worker code anywhere draws from."""
    workers = reach.workers
    makers = _makers(workers, module)
    if not makers:
        return
    functions = _functions(workers, module, makers)
    inside = {id(each.scope) for each in functions}
    tree = module.tree
    left = {
        key: (call, kind)
        for key, (call, kind) in makers.items()
        if id(function_scope(tree.scope_of(call))) not in inside
    }
    if not left:
        return
    renewals = _Renewals(functions)
    quiet: dict[int, bool] = {}
    for function in functions:
        if not left:
            return
        for owner, value in _sampled(workers, function):
            origin = _origin(workers, value)
            if origin is None or id(origin.call) not in left:
                continue
            if renewals.renews(owner, function) or _is_on_purpose(function, owner):
                continue
            call, kind = left[id(origin.call)]
            klass = _dataset_of(function)
            if klass is not None:
                key = id(klass.scope)
                if key not in quiet:
                    loaders = reach.loaders_of(klass)
                    if not is_test(klass.scope.module):  # what tests do with it says nothing about training
                        loaders = [loader for loader in loaders if not is_test(loader.frame.scope.module)]
                    if loaders:
                        quiet[key] = never_started(loaders)
                    else:
                        quiet[key] = trainer_has_no_workers(reach.ev, klass)
                if quiet[key]:
                    continue
            if origin.frame is not None and not is_reached(workers.ev, call, origin.frame, with_options=True):
                continue
            del left[id(call)]
            yield SharedGenerator(call, dotted(owner), kind, function)


def _makers(workers: Workers, module: ModuleFacts) -> dict[int, tuple[cst.Call, str]]:
    found: dict[int, tuple[cst.Call, str]] = {}
    for name in _MAKERS:
        for call in module.calls_named(name):
            frame = workers.ev.frame_of(function_scope(module.tree.scope_of(call)))
            for callee in workers.ev.values(call.func, frame):
                if isinstance(callee, Library) and callee.name in GENERATORS:
                    found[id(call)] = (call, callee.name)
    return found


def _functions(workers: Workers, module: ModuleFacts, makers: dict[int, tuple[cst.Call, str]]) -> list[WorkerFunction]:
    """All worker functions of the module and of those that can get at what holds its generators."""
    names: set[str] = set()
    for call, _ in makers.values():
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


def _sampled(workers: Workers, function: WorkerFunction) -> Iterator[tuple[cst.BaseExpression, Value]]:
    """What a function calls drawing methods of, or hands to a library that draws: generators among other things."""
    frame = function.frame
    for call in function.scope.within(cst.Call):
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if isinstance(owner, cst.Name | cst.Attribute) and last_name(call.func) in _DRAWING:
            for value in workers.ev.values(owner, frame):
                yield owner, value
    for call, name in function.library_calls:
        if name in GENERATORS:
            continue
        for arg in call.args:
            if arg.keyword is not None and arg.keyword.value in ("generator", "random_state", "rng"):
                for value in workers.ev.values(arg.value, frame):
                    yield arg.value, value


def _origin(workers: Workers, value: Value) -> CallResult | None:
    """The construction that a generator comes from: `torch.Generator().manual_seed(0)` is the generator itself."""
    if not isinstance(value, CallResult) or value.call is None:
        return None
    if value.library in GENERATORS:
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


def _is_on_purpose(function: WorkerFunction, owner: cst.BaseExpression) -> bool:
    """Whether workers agree on an order that they then share out, or look at who they are on the way."""
    if any(_asks_for_worker(each.scope) for each in function.path):
        return True
    entry = function.path[0].scope.node
    if isinstance(entry, cst.FunctionDef) and entry.name.value == "__iter__":
        draws = [call for call in function.scope.within(cst.Call) if dotted(owner) in _spoken_of(call)]
        return bool(draws) and all(last_name(call.func) in _ORDERING for call in draws)
    return False


def _spoken_of(call: cst.Call) -> set[str]:
    """What a call is made on and with."""
    owner = dotted(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    return {owner, *(dotted(arg.value) for arg in call.args)}


def _asks_for_worker(scope: Scope) -> bool:
    name = WORKER_INFO.rpartition(".")[2]
    return any(last_name(call.func) == name for call in scope.within(cst.Call))


class _Renewals:
    """What worker code makes anew or seeds again, by the last name under which it is kept."""

    def __init__(self, functions: list[WorkerFunction]) -> None:
        self.inside = {id(each.scope) for each in functions}
        self.names: set[str] = set()  # stored or seeded
        self.called: set[str] = set()
        for scope in {id(each.scope): each.scope for each in functions}.values():
            for inner in scope.descend():
                self._look_at(inner)

    def _look_at(self, scope: Scope) -> None:
        for assign in scope.own(cst.Assign):
            for target in assign.targets:
                if isinstance(target.target, cst.Attribute):
                    self.names.update(dotted(target.target).split(".")[-3:])
        for call in scope.own(cst.Call):
            name = last_name(call.func)
            self.called.add(name)
            if name == "setattr" and len(call.args) == 3 and isinstance(call.args[1].value, cst.SimpleString):
                self.names.add(str(call.args[1].value.evaluated_value))
            if name in _RESEEDING and isinstance(call.func, cst.Attribute):
                self.names.add(last_name(call.func.value))

    def renews(self, owner: cst.BaseExpression, function: WorkerFunction) -> bool:
        """Whether the generator behind an expression is another one, or in another state, in each worker."""
        name = last_name(owner)
        if name in self.names:
            return True
        if isinstance(owner, cst.Name):
            return any(
                each.scope is not function.scope and self._binds(each.node, function)
                for each in resolve(owner, function.module.tree)
            )
        klass = classes.class_of(function.scope)
        return klass is not None and any(
            binding.method.node.name.value in self.called
            for binding in classes.attribute_bindings(klass).get(name, ())
            if isinstance(binding.method.node, cst.FunctionDef) and binding.method.node.name.value != "__init__"
        )

    def _binds(self, node: cst.CSTNode, function: WorkerFunction) -> bool:
        """Whether a statement that binds a name of the module stands in worker code."""
        tree = function.module.tree
        return node in tree and id(function_scope(tree.scope_of(node))) in self.inside
