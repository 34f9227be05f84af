"""What IPython understands in a cell and Python does not."""

from __future__ import annotations

import ast

import pytest

from dataloader_lint.source.magics import Hidden, to_python


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("import os\n", "import os\n"),
        ("%matplotlib inline\nimport os", "pass\nimport os"),
        ("if fresh:\n    !rm -r {folder}\n    x = 1", "if fresh:\n    pass\n    x = 1"),
        ("!pip install a \\\n    b\nimport a", "pass\n\nimport a"),
        ("files = !ls *.png\nn = len(files)", "files = get_ipython()\nn = len(files)"),
        ("table = %sql select 1 \\\n  from t\nx = 2", "table = get_ipython()\n\nx = 2"),
        ("loader?\nloader.dataset??\n?loader\nlen?;", "pass\npass\npass\npass"),
        (",print a b\n;print a b\n/print 1", "pass\npass\npass"),
        ("%time loader = make(4)", "loader = make(4)"),
        ("%time\n%timeit next(batches)", "pass\npass"),
        ("%%time\nloader = make(4)", "pass\nloader = make(4)"),
        ("\n%%capture out\n!ls\nx = 1", "\npass\npass\nx = 1"),
        ("%%bash\nls | head\n", "\n\n"),
        ("%%writefile data.py\nfrom torch.utils.data import Dataset", "\n"),
        ("%%html", ""),
        ("%%time?", "pass"),
        ("    x = 1\n    y = 2\n\n    z = 3", "x = 1\ny = 2\n\nz = 3"),
        # Python's own, however much it looks like the above.
        ("x = (a\n     % b)", "x = (a\n     % b)"),
        (
            'text = """\n%not a magic\n!nor a command\nwhat?\n"""',
            'text = """\n%not a magic\n!nor a command\nwhat?\n"""',
        ),
        ("x = 'ready?'  # is it?", "x = 'ready?'  # is it?"),
        ("same = a != b\nrest = a %b\nrest %= 3", "same = a != b\nrest = a %b\nrest %= 3"),
        ("call(a,\n    % b)", "call(a,\n    % b)"),
        ("x = a \\\n  % b", "x = a \\\n  % b"),
        # No Python, and none of IPython's either.
        ("pip install torch", "pip install torch"),
        ("what is this?\n", "pass\n"),
        ("x = (1\n!ls", "x = (1\n!ls"),
    ],
)
def test_magics(cell: str, python: str) -> None:
    shown, hidden = to_python(cell)
    assert shown == python
    assert shown.count("\n") == cell.count("\n")
    assert restored(shown, hidden) == cell


def restored(shown: str, hidden: tuple[Hidden, ...]) -> str:
    """The cell again, from its Python and the pieces that are not in it."""
    for piece in reversed(hidden):
        shown = shown[: piece.start] + piece.original + shown[piece.end :]
    return shown


def test_windows_lines_stay() -> None:
    assert to_python("!ls \\\r\n  -l\r\nx = 1\r\n")[0] == "pass\n\r\nx = 1\r\n"


def test_ipython_agrees() -> None:
    """Whatever IPython itself can turn into Python, this turns into Python too, with the same names bound."""
    manager = pytest.importorskip("IPython.core.inputtransformer2").TransformerManager()
    cells = [
        "%matplotlib inline\nx = 1\n",
        "x = !ls\ny = %pwd\n",
        "!ls\nx?\n",
        "for a in b:\n    !echo {a}\n    c = %env HOME\n",
        "    x = 1\n    y = 2\n",
        "%time x = 1\n",
        "x = {\n  'a': 1,\n}\n%who\n",
        "a = '''\n%x\n'''\n",
        "?x\n%%timeit?\n",
    ]
    for cell in cells:
        ours = ast.parse(to_python(cell)[0])
        theirs = ast.parse(manager.transform_cell(cell))
        missing = _bound(theirs) - _bound(ours)
        assert not missing, cell


def _bound(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
