"""DL311: settings of a loader that torch ignores or refuses."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof, run

PROOF = Proof(
    rule="DL311",
    symptom="torch warns that pin_memory_device is deprecated and ignored",
    cure="no such warning, the same batches",
    before="""
    import warnings

    import probe
    from torch.utils.data import DataLoader


    def make(dataset):
        return DataLoader(dataset, batch_size=4, pin_memory=True, pin_memory_device="cuda")


    if __name__ == "__main__":
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            batches = [batch.tolist() for batch in make(range(8))]
        probe.say(batches=batches, warnings=sum("pin_memory_device" in str(each.message) for each in caught))
    """,
)

LATE = """
import probe
from torch.utils.data import DataLoader


def shuffled(dataset):
    loader = DataLoader(dataset, batch_size=4)
    loader.shuffle = True
    return loader


def smaller(dataset):
    loader = DataLoader(dataset, batch_size=4)
    loader.batch_size = 2
    return loader


if __name__ == "__main__":
    for make in (shuffled, smaller):
        try:
            seen = [sample for batch in make(range(64)) for sample in batch.tolist()]
        except ValueError as error:
            seen = str(error)
        probe.say(**{make.__name__: seen})
"""

SET_LATE = Proof(
    rule="DL311",
    symptom="after `loader.shuffle = True` the order is what it was",
    cure="the order is another one",
    before=LATE,
    after=LATE.replace("batch_size=4)\n    loader.shuffle = True", "batch_size=4, shuffle=True)").replace(
        "batch_size=4)\n    loader.batch_size = 2", "batch_size=2)"
    ),
)

REFUSED = """
import probe
from torch.utils.data import DataLoader

if __name__ == "__main__":
    loader = DataLoader(range(4))
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"):
        try:
            setattr(loader, name, None)
        except ValueError as error:
            probe.say(**{name: str(error)})
"""


def test_symptom_goes_away(tmp_path: Path) -> None:
    batches = [[0, 1, 2, 3], [4, 5, 6, 7]]
    before = PROOF.run_before(tmp_path).values
    assert before["warnings"] >= 1
    assert before["batches"] == batches
    assert PROOF.run_after(tmp_path).values == {"batches": batches, "warnings": 0}


def test_what_is_set_late_is_ignored_or_refused(tmp_path: Path) -> None:
    before, after = SET_LATE.programs()
    assert SET_LATE.codes(before, tmp_path / "reported") == {"DL311"}
    assert SET_LATE.codes(after, tmp_path / "repaired") == set()
    in_order = list(range(64))
    late = SET_LATE.run_before(tmp_path).values
    assert late["shuffled"] == in_order
    assert late["smaller"] == "batch_size attribute should not be set after DataLoader is initialized"
    early = SET_LATE.run_after(tmp_path).values
    assert early["shuffled"] != in_order and sorted(early["shuffled"]) == in_order
    assert early["smaller"] == in_order


def test_all_that_is_refused(tmp_path: Path) -> None:
    raised = run(REFUSED, tmp_path).values
    assert len(raised) == 6
    for name, text in raised.items():
        assert text == f"{name} attribute should not be set after DataLoader is initialized"
