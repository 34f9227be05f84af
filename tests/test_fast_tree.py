"""Trees made with Python's own parser are those of LibCST, without what only says how the text is laid out."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from code_texts import every_file, text_of
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.syntax.tree import Tree
from dataloader_lint.source.fast_tree import UnlikeError, bare_tree, is_bare, pairs


def kinds(tree: Tree) -> list[str]:
    """The types of all nodes in document order, but for the texts of f-strings, which may be cut differently."""
    return [type(node).__name__ for node in nodes(tree)]


def nodes(tree: Tree) -> list[cst.CSTNode]:
    return [node for node in tree.walk(tree.module) if not isinstance(node, cst.FormattedStringText)]


def assert_alike(text: str) -> None:
    """That the two trees have the same nodes, and that each of the bare one has its twin."""
    bare, whole = bare_tree(text), cst.parse_module(text)
    assert is_bare(bare)
    assert not is_bare(whole)
    tree, own = Tree(bare, text), Tree(whole, text)
    assert kinds(tree) == kinds(own)
    twins = {id(mine): other for mine, other in pairs(bare, whole)}
    for mine, other in zip(nodes(tree), nodes(own), strict=True):
        assert twins[id(mine)] is other


@every_file
def test_files(path: Path) -> None:
    assert_alike(text_of(path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n# only a comment\n",
        "x = 1; y = 2\nif x: y; x\nelse: pass\n",
        "if a:\n    pass\nelif b:\n    pass\nelse:\n    if c: d\n",
        "a and b and c or not d or e\n",
        "x = a[0, 1:2, ...], a[(0, 1)], a[(0), (1)], a[(0, 1), 2], a[()], a[i,], a[(i,)], a[(i), j:k]\n",
        "x = f(*a, b, c=1, *d, **e)\nclass A(B, *C, metaclass=D, **E): pass\n",
        "def f(a, /, b=1, *c: int, d, e=2, **g) -> int: return (yield)\nlambda *, a: a\nlambda *a, b=1, **c: 0\n",
        "async def f():\n    async with a as b, c:\n        async for x in y: z\n    return [z async for z in w]\n",
        "x = 'a' \"b\" if rb'c' else f'{a}' 'b' f\"{c!r:>{d}}\"\n",
        'x = """a\nb""" \'c\'\n',
        "x = ('a'  # why\n     'b' \\\n     'c')\n",
        "x = f'{a=}' + f'{{' + f'{f\"{b}\"}' + f''\n",
        "x = f'{a:}{b:c}{d!r:>{e}}{f:{g}.{h!s:i}}{j=:{k}}' 'l' f'{m:{n}}'\n",
        "x = '\\N{BULLET} ä \U0001f600'; y = ä.ö['ü']; z = 'é' 'è'\n",
        "x = 0x_10 + 1_000 + 1e5 + 2j + .5 + -3 ** +4\n",
        "x = True, None, False, ...\n",
        "del a, b[0]\ndel (c, d)\ndel e\n",
        "global g\nnonlocal_ = 1\ndef f():\n    global a, b\n    def h():\n        nonlocal x\n",
        "try:\n    a\nexcept (B, C) as d:\n    raise e from f\nexcept:\n    raise\nelse:\n    b\nfinally:\n    c\n",
        "for i, (j, *k) in l, m:\n    continue\nelse:\n    break_ = 1\nwhile (n := o()): break\nelse: p\n",
        "import a.b as c, d\nfrom .. import e as f, g\nfrom .h.i import *\nfrom . import (j, k,)\n",
        "x: int\ny: 'T' = 1\nx += 1; x @= y; x //= z; x >>= 1; x **= 2\n",
        "{**a, 'b': 1, **c}\n{*a, b}\n[*a, b]\n{k: v for k, v in a if b if c for d in e}\n",
        "assert a, b\nassert c\nx = a if b else c\nx = y = z\n(a)\n(a, b)\n",
        "@a.b(1)\n@c\nclass D:\n    '''doc'''\n    @property\n    def e(self): ...\n",
        "x = a < b <= c != d is not e not in f in g is h == i >= j > k\n",
        "def f():\n\tif a:\n\t\tb\n\n\tc\n",
        "x = 1\r\nif x:\r\n    y = '''a\r\nb'''\r\n",
        "\x0cx = 1\nclass A:\n\x0c    y = 2\n",
        "x = 1e999, " + "(" * 150 + "1" + ")" * 150 + "\n",
        "x = [\n    1,\n]\nf(\n    a\n)(b)[c].d\n",
    ],
)
def test_every_kind_of_code(text: str) -> None:
    assert_alike(text)


@pytest.mark.parametrize(
    "text",
    ["match x:\n    case 1: pass\n", "x = (\n", "x = '\ud800'\n", "a\0b\n", "x = " + "-" * 50_000 + "1\n"],
    ids=["match", "no Python", "surrogate", "NUL", "too deep"],
)
def test_what_only_libcst_can_tell(text: str) -> None:
    with pytest.raises(UnlikeError):
        bare_tree(text)


def test_trees_that_differ() -> None:
    with pytest.raises(UnlikeError, match="Call for Name"):
        list(pairs(bare_tree("x = f(1)\n"), cst.parse_module("x = y\n")))
    with pytest.raises(UnlikeError, match="1 for 0 of format_spec"):
        list(pairs(bare_tree("f'{x:{y}}'\n"), cst.parse_module("f'{x:y}'\n")))


def test_libcst_takes_over_where_the_trees_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n"
    expected = lint_source(text, str(tmp_path / "a.py"))
    assert [one.code for one in expected] == ["DL301"]

    def unlike(*_: object) -> None:
        raise UnlikeError("made up")

    monkeypatch.setattr("dataloader_lint.semantics.syntax.layout.pairs", unlike)
    session = Session()
    for _ in range(2):
        assert lint_source(text, str(tmp_path / "a.py"), session=session) == expected
