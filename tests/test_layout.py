"""Parts of a tree that are laid out alone stand where they stand in the whole text."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from code_texts import every_file, text_of
from dataloader_lint.diagnostics import Position
from dataloader_lint.semantics.syntax.layout import Excerpt, code, excerpts
from dataloader_lint.semantics.syntax.tree import Node, Tree
from dataloader_lint.source.fast_tree import bare_tree
from dataloader_lint.source.parsing import own_tree


def places(tree: Tree, nodes: list[Node]) -> list[tuple[Position, Position] | None]:
    """Where nodes stand, in their order; None for those that have no place in LibCST's code either."""
    found: dict[int, tuple[Position, Position] | None] = {}
    for part, held in excerpts(tree, nodes):
        ranges = part.ranges([part.twin(node) for node in held])
        found.update({id(node): ranges.get(id(part.twin(node))) for node in held})
    return [found[id(node)] for node in nodes]


def assert_same_places(text: str) -> None:
    tree, whole = Tree(bare_tree(text), text), Tree(own_tree(text), text)
    nodes = [node for node in tree.walk(tree.module) if not isinstance(node, cst.Module | cst.FormattedStringText)]
    others = [node for node in whole.walk(whole.module) if not isinstance(node, cst.Module | cst.FormattedStringText)]
    assert places(tree, nodes) == places(whole, others)


@pytest.mark.thorough
@every_file
def test_files(path: Path) -> None:
    assert_same_places(text_of(path))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1; y = 2\n(z, w); (v)\n",
        "@a.b(1)\n\n@c\n# why\ndef f(x: int = (1), *, y: 'T' = 2) -> int: return x; y\n",
        "class A:\n    '''doc'''\n    @property\n    @b\n    def c(self):\n        def d(): return (e)\n        f\n",
        "class A:\n\tdef b(self):\n\t\treturn '''\nc\n'''  # d\n\n\te = 1\n",
        "async def f():\n    async with a as b, c:\n        async for x in y: z\n\n\n\ng = 1",
        "if a:\n    def b(): pass\nelif c:\n    def b():\n        pass\nelse:\n    def b(): pass\n",
        "try:\n    def a(): b\nexcept C:\n    def a(): d\nelse:\n    def a(): e\nfinally:\n    def a(): f\n",
        "for a in b:\n  def c(): pass\nelse:\n  def c():\n      pass\nwhile (d): e\nwith f: g\n",
        "x = 1\r\ndef f():\r\n    y = '''a\r\nb'''\r\n    return y\r\n",
        "x = [\n    1,\n]\nf(\n    a\n)(b)[c].d\n",
        "def f():\n    return 1  # no newline at the end",
        "def f(\n    a,\n):\n  # first\n\n  b\n  # last\n\n# outside\nc\n",
    ],
)
def test_every_kind_of_code(text: str) -> None:
    assert_same_places(text)


def test_what_only_the_whole_text_tells() -> None:
    text = "class A:\n    x = 1\n\x0c    def b(self):\n        return c(1)\n"  # the function alone is none to LibCST
    tree = Tree(bare_tree(text), text)
    (call,) = tree.find(tree.module, cst.Call)
    assert code(tree, call) == "c(1)"
    assert places(tree, [call]) == [(Position(4, 15), Position(4, 19))]


def test_a_part_is_laid_out_once() -> None:
    text = "def f():\n    a(1)\n    b(2)\n\n\ndef g():\n    c(3)\n"
    tree = Tree(bare_tree(text), text)
    calls = list(tree.find(tree.module, cst.Call))
    found: list[tuple[Excerpt, list[Node]]] = list(excerpts(tree, calls))
    assert [held for _, held in found] == [calls[:2], calls[2:]]
    assert [part for part, _ in excerpts(tree, calls)] == [part for part, _ in found]
