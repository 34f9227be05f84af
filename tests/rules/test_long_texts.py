"""The words of a long text are texts that a table may hold; those of a short one are few."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint import lint_source

PROGRAM = """from torch.utils.data import DataLoader, Dataset

NAMES = "{}".split()


class Names(Dataset):
    def __len__(self):
        return len(NAMES)

    def __init__(self):
        self.names = NAMES

    def __getitem__(self, index):
        return self.names[index]


loader = DataLoader(Names(), num_workers=4)
"""


@pytest.mark.parametrize(("count", "is_found"), [(3, False), (5_000, True)])
def test_words_of_a_literal(count: int, is_found: bool) -> None:
    text = PROGRAM.format(" ".join(f"w{number:06}" for number in range(count)))
    messages = [each.message for each in lint_source(text, Path("names.py")) if each.code == "DL101"]
    assert [("list of str" in each) for each in messages] == [True] * is_found
