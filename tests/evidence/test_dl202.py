"""DL202: where workers are spawned, a local function as `collate_fn` keeps the first of them from starting."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import PICKLING, START_METHODS, Proof, is_about_local, run

PROOF = Proof(
    rule="DL202",
    symptom="spawn, forkserver: AttributeError before the first batch",
    cure="every start method gives the batches that only fork gave before",
    before="""
    import probe
    from torch.utils.data import DataLoader


    def direct(scale=3):
        def collate(rows, size=1, **more):
            return [row * scale + size for row in rows]

        return list(DataLoader(range(4), batch_size=2, num_workers=1, collate_fn=collate))


    def make_collate(pad):
        def collate(rows):
            return rows + [pad]

        return collate


    def from_a_factory():
        return list(DataLoader(range(4), batch_size=2, num_workers=1, collate_fn=make_collate(7)))


    if __name__ == "__main__":
        probe.attempt(direct, from_a_factory)
    """,
)
BATCHES = {"direct": [[1, 4], [7, 10]], "from_a_factory": [[0, 1, 7], [2, 3, 7]]}
LOCAL = {"direct": "direct.<locals>.collate", "from_a_factory": "make_collate.<locals>.collate"}

# The `__main__` of a notebook comes from no file either.
NOTEBOOK = """
import __main__
import probe
from torch.utils.data import DataLoader

del __main__.__file__


def collate(rows):
    return len(rows)


def batches():
    return list(DataLoader(range(4), batch_size=2, num_workers=1, collate_fn=collate))


probe.attempt(batches)
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    for start_method, (before, after) in PROOF.attempt_each(tmp_path).items():
        assert after == BATCHES
        if start_method == "fork":
            assert before == BATCHES
        else:
            assert before.keys() == LOCAL.keys()
            assert all(is_about_local(before[case], name) for case, name in LOCAL.items())


def test_a_function_of_a_notebook_is_not_found(tmp_path: Path) -> None:
    outcome = run(NOTEBOOK, tmp_path, start_method=",".join(START_METHODS))
    assert outcome.values["fork batches"] == [2, 2]
    for start_method in PICKLING:
        error = outcome.values[f"{start_method} batches"]
        assert error.startswith("RuntimeError: DataLoader worker (pid") and error.endswith("exited unexpectedly")
    # A fork server reports what its workers raise on its own.
    assert outcome.stderr.count("AttributeError: Can't get attribute 'collate' on <module '__main__'") == len(PICKLING)
