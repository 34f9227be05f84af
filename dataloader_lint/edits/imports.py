"""Names that a repair needs: those that the file imports already, or an import beside its kind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.edits.editor import Editor, exchange, has_comment
from dataloader_lint.edits.fields import is_in_string
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.statements import remove_statement, start_with_comments
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import Node, Scope


@dataclass(frozen=True, slots=True)
class Imported:
    """How a library's name can be written at a place, and the edits that make it so (none where it is imported)."""

    name: str
    edits: tuple[Edit, ...] = ()


def need_import(editor: Editor, use: Node, module: str, member: str = "", alias: str = "") -> Imported:
    """How to write `module.member` (or `module`) where the node `use` stands.

    An import of the file is used where one is in force; else `from module import member` is added, or with an `alias`
    `import module as alias`. Refused where what would be written means something else, or the imports come later than
    the use.
    """
    for binding_name, binding in editor.once("imported", lambda: _imported(editor)):
        if not _is_in_force(editor, binding, use):
            continue
        if member and (binding.imported, binding.member) == (module, member) and not binding.level:
            return Imported(binding_name)
        if binding.member is None and binding.imported == module:
            return Imported(f"{binding_name}.{member}" if member else binding_name)
        package, _, last = module.rpartition(".")
        if package and (binding.imported, binding.member, binding.level) == (package, last, 0):
            return Imported(f"{binding_name}.{member}" if member else binding_name)
    if member and not alias and _is_free(editor, member, use):
        merged = _merged(editor, use, module, member)
        new = (merged,) if merged else _new_line(editor, use, module, f"from {module} import {member}")
        return Imported(member, new)
    name = alias or module
    if "." in name or not _is_free(editor, name, use):
        raise RefusedError(f"the name `{member or name}` means something else")
    new = _new_line(editor, use, module, f"import {module} as {alias}" if alias else f"import {module}")
    return Imported(f"{name}.{member}" if member else name, new)


def drop_import(editor: Editor, name: str, uses: Sequence[Node]) -> tuple[Edit, ...]:
    """Take away the import of a name that nothing but `uses` reads, as these will be gone; else nothing.

    Refused where a comment stands among the names of the import.
    """
    found = [one for each, one in editor.once("imported", lambda: _imported(editor)) if each == name]
    gone = {id(each) for use in uses for each in editor.tree.walk(use)}
    reads = (each for each in names_in(editor.tree, editor.tree.module, name) if not _is_in_import(editor, each))
    if not found or any(id(each) not in gone for each in reads) or is_in_string(editor, name):
        return ()
    statement = found[0].node
    assert isinstance(statement, cst.Import | cst.ImportFrom)
    if isinstance(statement.names, cst.ImportStar) or len(statement.names) == 1:
        return (_with_blank_line(editor, remove_statement(editor, statement)),)
    aliases = list(statement.names)
    place = next(index for index, each in enumerate(aliases) if (_bound_by(each)) == name)
    beside = aliases[place + 1] if place + 1 < len(aliases) else aliases[place - 1]
    start, end = editor.start(aliases[place]), editor.end(aliases[place])
    if place + 1 < len(aliases):
        return (exchange(editor, start, editor.start(beside), ""),)
    return (exchange(editor, editor.end(beside), end, ""),)


def _with_blank_line(editor: Editor, gone: Edit) -> Edit:
    """With the blank line below what is removed, where one stands above as well: its section has become empty."""
    text = editor.text
    above = text[: gone.start].splitlines()[-1:]
    is_apart = gone.start == 0 or not "".join(above).strip()
    below = text[gone.end : editor.line_end(gone.end)]
    if (
        is_apart
        and gone.end < len(text)
        and not below.strip()
        and text[gone.start - 1 : gone.start] in ("", "\n", "\r")
    ):
        return replace(gone, end=editor.next_line(gone.end))
    return gone


def _bound_by(alias: cst.ImportAlias) -> str:
    return dotted(alias.asname.name) if alias.asname is not None else dotted(alias.name).partition(".")[0]


def _is_in_import(editor: Editor, name: Node) -> bool:
    return any(isinstance(each, cst.Import | cst.ImportFrom) for each in editor.tree.ancestors(name))


def _imported(editor: Editor) -> list[tuple[str, Binding]]:
    """What imports directly in the module bind, and nothing else in it does."""
    alone = ((name, found[0]) for name, found in bindings_of(editor.tree.root).items() if len(found) == 1)
    return [(name, one) for name, one in alone if one.kind is Kind.IMPORT and _is_plain(editor, one.node)]


def _is_in_force(editor: Editor, binding: Binding, use: Node) -> bool:
    """True if an import in the module binds the name before the use, and no inner scope rebinds it."""
    before = editor.tree.order(binding.node) < editor.tree.order(_top(editor, use))
    return before and not _is_shadowed(editor, binding.name, use)


def _is_shadowed(editor: Editor, name: str, use: Node) -> bool:
    scope: Scope | None = editor.tree.scope_of(use)
    while scope is not None and scope.parent is not None:
        if name in bindings_of(scope):
            return True
        scope = scope.parent
    return False


def _is_free(editor: Editor, name: str, use: Node) -> bool:
    """True if the name can be bound at module level and then means that where it is used."""
    return editor.is_free(name) and not _is_shadowed(editor, name, use)


def _is_plain(editor: Editor, node: Node) -> bool:
    """True if a statement is at the top level of the module, under no condition."""
    line = editor.tree.parent(node)
    return isinstance(line, cst.SimpleStatementLine) and editor.tree.parent(line) is editor.tree.module


