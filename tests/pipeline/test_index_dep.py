"""How values depend on the index: one table, read by sample storage (DL101) and by caches (DL104)."""

from __future__ import annotations

from dataloader_lint import Settings, lint_source
from dataloader_lint.pipeline.datasets.function_index import IndexInFunction
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from question_tables import Row, each_row


@each_row(__file__, "index.md")
def test_index(row: Row) -> None:
    asked = row.asked
    index = IndexInFunction(asked.frame.scope, {"index": IndexDep.INDEX}, [], False, lambda call, path: IndexDep.NONE)
    dependence, *entries = row.answer.split(", ")
    assert index.at(asked.node).name.lower() == dependence
    if entries:
        assert entries == ["per sample" if _grows_as_cache(row) else "few"]


_CACHE = """
import os
from pathlib import Path
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, root, ids, rows, size, transform):
        self.root, self.ids, self.rows, self.size, self.transform = root, ids, rows, size, transform
        self.cache = {}

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        key = ...
        if key not in self.cache:
            self.cache[key] = np.load(f"{self.root}/{index}.npy")
        return self.cache[key]
"""


def _grows_as_cache(row: Row) -> bool:
    """True if DL104 reports a cache with this key."""
    *before, _ = row.program.splitlines()[2 : row.number]
    statements = "\n".join([*before, f"        key = {row.code}"])
    found = lint_source(_CACHE.replace("        key = ...", statements), "rows.py", Settings(select=("DL104",)))
    return [each.code for each in found] == ["DL104"]
