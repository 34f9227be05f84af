"""Whether workers draw from a global random generator: surely not only where all that they call is known."""

from __future__ import annotations

import sys

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.loader_calls import Loader
from dataloader_lint.facts.infer.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Function,
    Library,
    Method,
    Value,
)
from dataloader_lint.facts.libraries.catalogue import LOADERS
from dataloader_lint.facts.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.facts.limits import WORKER_FUNCTIONS
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.names import resolve
from dataloader_lint.facts.workers.worker_callgraph import WorkerFunction
from dataloader_lint.facts.workers.workers import Workers

# Libraries whose functions draw from no global generator of Python's or numpy's.
_QUIET = frozenset({"PIL", "builtins", "cv2", "h5py", "numpy", "scipy", "soundfile", "torch", "tqdm"}) | (
    sys.stdlib_module_names - {"random"}
)
_DRAWING = ("builtins.next", "numpy.random.", "random.", "scipy.stats.")
# What sets a generator, or looks at it.
_SETTING = frozenset({"get_rng_state", "get_state", "getstate", "initial_seed", "manual_seed", "seed", "set_state"})
# Methods of arrays and tensors; on whatever they are called, they draw nothing.
_OF_ARRAYS = frozenset(
    {
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "astype",
        "bool",
        "byte",
        "clamp",
        "clone",
        "contiguous",
        "cpu",
        "cumsum",
        "detach",
        "dim",
        "double",
        "expand",
        "flatten",
        "float",
        "half",
        "int",
        "item",
        "long",
        "max",
        "mean",
        "min",
        "nonzero",
        "numel",
        "numpy",
        "permute",
        "prod",
        "ravel",
        "repeat",
        "requires_grad_",
        "reshape",
        "round",
        "size",
        "squeeze",
        "std",
        "sum",
        "t",
        "to",
        "tolist",
        "transpose",
        "type",
        "unsqueeze",
        "var",
        "view",
    }
)
_OF_OBJECTS = _OF_ARRAYS.union(
    name for kind in (bytes, dict, list, set, str) for name in dir(kind) if not name.startswith("__")
)


def may_draw(workers: Workers, module: ModuleFacts, loader: Loader, generator: str) -> bool:
    """Whether the workers of a loader of a module may draw from the generator of a library: `numpy`, `random`."""
    if not _is_known(workers, loader):
        return True
    functions = workers.functions(module)
    return len(functions) >= WORKER_FUNCTIONS or any(_draws(workers, each, generator) for each in functions)


def _is_known(workers: Workers, loader: Loader) -> bool:
    """Whether all that its workers run is code of the project and of torch."""
    if loader.kind is not LOADERS["torch.utils.data.DataLoader"]:
        return False
    for value in loader.values("dataset"):
        if not isinstance(value, CallResult) or not isinstance(value.by, Class):
            return False
        if any(name not in DATASET_BASES | ITERABLE_BASES for name in workers.ev.bases(value.by).libraries):
            return False
    return all(
        isinstance(value, Function | Method) or (isinstance(value, Const) and value.value is None)
        for value in loader.values("collate_fn")
    )


def _draws(workers: Workers, function: WorkerFunction, generator: str) -> bool:
    ev, frame = workers.ev, function.frame
    for call in function.scope.within(cst.Call):
        if not all(_is_quiet(workers, value, call, generator) for value in ev.values(call.func, frame)):
            return True
    read = [each.value for each in function.scope.within(cst.Subscript)]
    read += [each.iter for kind in (cst.For, cst.CompFor) for each in function.scope.within(kind)]  # type: ignore[attr-defined]
    return any(
        _is_kept(function, node)
        and any(value is UNKNOWN or isinstance(value, AttributeOf) for value in ev.values(node, frame))
        for node in read
    )


def _is_quiet(workers: Workers, callee: Value, call: cst.Call, generator: str) -> bool:
    if isinstance(callee, Library):
        name = callee.name
        if name.rpartition(".")[2] in _SETTING:
            return True
        if name.startswith(_DRAWING):
            return name.partition(".")[0] in ("numpy", "random") and not name.startswith(f"{generator}.")
        return name.partition(".")[0] in _QUIET
    if isinstance(callee, Function | Method):
        return True  # which is looked at as well
    if isinstance(callee, Class):
        return not workers.ev.bases(callee).libraries
    if isinstance(callee, CallResult) and isinstance(callee.by, Class):
        return classes.find_method(workers.ev, workers.ev.bases(callee.by).classes, "__call__") is not None
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _OF_OBJECTS


def _is_kept(function: WorkerFunction, node: cst.BaseExpression) -> bool:
    """Whether something that the object keeps is read, which may be a Dataset of its own."""
    while isinstance(node, cst.Subscript | cst.Attribute):
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
            return node.attr.value != "shape"
        node = node.value
    bindings = resolve(node, function.module.tree) if isinstance(node, cst.Name) else []
    return any(isinstance(each.value, cst.Attribute) for each in bindings)
