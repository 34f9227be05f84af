"""Lines that LibCST does not give back as they were: positions are right all the same, and nothing is cut."""

from __future__ import annotations

import itertools

import libcst as cst
import pytest

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.fixer import fix_source, with_fixes
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.source.alignment import Alignment
from dataloader_lint.source.decoding import UnreadableError
from dataloader_lint.source.odd_lines import has_backslash_line, without_odd_lines
from dataloader_lint.source.parsing import own_tree, tree_of

IMPORT = "from torch.utils.data import DataLoader\n"
CALL = "return DataLoader(d, num_workers=0, persistent_workers=True)\n"
HEADS = [
    "\\\n",
    "# why\n\\\n",
    '"""doc"""\n\\\n',
    "\\\n\\\n",
    "\x0c\\\n",
    "\\\r\n",
    "x = 1; \\\n  y = 2\n\\\n",
    "\x0c",
    "\r\n\x0c\n",
    "",
]
# Which tree is made: Python's parser reads the first, LibCST's own the others.
TREES = ["", "match 1:\n    case 1: pass\n", "x[1,] = a[(b).c]\n"]
BODIES = [
    f"def f(d):\n    {CALL}",
    f"def f(d):\n\\\n    {CALL}",
    f"def f(d):\n    \\\n{CALL}",
    f"def f(d):\n    \\\n    {CALL}",
    f"def f(d):\n    x = 1\n  \\\n  {CALL}".replace("    x", "  x"),
    f"def f(d):\n    if d:\n        \\\n        {CALL}",
    f"class A:\n    \\\n    def f(self, d):\n        \\\n        {CALL}",
    f"class A:\n\x0c    def f(self, d):\n        {CALL}",
    f"def f(d):\n    '''a\n\\\n    b'''\n    {CALL}",
    f"def f(d):\n\x0c    x = d\n    {CALL}",
    f"try:\n  pass\n\\\nfinally:\n  def f(d): \\\n    {CALL}",
    f"def f(d):\r\n\t{CALL}\r",
    f"def f(d):\r    x = 1 \\\r      + 2\r    {CALL}\r",
    f"\\\n@str\n\\\ndef f(d): {CALL}".removesuffix("\n"),
]
LAYOUTS = [
    pytest.param(head + IMPORT + kind + body, id=f"{number}")
    for number, (head, kind, body) in enumerate(itertools.product(HEADS, TREES, BODIES))
]


def lint(text: str) -> list[Diagnostic]:
    return lint_source(text.encode(), "/nonexistent/a.py")


@pytest.mark.thorough
@pytest.mark.parametrize("text", LAYOUTS)
def test_findings_and_fixes(text: str) -> None:
    compile(text, "a.py", "exec")
    (one,) = lint(text)
    line = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[one.start.line - 1]
    assert one.code == "DL301"
    assert line[one.start.column : one.end.column] == CALL.removeprefix("return ").strip()
    fixed = text.replace(", persistent_workers=True", "") if not has_backslash_line(text) else text
    assert fix_source(text.encode(), "/nonexistent/a.py").source.decode() == fixed
    (shown,) = with_fixes(text.encode(), "/nonexistent/a.py")
    assert (shown.fix is None) is (fixed == text)


def test_what_cannot_be_given_back_is_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    text = IMPORT + "\nprint(1)\n" + "loader = DataLoader(d, num_workers=0, persistent_workers=True)\n"
    (one,) = lint(text)
    assert one.code == "DL301"
    real = cst.parse_module
    monkeypatch.setattr(
        cst, "parse_module", lambda code: real(code.replace("print(1)", "print(2)").replace(" = D", " =D"))
    )
    assert [each.code for each in lint(text)] == ["DL301"]  # what is parsed alone is given back but for a blank
    monkeypatch.setattr(cst, "parse_module", lambda code: real(code.replace("num_workers=0", "num_workers=1")))
    (one,) = lint(text)
    assert (one.code, one.start.line) == ("DL000", 4)
    assert "as it is written" in one.problem
    assert fix_source(text.encode(), "/nonexistent/a.py").source == text.encode()


