"""How values depend on the index: one table, read by sample storage (DL101) and by caches (DL104)."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from dataloader_lint import Settings, lint_source
from dataloader_lint.pipeline.datasets.function_index import IndexInFunction
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.source.parsing import tree_of

NONE, SAMPLE, KEY, INDEX = IndexDep.NONE, IndexDep.SAMPLE, IndexDep.KEY, IndexDep.INDEX

# The expression; how it depends on `index`; True if a cache with this key gets an entry for each sample.
TABLE = [
    ("index", INDEX, True),
    ("4", NONE, False),
    ("self.size", NONE, False),
    ("'all'", NONE, False),
    ("index + 1", INDEX, True),
    ("-index", INDEX, True),
    ("max(index, 0)", INDEX, True),
    ("min(index, 9)", INDEX, True),
    ("round(index)", INDEX, True),
    ("abs(index)", INDEX, True),
    ("int(index)", INDEX, True),
    ("divmod(index, 1)[0]", INDEX, True),
    ("hash(index)", INDEX, True),
    ("repr(index)", INDEX, True),
    ("str(index).zfill(6)", INDEX, True),
    ("f'{index:06d}.png'", INDEX, True),
    ("index.item()", INDEX, True),
    ("np.int64(index)", INDEX, True),
    ("index if index else 0", INDEX, True),
    ("(index, self.size)", INDEX, True),
    ("(at := index)", INDEX, True),
    ("index % 4", SAMPLE, False),
    ("index // 1000", INDEX, False),
    ("self.ids[index]", KEY, True),
    ("self.ids[max(index, 0)]", KEY, True),
    ("self.ids.get(index)", KEY, True),
    ("os.path.join(self.root, self.ids[index])", KEY, True),
    ("self.ids[index] + '.png'", KEY, True),
    ("os.path.basename(self.ids[index])", KEY, True),
    ("os.path.splitext(self.ids[index])[0]", KEY, True),
    ("Path(self.ids[index]).stem", KEY, True),
    ("self.rows[index]['path']", KEY, True),
    ("self.rows[index]['label']", SAMPLE, False),
    ("self.rows[index].label", SAMPLE, False),
    ("self.transform(index)", SAMPLE, False),
    ("[self.rows[index]]", KEY, None),
    ("[each for each in self.rows[index]]", SAMPLE, False),
    ("{'row': index}", SAMPLE, None),
    ("lambda: index", NONE, None),
    ("index == 4", NONE, False),
]


@pytest.mark.parametrize(("expression", "wanted"), [(row[0], row[1]) for row in TABLE])
def test_in_a_function(expression: str, wanted: IndexDep) -> None:
    text = f"class Rows:\n    def __getitem__(self, index):\n        return {expression}\n"
    module = ModuleFacts("/nowhere/rows.py", False, tree_of(text), text)
    scope = next(each for each in module.root.descend() if isinstance(each.node, cst.FunctionDef))
    (statement,) = scope.own(cst.Return)
    index = IndexInFunction(scope, {"index": INDEX}, [], False, lambda call, path: NONE)
    assert index.at(statement.value) is wanted


@pytest.mark.parametrize(("expression", "grows"), [(row[0], row[2]) for row in TABLE if row[2] is not None])
def test_as_the_key_of_a_cache(expression: str, grows: bool) -> None:
    text = f"""
    import os
    from pathlib import Path

    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, root, ids, rows, size, transform):
            self.root, self.ids, self.rows, self.size, self.transform = root, ids, rows, size, transform
            self.cache = {{}}

        def __len__(self):
            return self.size

        def __getitem__(self, index):
            key = {expression}
            if key not in self.cache:
                self.cache[key] = np.load(f"{{self.root}}/{{index}}.npy")
            return self.cache[key]
    """
    found = lint_source(textwrap.dedent(text), "rows.py", Settings(select=("DL104",)))
    assert [each.code for each in found] == ["DL104"] * grows
