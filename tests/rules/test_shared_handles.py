"""What DL205 says of forked workers: only what the number of workers that read a handle makes true."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from dataloader_lint import lint_source

PROGRAM = """
    import gzip, lmdb, tarfile, zipfile
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __init__(self, path):
            self.handle = {opening}

        def __len__(self):
            return 8

        def __getitem__(self, index):
            return self.handle.read(index)

    def main(workers=4):
        rows = Rows("rows")
        {loaders}

    if __name__ == "__main__":
        main()
"""
ONE = "DataLoader(rows, num_workers=1)"
TABLE = [
    ('open(path, "rb")', ONE, True),
    ("zipfile.ZipFile(path)", ONE, False),
    ("tarfile.open(path)", ONE, False),
    ("gzip.open(path)", ONE, True),
    ("lmdb.open(path)", ONE, True),
    ('open(path, "rb")', "DataLoader(rows, num_workers=2)", True),
    ("zipfile.ZipFile(path)", "DataLoader(rows, num_workers=workers)", True),
    ("zipfile.ZipFile(path)", f"zip({ONE}, {ONE})", True),
]


@pytest.mark.parametrize(("opening", "loaders", "mixed"), TABLE)
def test_reads_are_mixed_up_by_a_second_reader(opening: str, loaders: str, mixed: bool) -> None:
    text = textwrap.dedent(PROGRAM).format(opening=opening, loaders=loaders)
    (message,) = (each.message for each in lint_source(text, Path("rows.py")) if each.code == "DL205")
    assert ("forked workers" in message) is mixed
    assert "pickling" in message
