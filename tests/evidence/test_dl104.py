"""DL104: each worker fills a cache of its own, and takes it along when it ends."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Outcome, Proof, run

PROOF = Proof(
    rule="DL104",
    symptom="workers load all 100 samples again in each of 3 epochs, and the cache of the main process stays empty",
    cure="100 samples are loaded once, by the main process, none by workers",
    before="""
    import sys
    from multiprocessing import parent_process

    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset


    def load(number):
        probe.say(loaded=number, by="worker" if parent_process() else "main")
        return torch.full((4,), number)


    class Arrays(Dataset):
        def __init__(self, count):
            self.count = count
            self.cache = {}

        def __len__(self):
            return self.count

        def __getitem__(self, index):
            if index not in self.cache:
                self.cache[index] = load(index)
            return self.cache[index]


    if __name__ == "__main__":
        torch.manual_seed(0)
        arrays = Arrays(100)
        loader = DataLoader(arrays, num_workers=2, shuffle=True, persistent_workers="persistent" in sys.argv)
        for epoch in range(3):
            total = sum(int(row.sum()) for row in loader)
            probe.say(epoch=epoch, total=total, cached_by_main=len(arrays.cache))
    """,
    after="""
    from multiprocessing import parent_process

    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset


    def load(number):
        probe.say(loaded=number, by="worker" if parent_process() else "main")
        return torch.full((4,), number)


    class Arrays(Dataset):
        def __init__(self, count):
            self.rows = torch.stack([load(number) for number in range(count)])

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index]


    if __name__ == "__main__":
        loader = DataLoader(Arrays(100), num_workers=2, shuffle=True)
        for epoch in range(3):
            total = sum(int(row.sum()) for row in loader)
            probe.say(epoch=epoch, total=total)
    """,
)

# A sample that no `collate_fn` copies is the cached tensor itself, in shared memory.
ALIASED = """
import probe
import torch
from torch.utils.data import DataLoader, Dataset


class Zeros(Dataset):
    def __init__(self):
        self.cache = {}

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = torch.zeros(3)
        return self.cache[index]


if __name__ == "__main__":
    loader = DataLoader(Zeros(), batch_size=None, num_workers=1, persistent_workers=True)
    for epoch in range(3):
        total = 0
        for batch in loader:
            total += int(batch.sum())
            batch.add_(1)
        probe.say(**{f"epoch {epoch}": total})
"""


def loads(outcome: Outcome, by: str) -> list[int]:
    """How many samples the main process or the workers loaded until the end of each epoch."""
    count, ends = 0, []
    assert outcome.values["total"] == 4 * sum(range(100))
    for line in outcome.said:
        count += line.get("by") == by
        if "epoch" in line:
            ends.append(count)
    return ends


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert loads(before, "worker") == [100, 200, 300]
    assert loads(before, "main") == [0, 0, 0]
    assert before.values["cached_by_main"] == 0
    assert loads(after, "worker") == [0, 0, 0]
    assert loads(after, "main") == [100, 100, 100]


def test_persistent_workers_load_what_another_one_has_cached(tmp_path: Path) -> None:
    first, second, third = loads(PROOF.run_before(tmp_path, "persistent"), "worker")
    assert first == 100
    # About half of the samples went to the other worker before, and a quarter twice.
    assert 25 < second - first < 75
    assert 5 < third - second < 50


def test_a_batch_that_is_changed_changes_the_cache(tmp_path: Path) -> None:
    assert run(ALIASED, tmp_path).values == {"epoch 0": 0, "epoch 1": 12, "epoch 2": 24}
