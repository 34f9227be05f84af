"""DL309: without `persistent_workers` each epoch starts its workers again."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROOF = Proof(
    rule="DL309",
    symptom="3 epochs start 6 workers",
    cure="3 epochs start 2 workers",
    before="""
    import multiprocessing
    import os
    import sys
    import time

    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset

    EPOCHS = int(sys.argv[1])
    probe.say(imported_by=os.getpid())


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


@pytest.mark.parametrize(("start_method", "epochs"), [("fork", 3), ("spawn", 2)])
def test_symptom_goes_away(start_method: str, epochs: int, tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path, str(epochs), start_method=start_method)
    after = PROOF.run_after(tmp_path, str(epochs), start_method=start_method)
    total = epochs * sum(range(64))
    for outcome, starts in ((before, 2 * epochs), (after, 2)):
        assert (outcome.values["starts"], outcome.values["total"]) == (starts, total)
        # The script, and torch with it, is imported again by every worker that is spawned.
        importing = {line["imported_by"] for line in outcome.said if "imported_by" in line}
        assert len(importing) == 1 + (starts if start_method == "spawn" else 0)
