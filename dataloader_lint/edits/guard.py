"""All that a script does, up to its end, put into `main()`, or at least under `if __name__ == "__main__":`.

A spawned worker imports the script again: what stays above the guard runs once more in each of them. So the data, the
models, the options and the writers move as well, not only the loop that starts workers.
"""

from __future__ import annotations

import builtins
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import libcst as cst

from dataloader_lint.edits.captures import scope_of_name
from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.functions import missing_before
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.statements import start_with_comments
from dataloader_lint.edits.uses import names_in
from dataloader_lint.edits.work import DEFINITIONS, IMPORTS, first_work, setting_of_process
from dataloader_lint.semantics.syntax.names import bindings_of, dotted
from dataloader_lint.semantics.syntax.tree import Node
from dataloader_lint.source.decoding import split_lines

_STRINGS = cst.SimpleString | cst.FormattedString | cst.TemplatedString
_WORD = re.compile(r"\w+")
# Whoever calls these may read any name of the module.
_READS_ALL = frozenset({"globals", "eval", "exec"})
# These mean something else in a function, the last two if they are given nothing.
_READS_LOCALS = _READS_ALL | {"__annotations__", "locals"}
_READS_LOCALS_ALONE = frozenset({"dir", "vars"})


@dataclass(frozen=True, slots=True)
class Guarded:
    """The edits that guard a script, the number of the first line that moves, and whether it moves into `main()`."""

    edits: tuple[Edit, ...]
    line: int
    has_main: bool


def guard_work(editor: Editor, start: Node, is_imported: Callable[[list[str]], bool]) -> Guarded:
    """Put a script under the main guard, from the first statement on that does more than to define something.

    `start` is the statement that starts workers, and moves too. `is_imported` tells if another file takes some names.
    Several statements become `main()`, where all that they bind can be local. Refused where functions or classes stand
    between what would move, or read what it binds: under a guard their workers would miss it.
    """
    tree = editor.tree
    body = list(tree.module.body)
    last = next((index for index, each in enumerate(body) if each is start), None)
    if last is None or isinstance(start, DEFINITIONS):
        raise RefusedError("workers need the definition there")
    work = first_work(body, start)
    first = next(index for index, each in enumerate(body) if each is work)
    first -= _count_own_variables(editor, body[:first], work, is_imported)
    while first > 1 and _is_heading(editor, body[first - 1], body[first]):
        first -= 1
    above, moved = body[:first], body[first:]
    if any(isinstance(node, DEFINITIONS) for each in moved for node in tree.walk(each)):
        raise RefusedError("functions or classes stand in between")
    if _count_imports(moved) > _count_imports(above):
        raise RefusedError("most imports stand below the work")
    tests = chain.from_iterable(tree.find(each, cst.Comparison) for each in body)
    if any(name.value == "__name__" for test in tests for name in tree.find(test, cst.Name)):
        raise RefusedError("the script tests `__name__` already")
    inside = {id(node) for each in moved for node in tree.walk(each)}
    bound = [
        name
        for name, bindings in bindings_of(tree.root).items()
        if any(one.scope is tree.root and id(one.node) in inside for one in bindings)
    ]
    read = _read_by(editor, above)
    if "*" in bound or not read.isdisjoint((*bound, *_READS_ALL)):
        raise RefusedError("a function or class reads what would move")
    if is_imported(bound):
        raise RefusedError("another file imports what would move")
    has_main = len(moved) > 1 and _can_be_local(editor, bound, above, moved)
    place = start_with_comments(editor, moved[0])
    stay = _staying(editor, moved, set(bound))
    edits = list(_indented(editor, place, moved, stay, has_main))
    # As black does: two blank lines around a definition, one below everything else.
    wanted = 0 if not above else 2 if (has_main and not stay) or isinstance(above[-1], DEFINITIONS) else 1
    added = (edits for _, edits in (*editor.promised.values(), *editor.lifted.values()))
    if any(edit.start == place for edits in added for edit in edits):
        wanted = 0  # a function of this round stands there, with blank lines around it
    blank_lines = editor.newline * max(0, missing_before(editor, place) - 2 + wanted)
    settings = "".join(editor.text[first:end] for first, end in stay.items())
    settings += editor.newline * ((2 if has_main else 1) if stay else 0)
    first_line = "def main():" if has_main else _guard(editor)
    edits.insert(0, Edit(place, place, f"{blank_lines}{settings}{first_line}{editor.newline}"))
    if has_main:
        edits.append(_call_of_main(editor))
    return Guarded(tuple(edits), editor.line(editor.start(moved[0])) + 1, has_main)


