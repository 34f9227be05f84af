"""What says how a text is laid out, put into a bare tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from dataloader_lint.source.bare.nodes import SHARED, Node, UnlikeError, set_field


def is_bare(module: cst.Module) -> bool:
    """Whether a tree lacks all that says how the module is laid out."""
    return not hasattr(module, "header")


def pairs(bare: Node, whole: Node) -> Iterator[tuple[Node, Node]]:
    """Each node of a bare tree with the one that stands in its place in a whole one.

    Raises UnlikeError where the trees differ.
    """
    stack = [(bare, whole)]
    while stack:
        mine, other = stack.pop()
        if type(mine) is not type(other):
            raise UnlikeError(f"{type(mine).__name__} for {type(other).__name__}")
        yield mine, other
        for field in mine.__slots__:
            own = getattr(mine, field, None)
            if isinstance(own, Node) and id(own) not in SHARED:
                stack.append((own, getattr(other, field)))
            elif isinstance(own, list):
                theirs = getattr(other, field)
                if type(mine) is cst.FormattedString:  # texts may be cut differently, expressions may not
                    own, theirs = _expressions(own), _expressions(theirs)
                if len(own) != len(theirs):
                    raise UnlikeError(f"{len(own)} for {len(theirs)} of {field} in {type(mine).__name__}")
                stack.extend(zip(own, theirs, strict=True))


def complete(bare: Node, whole: Node) -> None:
    """Put all that the whole tree has into the nodes of a bare one; they stay the same objects.

    Raises UnlikeError where the trees differ; the bare one is then as it was.
    """
    for mine, other in list(pairs(bare, whole)):
        for field in mine.__slots__:
            own, theirs = getattr(mine, field, None), getattr(other, field)
            if isinstance(own, list):
                if type(mine) is cst.FormattedString:
                    set_field(mine, field, _parts(own, theirs))
            elif not isinstance(own, Node) or id(own) in SHARED:
                set_field(mine, field, theirs)


def _expressions(parts: Sequence[Node]) -> list[Node]:
    return [part for part in parts if type(part) is cst.FormattedStringExpression]


def _parts(own: list[Node], theirs: Sequence[Node]) -> list[Node]:
    """The texts of the whole f-string around the expressions of the bare one."""
    expressions = iter(_expressions(own))
    return [next(expressions) if type(part) is cst.FormattedStringExpression else part for part in theirs]
