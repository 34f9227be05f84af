"""How the nodes of a tree are laid out: where they stand, and how they are written.

Trees are bare at first. Where something is to be said about a few nodes or to be put in their place, LibCST parses the
functions and the statements at the top that hold them, and the whole text only where these alone do not tell enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from dataloader_lint.diagnostics import Position
from dataloader_lint.facts.syntax import positions
from dataloader_lint.facts.syntax.tree import Node, Tree
from dataloader_lint.source.bare import UnlikeError, complete, is_bare, pairs
from dataloader_lint.source.decoding import UnreadableError, split_lines
from dataloader_lint.source.extents import Lines, extents
from dataloader_lint.source.parsing import code_of, parse, parsed_by_python

_HEAD = "if 1:"  # makes a module of an indented function


class Excerpt(NamedTuple):
    """A part of a tree that is laid out, as a module of its own.

    `twins` has the node that stands for each of the tree's by the `id` of that one; `above` is how many lines the text
    has above the module, less those that were put in front of it, and `lines` how many the module has.
    """

    module: cst.Module
    twins: dict[int, Node]
    above: int
    lines: int

    def twin(self, node: Node) -> Node:
        """What stands for a node of the tree."""
        return self.twins[id(node)]

    def ranges(self, wanted: Iterable[Node]) -> dict[int, tuple[Position, Position]]:
        """Start and end in the text of nodes of the module, by `id`, from one pass of code generation."""
        found = positions.ranges(self.module, wanted)
        return {key: (self._lower(start), self._lower(end)) for key, (start, end) in found.items()}

    def _lower(self, place: Position) -> Position:
        return Position(place.line + self.above, place.column)


def lay_out(tree: Tree) -> None:
    """Have all nodes say how the text is laid out, blank space, comments and all.

    Raises UnlikeError where LibCST sees something else in the text than Python does, or refuses it.
    """
    if is_bare(tree.module):
        try:
            complete(tree.module, parse(tree.text))
        except (UnlikeError, UnreadableError) as error:
            raise UnlikeError(str(error), tree.root.module.path) from None


def excerpts(tree: Tree, nodes: Iterable[Node]) -> Iterator[tuple[Excerpt, list[Node]]]:
    """The laid out parts of a tree that hold the nodes, each with those that it holds. Raises as `lay_out` does."""
    inside: dict[int, tuple[Excerpt, list[Node]]] = {}
    for node in nodes:
        found = excerpt(tree, node)
        inside.setdefault(id(found.module), (found, []))[1].append(node)
    yield from inside.values()


def excerpt(tree: Tree, node: Node) -> Excerpt:
    """The innermost function or the statement at the top that holds a node, laid out. Raises as `lay_out` does."""
    holder = _holder(tree, node) if is_bare(tree.module) else None
    if holder is not None:
        try:
            return tree.once(("excerpt", id(holder)), lambda: _alone(tree, holder))
        except (UnlikeError, UnreadableError):
            pass  # only the whole text tells how this is laid out
    lay_out(tree)
    return tree.once(("excerpt", id(tree.module)), lambda: _whole(tree))


def code(tree: Tree, node: Node) -> str:
    """A node as written, on one line. Raises as `lay_out` does."""
    found = excerpt(tree, node)
    return " ".join(code_of(found.module, found.twin(node)).split())


def _holder(tree: Tree, node: Node) -> Node | None:
    statement = tree.statement_of(node)
    top: Node | None = None
    for above in (statement, *tree.ancestors(statement)):
        if isinstance(above, cst.FunctionDef):
            return above
        if not isinstance(above, cst.Module):
            top = above
    return top


def _alone(tree: Tree, holder: Node) -> Excerpt:
    first, last = _lines(tree)[id(holder)]
    lines = lines_of(tree)[first - 1 : last]
    is_indented = lines[0][:1].isspace()
    lines = [*([_HEAD] if is_indented else []), *lines, ""]
    module = parse("\n".join(lines))
    block: Sequence[Node] = module.body
    if is_indented and isinstance(block[0], cst.If):
        block = block[0].body.body
    if len(block) != 1:
        raise UnlikeError(f"{len(block)} statements for one")
    twins = {id(mine): twin for mine, twin in pairs(holder, block[0])}
    return Excerpt(module, twins, first - 1 - is_indented, len(lines))


def _whole(tree: Tree) -> Excerpt:
    nodes = (*tree.walk(tree.module), *(part for part, _ in import_parts(tree)))
    return Excerpt(tree.module, {id(node): node for node in nodes}, 0, len(lines_of(tree)))


def import_parts(tree: Tree) -> Iterator[tuple[Node, Node]]:
    """The names that `from` imports take, which the tree does not hold as nodes, each with its import."""
    for scope in tree.root.descend():
        for statement in scope.own(cst.ImportFrom):
            if not isinstance(statement.names, cst.ImportStar):
                yield from ((part, statement) for part in statement.names)


def lines_of(tree: Tree) -> list[str]:
    """The lines of the text, without their ends."""
    return tree.once(("text", id(tree.module)), lambda: split_lines(tree.text))


def _lines(tree: Tree) -> dict[int, Lines]:
    """The lines of each function and of each statement at the top of a bare tree, by `id`."""
    return tree.once(("lines", id(tree.module)), lambda: _told_lines(tree))


def _told_lines(tree: Tree) -> dict[int, Lines]:
    functions = [node for node in tree.walk(tree.module) if type(node) is cst.FunctionDef]
    try:
        told = extents(parsed_by_python(tree.text))
        tops = zip(tree.module.body, told.top, strict=True)
        return {id(node): lines for node, lines in (*tops, *zip(functions, told.functions, strict=True))}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnlikeError(str(error)) from None