@pytest.mark.parametrize(
    ("code", "text", "spans"),
    [
        ("a b", "a  b", {(0, 1): (0, 1), (2, 3): (3, 4), (0, 3): (0, 4), (1, 2): (1, 1)}),
        ("x = 1\n", "\\\n\x0cx = 1\r", {(0, 1): (3, 4), (4, 5): (7, 8), (5, 6): (8, 8), (0, 0): (0, 0)}),
        ("f('a\\n')", "f('a\\n'\n)", {(2, 7): (2, 7), (7, 8): (8, 9)}),
        ("", "\n\n", {(0, 0): (0, 0)}),
    ],
)
def test_alignment(code: str, text: str, spans: dict[tuple[int, int], tuple[int, int]]) -> None:
    alignment = Alignment(code, text)
    assert {span: alignment.span(*span) for span in spans} == spans


@pytest.mark.parametrize(
    ("code", "text", "line"), [("a\nb", "a\nc", 2), ("a", "a\n\nb", 3), ("a\nb", "a", 1), ("a", "", 1), ("", "\na", 2)]
)
def test_no_alignment(code: str, text: str, line: int) -> None:
    with pytest.raises(UnreadableError) as raised:
        Alignment(code, text)
    assert raised.value.line == line


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("x = 1\n", None),
        ("\\\nx = 1\n", "x = 1\n"),
        ("if x:\n    \\\ny = '''\n\\\n'''\n", "if x:\n    y = '''\n\\\n'''\n"),
        ("if x:\n\\\n  \\\n     y\n", "if x:\n  y\n"),
        ("if x:\n\x0c  y\n", "if x:\n  y\n"),
        ("if x:\n  \x0c  y\n", "if x:\n  y\n"),
        ("x = 1 \\\n\\\n+ 2\n", "x = 1 \\\n+ 2\n"),
        ("if x:\n \\\n", None),
        ("x = 1\r\n", None),
        ("x = '''\r'''\r\ny = 1\r", "x = '''\n'''\ny = 1\n"),
        ("if x:\r  \\\ry\r", "if x:\n  y\n"),
    ],
)
def test_odd_lines(text: str, plain: str | None) -> None:
    assert without_odd_lines(text) == plain


def test_a_megabyte_of_odd_lines() -> None:
    for text in (" \t\x0c" * 300_000, "\\\n" * 300_000, " " * 1_000_000 + "\x0c", "\\ " * 300_000):
        has_backslash_line(text)
        without_odd_lines(text)


@pytest.mark.parametrize("kind", ["", "match 1:\n    case 1: pass\n"])
def test_names_are_those_that_python_reads(kind: str) -> None:
    """The micro sign stands for a Greek letter, and is another character."""
    text = (
        f"{kind}from torch.utils.data import DataLoader\n\n\n"
        "def make(data, \u00b5):\n    return DataLoader(data, num_workers=2, collate_fn=lambda b: (b, \u03bc))\n"
    )
    fixed = fix_source(text.encode(), "/nonexistent/a.py")
    assert fixed.fixed == {"DL201": 1}
    assert "partial(_collate_for_make, \u03bc=\u03bc)" in fixed.source.decode()
    assert "def make(data, \u00b5):" in fixed.source.decode()


@pytest.mark.parametrize("tree", [tree_of, own_tree])
def test_both_trees_have_the_same_names(tree: object) -> None:
    assert callable(tree)
    module = tree("\ufb01le.\u00b5 = '\u00b5'\n")
    target = module.body[0].body[0].targets[0].target
    assert (target.value.value, target.attr.value) == ("file", "\u03bc")


@pytest.mark.parametrize(
    "head", ["class Rows(", "\x0cclass Rows(", "class\\\nRows(", "class Rows\\\n  (", "\\\nclass Rows("]
)
def test_classes_are_seen_whatever_their_layout(head: str) -> None:
    body = "Dataset):\n    def __init__(self):\n        self.rows = [line for line in open('a')]\n"
    body += "    def __getitem__(self, index):\n        return self.rows[index]\n"
    text = (
        f"from torch.utils.data import Dataset, DataLoader\n{head}{body}\nloader = DataLoader(Rows(), num_workers=2)\n"
    )
    assert "DL101" in [one.code for one in lint(text)]
