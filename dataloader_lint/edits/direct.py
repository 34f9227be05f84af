"""The function that another one only passes its arguments on to, so that it can take the place of that one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.edits.captures import captured_names, scope_of_name
from dataloader_lint.edits.editor import Editor, replace
from dataloader_lint.edits.fields import is_in_string, is_stored
from dataloader_lint.edits.hoist import is_fixed
from dataloader_lint.edits.imports import need_import
from dataloader_lint.edits.lift import extent, remove_definition
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.expressions import Function, last_name, parameters
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import Scope

_TYPES = frozenset({"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})

# The parameters that a callee takes by position or keyword, as far as they are known; None unless it is known to be a
# function that a pickle finds by its name. An import alone may as well bring an object.
Signature = Callable[[cst.BaseExpression], tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class Direct:
    """The code that takes the place of a function, `pad` or `partial(pad, value=0)`, and the edits that write it.

    `is_sure` is False where what the function looks up when it is called may be replaced until then, and where someone
    may call it by the names of its parameters, which are others here.
    """

    code: str
    edits: tuple[Edit, ...]
    is_sure: bool


def direct_callee(
    editor: Editor, node: Function, signature: Signature, loader: cst.Call | None = None
) -> Direct | None:
    """The function that a lambda or local function only passes its arguments on to: `pad` for `lambda rows: pad(rows)`.

    Other arguments of the call are bound by `functools.partial`. None where the function does more, and unless the name
    can mean only one function: one of the module, one that it imports, or what the function around has under the name,
    `tokenizer.pad`. `signature` tells functions among what is imported. `loader` is the call of a loader that gets the
    function, and calls it by position; other callers may not. Refused where the other arguments of a function of the
    module cannot be bound: one that only calls another one would be no gain.
    """
    call = _only_call(node)
    if call is None or node not in editor.tree or _has_comment(editor, node):
        return None
    uses = _uses_of(editor, node)
    callee = dotted(call.func)
    root = callee.partition(".")[0]
    names = _passed_on(node)
    if not uses or not root or root in _bare(names):
        return None
    if not names:
        return _maker(editor, node, call, signature)
    found = _callee_of(editor, node, call.func, signature)
    place = _place_of_parameters(editor, node, call, names, found) if found is not None else None
    if found is None or place is None:
        return None
    others = [arg for index, arg in enumerate(call.args) if not place <= index < place + len(names)]
    is_sure = not is_in_string(editor, callee) and (isinstance(found, Binding) or _is_plain_member(editor, call.func))
    known = tuple(each.name.value for each in _parameters_of(found))
    if isinstance(found, Binding) and found.kind is Kind.IMPORT:
        known = signature(call.func) or ()
    is_by_position = isinstance(node, cst.Lambda) and _is_called_by_loader(editor, node, loader)
    is_sure = is_sure and (is_by_position or _has_names(node, known[place:]))
    if not others:
        return Direct(callee, _put(editor, node, uses, callee), is_sure)
    keywords = _keywords_behind(call, place + len(names), known, found)
    if keywords is None or not all(_can_be_bound(editor, arg.value) for arg in others) or len(uses) > 1:
        if isinstance(found, Binding) and found.kind is Kind.FUNCTION and len(uses) == 1:
            raise RefusedError("it only calls another function")
        return None
    captured_names(editor, node, uses[0])
    before = [editor.code(arg.value) for arg in call.args[:place]]
    bound = [*before, *(f"{name}={editor.code(value)}" for name, value in keywords)]
    partial = need_import(editor, node, "functools", "partial")
    code = f"{partial.name}({', '.join([callee, *bound])})"
    is_sure = is_sure and not any(is_stored(editor, arg.value) for arg in others)
    return Direct(code, (*partial.edits, *_put(editor, node, uses, code)), is_sure)


def _maker(editor: Editor, node: Function, call: cst.Call, signature: Signature) -> Direct | None:
    """What a lambda without parameters calls with types and literals alone: `partial(defaultdict, list)`."""
    callee = dotted(call.func)
    is_type = callee in _TYPES and callee not in bindings_of(editor.tree.root)
    if isinstance(node, cst.FunctionDef) or parameters(node):
        return None
    if not is_type and _callee_of(editor, node, call.func, signature) is None:
        return None
    for arg in call.args:
        name = dotted(arg.value)
        is_known = is_fixed(arg.value) or (name in _TYPES and name not in bindings_of(editor.tree.root))
        if arg.star or not is_known:
            return None
    if not call.args:
        return Direct(callee, (replace(editor, node, callee),), True)
    partial = need_import(editor, node, "functools", "partial")
    code = f"{partial.name}({', '.join([callee, *map(editor.code, call.args)])})"
    return Direct(code, (*partial.edits, replace(editor, node, code)), True)


def _has_comment(editor: Editor, node: Function) -> bool:
    """True if a comment explains the function: above it, in it, or beside its last line."""
    start, end = extent(editor, node) if isinstance(node, cst.FunctionDef) else editor.outer(node)
    return "#" in editor.text[start:end]


def _only_call(node: Function) -> cst.Call | None:
    """The call whose result a function returns, without anything else that it does or says."""
    body: object = node.body
    if isinstance(node, cst.FunctionDef):
        if node.decorators or node.asynchronous is not None or len(node.body.body) != 1:
            return None
        line = node.body.body[0]
        statement = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else line
        body = statement.value if isinstance(statement, cst.Return) else None
    return body if isinstance(body, cst.Call) else None


def _uses_of(editor: Editor, node: Function) -> list[cst.BaseExpression]:
    """The places of a function: the lambda itself, or where a local function is read; none unless all can change."""
    if isinstance(node, cst.Lambda):
        return [node] if _is_called_by_position(editor, node) else []
    tree, home, block = editor.tree, editor.tree.scope_of(node), editor.tree.parent(node)
    if home.function is not home or len(bindings_of(home)[node.name.value]) > 1:
        return []
    if not isinstance(block, cst.IndentedBlock) or len(block.body) < 2:
        return []
    reads = [each for each in names_in(tree, home.node, node.name.value) if scope_of_name(editor, each) is home]
    above = [tree.parent(each) for each in reads]
    is_looked_at = any(isinstance(each, cst.Attribute) for each in above)
    is_called = any(isinstance(call, cst.Call) and call.func is each for call, each in zip(above, reads, strict=True))
    is_inner = any(tree.scope_of(each) is not home for each in reads)
    if is_looked_at or is_called or is_inner or not all(_is_called_by_position(editor, each) for each in reads):
        return []
    return list(reads)


def _is_called_by_position(editor: Editor, node: cst.BaseExpression) -> bool:
    """False for a function that gets another name in a class, or that the file calls or binds with keywords."""
    above = editor.tree.parent(node)
    if isinstance(above, cst.Arg):
        call = editor.tree.parent(above)
        return not (isinstance(call, cst.Call) and _is_partial(editor, call) and _has_keywords(call))
    if not isinstance(above, cst.Assign | cst.AnnAssign):
        return True
    if editor.tree.scope_of(above).is_class:
        return False
    targets = [each.target for each in above.targets] if isinstance(above, cst.Assign) else [above.target]
    names = {last_name(each) for each in targets}
    return not any(
        last_name(call.args[0].value if call.args and _is_partial(editor, call) else call.func) in names
        for call in editor.tree.find(editor.tree.module, cst.Call)
        if _has_keywords(call)
    )


def _has_keywords(call: cst.Call) -> bool:
    return any(arg.keyword is not None or arg.star == "**" for arg in call.args)


def _is_partial(editor: Editor, call: cst.Call) -> bool:
    """True for a call of `functools.partial` by any name."""
    name = dotted(call.func)
    bound = bindings_of(editor.tree.scope_of(call)).get(name, ()) or bindings_of(editor.tree.root).get(name, ())
    return last_name(call.func) == "partial" or any(each.member == "partial" for each in bound)


def _has_names(node: Function, known: tuple[str, ...]) -> bool:
    """True if a callee has the names of those parameters of a function that can be passed by name."""
    names = [each.name.value for each in node.params.params]
    return not node.params.posonly_params and list(known[: len(names)]) == names


def _is_called_by_loader(editor: Editor, node: cst.BaseExpression, loader: cst.Call | None) -> bool:
    """True if only a loader gets a lambda, which calls it by position, be it by a local name or in a `partial`."""
    tree, above = editor.tree, editor.tree.parent(node)
    if loader is None or above is None:
        return False
    call = tree.parent(above)
    if isinstance(above, cst.Arg) and isinstance(call, cst.Call):
        if _is_partial(editor, call):
            return call.args[0] is above and _is_called_by_loader(editor, call, loader)
        return call is loader or dotted(call.func) == dotted(loader.func) != ""
    if not isinstance(above, cst.Assign) or len(above.targets) > 1:
        return False
    target, home = above.targets[0].target, tree.scope_of(above)
    if not isinstance(target, cst.Name) or not home.is_function:
        return False
    named = [each for each in names_in(tree, home.node, target.value) if scope_of_name(editor, each) is home]
    return all(_is_called_by_loader(editor, each, loader) for each in named if each is not target)


def _put(editor: Editor, node: Function, uses: list[cst.BaseExpression], code: str) -> tuple[Edit, ...]:
    """The edits that put a callee in the place of a function."""
    gone = (remove_definition(editor, node),) if isinstance(node, cst.FunctionDef) else ()
    return (*gone, *(replace(editor, each, code) for each in uses))


def _passed_on(node: Function) -> list[str]:
    """The parameters as a call passes them on by position, `*rows` and `**more` among them; none if it cannot."""
    params = node.params
    if params.kwonly_params or any(each.default is not None for each in parameters(node)):
        return []
    names = [each.name.value for each in (*params.posonly_params, *params.params)]
    if isinstance(params.star_arg, cst.Param):
        names.append(f"*{params.star_arg.name.value}")
    if params.star_kwarg is not None:
        names.append(f"**{params.star_kwarg.name.value}")
    return names


def _place_of_parameters(
    editor: Editor, node: Function, call: cst.Call, names: list[str], found: Binding | Scope
) -> int | None:
    """Where the parameters stand among the arguments: all of them, in order and by position; None if not so.

    The first one may as well be passed by its name, if that is the first parameter of a function of the module.
    """
    used = sorted(name.value for name in editor.tree.find(call, cst.Name) if name.value in _bare(names))
    known = _parameters_of(found)
    first = known[0].name.value if known else ""
    passed = [
        f"{arg.star}{dotted(arg.value)}" if arg.keyword is None or (not index and arg.keyword.value == first) else ""
        for index, arg in enumerate(call.args)
    ]
    places = [index for index, name in enumerate(passed) if passed[index : index + len(names)] == names and name]
    others = (arg for index, arg in enumerate(call.args) if not places or not 0 <= index - places[0] < len(names))
    if not places or any(arg.star for arg in others):
        return None
    keywords = sum(arg.keyword is not None and arg.keyword.value in _bare(names) for arg in call.args)
    return places[0] if len(used) == len(names) + keywords and set(used) == set(_bare(names)) else None


def _bare(names: list[str]) -> list[str]:
    return [name.lstrip("*") for name in names]


def _parameters_of(found: Binding | Scope) -> tuple[cst.Param, ...]:
    """The parameters of a function of the module that can be passed by position; none of others."""
    node = found.node
    if isinstance(found, Scope) or not isinstance(node, cst.FunctionDef) or node.params.posonly_params:
        return ()
    return tuple(node.params.params)


def _keywords_behind(
    call: cst.Call, end: int, known: tuple[str, ...], found: Binding | Scope
) -> list[tuple[str, cst.BaseExpression]] | None:
    """The arguments behind those of the function as keywords; None where they have no name in the callee's `known`."""
    if isinstance(found, Binding) and isinstance(found.node, cst.FunctionDef) and found.node.params.posonly_params:
        return None
    keywords: list[tuple[str, cst.BaseExpression]] = []
    for index, arg in enumerate(call.args[end:], end):
        if arg.keyword is not None:
            keywords.append((arg.keyword.value, arg.value))
        elif index < len(known):
            keywords.append((known[index], arg.value))
        else:
            return None
    return keywords


