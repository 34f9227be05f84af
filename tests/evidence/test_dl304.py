"""DL304: two arguments that both say what a batch is made of."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

MAIN = """

if __name__ == "__main__":
    import operator
    import sys

    for name in MAKERS:  # by a name in a library call: the linter would see that the error is expected
        try:
            make = operator.attrgetter(name)(sys.modules[__name__])
            seen = [batch.tolist() if hasattr(batch, "tolist") else batch for batch in make(range(4))]
        except ValueError as error:
            seen = str(error)
        probe.say(**{name: seen})
"""

PROOF = Proof(
    rule="DL304",
    symptom="ValueError: batch_sampler option is mutually exclusive with batch_size, ..., from the constructor",
    cure="the loader is made and gives the batches of its batch_sampler",
    before="""
import probe
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler


def with_batches(dataset):
    batches = BatchSampler(SequentialSampler(dataset), 2, False)
    return DataLoader(dataset, batch_size=2, batch_sampler=batches)


def without_batches(dataset):
    return DataLoader(dataset, batch_size=None, drop_last=True)


MAKERS = ["with_batches", "without_batches"]
"""
    + MAIN,
)

ORDERED = """
import probe
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset


class Stream(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        yield from self.rows


def sampled(dataset):
    sampler = DistributedSampler(dataset, num_replicas=1, rank=0, shuffle=False)
    return DataLoader(dataset, shuffle=True, sampler=sampler)


def streamed(dataset):
    return DataLoader(Stream(dataset), shuffle=True)


MAKERS = ["sampled", "streamed"]
"""

BY_HAND = Proof(
    rule="DL304",
    symptom="ValueError: sampler option is mutually exclusive with shuffle",
    cure="the samples come in the order of the sampler, or of the stream",
    before=ORDERED + MAIN,
    after=ORDERED.replace(", shuffle=True", "") + MAIN,
)

# Every other combination that the rule's page names.
OTHERS = """
import probe
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler


class Stream(IterableDataset):
    def __iter__(self):
        yield 0


if __name__ == "__main__":
    rows = SequentialSampler(range(4))
    batches = BatchSampler(rows, 2, False)
    cases = {
        "shuffled batches": (range(4), dict(batch_sampler=batches, shuffle=True)),
        "sampled batches": (range(4), dict(batch_sampler=batches, sampler=rows)),
        "dropped batches": (range(4), dict(batch_sampler=batches, drop_last=True)),
        "sampled stream": (Stream(), dict(sampler=rows)),
        "batched stream": (Stream(), dict(batch_sampler=batches)),
    }
    for name, (dataset, arguments) in cases.items():
        try:
            DataLoader(dataset, **arguments)
        except ValueError as error:
            probe.say(**{name: str(error)})
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path).values == {
        "with_batches": "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
        "without_batches": "batch_size=None option disables auto-batching and is mutually exclusive with drop_last",
    }
    assert PROOF.run_after(tmp_path).values == {"with_batches": [[0, 1], [2, 3]], "without_batches": [0, 1, 2, 3]}


def test_shuffling_what_has_an_order_raises(tmp_path: Path) -> None:
    before, after = BY_HAND.programs()
    assert BY_HAND.codes(before, tmp_path / "reported") == {"DL304"}
    assert BY_HAND.codes(after, tmp_path / "repaired") == set()
    raised = BY_HAND.run_before(tmp_path).values
    assert raised["sampled"] == "sampler option is mutually exclusive with shuffle"
    assert raised["streamed"].startswith("DataLoader with IterableDataset: expected unspecified shuffle option")
    order = [[0], [1], [2], [3]]
    assert BY_HAND.run_after(tmp_path).values == {"sampled": order, "streamed": order}


def test_every_other_combination_raises(tmp_path: Path) -> None:
    raised = run(OTHERS, tmp_path).values
    exclusive = "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
    assert [raised.get(f"{kind} batches") for kind in ("shuffled", "sampled", "dropped")] == [exclusive] * 3
    for argument, name in (("sampler", "sampled stream"), ("batch_sampler", "batched stream")):
        assert raised[name].startswith(f"DataLoader with IterableDataset: expected unspecified {argument} option")
