"""DL204: where workers are spawned, a lambda that the Dataset keeps prevents the first of them from starting."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, is_about_local

PROOF = Proof(
    rule="DL204",
    symptom="spawn, forkserver: AttributeError before the first batch",
    cure="every start method gives the batches that only fork gave before",
    before="""
    import probe
    from torch.utils.data import DataLoader, Dataset


    class Compose:
        def __init__(self, steps):
            self.steps = steps

        def __call__(self, row):
            for step in self.steps:
                row = step(row)
            return row


    class Rows(Dataset):
        def __init__(self, offset):
            self.change = lambda row: row + offset
            self.steps = Compose([lambda row: row * 2, abs])

        def __len__(self):
            return 3

        def __getitem__(self, index):
            return self.steps(self.change(index))


    def batches():
        return [batch.tolist() for batch in DataLoader(Rows(-1), num_workers=1)]


    if __name__ == "__main__":
        probe.attempt(batches)
    """,
)
BATCHES = {"batches": [[2], [0], [2]]}
LOCAL = {"batches": "Rows.__init__.<locals>.<lambda"}


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert after == BATCHES
        if start_method == "fork":
            assert before == BATCHES
        else:
            assert before.keys() == LOCAL.keys()
            assert all(is_about_local(before[case], name) for case, name in LOCAL.items())
