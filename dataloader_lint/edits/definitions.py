"""Small changes to what is defined already: a parameter more, a statement under the main guard."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import Edit, RefusedError

_WORD = re.compile(r"\w+")
_LAMBDA = re.compile(r"\(*lambda(?=\s*:)")
_DEF = re.compile(r"(?:async\s+)?def\s+\w+\s*\((?=\s*\))")


def add_parameter(editor: Editor, function: cst.FunctionDef | cst.Lambda, name: str, default: str = "") -> Edit:
    """Give a function that has no parameter at all its first one, with a default or without.

    Refused where the function uses that name, or looks at its own names.
    """
    if function not in editor.tree:
        raise RefusedError("the function is defined in another file")
    code = editor.code(function)
    if not {name, "locals", "vars", "dir", "eval", "exec"}.isdisjoint(_WORD.findall(code)):
        raise RefusedError("the name is taken, or may be seen")
    name = f"{name}={default}" if default else name
    if isinstance(function, cst.Lambda):
        found = _LAMBDA.match(code)
        name = f" {name}"
    else:
        found = _DEF.match(code)
    if found is None:
        raise RefusedError("it has parameters or a comment")
    place = editor.outer(function)[0] + found.end()
    return Edit(place, place, name)


def guard_statement(editor: Editor, node: cst.BaseExpression) -> Edit:
    """Put an expression that is a line of its own at module level under `if __name__ == "__main__":`, where it is."""
    tree = editor.tree
    expression = tree.parent(node)
    line = tree.parent(expression) if expression is not None else None
    if not isinstance(expression, cst.Expr) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        raise RefusedError("not a line of its own")
    start = editor.outer(node)[0]
    if tree.parent(line) is not tree.module or editor.line_start(start) != start:
        raise RefusedError("not at module level")
    return Edit(start, start, f'if __name__ == "__main__":{editor.newline}{editor.indent}')
