"""Calls that change nothing when they are made again on their own result."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.expressions import last_name

_IDEMPOTENT = frozenset(
    {
        *("Path", "abs", "abspath", "array", "asarray", "as_tensor", "astype", "basename", "bool", "casefold", "clamp"),
        *("clip", "contiguous", "convert", "copy", "cpu", "deepcopy", "detach", "dict", "double", "expanduser"),
        *("float", "float32", "from_numpy", "half", "int", "int64", "list", "long", "lower", "lstrip", "max"),
        *("maximum", "min", "minimum", "nan_to_num", "normpath", "numpy", "ones", "realpath", "round", "rstrip"),
        *("set", "sorted", "squeeze", "str", "strip", "tensor", "to", "tuple", "upper", "zeros", "zip"),
    }
)


def is_idempotent(node: cst.BaseExpression) -> bool:
    """True for a call that changes nothing the second time, such as `str(x)`, and for replacements of unknown words."""
    if not isinstance(node, cst.Call):
        return False
    return last_name(node.func) in _IDEMPOTENT or (last_name(node.func) == "replace" and not _replaces_again(node))


def _replaces_again(call: cst.Call) -> bool:
    """True for `text.replace("'", "''")`: what is replaced is in the replacement, so each call adds more."""
    words = [arg.value.evaluated_value for arg in call.args[:2] if isinstance(arg.value, cst.SimpleString)]
    if len(words) < 2:
        return False
    old, new = words
    return isinstance(old, str) and isinstance(new, str) and old in new
