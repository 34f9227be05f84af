"""Modules that a call imports by a string, or loads from a path.

`importlib.import_module("lmdb")`, MONAI's `optional_import("lmdb")`, `imp.load_source("parser", path)`.
"""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.evaluation.matching_modules import modules_by_name, modules_by_path
from dataloader_lint.semantics.syntax.expressions import keyword_of, positional_of
from dataloader_lint.semantics.values.known_values import truth
from dataloader_lint.semantics.values.values import (
    CallResult,
    Const,
    Evaluator,
    Frame,
    Library,
    Module,
    Opaque,
    Sequence,
    Values,
    constant,
)

_IMPORTS = frozenset({"builtins.__import__", "importlib.import_module"})
_OPTIONAL = frozenset({"monai.utils.module.optional_import", "monai.utils.optional_import"})
IMPORTS_BY_NAME = _IMPORTS | _OPTIONAL
_SPECS = frozenset({"importlib.machinery.SourceFileLoader", "importlib.util.spec_from_file_location"})
LOADS_BY_PATH = frozenset({"imp.load_source", "importlib.util.module_from_spec"})


def imported_by_name(ev: Evaluator, function: str, call: cst.Call, frame: Frame) -> Values:
    """What a call of one of `IMPORTS_BY_NAME` imports, of the project or of a library; empty for unknown names."""
    module = _text(ev, call.args[0].value, frame) if call.args else ""
    whole = function == "importlib.import_module" or _has_fromlist(ev, call, frame)
    if not module or module.startswith("."):
        if not call.args or function not in _IMPORTS or not whole:
            return ()
        return modules_by_name(ev, call.args[0].value, frame, _argument(call, "package", 1))
    if ev.project.locate(module, frame.scope.module.path) is not None:
        found = module if whole else module.partition(".")[0]
        scope = ev.project.find(found, frame.scope.module) if function in _IMPORTS else None
        return (Module(scope),) if scope is not None else ()
    if function in _IMPORTS:
        return (Library(ev.extras.library_name(module if whole else module.partition(".")[0])),)
    members = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "name"]
    member = _text(ev, members[0], frame) if members else ""
    if members and not member:
        return ()
    imported = Library(ev.extras.library_name(f"{module}.{member}" if member else module))
    return (Sequence("tuple", call, frame, ((imported,), (Opaque("bool"),))),)


def loaded_by_path(ev: Evaluator, function: str, call: cst.Call, frame: Frame) -> Values:
    """The modules of the project that a call of one of `LOADS_BY_PATH` loads; empty where no file or many match.

    `imp.load_source(name, path)`; `module_from_spec(spec)` with `spec = spec_from_file_location(name, path)`.
    """
    if function == "imp.load_source":
        return _at_path(ev, call, frame)
    return loaded_from(ev, ev.values(call.args[0].value, frame)) if call.args else ()


def loaded_from(ev: Evaluator, found: Values) -> Values:
    """The modules that a spec stands for, or that a loader of a source file loads."""
    spec = found[0] if len(found) == 1 else None
    if not isinstance(spec, CallResult) or spec.library not in _SPECS or spec.call is None or spec.frame is None:
        return ()
    return _at_path(ev, spec.call, spec.frame)


def _at_path(ev: Evaluator, call: cst.Call, frame: Frame) -> Values:
    path = keyword_of(call, "location") or _argument(call, "path", 1)
    return modules_by_path(ev, path, frame) if path is not None else ()


def _has_fromlist(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if `__import__` is given names to import, so that it returns the module itself, not its package."""
    names = _argument(call, "fromlist", 3)
    if isinstance(names, cst.List):
        return bool(names.elements)
    return names is not None and truth(ev.values(names, frame)) is not False


def _argument(call: cst.Call, name: str, place: int) -> cst.BaseExpression | None:
    return keyword_of(call, name) or next(iter(positional_of(call)[place : place + 1]), None)


def _text(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> str:
    found = constant(ev.values(node, frame))
    return found.value if isinstance(found, Const) and isinstance(found.value, str) and not found.default else ""