def _staying(editor: Editor, moved: Sequence[Node], bound: set[str]) -> dict[int, int]:
    """The lines, from offset to offset, of settings that use nothing of what moves, and that nothing else there uses.

    Comments above them stay as well if they head nothing else: a blank line follows.
    """
    words = [setting_of_process(each) for each in moved]
    names = [set(_WORD.findall(editor.code(each))) for each in moved]  # those of attributes as well
    free = [
        each
        for number, each in enumerate(moved[:-1])  # the call of `main()` goes behind the last one
        if words[number]
        and bound.isdisjoint(names[number])
        and not any(
            words[number] in used for other, used in enumerate(names) if other != number and words[other] != "warnings"
        )
    ]
    lines: dict[int, int] = {}
    ends_paragraph: set[int] = set()
    for each in reversed(free):
        start, end = editor.line_start(editor.start(each)), editor.next_line(editor.end(each))
        if end in ends_paragraph or not editor.text[end : editor.line_end(end)].strip():
            start = start_with_comments(editor, each)
            ends_paragraph.add(start)
        lines[start] = end
    return dict(sorted(lines.items()))


def _can_be_local(editor: Editor, bound: Sequence[str], above: Sequence[Node], moved: Sequence[Node]) -> bool:
    """True if statements mean the same in a function `main`, where the names that they bind are its own.

    A name that is bound above as well, or a builtin, would have no value before the function binds it.
    """
    tree = editor.tree
    bindings = bindings_of(tree.root)
    is_taken = "main" in bindings or any(not _is_label(editor, name) for name in names_in(tree, tree.module, "main"))
    if is_taken or "main" in editor.taken or any(hasattr(builtins, each) for each in bound):
        return False
    outside = {id(node) for each in above for node in tree.walk(each)}
    if any(id(one.node) in outside for name in bound for one in bindings[name]):
        return False
    names = {name.value for each in moved for name in tree.find(each, cst.Name) if not _is_label(editor, name)}
    alone = {dotted(call.func) for each in moved for call in tree.find(each, cst.Call) if not call.args}
    has_global = any(True for each in moved for _ in tree.find(each, cst.Global))
    return names.isdisjoint(_READS_LOCALS) and alone.isdisjoint(_READS_LOCALS_ALONE) and not has_global


def _is_label(editor: Editor, name: cst.Name) -> bool:
    """True for the name of an attribute or of a keyword argument, which is no variable."""
    above = editor.tree.parent(name)
    return (isinstance(above, cst.Attribute) and above.attr is name) or (
        isinstance(above, cst.Arg) and above.keyword is name
    )


def _call_of_main(editor: Editor) -> Edit:
    """The guard below `main`, at the end of the file, in the place of its blank lines."""
    end = len(editor.text.rstrip())
    newline = editor.newline
    last = newline if editor.text.endswith(("\n", "\r")) else ""
    return Edit(end, len(editor.text), f"{newline * 3}{_guard(editor)}{newline}{editor.indent}main(){last}")


def _count_imports(body: Sequence[Node]) -> int:
    lines = (each for each in body if isinstance(each, cst.SimpleStatementLine))
    return sum(isinstance(each, IMPORTS) for line in lines for each in line.body)


def _guard(editor: Editor) -> str:
    """The main guard, in the quotes that the file prefers."""
    quote = "'" if editor.text.count("'") > editor.text.count('"') else '"'
    return f"if __name__ == {quote}__main__{quote}:"