def _can_be_bound(editor: Editor, node: cst.BaseExpression) -> bool:
    """True for a literal, and for a name that is bound once or an attribute of one."""
    if is_fixed(node):
        return True
    root = next(iter(editor.tree.find(node, cst.Name)), None) if dotted(node) else None
    home = scope_of_name(editor, root) if root is not None else None
    return root is not None and (home is None or len(bindings_of(home)[root.value]) <= 1)


def _callee_of(
    editor: Editor, node: Function, written: cst.BaseExpression, signature: Signature
) -> Binding | Scope | None:
    """What the root of a callee is: the one binding of a function's own name, or the function around that has it."""
    found = _bound_callee(editor, node, dotted(written))
    is_imported = isinstance(found, Binding) and found.kind is Kind.IMPORT
    return None if is_imported and signature(written) is None else found


def _bound_callee(editor: Editor, node: Function, callee: str) -> Binding | Scope | None:
    root = callee.partition(".")[0]
    scope = editor.tree.scope_of(node)
    own = scope
    while scope is not editor.tree.root and scope.parent is not None:
        if (scope is own or not scope.is_class) and root in bindings_of(scope):
            return _local_callee(editor, node, callee, scope)
        scope = scope.parent
    return _module_function(editor, node, callee)


def _local_callee(editor: Editor, node: Function, callee: str, scope: Scope) -> Binding | Scope | None:
    """The scope of a local name that can be read where the function stands, or its import; None for a class body's."""
    if not scope.is_function:
        return None
    root = callee.partition(".")[0]
    bindings = bindings_of(scope)[root]
    if len(bindings) == 1 and bindings[0].kind is Kind.IMPORT and editor.tree.scope_of(node) is scope:
        line = editor.tree.parent(bindings[0].node)
        is_before = line is not None and editor.tree.order(line) < editor.tree.order(node)
        is_always = line is not None and editor.tree.parent(line) is getattr(scope.node, "body", None)
        return bindings[0] if is_before and is_always and _is_function_of(bindings[0], callee) else None
    return scope if root in captured_names(editor, node, node) else None


