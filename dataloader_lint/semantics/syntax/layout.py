"""The layout of a tree: positions of nodes, and their source code.

Trees are bare at first. Where something is to be said about a few nodes or to be put in their place, LibCST parses the
functions and the statements at the top that hold them, and the whole text only where these alone do not tell enough.
Its nodes are then held against those of the tree, and the code that it writes against the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.diagnostics import Position
from dataloader_lint.semantics.syntax import positions
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree
from dataloader_lint.source.alignment import Alignment
from dataloader_lint.source.decoding import UnreadableError, line_starts
from dataloader_lint.source.extents import Lines, extents
from dataloader_lint.source.fast_tree import UnlikeError, is_bare, pairs
from dataloader_lint.source.odd_lines import is_same_program
from dataloader_lint.source.parsing import code_of, has_plain_names, parse, parsed_by_python

_CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)")
_HEAD = "if 1:\n"  # makes a module of an indented function


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a tree that is laid out, as a module of its own.

    `twins` has the twin of each node of the tree by the `id` of that one. The code of the module, less the
    `head` that was put in front of it, is the text from offset `start` on; where it is not that to the letter,
    `alignment` says where its characters stand.
    """

    tree: Tree
    module: cst.Module
    twins: dict[int, Node]
    start: int
    head: int
    alignment: Alignment | None

    def twin(self, node: Node) -> Node:
        """The twin of a node of the tree."""
        return self.twins[id(node)]

    def spans(self, wanted: Iterable[Node]) -> dict[int, tuple[int, int]]:
        """Start and end in the text of nodes of the module, as offsets by `id`, from one pass of code generation."""
        found = positions.spans(self.module, wanted)
        return {key: self._in_text(start - self.head, end - self.head) for key, (start, end) in found.items()}

    def ranges(self, wanted: Iterable[Node]) -> dict[int, tuple[Position, Position]]:
        """Start and end in the text of nodes of the module, by `id`."""
        spans = self.spans(wanted)
        return {key: (_position(self.tree, start), _position(self.tree, end)) for key, (start, end) in spans.items()}

    def _in_text(self, start: int, end: int) -> tuple[int, int]:
        if self.alignment is not None:
            start, end = self.alignment.span(start, end)
        return start + self.start, end + self.start


def excerpts(tree: Tree, nodes: Iterable[Node]) -> Iterator[tuple[Excerpt, list[Node]]]:
    """The laid out parts of a tree that hold the nodes, each with those that it holds. Raises as `excerpt` does."""
    inside: dict[int, tuple[Excerpt, list[Node]]] = {}
    for node in nodes:
        found = excerpt(tree, node)
        inside.setdefault(id(found.module), (found, []))[1].append(node)
    yield from inside.values()


def excerpt(tree: Tree, node: Node) -> Excerpt:
    """The innermost function or the statement at the top that holds a node, laid out.

    Raises UnlikeError where LibCST sees something else in the text than Python does, or refuses it, and UnreadableError
    where the code of its own tree is not the text.
    """
    holder = _holder(tree, node) if is_bare(tree.module) else None
    if holder is not None:
        found = tree.of_text(("excerpt", id(holder)), lambda: _alone(tree, holder))
        if found is not None:
            return found
    return tree.of_text(("excerpt", id(tree.module)), lambda: _whole(tree))


def first_line(tree: Tree, node: Node) -> int:
    """The number of the line that a node begins on. Raises as `excerpt` does."""
    return _range(tree, node)[0].line


def last_line(tree: Tree, node: Node) -> int:
    """The number of the line that a node ends on. Raises as `excerpt` does."""
    return _range(tree, node)[1].line


def _range(tree: Tree, node: Node) -> tuple[Position, Position]:
    found = excerpt(tree, node)
    twin = found.twin(node)
    return found.ranges([twin])[id(twin)]


def code(tree: Tree, node: Node) -> str:
    """A node as written, on one line. Raises UnlikeError as `excerpt` does."""
    try:
        found = excerpt(tree, node)
    except UnreadableError:  # where it stands is not known; what it says is
        return tree.words(node)
    return " ".join(_CONTINUED.sub(" ", code_of(found.module, found.twin(node))).split())


