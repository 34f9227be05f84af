"""DL211: a spawned worker imports the module again, and what the main process set there is not set."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL211",
    symptom="spawn, forkserver: samples are made with the value from import time, without a message",
    cure="every start method gives the samples that only fork gave before",
    before="""
    import probe
    from torch.utils.data import DataLoader, Dataset

    scale = 1


    class Rows(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return index * scale


    def choose_scale():
        global scale
        scale = 3


    def rows():
        return [int(row) for row in DataLoader(Rows(), num_workers=1)]


    if __name__ == "__main__":
        choose_scale()
        probe.attempt(rows)
    """,
    after="""
    import probe
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, scale):
            self.scale = scale

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return index * self.scale


    def rows():
        return [int(row) for row in DataLoader(Rows(scale=3), num_workers=1)]


    if __name__ == "__main__":
        probe.attempt(rows)
    """,
)

# The name has no value at all before the guard.
NAMELESS = """
import probe
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return index + offset


def rows():
    return [int(row) for row in DataLoader(Rows(), num_workers=1)]


if __name__ == "__main__":
    offset = 3
    probe.attempt(rows)
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert before == {"rows": [0, 3, 6, 9] if start_method == "fork" else [0, 1, 2, 3]}
        assert after == {"rows": [0, 3, 6, 9]}


def test_a_name_without_a_value_is_missing_in_the_worker(tmp_path: Path) -> None:
    seen = run(NAMELESS, tmp_path, start_method="fork,forkserver").values
    assert seen["fork rows"] == [3]
    error = seen["forkserver rows"]
    assert error.startswith("NameError: Caught NameError in DataLoader worker process 0.")
    assert "NameError: name 'offset' is not defined" in error
