"""Whatever the layout of a file: positions and edits are at the same code, or there are none."""

from __future__ import annotations

import ast
import random
import re
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import libcst as cst
import pytest

from dataloader_lint.diagnostics import Diagnostic, Position
from dataloader_lint.edits import Editor, RefusedError
from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.engine.linter import lint_source
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE
from dataloader_lint.semantics.syntax.layout import excerpts
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.source.decoding import UnreadableError, decode
from dataloader_lint.source.fast_tree import UnlikeError
from dataloader_lint.source.odd_lines import has_backslash_line
from dataloader_lint.source.parsing import code_of, own_tree, tree_of
from fixture_harness import FIXTURES
from reliability.budget import within
from reliability.layouts import changed
from reliability.rewriting import parsed
from reliability.sweep import EVERY_RULE, harm_of

NOWHERE = "/nonexistent/program.py"
LIBRARY = Path(sysconfig.get_path("stdlib"))
LONGEST = 60_000
_BLANK = re.compile(r"[ \t\f\r\n\\]+")

Places = dict[tuple[int, int], list[int]]


def starts_of(text: str) -> Places:
    """The nodes of Python's own tree by where they begin: as a line, and a column in characters."""
    lines = re.split(r"\r\n|\r|\n", text)
    found: Places = {}
    for number, node in enumerate(_without_strings(parsed(text))):
        if hasattr(node, "lineno"):
            column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
            found.setdefault((node.lineno, column), []).append(number)
    return found


def _without_strings(node: ast.AST) -> Iterable[ast.AST]:
    """All nodes but those in f-strings, of which older Pythons do not know where they stand."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _without_strings(child)


def sites(text: str, found: Iterable[Diagnostic]) -> list[tuple[str, str, object]]:
    """Findings by code, message and the code that they are at, whatever its layout."""
    places = starts_of(text)
    code = re.compile(r"`[^`]*`|\d+")  # quoted with its comments and its lines
    return sorted(
        (one.code, code.sub("0", one.problem), places.get((one.start.line, one.start.column), [-1])) for one in found
    )


def lint(text: str) -> list[Diagnostic]:
    found = lint_source(text.encode(), NOWHERE, EVERY_RULE)
    assert not [one for one in found if one.code in (INTERNAL_ERROR, UNREADABLE_FILE)], found
    return found


def facts_of(text: str, *, own: bool) -> ModuleFacts:
    return ModuleFacts(NOWHERE, False, own_tree(text) if own else tree_of(text), text)


def places_of_nodes(text: str, *, own: bool) -> list[tuple[str, Position, Position]]:
    """Each expression of a tree with its start and end."""
    tree = facts_of(text, own=own).tree
    nodes = [node for node in tree.walk(tree.module) if isinstance(node, cst.BaseExpression)]
    found = {}
    for part, held in excerpts(tree, nodes):
        ranges = part.ranges([part.twin(node) for node in held])
        found.update({id(node): ranges[id(part.twin(node))] for node in held if id(part.twin(node)) in ranges})
    return [(type(node).__name__, *found[id(node)]) for node in nodes if id(node) in found]


def check_positions(before: str, after: str, *, own: bool) -> int:
    """Hold the place of every expression against that of the same one before; how many there were."""
    try:
        old, new = places_of_nodes(before, own=own), places_of_nodes(after, own=own)
    except UnlikeError:
        assert not own
        return check_positions(before, after, own=True)
    starts, new_starts = starts_of(before), starts_of(after)
    assert [kind for kind, *_ in old] == [kind for kind, *_ in new]
    count = 0
    for (kind, start, _), (_, new_start, _) in zip(old, new, strict=True):
        expected = starts.get((start.line, start.column))
        if expected is not None:
            count += 1
            assert new_starts.get((new_start.line, new_start.column)) == expected, (kind, start, new_start)
    return count


def check_edits(text: str, chance: random.Random, *, own: bool) -> int:
    """The text between a node's start and end is its code; how many nodes were asked about."""
    tree = facts_of(text, own=own).tree
    editor = Editor(tree, text)
    nodes = [node for node in tree.walk(tree.module) if isinstance(node, cst.BaseExpression)]
    nodes = [node for node in nodes if not isinstance(node, cst.StarredElement)]  # whose code has a comma behind it
    asked = 0
    for node in chance.sample(nodes, min(len(nodes), 40)):
        try:
            part, (start, end) = editor.excerpt(node), editor.outer(node)
        except RefusedError:
            continue
        asked += 1
        assert _BLANK.sub("", text[start:end]) == _BLANK.sub("", code_of(part.module, part.twin(node)))
    assert asked == 0 or not has_backslash_line(text)
    return asked


