"""The code of a script from one statement to the end of the file, put under `if __name__ == "__main__":`.

Functions, classes, and the imports and plain constants that these read stay where they are, between two guards if need
be: what is moved runs in the same order as before, and workers find all that they can be sent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.edits.captures import scope_of_name
from dataloader_lint.edits.editor import Editor
from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.statements import first_offset, start_with_comments
from dataloader_lint.semantics.syntax.names import Kind, bindings_of, target_paths
from dataloader_lint.semantics.syntax.tree import Node

GUARD = 'if __name__ == "__main__":'
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
_STRINGS = cst.SimpleString | cst.FormattedString | cst.TemplatedString
_PLAIN = cst.SimpleString | cst.Integer | cst.Float
# Who calls these may read any name of the module.
_READS_ALL = frozenset({"globals", "eval", "exec"})


def guard_from(editor: Editor, first: Node) -> tuple[tuple[Edit, ...], bool]:
    """Put the module from its statement `first` on under the main guard. Whether that is safe comes second.

    It is not where a function or class reads something that is bound or changed by what moves, moves itself as a part
    of a statement, or where an import comes before something that it used to come after.
    """
    return _Guarding(editor, first).result()


class _Guarding:
    def __init__(self, editor: Editor, first: Node) -> None:
        self.editor = editor
        self.tree = editor.tree
        body = list(self.tree.module.body)
        number = next((index for index, each in enumerate(body) if each is first), None)
        if number is None or isinstance(first, _DEFINITIONS):
            raise RefusedError("a definition has to stay where workers find it")
        self.before, self.tail = body[:number], body[number:]
        self.places = {id(each): place for place, each in enumerate(self.tail)}
        self.bound_at: dict[int, list[str]] = {}
        for name, bindings in bindings_of(self.tree.root).items():
            for binding in bindings:
                if binding.scope is self.tree.root:
                    self.bound_at.setdefault(id(binding.node), []).append(name)
        for each in self.tail:
            if isinstance(each, cst.If) and not _is_guard(each) and _asks_for_name(editor, each.test):
                raise RefusedError("what it does depends on the name of the module")
        self.read = self.read_by_definitions()
        self.moved = [each for each in self.tail if not self.stays(each)]
        self.moved_ids = {id(each) for each in self.moved}
        self.names = self.bound_by_moved()

    def result(self) -> tuple[tuple[Edit, ...], bool]:
        self.refuse_what_cannot_stay()
        return tuple(self.edits()), self.is_safe()

    # What moves.

    def stays(self, statement: Node) -> bool:
        if isinstance(statement, cst.If) and _is_guard(statement):
            return not self.can_be_merged(statement)
        if isinstance(statement, _DEFINITIONS):
            return True
        bound = self.bound_by(statement)
        return bool(bound & self.read or "*" in bound) and self.needs_nothing(statement, bound)

    def needs_nothing(self, statement: Node, bound: set[str]) -> bool:
        """True if a statement holds imports and plain constants only, each the one value of its name."""
        if not isinstance(statement, cst.SimpleStatementLine):
            return False
        is_bound_again = any(len(bindings_of(self.tree.root)[name]) > 1 for name in bound)
        for each in statement.body:
            if isinstance(each, cst.Assign | cst.AnnAssign):
                if not isinstance(each.value, _PLAIN) or is_bound_again:
                    return False
            elif not isinstance(each, cst.Import | cst.ImportFrom):
                return False
        return True

    def can_be_merged(self, guard: cst.If) -> bool:
        """True if the line with the condition can be deleted and its block stay as it is."""
        if isinstance(guard.body, cst.SimpleStatementSuite):
            return True
        laid_out = self.editor.excerpt(guard)
        body = cst.ensure_type(cst.ensure_type(laid_out.twin(guard), cst.If).body, cst.IndentedBlock)
        indent = laid_out.module.default_indent if body.indent is None else body.indent
        return indent == self.editor.indent and body.header.comment is None

    def bound_by(self, statement: Node) -> set[str]:
        """The names of the module that a statement binds, those in its blocks included."""
        return {name for node in self.tree.walk(statement) for name in self.bound_at.get(id(node), ())}

    def bound_by_moved(self) -> set[str]:
        return {name for statement in self.moved for name in self.bound_by(statement)}

    # Who reads it.

    def read_by_definitions(self) -> set[str]:
        """The names of the module that its functions and classes read, other than those under the guard."""
        found = set()
        for statement in (*self.before, *(each for each in self.tail if isinstance(each, _DEFINITIONS))):
            if isinstance(statement, cst.If) and _is_guard(statement):
                continue
            for name in self.tree.find(statement, cst.Name):
                if self.is_in_definition(name) and scope_of_name(self.editor, name) in (None, self.tree.root):
                    found.add(name.value)
        return found

    def is_in_definition(self, name: cst.Name) -> bool:
        return any(isinstance(above, (*_DEFINITIONS, cst.Lambda)) for above in self.tree.ancestors(name))

    def refuse_what_cannot_stay(self) -> None:
        """A decorator, default or class body that reads what moves fails in the workers as soon as it is defined.

        So does another file that imports it.
        """
        for statement in self.tail:
            if isinstance(statement, _DEFINITIONS):
                for name in self.tree.find(statement, cst.Name):
                    if name.value in self.names and self.is_read_at_once(name):
                        raise RefusedError(f"`{name.value}` is needed for a definition")
        path = self.tree.root.module.path
        for missing in sorted(self.names):
            if self.editor.mentions.may_take_name(path, missing):
                raise RefusedError(f"another file may import `{missing}`")

    def is_read_at_once(self, name: cst.Name) -> bool:
        scope = self.tree.scope_of(name)
        while scope.parent is not None:
            if scope.is_function:
                return False
            scope = scope.parent
        return scope_of_name(self.editor, name) in (None, self.tree.root)

    def is_safe(self) -> bool:
        if self.read & (self.names | _READS_ALL):
            return False
        is_behind = False
        for statement in self.tail:
            if id(statement) not in self.moved_ids:
                parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
                if is_behind and any(isinstance(part, cst.Import | cst.ImportFrom) for part in parts):
                    return False
                continue
            is_behind = True
            if isinstance(statement, cst.If) and _is_guard(statement):
                continue  # it has never run in workers
            for node in self.tree.walk(statement):
                if isinstance(node, _DEFINITIONS):
                    return False
                if any(self.changes(target) for target in _targets_of(node)):
                    return False
        return True

    def changes(self, target: Node) -> bool:
        """True if a target is an attribute or element of something that workers could have of their own."""
        if not isinstance(target, cst.Attribute | cst.Subscript):
            return False
        while isinstance(target, cst.Attribute | cst.Subscript):
            target = target.value
        if not isinstance(target, cst.Name):
            return False
        bindings = bindings_of(self.tree.root).get(target.value, [])
        return target.value in self.read or any(one.kind in (Kind.CLASS, Kind.IMPORT) for one in bindings)

    # How it is moved.

    def edits(self) -> Iterator[Edit]:
        strings = self.strings()
        for run in self.runs():
            yield from self.guarded(run, strings)

    def runs(self) -> list[list[Node]]:
        """What moves, cut where something stays behind."""
        runs: list[list[Node]] = [[]]
        for statement in self.tail:
            if id(statement) in self.moved_ids:
                runs[-1].append(statement)
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if any(not _is_guard(each) for each in run)]

    def guarded(self, run: list[Node], strings: list[tuple[int, int]]) -> Iterator[Edit]:
        editor = self.editor
        starts = [start_with_comments(editor, each) for each in run]
        ends = [*starts[1:], self.end_of(run[-1])]
        first = run[0]
        has_header = isinstance(first, cst.If) and _is_guard(first) and isinstance(first.body, cst.IndentedBlock)
        header = "" if has_header else f"{GUARD}{editor.newline}"
        for statement, start, end in zip(run, starts, ends, strict=True):
            stop = block = end  # what comes up to `stop` is indented; what comes from `block` on stands right already
            if isinstance(statement, cst.If) and _is_guard(statement):
                line = first_offset(editor, statement)
                if isinstance(statement.body, cst.SimpleStatementSuite):
                    stop = block = editor.next_line(line)
                    yield Edit(line, editor.start(statement.body.body[0]), "")
                else:
                    stop, block = line, editor.next_line(editor.outer(statement.test)[1])
                    if statement is first:
                        stop = start
                    else:
                        yield Edit(line, block, "")
            for edit in self.indented(start, stop, strings):
                yield Edit(edit.start, edit.end, header + edit.content)
                header = ""
            yield from self.indented(block, end, strings, only_outer=True)

    def indented(
        self, start: int, end: int, strings: list[tuple[int, int]], only_outer: bool = False
    ) -> Iterator[Edit]:
        """One level more for the lines between two offsets; those that begin inside of a string stay."""
        editor = self.editor
        while start < end:
            line_end = editor.line_end(start)
            line = editor.text[start:line_end]
            # Only the last string that begins before the line can reach it.
            nearest = bisect_left(strings, (start, 0)) - 1
            inside = nearest >= 0 and start < strings[nearest][1]
            if line.strip() and not inside and not (only_outer and editor.indentation(start)):
                blank = line[: len(line) - len(line.lstrip(" \t\f"))]
                place = start + blank.rfind("\f") + 1
                yield Edit(place, place, editor.indent)
            start = editor.next_line(start)

    def end_of(self, statement: Node) -> int:
        """Where the lines of the last statement before one that stays end: comments below it belong to that one."""
        editor = self.editor
        number = self.places[id(statement)]
        if number + 1 == len(self.tail):
            return len(editor.text)
        end = start_with_comments(editor, self.tail[number + 1])
        while end > 0:
            line = editor.line_start(end - 1)
            if editor.text[line:end].strip() and not editor.text[line:end].startswith("#"):
                break
            end = line
        return end

    def strings(self) -> list[tuple[int, int]]:
        """The strings of several lines among what moves, in their order."""
        spans = []
        for statement in self.moved:
            for node in self.tree.walk(statement):
                if isinstance(node, _STRINGS):
                    start, end = self.editor.start(node), self.editor.end(node)
                    if self.editor.line_end(start) < end:
                        spans.append((start, end))
        return _outermost(spans)


def _targets_of(node: Node) -> Iterator[Node]:
    """What a statement, or a part of one, binds or deletes."""
    target: Node | None = None
    if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor | cst.Del):
        target = node.target
    elif isinstance(node, cst.AsName):
        target = node.name
    if target is not None:
        yield from (each for each, _ in target_paths(target))


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in their order, without those that lie in another one, as strings in f-strings do."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found


def _is_guard(node: Node) -> bool:
    """`if __name__ == "__main__":`, without an else."""
    if not isinstance(node, cst.If) or node.orelse is not None or not isinstance(node.test, cst.Comparison):
        return False
    if len(node.test.comparisons) != 1 or not isinstance(node.test.comparisons[0].operator, cst.Equal):
        return False
    sides = (node.test.left, node.test.comparisons[0].comparator)
    names = [side.value for side in sides if isinstance(side, cst.Name)]
    texts = [side.evaluated_value for side in sides if isinstance(side, cst.SimpleString)]
    return names == ["__name__"] and texts == ["__main__"]


def _asks_for_name(editor: Editor, test: cst.BaseExpression) -> bool:
    return any(name.value == "__name__" for name in editor.tree.find(test, cst.Name))
