"""Lambdas and local functions to module level, where a pickle finds them by their name."""

from __future__ import annotations

import ast
from contextlib import suppress

import libcst as cst

from dataloader_lint.edits.captures import captured_names, resolves_at_module_level
from dataloader_lint.edits.editor import Editor, exchange, replace
from dataloader_lint.edits.fields import Bound, bound_parameters, reads_replaced
from dataloader_lint.edits.functions import add_function, missing_after, missing_before, parameter_list, shifted
from dataloader_lint.edits.imports import Imported, need_import
from dataloader_lint.edits.repair import Edit, RefusedError, splice
from dataloader_lint.edits.statements import start_with_comments
from dataloader_lint.edits.wording import name_for
from dataloader_lint.semantics.syntax.expressions import Function, parameters
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.source.decoding import split_lines

_WIDTH = 79  # of a line, as PEP 8 has it
# What command lines and configuration files become: their fields are read, and hardly ever changed.
_SETTINGS = frozenset({"args", "cfg", "conf", "config", "flags", "hparams", "opt", "options", "opts", "params"})


def hoist_lambda(editor: Editor, node: Function, role: str) -> tuple[str, tuple[Edit, ...]]:
    """Make a lambda a function at module level that does the same; returns its name and the edits.

    `role` is the argument that it is given as (`collate_fn`), from which its name is made. Names that it takes from a
    function around it are bound by `functools.partial` (of options only the field that is read), as are defaults that
    are no literals. Where it is bound to a name at module level, a `def` of that name takes the place of the
    assignment.
    """
    if not isinstance(node, cst.Lambda) or node not in editor.tree:
        raise RefusedError("no lambda of this file")
    captured = captured_names(editor, node, node)
    computed = _computed_defaults(editor, node)
    assignment = _module_assignment(editor, node)
    if assignment is not None and not captured and not computed:
        return _in_place(editor, node, assignment)
    if (captured or computed) and isinstance(editor.tree.scope_of(node).node, cst.ClassDef):
        raise RefusedError("a partial in a class is no method")
    whole = [one for one in captured if not _holds_settings(editor, one)]
    from_outside = bound_parameters(editor, node, captured, whole)
    bound = (*(each.name for each in from_outside), *computed)
    typed = _any(editor, node) if _is_typed(editor) else None
    hints: dict[str, str] = {}
    returns = ""
    if typed is not None:
        hints = dict.fromkeys((*(param.name.value for param in parameters(node)), *bound), typed.name)
        hints |= parameter_hints(editor, node, tuple(each.name for each in from_outside if not each.reads))
        returns = f" -> {'bool' if _is_bool(node.body) else typed.name}"
    # torch ignores what a `worker_init_fn` returns, which is mostly None.
    is_statement = role == "worker_init_fn" and isinstance(node.body, cst.Call) and _is_only_passed(editor, node)
    body = _body(editor, node, from_outside, is_statement=is_statement)
    code = f"({parameter_list(editor, node.params, bound, hints)}){returns}:{editor.newline}{body}"
    if code not in editor.promised:
        name = editor.new_name(name_for(editor, node, role))
        editor.promised[code] = (name, add_function(editor, node, f"def {name}{code}"))
    name, added = editor.promised[code]
    arguments = [f"{each.name}={each.code}" for each in from_outside] + [
        f"{each}={value}" for each, value in computed.items()
    ]
    written, imports = bound_call(editor, node, name, arguments)
    edits = [*added, *imports, *(typed.edits if typed else ()), replace(editor, node, written, moved=body)]
    return name, tuple(edits)


def _is_bool(node: cst.BaseExpression) -> bool:
    """True if an expression surely gives a bool."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Not)
    if isinstance(node, cst.Comparison):
        return all(isinstance(each.operator, cst.In | cst.NotIn | cst.Is | cst.IsNot) for each in node.comparisons)
    return isinstance(node, cst.Name) and node.value in ("False", "True")


def bound_call(editor: Editor, use: Node, name: str, arguments: list[str]) -> tuple[str, tuple[Edit, ...]]:
    """The function's name, with arguments bound by `functools.partial` if there are any."""
    if not arguments:
        return name, ()
    partial = need_import(editor, use, "functools", "partial")
    return f"{partial.name}({', '.join([name, *arguments])})", partial.edits


def _is_only_passed(editor: Editor, node: cst.Lambda) -> bool:
    """True if nothing but the call that gets the lambda can call it: as an argument, or under its name in a dict."""
    above = editor.tree.parent(node)
    if isinstance(above, cst.Assign):
        return all(isinstance(each.target, cst.Subscript) for each in above.targets)
    return isinstance(above, cst.Arg | cst.DictElement)


def _holds_settings(editor: Editor, name: str) -> bool:
    """True if a name is one for options, and no code of the file sets a field of them by its name."""
    return name.lower() in _SETTINGS and "setattr" not in editor.text and "__dict__" not in editor.text


