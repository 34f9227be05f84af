"""Use of global random generators by workers, which is ruled out only if everything that they call is known."""

from __future__ import annotations

import sys

import libcst as cst

from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.pipeline.workers.worker_code import Workers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.heap.writes import Place, Write, home_of, kept_under, places_from, writes_at
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.libraries.datasets import DATASET_BASES, ITERABLE_BASES
from dataloader_lint.semantics.limits import PART_CHAIN, WORKER_FUNCTIONS
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve, written_part
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Function,
    ItemOf,
    Library,
    Method,
    Unknown,
    Value,
    merge,
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
    read = [each.value for each in function.scope.within(cst.Subscript)]
    read += [each.iter for kind in (cst.For, cst.CompFor) for each in function.scope.within(kind)]  # type: ignore[attr-defined]
    return any(
        _is_stored_on_object(function, node)
        and any(value is UNKNOWN or isinstance(value, AttributeOf) for value in ev.values(node, frame))
        and not _is_in_filled_container(ev, node, frame)
        for node in read
    )


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


def _is_stored_on_object(function: WorkerFunction, node: cst.BaseExpression) -> bool:
    """True if a stored attribute of the object is read, which may be another Dataset."""
    while isinstance(node, cst.Subscript | cst.Attribute):
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
            return node.attr.value != "shape"
        node = node.value
    bindings = resolve(node, function.module.tree) if isinstance(node, cst.Name) else []
    return any(isinstance(each.value, cst.Attribute) for each in bindings)


def _is_in_filled_container(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> bool:
    """True for `self.sizes[index]` of a container that the class makes empty and fills with values that are known.

    Then nothing in it can be another Dataset.
    """
    if isinstance(node, cst.Name):
        bindings = resolve(node, frame.scope.module.tree)
        parts = [written_part(each.value, each.path) for each in bindings if each.kind is Kind.VALUE]
        return 0 < len(bindings) == len(parts) and all(
            isinstance(part, cst.Subscript) and _is_in_filled_container(ev, part, frame) for part in parts
        )
    receiver = frame.receiver
    kept = kept_under(node) if isinstance(node, cst.Subscript) else None
    if kept is None or not isinstance(receiver, CallResult) or not isinstance(receiver.by, Class):
        return False
    own, name = kept
    homes = [each.scope for each in ev.bases(receiver.by).classes]
    bound = [
        each
        for home in homes
        for each in classes.attribute_bindings(home).get(name, ())
        if each.kind is not Kind.AUGMENTED  # that is a write
    ]
    if (
        own != classes.receiver_name(frame.scope)
        or not bound
        or not all(_is_empty(written_part(each.value, each.path)) for each in bound)
    ):
        return False
    methods = [method for home in homes for method in classes.methods_of(home).values()]
    places = places_from(ev, [Place(method, classes.receiver_name(method), name) for method in methods])
    writes = [write for place in places for write in writes_at(place)]
    return bool(writes) and all(_puts_in_data(ev, write) for write in writes)


def _is_empty(node: cst.CSTNode | None) -> bool:
    """True for `[]`, `{}`, `set()`, `defaultdict(list)`: what is in them comes later."""
    if isinstance(node, cst.List | cst.Dict):
        return not node.elements
    if not isinstance(node, cst.Call):
        return False
    return last_name(node.func) == "defaultdict" or (dotted(node.func) in ("dict", "list", "set") and not node.args)


def _puts_in_data(ev: Evaluator, write: Write) -> bool:
    """True if nothing that a statement puts into a container is, or may be, an object of the project."""
    frame = ev.frame_of(home_of(write))
    found = ev.values(_whole(write.value, frame), frame)
    if write.are_several:
        found = merge(*(ev.element(each) for each in found))
    return all(_is_data(value) for value in found)


def _is_data(value: Value) -> bool:
    while isinstance(value, AttributeOf | ItemOf):
        value = value.of
    if isinstance(value, CallResult):
        return isinstance(value.by, Library) and value.library.partition(".")[0] in _QUIET_LIBRARIES
    return not isinstance(value, Unknown)


def _whole(node: cst.BaseExpression, frame: Frame) -> cst.BaseExpression:
    """What `node` is cut from: `np.amax(points)` for `np.amax(points)[:3]`, also behind a name for it."""
    for _ in range(PART_CHAIN):
        if isinstance(node, cst.Name):
            bindings = resolve(node, frame.scope.module.tree)
            parts = [written_part(each.value, each.path) for each in bindings if each.kind is Kind.VALUE]
            if len(bindings) != 1 or not parts or parts[0] is None:
                break
            node = parts[0]
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            break
    return node
