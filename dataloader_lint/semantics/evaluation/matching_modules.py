"""Modules of the project whose name or path is built at run time: `import_module(f"dataset.{name}.parser")`.

The known parts of the text are enough if they match one file of the project, or a few.
"""

from __future__ import annotations

import os
import re

import libcst as cst

from dataloader_lint.semantics.limits import KEY_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name, positional_of
from dataloader_lint.semantics.syntax.names import Kind, resolve
from dataloader_lint.semantics.values.values import Const, Evaluator, Frame, Module, Values

_UNKNOWN = "*"
# Functions whose result is the path that they are given, in another form.
_SAME_PATH = frozenset(
    {"Path", "PurePath", "abspath", "expanduser", "fspath", "normpath", "realpath", "resolve", "str"}
)


def modules_by_name(
    ev: Evaluator, node: cst.BaseExpression, frame: Frame, package: cst.BaseExpression | None = None
) -> Values:
    """The modules whose dotted name an expression may give; none if nothing in it is known.

    A name that begins with a dot is that of a module in `package`.
    """
    name = _pattern(ev, node, frame, 0)
    pattern = name.strip(".").replace(".", "/")
    level = len(name) - len(name.lstrip("."))
    if level:
        folder = _folder(ev, package, frame, level - 1) if package is not None else ""
        if not folder:
            return ()
        pattern = f"{folder}/{pattern}"
    return _found(ev, frame, f"{pattern}.py") + _found(ev, frame, f"{pattern}/__init__.py")


def _folder(ev: Evaluator, package: cst.BaseExpression, frame: Frame, up: int) -> str:
    """The folder of a package, or one further up; empty if unknown."""
    module = frame.scope.module
    is_own = isinstance(package, cst.Name) and (
        package.value == "__package__" or (package.value == "__name__" and module.is_package)
    )
    own = os.path.dirname(module.path).split(os.sep)
    parts = own if is_own else _pattern(ev, package, frame, 0).split(".")
    folder = "/".join(parts[: len(parts) - up]) if up < len(parts) else ""
    return folder if folder.strip(f"{_UNKNOWN}/") else ""


def modules_by_path(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> Values:
    """The modules whose path an expression may give; none if nothing in it is known."""
    pattern = _pattern(ev, node, frame, 0).replace("\\", "/")
    return _found(ev, frame, pattern) if pattern.endswith(".py") else ()


def _found(ev: Evaluator, frame: Frame, pattern: str) -> Values:
    pattern = re.sub(r"\*+", _UNKNOWN, pattern)
    parts = [part for part in pattern.split("/") if part not in ("", ".", "..")]
    while parts and not parts[0].strip(_UNKNOWN):
        del parts[0]
    stem = "/".join(parts).removesuffix("/__init__.py").removesuffix(".py")
    if not re.search(r"[^\W_]{2}", stem) or stem.count(_UNKNOWN) > KEY_DEPTH:
        return ()
    return tuple(Module(each.root) for each in ev.project.matching(frame.scope.module, "/".join(parts)))


def _pattern(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> str:
    """A text as a pattern, with a star for each unknown part."""
    if depth > KEY_DEPTH:
        return _UNKNOWN
    if isinstance(node, cst.FormattedString):
        return "".join(
            part.value if isinstance(part, cst.FormattedStringText) else _pattern(ev, part.expression, frame, depth + 1)
            for part in node.parts
            if isinstance(part, cst.FormattedStringText | cst.FormattedStringExpression)
        )
    if isinstance(node, cst.BinaryOperation):
        left = _pattern(ev, node.left, frame, depth + 1)
        if isinstance(node.operator, cst.Modulo):
            return re.sub(r"%(?:\(\w+\))?[sd]", _UNKNOWN, left)
        between = {cst.Add: "", cst.Divide: "/"}.get(type(node.operator))
        return _UNKNOWN if between is None else f"{left}{between}{_pattern(ev, node.right, frame, depth + 1)}"
    if isinstance(node, cst.Call):
        return _of_call(ev, node, frame, depth)
    found = ev.values(node, frame)
    if len(found) == 1 and isinstance(found[0], Const) and isinstance(found[0].value, str) and not found[0].default:
        return found[0].value
    return _behind(ev, node, frame, depth) if isinstance(node, cst.Name) else _UNKNOWN


def _of_call(ev: Evaluator, call: cst.Call, frame: Frame, depth: int) -> str:
    name, given = last_name(call.func), positional_of(call)
    if name in ("join", "joinpath") and len(given) > 0:
        is_method = name == "joinpath" and isinstance(call.func, cst.Attribute)
        parts = [call.func.value, *given] if is_method and isinstance(call.func, cst.Attribute) else given
        return "/".join(_pattern(ev, each, frame, depth + 1) for each in parts)
    if name == "format" and isinstance(call.func, cst.Attribute):
        return re.sub(r"\{[^{}]*\}", _UNKNOWN, _pattern(ev, call.func.value, frame, depth + 1))
    if name in _SAME_PATH and given:
        return "/".join(_pattern(ev, each, frame, depth + 1) for each in given)
    return _UNKNOWN


def _behind(ev: Evaluator, node: cst.Name, frame: Frame, depth: int) -> str:
    """The pattern of the text that a name is bound to, or that a known call passes for it."""
    bindings = resolve(node, frame.scope.module.tree)
    if len(bindings) != 1 or bindings[0].path:
        return _UNKNOWN
    binding, home = bindings[0], ev.at(bindings[0].scope, frame)
    if binding.kind is Kind.VALUE and binding.value is not None:
        return _pattern(ev, binding.value, home, depth + 1)
    given = (home.args or {}).get(binding.name) if binding.kind is Kind.PARAMETER else None
    if given is None or given.node is None or given.frame is None:
        return _UNKNOWN
    return _pattern(ev, given.node, given.frame, depth + 1)
