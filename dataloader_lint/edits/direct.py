"""The function that a lambda only passes its arguments on to, so that it can take the lambda's place."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.edits.editor import Editor, replace
from dataloader_lint.edits.repair import Edit
from dataloader_lint.semantics.syntax.expressions import Function, parameters
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of
from dataloader_lint.semantics.syntax.tree import Scope


def direct_callee(editor: Editor, node: Function) -> tuple[str, tuple[Edit, ...]] | None:
    """The function's name, and the edits that pass it instead of the lambda: `pad` for `lambda rows: pad(rows)`.

    None unless the name can mean only one function of the module, or one that it imports, before and after: it is bound
    once, at module level, and above the lambda if that is evaluated on import. The caller must pass its arguments by
    position.
    """
    if not isinstance(node, cst.Lambda) or node not in editor.tree or not isinstance(node.body, cst.Call):
        return None
    callee = node.body.func
    names = [param.name.value for param in parameters(node)]
    if not isinstance(callee, cst.Name) or callee.value in names or not _passes_on(node, node.body, names):
        return None
    binding = _module_function(editor, node, callee.value)
    if binding is None or "#" in editor.code(node):
        return None
    return callee.value, (replace(editor, node, callee.value),)


def _passes_on(node: cst.Lambda, call: cst.Call, names: list[str]) -> bool:
    """True if the call has the parameters, all of them and in order, as its positional arguments."""
    params = node.params
    if params.star_kwarg or params.kwonly_params or isinstance(params.star_arg, cst.Param):
        return False
    if any(param.default is not None for param in parameters(node)):
        return False
    passed = [
        arg.value.value for arg in call.args if isinstance(arg.value, cst.Name) and arg.keyword is None and not arg.star
    ]
    return passed == names and len(passed) == len(call.args) > 0


def _module_function(editor: Editor, node: cst.Lambda, name: str) -> Binding | None:
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
    if binding.kind is Kind.FUNCTION:
        is_plain = isinstance(binding.node, cst.FunctionDef) and not binding.node.decorators
    else:  # functions of torch itself are written in C, and some of those cannot be pickled
        is_plain = binding.kind is Kind.IMPORT and binding.member is not None and binding.imported != "torch"
    if not is_plain or (is_on_import and editor.start(binding.node) > editor.start(node)):
        return None
    return binding
