"""Modules that a call imports by a string: `importlib.import_module("lmdb")`, MONAI's `optional_import("lmdb")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataloader_lint.facts.infer.values import (
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

if TYPE_CHECKING:
    import libcst as cst

_IMPORTS = frozenset({"builtins.__import__", "importlib.import_module"})
_OPTIONAL = frozenset({"monai.utils.module.optional_import", "monai.utils.optional_import"})
IMPORTS_BY_NAME = _IMPORTS | _OPTIONAL


def imported_by_name(ev: Evaluator, function: str, call: cst.Call, frame: Frame) -> Values:
    """What a call of one of `IMPORTS_BY_NAME` imports, of the project or of a library; empty for unknown names."""
    module = _text(ev, call.args[0].value, frame) if call.args else ""
    if not module or module.startswith("."):
        return ()
    if ev.project.locate(module, frame.scope.module.path) is not None:
        scope = ev.project.find(module, frame.scope.module) if function == "importlib.import_module" else None
        return (Module(scope),) if scope is not None else ()
    if function in _IMPORTS:
        whole = function == "importlib.import_module"
        return (Library(ev.extras.library_name(module if whole else module.partition(".")[0])),)
    members = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "name"]
    member = _text(ev, members[0], frame) if members else ""
    if members and not member:
        return ()
    imported = Library(ev.extras.library_name(f"{module}.{member}" if member else module))
    return (Sequence("tuple", call, frame, ((imported,), (Opaque("bool"),))),)


def _text(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> str:
    found = constant(ev.values(node, frame))
    return found.value if isinstance(found, Const) and isinstance(found.value, str) and not found.default else ""
