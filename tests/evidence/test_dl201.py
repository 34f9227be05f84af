"""DL201: where workers are spawned, a lambda as `collate_fn` keeps the first of them from starting."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, is_about_local

PROOF = Proof(
    rule="DL201",
    symptom="spawn, forkserver: AttributeError or PicklingError before the first batch",
    cure="every start method gives the batches that only fork gave before",
    before="""
    import probe
    from torch.utils.data import DataLoader

    keep = lambda rows: rows


    def make_local(scale):
        offset = scale + 1
        return DataLoader(
            range(4), batch_size=2, num_workers=1, collate_fn=lambda rows, k=2: [offset * row + k for row in rows]
        )


    def make_named():
        return DataLoader(range(4), batch_size=2, num_workers=1, collate_fn=keep)


    def local():
        return list(make_local(scale=3))


    def named():
        return list(make_named())


    if __name__ == "__main__":
        probe.attempt(local, named)
    """,
)
BATCHES = {"local": [[2, 6], [10, 14]], "named": [[0, 1], [2, 3]]}


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert after == BATCHES
        if start_method == "fork":
            assert before == BATCHES
        else:
            assert is_about_local(before["local"], "make_local.<locals>.<lambda")
            assert before["named"].startswith("PicklingError: Can't pickle <function <lambda> at ")
            assert before["named"].endswith(": attribute lookup <lambda> on __main__ failed")