def _is_plain_member(editor: Editor, callee: cst.BaseExpression) -> bool:
    """False if the file stores an attribute of this name, or decorates one: what is read may change until the call."""
    if not isinstance(callee, cst.Attribute):
        return True
    defined = editor.tree.find(editor.tree.module, cst.FunctionDef)
    is_decorated = any(each.decorators and each.name.value == callee.attr.value for each in defined)
    return not is_decorated and not is_stored(editor, callee)


def _is_function_of(binding: Binding, callee: str) -> bool:
    """True if an import brings what looks like a function, and a pickle finds that by its name."""
    name, _, member = callee.partition(".")
    is_standard = binding.imported.partition(".")[0] in sys.stdlib_module_names
    full = ".".join(part for part in (binding.imported, binding.member, member) if part)
    if row(full).hides_name or (member and is_standard) or "random" in full.split(".")[:-1]:
        return (
            False  # `random.seed` and `numpy.random.seed` are methods of a hidden object, of which a pickle is a copy
        )
    return (binding.member is not None or bool(member)) and name[:1].islower()


def _module_function(editor: Editor, node: Function, callee: str) -> Binding | None:
    """The one binding of a function of the module, or of what it imports, which a pickle finds by its name."""
    name, _, member = callee.partition(".")
    bound = bindings_of(editor.tree.root)
    if "*" in bound or len(bound.get(name, ())) != 1:
        return None
    binding = bound[name][0]
    if binding.kind is Kind.FUNCTION and not member:
        is_plain = isinstance(binding.node, cst.FunctionDef) and all(map(_keeps_name, binding.node.decorators))
    else:
        is_plain = binding.kind is Kind.IMPORT and _is_function_of(binding, callee)
    line = editor.tree.parent(binding.node) if binding.kind is Kind.IMPORT else binding.node
    if line is None or editor.tree.parent(line) is not editor.tree.module:
        return None  # under a main guard or another condition
    is_on_import = editor.tree.scope_of(node).function is None
    if not is_plain or (is_on_import and editor.start(binding.node) > editor.start(node)):
        return None
    return binding


def _keeps_name(decorator: cst.Decorator) -> bool:
    """True for `torch.no_grad()` and the like: a pickle finds what they return by the function's own name."""
    made = decorator.decorator
    return dotted(made.func if isinstance(made, cst.Call) else made) in ("torch.inference_mode", "torch.no_grad")
