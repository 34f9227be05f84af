"""DL106: numpy pickles an array by value, a memory map too: every spawned worker gets all of it."""

from __future__ import annotations

from pathlib import Path

from dataloader_lint.settings import Settings
from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL106",
    symptom="each of two spawned workers holds a file of 1 kB a sample whole: 2 kB a sample",
    cure="less than 0.1 kB a sample",
    settings=Settings(start_method="spawn"),
    before="""
    import sys

    import numpy as np
    import probe
    from torch.utils.data import DataLoader, Dataset


    class Tokens(Dataset):
        def __init__(self, file):
            self.rows = np.load(file, mmap_mode="r" if "mapped" in sys.argv else None)

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return int(self.rows[index, 0])


    def make_loader(count):
        np.save("rows.npy", np.ones((count, 1024), dtype=np.uint8))
        return DataLoader(Tokens("rows.npy"), batch_size=1000, num_workers=2, persistent_workers=True)


    if __name__ == "__main__":
        probe.say(growth=probe.bytes_per_sample(make_loader, many=30_000))
    """,
    after="""
    import numpy as np
    import probe
    from torch.utils.data import DataLoader, Dataset


    class Tokens(Dataset):
        def __init__(self, file, length):
            self.file = file
            self.length = length
            self.rows = None

        def __len__(self):
            return self.length

        def __getitem__(self, index):
            if self.rows is None:
                self.rows = np.load(self.file, mmap_mode="r")
            return int(self.rows[index, 0])


    def make_loader(count):
        np.save("rows.npy", np.ones((count, 1024), dtype=np.uint8))
        return DataLoader(Tokens("rows.npy", count), batch_size=1000, num_workers=2, persistent_workers=True)


    if __name__ == "__main__":
        probe.say(growth=probe.bytes_per_sample(make_loader, many=30_000))
    """,
)


# What is in memory anyway, as a tensor.
TENSOR = """
import numpy as np
import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Tokens(Dataset):
    def __init__(self, file):
        self.rows = torch.from_numpy(np.load(file))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return int(self.rows[index, 0])


def make_loader(count):
    np.save("rows.npy", np.ones((count, 1024), dtype=np.uint8))
    return DataLoader(Tokens("rows.npy"), batch_size=1000, num_workers=2, persistent_workers=True)


if __name__ == "__main__":
    probe.say(growth=probe.bytes_per_sample(make_loader, many=30_000))
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["forkserver"])["forkserver"]
    assert before.values["growth"] > 1800
    assert after.values["growth"] < 400


def test_a_memory_map_is_copied_too(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, "mapped", start_method="spawn").values["growth"] > 1800


def test_a_tensor_is_shared(tmp_path: Path) -> None:
    # Once in shared memory, for both workers.
    assert run(TENSOR, tmp_path, start_method="forkserver").values["growth"] < 1300


def test_forked_workers_share_it(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, start_method="fork").values["growth"] < 400
