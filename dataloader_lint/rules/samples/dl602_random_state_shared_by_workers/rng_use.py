"""Use of global random generators by workers, which is ruled out only if everything that they call is known."""

from __future__ import annotations

import sys

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.semantics.limits import WORKER_FUNCTIONS
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Function,
    Library,
    Method,
    Value,
)

# Libraries whose functions do not draw from a global generator of Python or numpy.
_QUIET_LIBRARIES = frozenset({"PIL", "builtins", "cv2", "h5py", "numpy", "scipy", "soundfile", "torch", "tqdm"}) | (
    sys.stdlib_module_names - {"random"}
)
_DRAWING_PREFIXES = ("builtins.next", "numpy.random.", "random.", "scipy.stats.")
# Functions that seed a generator, or query it.
_STATE_FUNCTIONS = frozenset(
    {"get_rng_state", "get_state", "getstate", "initial_seed", "manual_seed", "seed", "set_state"}
)
# Methods of arrays and tensors; they draw no random numbers, whatever the receiver is.
_ARRAY_METHODS = frozenset(
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
_METHODS_OF_VALUES = _ARRAY_METHODS.union(
    name for kind in (bytes, dict, list, set, str) for name in dir(kind) if not name.startswith("__")
)


def may_draw(workers: Workers, module: ModuleFacts, loader: Loader, generator: str) -> bool:
    """True if workers of a loader may draw from a library's generator; `generator` is `numpy` or `random`."""
    if not _runs_known_code(workers, loader):
        return True
    functions = workers.functions(module)
    return len(functions) >= WORKER_FUNCTIONS or any(_draws(workers, each, generator) for each in functions)


def _runs_known_code(workers: Workers, loader: Loader) -> bool:
    """True if workers of a loader run only code of the project and of torch."""
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
        if not is_reached(ev, call, frame, with_options=True):
            continue  # `if self.transform is not None`, which no construction of the Dataset gives
        if not all(_is_quiet(workers, value, call, generator) for value in ev.values(call.func, frame)):
            return True
    return False


def _is_quiet(workers: Workers, callee: Value, call: cst.Call, generator: str) -> bool:
    if isinstance(callee, Library):
        name = callee.name
        if name.rpartition(".")[2] in _STATE_FUNCTIONS:
            return True
        if name.startswith(_DRAWING_PREFIXES):
            return name.partition(".")[0] in ("numpy", "random") and not name.startswith(f"{generator}.")
        return name.partition(".")[0] in _QUIET_LIBRARIES
    if isinstance(callee, Function | Method):
        return True  # it is checked on its own
    if isinstance(callee, Class):
        return not workers.ev.bases(callee).libraries
    if isinstance(callee, CallResult) and isinstance(callee.by, Class):
        return classes.find_method(workers.ev, workers.ev.bases(callee.by).classes, "__call__") is not None
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _METHODS_OF_VALUES
