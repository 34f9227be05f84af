"""DL606: a collate_fn that grows a tensor copies all of it for each sample; one of a list of arrays is slow."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL606",
    symptom="torch warns that making a tensor from a list of arrays is extremely slow",
    cure="no such warning, the same batch",
    before="""
    import sys
    import time
    import warnings

    import numpy as np
    import probe
    import torch
    from torch.utils.data import DataLoader

    ROWS = int(sys.argv[1])
    SIZE = int(sys.argv[2])
    WORKERS = int(sys.argv[3])


    def collate(rows):
        return torch.tensor([np.asarray(row) for row in rows])


    if __name__ == "__main__":
        data = [np.full(SIZE, number, dtype=np.float32) for number in range(ROWS)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            (batch,) = DataLoader(data, batch_size=ROWS, collate_fn=collate, num_workers=WORKERS)
            seconds = time.perf_counter() - start
        slow = sum("extremely slow" in str(each.message) for each in caught)
        probe.say(shape=list(batch.shape), total=float(batch.sum()), warnings=slow, seconds=seconds)
    """,
)

HEAD = """
import sys
import time

import probe
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader

ROWS = int(sys.argv[1])
SIZE = int(sys.argv[2])
WORKERS = int(sys.argv[3])


class Written(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in (torch.ops.aten.cat.default, torch.ops.aten.stack.default):
            self.numbers += result.numel()
        return result

"""
MAIN = """

if __name__ == "__main__":
    data = [torch.full((1, SIZE), float(number)) for number in range(ROWS)]
    loader = DataLoader(data, batch_size=ROWS, collate_fn=collate, num_workers=WORKERS)
    with Written() as written:
        (batch,) = loader
    probe.say(rows=len(batch), written=written.numbers // SIZE)
    for _ in range(5):
        start = time.perf_counter()
        (batch,) = loader
        probe.say(seconds=time.perf_counter() - start)
"""

GROWING = Proof(
    rule="DL606",
    symptom="to collate 100 rows, 5,050 rows are written",
    cure="100 rows are written",
    before=HEAD
    + """
def collate(rows):
    out = torch.empty(0, SIZE)
    for row in rows:
        out = torch.cat((out, row))
    return out
"""
    + MAIN,
    after=HEAD
    + """
def collate(rows):
    return torch.cat(rows)
"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    size = ("8", "4", "0")
    before, after = PROOF.run_before(tmp_path, *size).values, PROOF.run_after(tmp_path, *size).values
    assert before["shape"] == after["shape"] == [8, 4]
    assert before["total"] == after["total"] == 4 * sum(range(8))
    assert before["warnings"] >= 1
    assert after["warnings"] == 0


def test_a_tensor_that_grows_is_written_again_and_again(tmp_path: Path) -> None:
    before, after = GROWING.programs()
    assert GROWING.codes(before, tmp_path / "reported") == {"DL606"}
    assert GROWING.codes(after, tmp_path / "repaired") == set()
    size = ("100", "4", "0")
    grown, once = GROWING.run_before(tmp_path, *size).values, GROWING.run_after(tmp_path, *size).values
    assert (grown["rows"], grown["written"]) == (100, sum(range(101)))
    assert (once["rows"], once["written"]) == (100, 100)
