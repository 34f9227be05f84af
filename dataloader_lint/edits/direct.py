"""The function that a lambda only passes its arguments on to, so that it can take the lambda's place."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.edits.captures import captured_names
from dataloader_lint.edits.editor import Editor, replace
from dataloader_lint.edits.fields import is_in_string, is_stored
from dataloader_lint.edits.hoist import is_fixed
from dataloader_lint.edits.imports import need_import
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.semantics.syntax.expressions import Function, parameters
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import Scope


@dataclass(frozen=True, slots=True)
class Direct:
    """The code that takes the place of a lambda, `pad` or `partial(pad, value=0)`, and the edits that write it.

    `is_sure` is False where what the lambda looks up when it is called may be replaced until then.
    """

    code: str
    edits: tuple[Edit, ...]
    is_sure: bool


def direct_callee(editor: Editor, node: Function) -> Direct | None:
    """The function that a lambda only passes its arguments on to: `pad` for `lambda rows: pad(rows)`.

    Other arguments of the call are bound by `functools.partial`. None where the lambda does more, and unless the name
    can mean only one function of the module, or one that it imports: it is bound once, at module level, and above the
    lambda if that is evaluated on import. The caller must pass its arguments by position. Refused where the other
    arguments of a function of the module cannot be bound: one that only calls another one would be no gain.
    """
    if not isinstance(node, cst.Lambda) or node not in editor.tree or not isinstance(node.body, cst.Call):
        return None
    call = node.body
    callee = dotted(call.func)
    root = callee.partition(".")[0]
    names = [param.name.value for param in parameters(node)]
    place = _place_of_parameters(editor, node, call, names)
    binding = _module_function(editor, node, root, is_whole=callee == root) if root and root not in names else None
    if place is None or binding is None or "#" in editor.code(node):
        return None
    others = [arg for index, arg in enumerate(call.args) if not place <= index < place + len(names)]
    if not others:
        return Direct(callee, (replace(editor, node, callee),), not is_in_string(editor, callee))
    keywords = _keywords_behind(call, place + len(names), binding)
    if keywords is None or not all(_can_be_bound(editor, arg.value) for arg in others):
        if binding.kind is Kind.FUNCTION:
            raise RefusedError("it only calls another function")
        return None
    captured_names(editor, node, node)
    before = [editor.code(arg.value) for arg in call.args[:place]]
    bound = [*before, *(f"{name}={editor.code(value)}" for name, value in keywords)]
    partial = need_import(editor, node, "functools", "partial")
    code = f"{partial.name}({', '.join([callee, *bound])})"
    is_sure = not any(is_stored(editor, arg.value) for arg in others) and not is_in_string(editor, callee)
    return Direct(code, (*partial.edits, replace(editor, node, code)), is_sure)


def _place_of_parameters(editor: Editor, node: cst.Lambda, call: cst.Call, names: list[str]) -> int | None:
    """Where the parameters stand among the arguments: all of them, in order and by position; None if not so."""
    params = node.params
    if params.star_kwarg or params.kwonly_params or isinstance(params.star_arg, cst.Param) or not names:
        return None
    if any(param.default is not None for param in parameters(node)) or any(arg.star for arg in call.args):
        return None
    used = [name.value for name in editor.tree.find(call, cst.Name) if name.value in names]
    passed = [dotted(arg.value) if arg.keyword is None else "" for arg in call.args]
    places = [index for index, name in enumerate(passed) if passed[index : index + len(names)] == names and name]
    return places[0] if places and sorted(used) == sorted(names) else None


def _keywords_behind(call: cst.Call, end: int, binding: Binding) -> list[tuple[str, cst.BaseExpression]] | None:
    """The arguments behind those of the lambda as keywords; None where they have no name."""
    node = binding.node
    known = node.params.params if isinstance(node, cst.FunctionDef) else ()
    if isinstance(node, cst.FunctionDef) and node.params.posonly_params:
        return None
    found: list[tuple[str, cst.BaseExpression]] = []
    for index, arg in enumerate(call.args[end:], end):
        if arg.keyword is not None:
            found.append((arg.keyword.value, arg.value))
        elif index < len(known):
            found.append((known[index].name.value, arg.value))
        else:
            return None
    return found


def _can_be_bound(editor: Editor, node: cst.BaseExpression) -> bool:
    """True for a literal, and for a name that is bound once or an attribute of one."""
    if is_fixed(node):
        return True
    root = dotted(node).partition(".")[0]
    return bool(root) and len(bindings_of(editor.tree.root).get(root, ())) <= 1


def _module_function(editor: Editor, node: cst.Lambda, name: str, *, is_whole: bool) -> Binding | None:
    """The one binding of a name that is a function's own, as the lambda and the place around it see it."""
    scope: Scope | None = editor.tree.scope_of(node)
    is_on_import = scope is editor.tree.root
    while scope is not None and scope is not editor.tree.root:
        if isinstance(scope.node, cst.ClassDef) or name in bindings_of(scope):
            return None
        scope = scope.parent
    bound = bindings_of(editor.tree.root)
    if "*" in bound or len(bound.get(name, ())) != 1:
        return None
    binding = bound[name][0]
    if binding.kind is Kind.FUNCTION and is_whole:
        is_plain = isinstance(binding.node, cst.FunctionDef) and not binding.node.decorators
    else:  # functions of torch itself are written in C, and some of those cannot be pickled
        is_member = binding.member is not None or not is_whole
        is_plain = binding.kind is Kind.IMPORT and is_member and binding.imported != "torch" and name[:1].islower()
        if not is_whole and binding.imported.partition(".")[0] in sys.stdlib_module_names:
            return None  # `random.choice` is a method of a hidden object
    line = editor.tree.parent(binding.node) if binding.kind is Kind.IMPORT else binding.node
    if line is None or editor.tree.parent(line) is not editor.tree.module:
        return None  # under a main guard or another condition
    if not is_plain or (is_on_import and editor.start(binding.node) > editor.start(node)):
        return None
    return binding