def _body(editor: Editor, node: cst.Lambda, bound: list[Bound], *, is_statement: bool = False) -> str:
    """The line (or lines) that return what the lambda returns, or that only evaluate it."""
    code = splice(editor.code(node.body), reads_replaced(editor, bound, editor.outer(node.body)[0]))
    if "\n" in code or "\r" in code:
        code = _on_one_line(code, _WIDTH - len(f"{editor.indent}return "))
    if "\n" in code or "\r" in code:
        if not _stands_alone(code):
            code = f"({code})"
        with suppress(RefusedError):  # inside of brackets any indentation will do
            code = shifted(editor, code, editor.indentation(editor.outer(node.body)[0]), editor.indent)
    return f"{editor.indent}{code}" if is_statement else f"{editor.indent}return {code}"


def _on_one_line(code: str, width: int) -> str:
    """Code on one line if it fits, and holds no comment and no string that a line may end in."""
    if any(sign in code for sign in ("#", "\\", '"""', "'''")):
        return code
    line = ""
    for part in filter(None, (each.strip() for each in split_lines(code))):
        line += part if line.endswith(("(", "[", "{")) or part.startswith((")", "]", "}")) else f" {part}"
    line = line.strip()
    return line if len(line) <= width else code


def _stands_alone(code: str) -> bool:
    """True if code of several lines is one expression without brackets around it."""
    try:
        ast.parse(code.replace("\r\n", "\n").replace("\r", "\n"), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _computed_defaults(editor: Editor, node: cst.Lambda) -> dict[str, str]:
    """The defaults that must stay where they are evaluated: all but literals that cannot change."""
    found = {
        param.name.value: editor.code(param.default)
        for param in parameters(node)
        if param.default is not None and not is_fixed(param.default)
    }
    if found and (node.params.posonly_params or not isinstance(editor.tree.parent(node), cst.Arg)):
        raise RefusedError("a default is computed")
    return found


def is_fixed(node: cst.BaseExpression) -> bool:
    """True if an expression is an immutable literal."""
    if isinstance(node, cst.Tuple):
        return all(is_fixed(each.value) for each in node.elements)
    if isinstance(node, cst.UnaryOperation):
        return is_fixed(node.expression)
    if isinstance(node, cst.Name):
        return node.value in ("None", "True", "False")
    return isinstance(node, cst.Integer | cst.Float | cst.Imaginary | cst.SimpleString | cst.Ellipsis)


def _module_assignment(editor: Editor, node: cst.Lambda) -> cst.SimpleStatementLine | None:
    """The line `name = lambda ...` directly in the module, where the name is bound nowhere else."""
    assign = editor.tree.parent(node)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    line, target = editor.tree.parent(assign), assign.targets[0].target
    if not isinstance(line, cst.SimpleStatementLine) or editor.tree.parent(line) is not editor.tree.module:
        return None
    if len(line.body) > 1 or not isinstance(target, cst.Name):
        return None
    return line if len(bindings_of(editor.tree.root)[target.value]) == 1 else None


def _in_place(editor: Editor, node: cst.Lambda, line: cst.SimpleStatementLine) -> tuple[str, tuple[Edit, ...]]:
    """A `def` instead of an assignment, with two blank lines around it and the comment beside it preserved."""
    name = cst.ensure_type(cst.ensure_type(line.body[0], cst.Assign).targets[0].target, cst.Name).value
    start, end = editor.start(line), editor.outer(node)[1]
    code = f"def {name}({parameter_list(editor, node.params, (), {})}):{editor.newline}{_body(editor, node, [])}"
    edits = [exchange(editor, start, end, code)]
    place, below = start_with_comments(editor, line), editor.line_end(end)
    if newlines := missing_before(editor, place):
        edits.append(Edit(place, place, editor.newline * newlines))
    if newlines := missing_after(editor, below):
        edits.append(Edit(below, below, editor.newline * newlines))
    return name, tuple(edits)


def _is_typed(editor: Editor) -> bool:
    """True if the module has functions, and all of them annotate what they return."""
    functions = editor.tree.root.own(cst.FunctionDef)
    return bool(functions) and all(each.returns is not None for each in functions)


def _any(editor: Editor, use: Node) -> Imported | None:
    """How to write `typing.Any`; None where it cannot be imported."""
    try:
        return need_import(editor, use, "typing", "Any")
    except RefusedError:
        return None


def parameter_hints(editor: Editor, function: Function, names: tuple[str, ...]) -> dict[str, str]:
    """The annotations of captured names that are parameters of a function around, where they hold at module level."""
    hints: dict[str, str] = {}
    scope: Scope | None = editor.tree.scope_of(function)
    while scope is not None:
        for name in names:
            for binding in bindings_of(scope).get(name, ()):
                param = binding.node
                if name not in hints and isinstance(param, cst.Param) and param.annotation is not None:
                    annotation = param.annotation.annotation
                    if resolves_at_module_level(editor, annotation):
                        hints[name] = editor.code(annotation)
        scope = scope.parent
    return hints
