"""DL501: OpenCV does not know that it runs in a worker, where torch keeps to one thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL501",
    symptom="in every worker OpenCV counts on one thread for each CPU, torch on 1",
    cure="both count on 1",
    before="""
    import cv2
    import numpy as np
    import probe
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Images(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return self.read(index)

        def read(self, index):
            before = probe.threads()
            cv2.GaussianBlur(np.zeros((1000, 1000, 3), dtype=np.uint8), (9, 9), 0)
            return torch.get_num_threads(), cv2.getNumThreads(), probe.threads() - before


    def main():
        for torch_threads, cv2_threads, started in DataLoader(Images(), num_workers=2):
            probe.say(torch=int(torch_threads), cv2=int(cv2_threads), started=int(started))


    if __name__ == "__main__":
        main()
    """,
)


@pytest.mark.usefixtures("two_cpus")
def test_symptom_goes_away(tmp_path: Path) -> None:
    for before, after in PROOF.run_each(tmp_path, start_methods=["fork", "forkserver"]).values():
        assert len(before.said) == len(after.said) == 2
        assert all(line["torch"] == 1 and line["cv2"] > 1 and line["started"] > 0 for line in before.said)
        assert all(line == {"torch": 1, "cv2": 1, "started": 0} for line in after.said)


@pytest.mark.usefixtures("two_cpus")
def test_a_limit_in_the_main_function_reaches_forked_workers_only(tmp_path: Path) -> None:
    before, _ = PROOF.programs()
    program = before.replace("def main():\n", "def main():\n    cv2.setNumThreads(0)\n")
    assert program != before
    assert all(line["cv2"] == 1 for line in run(program, tmp_path, start_method="fork").said)
    assert all(line["cv2"] > 1 for line in run(program, tmp_path, start_method="forkserver").said)
