"""DL204: where workers are spawned, a lambda that the Dataset keeps prevents the first of them from starting."""

from __future__ import annotations

from pathlib import Path

import pytest

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


# `map` of a Dataset that is streamed keeps its function; that of another one runs at once.
ROWS = """
import probe
from datasets import load_dataset
from torch.utils.data import DataLoader


def twice(row):
    return {"value": row["value"] * 2}


def read(rows):
    return sorted(int(value) for batch in DataLoader(rows, num_workers=2) for value in batch["value"])


def streamed():
    rows = load_dataset("csv", data_files=["a.csv", "b.csv"], split="train", streaming=True, cache_dir="cache")
    return read(rows.map(lambda row: {"value": row["value"] * 2}).with_format("torch"))


def transformed():
    rows = load_dataset("csv", data_files=["a.csv", "b.csv"], split="train", cache_dir="cache")
    return read(rows.with_transform(lambda rows: {"value": [value * 2 for value in rows["value"]]}))


def at_once():
    rows = load_dataset("csv", data_files=["a.csv", "b.csv"], split="train", cache_dir="cache")
    return read(rows.map(lambda row: {"value": row["value"] * 2}).with_format("torch"))


if __name__ == "__main__":
    for name, values in (("a.csv", "1\\n2\\n"), ("b.csv", "3\\n4\\n")):
        with open(name, "w") as file:
            file.write("value\\n" + values)
    probe.attempt(streamed)
    probe.attempt(transformed)
    probe.attempt(at_once)
"""
HUGGING_FACE = Proof(
    rule="DL204",
    symptom="spawn, forkserver: AttributeError for lambdas in `map` of a stream and in `with_transform`",
    cure="every start method gives all rows",
    before=ROWS,
    after=ROWS.replace('rows.map(lambda row: {"value": row["value"] * 2}).with_format("torch"))', "rows.map(twice))", 1)
    .replace('lambda rows: {"value": [value * 2 for value in rows["value"]]}', "all_twice")
    .replace(
        "def read(", "def all_twice(rows):\n    return {'value': [value * 2 for value in rows['value']]}\n\n\ndef read("
    ),
)


def test_datasets_of_hugging_face(tmp_path: Path) -> None:
    before, after = HUGGING_FACE.programs()
    assert HUGGING_FACE.codes(before, tmp_path / "reported") == {"DL204"}
    assert HUGGING_FACE.codes(after, tmp_path / "repaired") == set()
    pytest.importorskip("datasets")
    right = [2, 4, 6, 8]
    for start_method, (old, new) in HUGGING_FACE.attempt_each(tmp_path).items():
        assert new == {"streamed": right, "transformed": right, "at_once": right}
        assert old["at_once"] == right
        for case in ("streamed", "transformed"):
            assert (
                old[case] == right if start_method == "fork" else is_about_local(old[case], f"{case}.<locals>.<lambda")
            )