def _holder(tree: Tree, node: Node) -> Node | None:
    statement = tree.statement_of(node)
    if isinstance(statement, cst.FunctionDef):
        return statement
    scope: Scope | None = tree.scope_of(statement)
    while scope is not None:
        if isinstance(scope.node, cst.FunctionDef):
            return scope.node
        scope = scope.parent
    place = bisect_right(tree.starts(tree.module), tree.order(statement)) - 1
    return tree.module.body[place] if place >= 0 else None


def _alone(tree: Tree, holder: Node) -> Excerpt | None:
    """A function or statement as a module of its own; None where only the whole text says how it is laid out."""
    try:
        first, last = _lines(tree)[id(holder)]
        starts = _line_starts(tree)
        start, end = starts[first - 1], starts[last] if last < len(starts) else len(tree.text)
        text = tree.text[start:end]
        head = _HEAD if text[:1] in (" ", "\t") else ""
        module = parse(head + text)
        block: Sequence[Node] = module.body
        if head and isinstance(block[0], cst.If):
            block = block[0].body.body
        if len(block) != 1:
            return None
        twins = {id(mine): twin for mine, twin in pairs(holder, block[0])}
        return Excerpt(tree, module, twins, start, len(head), _alignment(code_of(module)[len(head) :], text))
    except (UnlikeError, UnreadableError):
        return None


def _whole(tree: Tree) -> Excerpt:
    if not is_bare(tree.module) and has_plain_names(tree.text):
        nodes = (*tree.walk(tree.module), *(part for part, _ in import_parts(tree)))
        module, twins = tree.module, {id(node): node for node in nodes}
    else:
        try:
            module = parse(tree.text)
            twins = {id(mine): twin for mine, twin in pairs(tree.module, module)}
        except (UnlikeError, UnreadableError) as error:
            raise UnlikeError(str(error), tree.root.module.path) from None
    return Excerpt(tree, module, twins, 0, 0, _whole_alignment(code_of(module), tree.text))


def _alignment(code: str, text: str) -> Alignment | None:
    return None if code == text else Alignment(code, text)


def _whole_alignment(code: str, text: str) -> Alignment | None:
    """As `_alignment`; the code must also mean what the text does, as far as Python can read that."""
    found = _alignment(code, text)
    if found is not None:
        try:
            if not is_same_program(code, parsed_by_python(text)):
                raise UnreadableError("LibCST takes this file for another program than Python does")
        except (SyntaxError, RecursionError, MemoryError):
            pass  # written for a newer Python than the one that runs this
    return found


def import_parts(tree: Tree) -> Iterator[tuple[Node, Node]]:
    """The names that `from` imports take, which the tree does not hold as nodes, each with its import."""
    for scope in tree.root.descend():
        for statement in scope.own(cst.ImportFrom):
            if not isinstance(statement.names, cst.ImportStar):
                yield from ((part, statement) for part in statement.names)


def _position(tree: Tree, offset: int) -> Position:
    starts = _line_starts(tree)
    line = bisect_right(starts, offset)
    return Position(line, offset - starts[line - 1])


def _line_starts(tree: Tree) -> list[int]:
    return tree.of_text(("line starts", id(tree.module)), lambda: line_starts(tree.text))


def _lines(tree: Tree) -> dict[int, Lines]:
    """The lines of each function and of each statement at the top of a bare tree, by `id`."""
    return tree.of_text(("lines", id(tree.module)), lambda: _told_lines(tree))


def _told_lines(tree: Tree) -> dict[int, Lines]:
    functions = [node for node in tree.walk(tree.module) if type(node) is cst.FunctionDef]
    try:
        found = extents(parsed_by_python(tree.text))
        tops = zip(tree.module.body, found.top, strict=True)
        return {id(node): lines for node, lines in (*tops, *zip(functions, found.functions, strict=True))}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnlikeError(str(error)) from None