def _count_own_variables(
    editor: Editor, above: Sequence[Node], work: Node, is_imported: Callable[[list[str]], bool]
) -> int:
    """How many variables stand in one paragraph with the work below, if that is all they are for: `seed = 1`."""
    names: list[str] = []
    below = work
    for statement in reversed(above):
        part = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if editor.line(editor.end(statement)) + 1 != editor.line(start_with_comments(editor, below)):
            break
        if not isinstance(part, cst.Assign) or not isinstance(part.targets[0].target, cst.Name):
            return 0
        names.append(part.targets[0].target.value)
        below = statement
    rest = above[: len(above) - len(names)]
    are_bound_above = any(name.value in names for each in rest for name in editor.tree.find(each, cst.Name))
    is_lower = all(each.islower() and not each.startswith("_") for each in names)
    return len(names) if is_lower and not are_bound_above and not (names and is_imported(names)) else 0


def _is_heading(editor: Editor, statement: Node, below: Node) -> bool:
    """True for a string that stands alone, directly above a statement: a comment in another form."""
    is_next = editor.line(editor.end(statement)) + 1 == editor.line(start_with_comments(editor, below))
    return is_next and _is_bare_string(statement)


def _is_bare_string(statement: Node) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return False
    part = statement.body[0]
    return isinstance(part, cst.Expr) and isinstance(part.value, cst.SimpleString)


def _read_by(editor: Editor, statements: Sequence[Node]) -> set[str]:
    """The names of the module that functions and classes among some statements read."""
    tree = editor.tree
    return {
        name.value
        for statement in statements
        for name in tree.find(statement, cst.Name)
        if any(isinstance(each, (*DEFINITIONS, cst.Lambda)) for each in tree.ancestors(name))
        and not _is_label(editor, name)
        and scope_of_name(editor, name) in (None, tree.root)
    }


def _indented(
    editor: Editor, start: int, moved: Sequence[Node], gone: Mapping[int, int], has_main: bool
) -> Iterator[Edit]:
    """One level more for all lines from an offset on; those that begin inside of a string stay.

    Of several blank lines one stays: more of them stand at module level only. The lines that stay above are `gone`. A
    string that heads the lines becomes a comment: as the first statement of a function it would be its docstring.
    """
    strings = _multiline_strings(editor, moved)
    heading = moved[0] if has_main and _is_bare_string(moved[0]) else None
    is_below_blank = False
    while start < len(editor.text):
        if start in gone:
            yield Edit(start, gone[start], "")
            start = gone[start]
            continue
        if heading is not None and start == editor.line_start(editor.start(heading)):
            end = editor.next_line(editor.end(heading))
            yield Edit(start, end, _as_comment(editor, heading))
            start = end
            continue
        line = editor.text[start : editor.line_end(start)]
        # Only the last string that begins before the line can reach it.
        nearest = bisect_left(strings, (start, 0)) - 1
        is_inside = nearest >= 0 and start < strings[nearest][1]
        if line.strip() and not is_inside:
            blank = line[: len(line) - len(line.lstrip(" \t\f"))]
            place = start + blank.rfind("\f") + 1
            yield Edit(place, place, editor.indent)
        is_blank = not line.strip() and not is_inside
        if is_blank and is_below_blank and editor.text[start:].strip():
            yield Edit(start, editor.next_line(start), "")
        is_below_blank = is_blank
        start = editor.next_line(start)


def _as_comment(editor: Editor, heading: Node) -> str:
    lines = (each.strip() for each in split_lines(editor.code(heading).strip("rRuU'\"")))
    return "".join(f"{editor.indent}# {each}{editor.newline}" for each in lines if each)


def _multiline_strings(editor: Editor, statements: Sequence[Node]) -> list[tuple[int, int]]:
    """Where the strings of several lines begin and end, in their order, without those inside of another one."""
    spans = []
    for statement in statements:
        for node in editor.tree.walk(statement):
            if isinstance(node, _STRINGS) and not isinstance(editor.tree.parent(node), cst.Expr):  # no comment
                start, end = editor.start(node), editor.end(node)
                if editor.line_end(start) < end:
                    spans.append((start, end))
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found