def _top(editor: Editor, node: Node) -> Node:
    """The statement of the module that holds a node."""
    module = editor.tree.module
    return next((each for each in (node, *editor.tree.ancestors(node)) if editor.tree.parent(each) is module), node)


def _merged(editor: Editor, use: Node, module: str, member: str) -> Edit | None:
    """The member added to an import from the same module."""
    top = editor.tree.order(_top(editor, use))
    for statement in editor.tree.root.own(cst.ImportFrom):
        names = statement.names
        if dotted(statement.module) != module or statement.relative or isinstance(names, cst.ImportStar):
            continue
        if not _is_plain(editor, statement) or editor.tree.order(statement) > top:
            continue
        return _beside(editor, list(names), member)
    return None


def _beside(editor: Editor, names: list[cst.ImportAlias], member: str) -> Edit:
    """The member in its place among the names of an import, which is the alphabet's where they follow it."""
    written = [dotted(each.name) for each in names]
    for key in (str, str.casefold):
        ordered = [key(name) for name in written]
        if ordered == sorted(ordered):
            following = next((index for index, name in enumerate(ordered) if name > key(member)), len(names))
            break
    else:
        following = len(names)
    text, last = editor.text, editor.end(names[-1])
    start = editor.start(names[-1])
    is_alone = not text[editor.line_start(start) : start].strip()
    if following == len(names) and is_alone and has_comment(text[last : editor.line_end(last)].lstrip(", \t")):
        following -= 1  # the comment stays beside its name
    separator = ", "
    if following == len(names):
        start = editor.start(names[-1])
        indentation = text[editor.line_start(start) : start]
        if not indentation.strip() and len(names) > 1:
            separator = f",{editor.newline}{indentation}"
        return Edit(last, last, f"{separator}{member}")
    start = editor.start(names[following])
    indentation = text[editor.line_start(start) : start]
    if not indentation.strip() and (following or len(names) > 1) and _has_own_line(editor, names, following):
        separator = f",{editor.newline}{indentation}"
    return Edit(start, start, f"{member}{separator}")


def _has_own_line(editor: Editor, names: list[cst.ImportAlias], index: int) -> bool:
    end = editor.end(names[index])
    rest = editor.text[end : editor.line_end(end)].strip(", \t)")
    return not rest or rest.startswith("#")


_FUTURE, _STANDARD, _OTHER = range(3)


def _section(module: str) -> int:
    top = module.partition(".")[0]
    if top == "__future__":
        return _FUTURE
    return _STANDARD if top in sys.stdlib_module_names else _OTHER


def _new_line(editor: Editor, use: Node, module: str, line: str) -> tuple[Edit, ...]:
    """An import on a line of its own, in the place where isort would put it if it had sorted the others.

    The empty line that sets its section apart is an edit of its own: imports that come together share it.
    """
    statements = _import_block(editor)
    use_order = editor.tree.order(_top(editor, use))
    if any(editor.tree.order(statement) >= use_order for statement in statements):
        raise RefusedError("an import comes later than the use")
    newline = editor.newline
    section = _section(module)
    same = [each for each in statements if _section(_module_of(each)) == section and not _is_relative(each)]
    if same:
        wanted = _sort_key(module, line.startswith("from"))
        earlier = [each for each in same if _sort_key(_module_of(each), _is_from(each)) <= wanted]
        if earlier:
            return (_line_below(editor, earlier[-1], newline + line),)
        place = start_with_comments(editor, _line_of(editor, same[0]))
        return (Edit(place, place, line + newline),)
    lower = [each for each in statements if _section(_module_of(each)) < section and not _is_relative(each)]
    if lower:
        below = _line_below(editor, lower[-1], newline + line)
        return below, replace(below, content=newline, rank=-1)
    if statements:
        place = start_with_comments(editor, _line_of(editor, statements[0]))
        return Edit(place, place, line + newline), Edit(place, place, newline, rank=1)
    raise RefusedError("the file has no imports")


def _line_below(editor: Editor, statement: Node, content: str) -> Edit:
    end = editor.line_end(editor.end(_line_of(editor, statement)))
    return Edit(end, end, content)


def _import_block(editor: Editor) -> list[Node]:
    """The imports directly in the module, up to the first statement that is no import, docstring or small block."""
    found: list[Node] = []
    for line in editor.tree.module.body:
        if isinstance(line, cst.SimpleStatementLine):
            imports = [each for each in line.body if isinstance(each, cst.Import | cst.ImportFrom)]
            found.extend(imports)
            if found and not imports and not _is_setting(line):
                break
        elif isinstance(line, cst.FunctionDef | cst.ClassDef) or (
            found and not any(isinstance(each, cst.Import | cst.ImportFrom) for each in editor.tree.walk(line))
        ):
            break
    return found


def _is_setting(line: cst.SimpleStatementLine) -> bool:
    """What often stands between imports: a docstring, `__all__ = ...`, a call such as `matplotlib.use("Agg")`."""
    small = line.body[0]
    return isinstance(small, cst.Expr) or (
        isinstance(small, cst.Assign)
        and isinstance(name := small.targets[0].target, cst.Name)
        and name.value.startswith("__")
    )


def _line_of(editor: Editor, node: Node) -> Node:
    return editor.tree.statement_of(node)


def _module_of(statement: Node) -> str:
    if isinstance(statement, cst.ImportFrom):
        return dotted(statement.module)
    assert isinstance(statement, cst.Import)
    return dotted(statement.names[0].name)


def _is_from(statement: Node) -> bool:
    return isinstance(statement, cst.ImportFrom)


def _is_relative(statement: Node) -> bool:
    return isinstance(statement, cst.ImportFrom) and bool(statement.relative)


def _sort_key(module: str, is_from: bool) -> tuple[bool, str]:
    return (is_from, module.casefold())
