"""A function that is defined inside another one, moved to module level with its decorators and comments."""

from __future__ import annotations

import re

import libcst as cst

from dataloader_lint.edits.captures import captured_names, resolves_at_module_level, scope_of_name
from dataloader_lint.edits.editor import Editor, replace
from dataloader_lint.edits.fields import Bound, bound_parameters, reads_replaced
from dataloader_lint.edits.functions import add_function, shifted, top_statement
from dataloader_lint.edits.hoist import bound_call, is_fixed, parameter_hints
from dataloader_lint.edits.repair import Edit, RefusedError, splice
from dataloader_lint.edits.statements import first_offset, start_with_comments
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.syntax.expressions import Function, parameters
from dataloader_lint.semantics.syntax.names import bindings_of

_NAME = re.compile(r"def\s+(\w+)")


def lift_function(editor: Editor, node: Function) -> tuple[str, tuple[Edit, ...]]:
    """Move a local function to module level; returns its name there and the edits.

    What it takes from the function around it becomes parameters that `functools.partial` binds: where the function is
    used once, there; else where it was defined, so that all other uses stay as they are.
    """
    if not isinstance(node, cst.FunctionDef) or node not in editor.tree:
        raise RefusedError("no function that is defined in this file")
    if id(node) not in editor.lifted:  # several loaders may use it
        editor.lifted[id(node)] = _lift(editor, node)
    return editor.lifted[id(node)]


def _lift(editor: Editor, node: cst.FunctionDef) -> tuple[str, tuple[Edit, ...]]:
    tree, home, name = editor.tree, editor.tree.scope_of(node), node.name.value
    if home.function is not home or len(bindings_of(home)[name]) > 1:
        raise RefusedError("its name means several things")
    block = tree.parent(node)
    if not isinstance(block, cst.IndentedBlock) or len(block.body) < 2:
        raise RefusedError("nothing would be left of the block")
    _check_head(editor, node)
    inside = {id(each) for each in tree.walk(node)}
    reads = [each for each in names_in(tree, home.node, name) if scope_of_name(editor, each) is home]
    uses = [each for each in reads if id(each) not in inside]
    if not uses:
        raise RefusedError("the function is not used by its name")
    once = len(uses) == 1 and tree.scope_of(uses[0]) is home
    captured = captured_names(editor, node, uses[0] if once else node)
    is_kept = editor.is_free(name) and (once or not captured)
    new_name = name if is_kept else editor.new_name(_other_name(home.node, name))
    if len(reads) > len(uses) and (captured or not is_kept):
        raise RefusedError("the function calls itself")
    editor.taken.add(new_name)
    bound = bound_parameters(editor, node, captured)
    added = add_function(editor, node, _at_module_level(editor, node, new_name, bound))
    written, imports = bound_call(editor, node, new_name, [f"{each.name}={each.code}" for each in bound])
    start, end = extent(editor, node)
    indentation = editor.indentation(first_offset(editor, node))
    if captured and not once:
        line = f"{indentation}{name} = {written}{editor.newline}"
        return new_name, (*added, *imports, Edit(start, end, line))
    gone = remove_definition(editor, node)
    others = [] if is_kept and not captured else [replace(editor, each, written) for each in uses]
    return new_name, (*added, *imports, gone, *others)


def remove_definition(editor: Editor, node: cst.FunctionDef) -> Edit:
    """Take a local function away, with its comments and the blank lines below it."""
    start, end = extent(editor, node)
    return Edit(start, _skip_blank_lines(editor, end), "")


def _check_head(editor: Editor, node: cst.FunctionDef) -> None:
    """Refuse what is evaluated where the function is defined and would differ at module level."""
    if node.params.posonly_params:
        raise RefusedError("parameters by position only")
    if getattr(node, "type_parameters", None) is not None:  # bare trees have none
        raise RefusedError("type parameters")
    if any(each.default is not None and not is_fixed(each.default) for each in parameters(node)):
        raise RefusedError("a default that is computed")
    hints = [each.annotation for each in parameters(node) if each.annotation is not None]
    hints += [node.returns] if node.returns is not None else []
    if not all(resolves_at_module_level(editor, each.annotation) for each in hints):
        raise RefusedError("an annotation with a local name")
    top = editor.tree.order(top_statement(editor, node))
    for decorator in node.decorators:
        for name in editor.tree.find(decorator, cst.Name):
            bindings = bindings_of(editor.tree.root).get(name.value, [])
            is_late = any(editor.tree.order(each.node) > top for each in bindings)
            if is_late or not resolves_at_module_level(editor, name):
                raise RefusedError("its decorator is local")


def _other_name(around: cst.CSTNode, name: str) -> str:
    owner = around.name.value.strip("_") if isinstance(around, cst.FunctionDef) else ""
    return f"{name}_for_{owner}" if owner else f"{name}_samples"


def extent(editor: Editor, node: cst.FunctionDef) -> tuple[int, int]:
    """The lines of a function, with the comments above it and those indented like its body below."""
    start = start_with_comments(editor, node)
    end = editor.next_line(editor.end(node))
    depth = len(editor.indentation(first_offset(editor, node)))
    while end < len(editor.text):
        line = editor.text[end : editor.line_end(end)]
        if not line.lstrip().startswith("#") or len(editor.indentation(end)) <= depth:
            break
        end = editor.next_line(end)
    return start, end


def _skip_blank_lines(editor: Editor, offset: int) -> int:
    while offset < len(editor.text) and not editor.text[offset : editor.line_end(offset)].strip():
        offset = editor.next_line(offset)
    return offset


def _at_module_level(editor: Editor, node: cst.FunctionDef, name: str, bound: list[Bound]) -> str:
    """The function's text under another name, with more parameters, at the left margin."""
    start, end = extent(editor, node)
    indentation = editor.indentation(first_offset(editor, node))
    found = _NAME.match(editor.text, editor.text.index("def", editor.start(node)))
    if found is None:
        raise RefusedError("its name stands elsewhere")
    edits = [Edit(found.start(1) - start, found.end(1) - start, name)]
    if bound:
        edits.append(_more_parameters(editor, node, tuple(each.name for each in bound), found.end(1), start))
    edits += reads_replaced(editor, bound, start)
    block = splice(editor.text[start:end], edits).rstrip("\r\n")
    return shifted(editor, block.lstrip(" \t\f"), indentation, "", is_docstring_moved=True)


def _more_parameters(
    editor: Editor, node: cst.FunctionDef, names: tuple[str, ...], after_name: int, origin: int
) -> Edit:
    is_typed = any(each.annotation is not None for each in parameters(node))
    hints = parameter_hints(editor, node, names) if is_typed else {}
    code = ", ".join(f"{each}: {hints[each]}" if each in hints else each for each in names)
    params = node.params
    is_open = isinstance(params.star_arg, cst.MaybeSentinel) and not params.kwonly_params
    if is_open and any(each.default is not None for each in params.params):
        code = f"*, {code}"
    if params.star_kwarg is not None:
        place = editor.start(params.star_kwarg)
        return Edit(place - origin, place - origin, f"{code}, ")
    written = parameters(node)
    if not written:
        place = editor.text.index("(", after_name) + 1
        return Edit(place - origin, place - origin, code)
    last = written[-1]
    parts = [last, *(each for each in (last.annotation, last.default) if each is not None)]
    place = max(editor.outer(each)[1] for each in parts)
    return Edit(place - origin, place - origin, f", {code}")
