"""The helpers that repairs are built from, one layout after the other."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import libcst as cst
import pytest

from dataloader_lint.edits import (
    Edit,
    Editor,
    RefusedError,
    add_argument,
    add_function,
    insert_after,
    insert_before,
    need_import,
    remove_argument,
    remove_statement,
    replace,
    splice,
)
from dataloader_lint.semantics.project.project import Project


def edit(source: str, change: Callable[[Editor, cst.Call], list[Edit]]) -> str:
    """Applies a change that is made at the last call of `use` in the source."""
    text = dedent(source)
    module = Project().module_for("/nowhere/made_up.py", text)
    return splice(text, change(Editor(module.tree, text), module.calls_named("use")[-1]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("use()", "use(k=1)"),
        ("use( )", "use(k=1)"),
        ("use(a)", "use(a, k=1)"),
        ("use(a, )", "use(a, k=1, )"),
        ("use(a, *b, **c)", "use(a, *b, **c, k=1)"),
        ("use((a))", "use((a), k=1)"),
        ("use((yield))", "use((yield), k=1)"),
        ("use(lambda: 0)", "use(lambda: 0, k=1)"),
        ("use(\n    a,\n)", "use(\n    a,\n    k=1,\n)"),
        ("use(\n    a\n)", "use(\n    a,\n    k=1\n)"),
        ("use(\n    a,  # why\n)", "use(\n    a,  # why\n    k=1,\n)"),
        ("use(\n    a  # why\n)", None),
        ("use(a,\n    b)", "use(a,\n    b, k=1)"),
        ("use(\n    a, b,\n)", "use(\n    a, b, k=1,\n)"),
        ("use(a for a in b)", None),
        ("use((a for a in b))", "use((a for a in b), k=1)"),
        ("use(  # why\n)", None),
    ],
)
def test_add_argument(before: str, after: str | None) -> None:
    source = f"def f():\n    {before.replace(chr(10), chr(10) + '    ')}\n"
    if after is None:
        with pytest.raises(RefusedError):
            edit(source, lambda editor, call: [add_argument(editor, call, "k=1")])
        return
    result = edit(source, lambda editor, call: [add_argument(editor, call, "k=1")])
    assert result == f"def f():\n    {after.replace(chr(10), chr(10) + '    ')}\n"
    cst.parse_module(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("use(k=1)", "use()"),
        ("use( k=1 )", "use()"),
        ("use(k=1,)", "use()"),
        ("use(k=1, **b)", "use(**b)"),
        ("use(*a, k=1)", "use(*a)"),
        ("use(a, k=(1), b=2)", "use(a, b=2)"),
        ("use(a,k=1,b=2)", "use(a,b=2)"),
        ("use(a, k=f(1, 2))", "use(a)"),
        ("use(a, k=1,)", "use(a,)"),
        ("use(\n    k=1,\n)", "use(\n)"),
        ("use(\n    a,\n    k=1,\n    b=2,\n)", "use(\n    a,\n    b=2,\n)"),
        ("use(\n    a,\n    k=1\n)", "use(\n    a,\n)"),
        ("use(a,\n    k=1)", "use(a)"),
        ("use(a,\n    k=1,)", "use(a,)"),
        ("use(a,  # why\n    k=1)", "use(a,  # why\n    )"),
        ("use(\n    a,\n    k=1,  # why\n    b=2,\n)", "use(\n    a,\n    # why\n    b=2,\n)"),
        ("use(\n    a, k=1,  # why\n    b=2,\n)", "use(\n    a,  # why\n    b=2,\n)"),
        ("use(\n    a\n    , k=1\n    , b=2\n)", "use(\n    a\n    , b=2\n)"),
        ("use(\n    k=1  # why\n    , b=2\n)", None),
        ("use(a, k=[  # why\n    1])", None),
        ("use(a, \\\n    k=1, \\\n    b=2)", "use(a, \\\n    b=2)"),
    ],
)
def test_remove_argument(before: str, after: str | None) -> None:
    def change(editor: Editor, call: cst.Call) -> list[Edit]:
        arg = next(each for each in call.args if each.keyword is not None and each.keyword.value == "k")
        return [remove_argument(editor, call, arg)]

    if after is None:
        with pytest.raises(RefusedError):
            edit(before + "\n", change)
        return
    result = edit(before + "\n", change)
    assert result == after + "\n"
    cst.parse_module(result)


BLOCK = """\
def f():
    # above
    use(a)  # beside
    # below
