"""DL309: without `persistent_workers` each epoch starts its workers again."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import START_METHODS, Proof

PROOF = Proof(
    rule="DL309",
    symptom="3 epochs start 6 workers",
    cure="3 epochs start 2 workers",
    before="""
    import multiprocessing
    import sys
    import time

    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset

    EPOCHS = int(sys.argv[1])


    class Rows(Dataset):
        def __init__(self):
            self.starts = multiprocessing.Value("i", 0)

        def __len__(self):
            return 64

        def __getitem__(self, index):
            return index


    def count_start(worker):
        starts = torch.utils.data.get_worker_info().dataset.starts
        with starts.get_lock():
            starts.value += 1


    def train(dataset):
        loader = DataLoader(dataset, batch_size=4, num_workers=2, worker_init_fn=count_start)
        total = 0
        for epoch in range(EPOCHS):
            for batch in loader:
                total += int(batch.sum())
        return total


    if __name__ == "__main__":
        dataset = Rows()
        start = time.perf_counter()
        total = train(dataset)
        probe.say(total=total, starts=dataset.starts.value, seconds=time.perf_counter() - start)
    """,
)


@pytest.mark.parametrize("start_method", START_METHODS)
def test_symptom_goes_away(start_method: str, tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path, "3", start_method=start_method).values
    after = PROOF.run_after(tmp_path, "3", start_method=start_method).values
    assert (before["starts"], before["total"]) == (6, 3 * sum(range(64)))
    assert (after["starts"], after["total"]) == (2, 3 * sum(range(64)))