def check_fixes(before: str, after: str, made: list[str]) -> int:
    """Fixes leave the same program behind as in the file before; how many there were."""
    old, new = (fix_source(text.encode(), NOWHERE, EVERY_RULE, unsafe=True) for text in (before, after))
    assert harm_of(after.encode(), new.source) == ""
    if has_backslash_line(after):
        assert new.source == after.encode()
    elif new.fixed == old.fixed:
        # A comment on the line of a main guard keeps it from being merged with the one that is added.
        if not any("comment" in each for each in made):
            fixed = new.source.decode()
            assert ast.dump(parsed(fixed)) == ast.dump(parsed(old.source.decode())), fixed
    else:  # refused, lest a comment be lost or code be moved that does not stand on lines of its own
        assert sum(new.fixed.values()) < sum(old.fixed.values()), made
    return sum(new.fixed.values())


def check(text: str, seed: int, *, fixes: bool) -> Counter[str]:
    """Change the layout of a file and see that all stays where it was; counts of what was looked at."""
    chance = random.Random(seed)
    other, made = changed(text, chance, chance.choice([1, 1, 2, 5]))
    counts: Counter[str] = Counter(made)
    if not made:
        return counts
    counts["files"] += 1
    try:
        own = chance.random() < 0.5
        counts["positions"] += check_positions(text, other, own=own)
        counts["nodes with edits"] += check_edits(other, chance, own=own)
        found = lint(text)
        counts["findings"] += len(found)
        assert sites(other, lint(other)) == sites(text, found)
        if fixes and found:
            counts["fixes"] += check_fixes(text, other, made)
    except UnreadableError as error:
        raise AssertionError((made, error.problem, error.line, other)) from None
    except Exception as error:
        error.add_note(f"{made} with seed {seed}:\n{other}")
        raise
    return counts


def texts(paths: Iterable[Path]) -> Iterable[tuple[Path, str]]:
    for path in paths:
        try:
            text = decode(path.read_bytes())
            parsed(text)
            own_tree(text)  # which LibCST refuses for a few files, as `(a): int`
        except (UnreadableError, SyntaxError, ValueError, RecursionError):
            continue
        if len(text) < LONGEST and "coding" not in text[:300] and "noqa" not in text:
            yield path, text


FILES = [path for path in sorted(FIXTURES.rglob("*.py")) if "project_" not in path.as_posix()]
FIXABLE = [path for path in FILES if path.name.startswith("fixable")]


@pytest.mark.parametrize("path", FIXABLE[::6], ids=lambda path: path.parent.name)
def test_fixable_files(path: Path) -> None:
    for _, text in texts([path]):
        for seed in range(4):
            check(text, seed, fixes=True)


def test_some_of_the_standard_library() -> None:
    counts = sum((check(text, 1, fixes=False) for _, text in texts(sorted(LIBRARY.rglob("*.py"))[77::400])), Counter())
    assert counts["files"] > 3
    assert counts["positions"] > 1_000


@pytest.mark.long
def test_many_files() -> None:
    first = int(time.time())
    site = Path(sysconfig.get_path("purelib"))
    library = [path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts]
    others = [*library, *site.rglob("*.py")]
    paths = [*FILES, *random.Random(first).sample(others, min(len(others), 4_000))]
    counts: Counter[str] = Counter()
    for number, (path, text) in enumerate(within("files laid out in another way", texts(paths))):
        try:
            counts += check(text, first + number, fixes=path in FILES)
        except Exception as error:
            error.add_note(str(path))
            raise
    print(first, dict(counts))
    assert counts["files"] > 5