"""


@pytest.mark.parametrize(
    ("before", "inserted_before", "inserted_after"),
    [
        (BLOCK, "def f():\n    new()\n    # above\n    use(a)  # beside\n    # below\n",
         "def f():\n    # above\n    use(a)  # beside\n    new()\n    # below\n"),
        ("use(a)", "new()\nuse(a)", "use(a)\nnew()"),
        ("if a: use(a)\n", "if a: new(); use(a)\n", "if a: use(a); new()\n"),
        ("if a:\n\tx; use(a)\n", "if a:\n\tnew()\n\tx; use(a)\n", "if a:\n\tx; use(a)\n\tnew()\n"),
        ("@use(a)\ndef f():\n    return 1\nx\n", "new()\n@use(a)\ndef f():\n    return 1\nx\n",
         "@use(a)\ndef f():\n    return 1\nnew()\nx\n"),
        ("while use(a):\n    pass\nelse:\n    x\n", "new()\nwhile use(a):\n    pass\nelse:\n    x\n",
         "while use(a):\n    pass\nelse:\n    x\nnew()\n"),
        ("if a:\n    x\nelif use(a):\n    y\n", None, None),
    ],
)  # fmt: skip
def test_insert_statements(before: str, inserted_before: str | None, inserted_after: str | None) -> None:
    for helper, expected in ((insert_before, inserted_before), (insert_after, inserted_after)):
        if expected is None:
            with pytest.raises(RefusedError):
                edit(before, lambda editor, call, helper=helper: [helper(editor, call, "new()")])  # type: ignore[misc]
        else:
            result = edit(before, lambda editor, call, helper=helper: [helper(editor, call, "new()")])  # type: ignore[misc]
            assert result == expected
            cst.parse_module(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x\nuse(a)\ny\n", "x\ny\n"),
        ("x\n# above\nuse(a)  # beside\ny\n", "x\n# above\n# beside\ny\n"),
        ("if a:\n    use(a)\n", "if a:\n    pass\n"),
        ("if a: use(a)\n", "if a: pass\n"),
        ("x; use(a)\n", None),
        ("x\nuse(  # why\n    a\n)\ny\n", None),
        ("x\nuse(\n    a\n)  # beside\ny\n", "x\n# beside\ny\n"),
    ],
)
def test_remove_statement(before: str, after: str | None) -> None:
    if after is None:
        with pytest.raises(RefusedError):
            edit(before, lambda editor, call: [remove_statement(editor, call)])
    else:
        assert edit(before, lambda editor, call: [remove_statement(editor, call)]) == after


def test_comments_in_a_statement_that_moves() -> None:
    before = "x\r\nif x:\r\n    use(  # why\r\n        a)\r\n    y\r\n"

    def moved(editor: Editor, call: cst.Call) -> list[Edit]:
        first, code = editor.tree.module.body[0], editor.code(call)
        return [insert_before(editor, first, code), remove_statement(editor, call, moved=code)]

    assert edit(before, moved) == "use(  # why\r\n        a)\r\nx\r\nif x:\r\n    y\r\n"


FUNCTION = "def new():\n    pass"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\n\nuse(a)\n", f"import a\n\n\n{FUNCTION}\n\n\nuse(a)\n"),
        ("import a\n# about it\nuse(a)\n", f"import a\n\n\n{FUNCTION}\n\n\n# about it\nuse(a)\n"),
        ("x = 1\n\n\n\n@y\nclass A:\n    z = use(a)\n", f"x = 1\n\n\n\n{FUNCTION}\n\n\n@y\nclass A:\n    z = use(a)\n"),
        ("# licence\nuse(a)\n", f"# licence\n\n\n{FUNCTION}\n\n\nuse(a)\n"),
        ("use(a)", f"{FUNCTION}\n\n\nuse(a)"),
    ],
)
def test_add_function(before: str, after: str) -> None:
    assert edit(before, lambda editor, call: list(add_function(editor, call, FUNCTION))) == after


def imported(source: str, *wanted: str, alias: str = "") -> tuple[str, str]:
    names: list[str] = []

    def change(editor: Editor, call: cst.Call) -> list[Edit]:
        found = need_import(editor, call, *wanted, alias=alias)
        names.append(found.name)
        return list(found.edits)

    result = edit(source, change)
    cst.parse_module(result)
    return names[0], result.removesuffix("use()\n")


@pytest.mark.parametrize(
    ("imports", "name", "after"),
    [
        ("from functools import partial\n", "partial", None),
        ("from functools import partial as p\n", "p", None),
        ("import functools\n", "functools.partial", None),
        ("import functools as ft\n", "ft.partial", None),
        ("from functools import cache\n", "partial", "from functools import cache, partial\n"),
        ("from functools import reduce, wraps\n", "partial", "from functools import partial, reduce, wraps\n"),
        ("from functools import wraps, cache\n", "partial", "from functools import wraps, cache, partial\n"),
        ("from functools import (\n    cache,\n    wraps,\n)\n", "partial",
         "from functools import (\n    cache,\n    partial,\n    wraps,\n)\n"),
        ("from functools import (\n    cache,\n    lru_cache,  # why\n)\n", "partial",
         "from functools import (\n    cache,\n    partial,\n    lru_cache,  # why\n)\n"),
        ("from functools import (\n    cache, lru_cache\n)\n", "partial",
         "from functools import (\n    cache, lru_cache, partial\n)\n"),
        ('"""Doc."""\n\nimport os\nimport sys\n\nimport torch\n', "partial",
         '"""Doc."""\n\nimport os\nimport sys\nfrom functools import partial\n\nimport torch\n'),
        ("from collections import abc\nfrom os import path\n\nimport torch\n", "partial",
         "from collections import abc\nfrom functools import partial\nfrom os import path\n\nimport torch\n"),
        ("from __future__ import annotations\n\nimport torch\n", "partial",
         "from __future__ import annotations\n\nfrom functools import partial\n\nimport torch\n"),
        ("# about torch\nimport torch\n", "partial", "# about torch\nfrom functools import partial\n\nimport torch\n"),
        ("import torch\npartial = 1\n", "functools.partial", "import functools\n\nimport torch\npartial = 1\n"),
        ("import torch\npartial = functools = 1\n", None, None),
        ("import torch\nprint(partial)\n", "functools.partial", "import functools\n\nimport torch\nprint(partial)\n"),
        ("try:\n    from functools import partial\nexcept ImportError:\n    partial = None\n", None, None),
        ("x = 1\n", None, None),
    ],
)  # fmt: skip
def test_need_import(imports: str, name: str | None, after: str | None) -> None:
    source = f"{imports}use()\n"
    if name is None:
        with pytest.raises(RefusedError):
            imported(source, "functools", "partial")
    else:
        assert imported(source, "functools", "partial") == (name, after or imports)


def test_an_import_that_comes_later_is_refused() -> None:
    with pytest.raises(RefusedError):
        imported("use()\nfrom functools import partial\n", "functools", "partial")
    with pytest.raises(RefusedError):
        imported("use()\nimport torch\n", "functools", "partial")


def test_a_name_that_is_shadowed_is_not_used() -> None:
    source = "from functools import partial\n\ndef f(partial):\n    use()\n"
    assert imported(source, "functools", "partial")[0] == "functools.partial"
    with pytest.raises(RefusedError):
        imported(source.replace("(partial)", "(partial, functools)"), "functools", "partial")


def test_modules_with_their_usual_alias() -> None:
    assert imported("import numpy\nuse()\n", "numpy", "array", alias="np") == ("numpy.array", "import numpy\n")
    assert imported("import numpy as n\nuse()\n", "numpy", alias="np") == ("n", "import numpy as n\n")
    assert imported("from numpy import array\nuse()\n", "numpy", "array", alias="np")[0] == "array"
    name, after = imported("import os\n\nimport torch\nuse()\n", "numpy", "array", alias="np")
    assert (name, after) == ("np.array", "import os\n\nimport numpy as np\nimport torch\n")


def test_replace_keeps_words_apart() -> None:
    def change(editor: Editor, call: cst.Call) -> list[Edit]:
        return [replace(editor, call, "new")]

    assert edit("x = 1 if(use(a))else 2\n", change) == "x = 1 if new else 2\n"
    with pytest.raises(RefusedError):
        edit("x = use(  # why\n    a)\n", change)


def test_insertions_at_one_place_keep_their_order() -> None:
    assert splice("abc", [Edit(1, 1, "x"), Edit(1, 1, "y"), Edit(1, 2, "")]) == "axyc"
    with pytest.raises(ValueError, match="overlap"):
        splice("abc", [Edit(0, 2, ""), Edit(1, 3, "")])
