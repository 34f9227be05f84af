"""DL203: where workers are spawned, a lambda or local function as `worker_init_fn` keeps the first from starting."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, is_about_local

PROOF = Proof(
    rule="DL203",
    symptom="spawn, forkserver: AttributeError before the first batch",
    cure="every start method gives the batches that only fork gave before",
    before="""
    import os

    import probe
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return os.environ["ROW"]


    def inline(row="a"):
        return list(DataLoader(Rows(), num_workers=1, worker_init_fn=lambda worker: os.environ.update(ROW=row)))


    def local(row="b"):
        def start(worker):
            os.environ["ROW"] = row + str(worker)

        return list(DataLoader(Rows(), num_workers=1, worker_init_fn=start))


    if __name__ == "__main__":
        probe.attempt(inline, local)
    """,
)
BATCHES = {"inline": [["a"], ["a"]], "local": [["b0"], ["b0"]]}
LOCAL = {"inline": "inline.<locals>.<lambda", "local": "local.<locals>.start"}


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert after == BATCHES
        if start_method == "fork":
            assert before == BATCHES
        else:
            assert before.keys() == LOCAL.keys()
            assert all(is_about_local(before[case], name) for case, name in LOCAL.items())
