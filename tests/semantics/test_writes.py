"""What is put into a container, under which name: `writes_at` and `places_from`."""

from __future__ import annotations

from textwrap import indent

import libcst as cst
import pytest

from asking import file_of
from dataloader_lint.semantics.heap.writes import Place, places_from, writes_at

# Statements of a constructor that gets `names`; the words of what is put into `self.rows`, behind "*" if several.
TABLE = [
    ("self.rows = []", []),
    ("self.rows.append(names)", ["names"]),
    ("for each in names:\n    self.rows.append(each)", ["each"]),
    ("self.rows.extend(names)", ["*names"]),
    ("self.rows += [names]", ["*names"]),
    ("self.rows['a'] = names", ["names"]),
    ("self.rows['a'].append(names)", ["names"]),
    ("self.rows.setdefault('a', []).append(names)", ["", "names"]),
    ("rows = self.rows\nrows.append(names)", ["names"]),
    ("add = self.rows.append\nadd(names)", ["names"]),
    ("def add(each):\n    self.rows.append(each)\nadd(names)", ["each"]),
    ("list(map(self.rows.append, names))", ["*names"]),
    ("heapq.heappush(self.rows, names)", ["names"]),
    ("fill(self.rows, names)", ["given"]),
    ("visit(names, self.rows.append)", ["each"]),
    ("self.others.append(names)", []),
    ("names.append(self.rows)", []),
    ("self.rows.sort()", []),
]


@pytest.mark.parametrize(("statements", "wanted"), TABLE)
def test_writes(statements: str, wanted: list[str]) -> None:
    analysis = file_of(
        "import heapq\n\n\n"
        "def fill(rows, given):\n    rows.append(given)\n\n\n"
        "def visit(names, found):\n    for each in names:\n        found(each)\n\n\n"
        "class Rows(Dataset):\n    def __init__(self, names):\n" + indent(statements, " " * 8)
    )
    tree = analysis.module.tree
    scope = next(each for each in analysis.module.root.descend() if _is_constructor(each.node))
    places = places_from(analysis.ev, [Place(scope, "self", "rows")])
    writes = [write for place in places for write in writes_at(place)]
    found = ["*" * write.are_several + tree.words(write.value) for write in writes]
    assert sorted(found) == sorted(wanted)


def _is_constructor(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == "__init__"
