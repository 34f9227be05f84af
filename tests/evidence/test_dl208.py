"""DL208: where workers are spawned, a Dataset of a local class cannot be sent to them."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, is_about_local

PROOF = Proof(
    rule="DL208",
    symptom="spawn, forkserver: AttributeError before the first batch",
    cure="every start method gives the batches that only fork gave before",
    before="""
    import probe
    from torch.utils.data import DataLoader, Dataset


    def batches(rows=(1, 2)):
        class Rows(Dataset):
            def __len__(self):
                return len(rows)

            def __getitem__(self, index):
                return rows[index]

        return [batch.tolist() for batch in DataLoader(Rows(), num_workers=1)]


    if __name__ == "__main__":
        probe.attempt(batches)
    """,
    after="""
    import probe
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index]


    def batches(rows=(1, 2)):
        return [batch.tolist() for batch in DataLoader(Rows(rows), num_workers=1)]


    if __name__ == "__main__":
        probe.attempt(batches)
    """,
)
BATCHES = {"batches": [[1], [2]]}
LOCAL = {"batches": "batches.<locals>.Rows"}


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert after == BATCHES
        if start_method == "fork":
            assert before == BATCHES
        else:
            assert before.keys() == LOCAL.keys()
            assert all(is_about_local(before[case], name) for case, name in LOCAL.items())
