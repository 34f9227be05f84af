"""Which scope binds a name, for every name of real files: the same as Python's own compiler says."""

from __future__ import annotations

import ast
import symtable
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

from dataloader_lint.edits.captures import scope_of_name
from dataloader_lint.edits.editor import Editor
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.fast_tree import parse_as_python
from dataloader_lint.source.parsing import own_tree, tree_of

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="the names of comprehensions that are inlined are told as those of the function"
)
# The sorts of scope, as the compiler calls them.
COMPREHENSIONS = {
    cst.ListComp: "listcomp",
    cst.SetComp: "setcomp",
    cst.DictComp: "dictcomp",
    cst.GeneratorExp: "genexpr",
}

# What a scope is called, its own names, those of functions around it, and those of the module and builtins.
Known = tuple[str, frozenset[str], frozenset[str], frozenset[str]]


def told_by_python(table: symtable.SymbolTable) -> Iterator[Known]:
    """What the compiler says of a scope and those in it."""
    own, free, outer = set(), set(), set()
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if not is_compared(name) or not (symbol.is_referenced() or symbol.is_assigned() or symbol.is_imported()):
            if not (is_compared(name) and symbol.is_parameter()):
                continue
        if is_module or symbol.is_local() or symbol.is_parameter():
            (own if not is_module or symbol.is_assigned() or symbol.is_imported() else outer).add(name)
        elif symbol.is_free():
            free.add(name)
        else:
            outer.add(name)
    yield table.get_name(), frozenset(own), frozenset(free), frozenset(outer - own)
    for each in table.get_children():
        yield from told_by_python(each)


def told_by_tree(editor: Editor) -> Iterator[Known]:
    """The same, from the nodes of the tree."""
    tree = editor.tree
    read: dict[int, set[tuple[str, str]]] = {}
    for name in tree.find(tree.module, cst.Name):
        if is_compared(name.value):
            scope, home = tree.scope_of(name), scope_of_name(editor, name)
            sort = "own" if home is scope else "outer" if home in (None, tree.root) else "free"
            read.setdefault(id(scope), set()).add((name.value, sort))
    for scope in tree.root.descend():
        found = read.get(id(scope), set())
        own = {name for name in bindings_of(scope) if is_compared(name) and is_bound_here(scope, name)}
        own |= {name for name, sort in found if sort == "own"}
        sorts = [frozenset(name for name, each in found if each == sort) - own for sort in ("free", "outer")]
        yield name_of(scope), frozenset(own), sorts[0], sorts[1]


def is_bound_here(scope: Scope, name: str) -> bool:
    """False for what only `global` in a function makes a name of the module."""
    return name != "*" and any(each.scope is scope for each in bindings_of(scope)[name])


def is_compared(name: str) -> bool:
    """False for keywords, for what the compiler adds, and for names that it mangles."""
    return name not in ("None", "True", "False", "*") and "__" not in name and not name.startswith(".")


def name_of(scope: Scope) -> str:
    node = scope.node
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        return node.name.value
    return "top" if scope.parent is None else COMPREHENSIONS.get(type(node), "lambda")


def declarations(parsed: ast.Module) -> set[str]:
    """Names of which our trees need not know: `x: int` without a value, and what `global` and `nonlocal` declare."""
    found = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
    return found


def without(known: Iterator[Known], names: set[str]) -> Counter[Known]:
    return Counter((name, own - names, free - names, outer - names) for name, own, free, outer in known)


def check(text: str, *, own: bool = False) -> bool:
    """Compare the two; False where the compiler does not take the text, or defers its annotations."""
    try:
        parsed = parse_as_python(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(text, "file", "exec")
        module = own_tree(text) if own else tree_of(text)
    except (SyntaxError, ValueError, UnreadableError, RecursionError):
        return False
    if "annotations" in text:
        return False
    facts = ModuleFacts("/nonexistent/a.py", False, module, text)
    names = declarations(parsed)
    expected = without(told_by_python(table), names)
    found = without(told_by_tree(Editor(facts.tree, text)), names)
    assert not (found - expected), (list((found - expected).items())[:2], list((expected - found).items())[:2])
    return found == expected


CODE = """
import a.b, c as d
from e import f as g, h

def outer(k, *rows, w=lambda: k, **kw):
    with d(k) as (m, n), g as k.o[w]: pass
    for p, (q, *r) in rows: pass
    try: pass
    except* ValueError as s: print(s)
    match rows:
        case [first, *others]: pass
        case {"x": y, **rest}: pass
        case h(z, at=[t]) | g.Red as u if (v := t): pass
    del p, q
    [aa for aa in aa], {bb: cc for bb in rows for cc in bb}, {dd for dd in (ee for ee in k)}
    print([w1 := k for _ in k if any((w2 := x) + (lambda: (w3 := x))() for x in k)], w2)
    class Inner(k):
        field = k
        def method(self): return field, rest, others, Inner
        more = [field for _ in field]
    def inner(x=first):
        nonlocal m
        global h
        m = h = f"{x:{w}} {u!r:>{v}}"
        return lambda b: (first, b, y, others)
    return inner
"""


@pytest.mark.parametrize("own", [False, True])
def test_every_kind_of_binding(own: bool) -> None:
    assert check(CODE, own=own)


def check_files(files: list[Path]) -> int:
    done = 0
    for path in files:
        try:
            text = decode(path.read_bytes())
        except UnreadableError:
            continue
        try:
            done += check(text)
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from None
    return done


def test_some_of_the_standard_library() -> None:
    files = sorted(path for path in STANDARD_LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    assert check_files(files[11::150]) >= 3


@pytest.mark.long
def test_all_of_the_standard_library() -> None:
    done = check_files(sorted(path for path in STANDARD_LIBRARY.rglob("*.py") if "site-packages" not in path.parts))
    print(done)
    assert done > 1_000
