"""What says how a text is laid out, put into a bare tree."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from dataloader_lint.source.bare.nodes import SHARED, Node, UnlikeError, set_field


def is_bare(module: cst.Module) -> bool:
    """Whether a tree lacks all that says how the module is laid out."""
    return not hasattr(module, "header")


def complete(bare: Node, whole: Node) -> None:
    """Put all that the whole tree has into the nodes of a bare one; they stay the same objects.

    Raises UnlikeError where the trees differ; the bare one is then as it was.
    """
    news: list[tuple[Node, str, object]] = []
    stack = [(bare, whole)]
    while stack:
        mine, other = stack.pop()
        if type(mine) is not type(other):
            raise UnlikeError(f"{type(mine).__name__} for {type(other).__name__}")
        for field in mine.__slots__:
            theirs = getattr(other, field)
            own = getattr(mine, field, None)
            if isinstance(own, Node) and id(own) not in SHARED:
                stack.append((own, theirs))
            elif isinstance(own, list):
                if type(mine) is cst.FormattedString:
                    news.append((mine, field, _same_parts(own, theirs, stack)))
                    continue
                if len(own) != len(theirs):
                    raise UnlikeError(f"{len(own)} for {len(theirs)} of {field} in {type(mine).__name__}")
                stack.extend(zip(own, theirs, strict=True))
            else:
                news.append((mine, field, theirs))
    for node, field, value in news:
        set_field(node, field, value)


def _same_parts(own: list[Node], theirs: Sequence[Node], stack: list[tuple[Node, Node]]) -> list[Node]:
    """The parts of an f-string: texts may be cut differently, expressions may not."""
    expressions = [part for part in own if type(part) is cst.FormattedStringExpression]
    parts = list(theirs)
    places = [place for place, part in enumerate(parts) if type(part) is cst.FormattedStringExpression]
    if len(expressions) != len(places):
        raise UnlikeError("another number of expressions in an f-string")
    for place, expression in zip(places, expressions, strict=True):
        stack.append((expression, parts[place]))
        parts[place] = expression
    return parts
