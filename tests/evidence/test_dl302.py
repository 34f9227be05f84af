"""DL302: `prefetch_factor` without workers."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL302",
    symptom="ValueError: prefetch_factor option could only be specified in multiprocessing, from the constructor",
    cure="the loader is made and gives all 8 batches",
    before="""
    import probe
    from torch.utils.data import DataLoader


    def make(dataset):
        return DataLoader(dataset, prefetch_factor=4)


    if __name__ == "__main__":
        loader = make(range(8))
        probe.say(batches=len(list(loader)))
    """,
)

NONE_PREFETCHED = Proof(
    rule="DL302",
    symptom="AssertionError: prefetch_factor must be greater than 0, at the first iteration",
    cure="gives all 8 batches",
    before="""
    import probe
    from torch.utils.data import DataLoader


    def make(dataset):
        return DataLoader(dataset, num_workers=1, prefetch_factor=0)


    if __name__ == "__main__":
        loader = make(range(8))
        probe.say(made=True)
        probe.say(batches=len(list(loader)))
    """,
    after="""
    import probe
    from torch.utils.data import DataLoader


    def make(dataset):
        return DataLoader(dataset, num_workers=1, prefetch_factor=1)


    if __name__ == "__main__":
        loader = make(range(8))
        probe.say(made=True)
        probe.say(batches=len(list(loader)))
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    raised = PROOF.run_before(tmp_path).raised
    assert str(raised).startswith("ValueError: prefetch_factor option could only be specified in multiprocessing")
    assert PROOF.run_after(tmp_path).values == {"batches": 8}


def test_zero_fails_at_the_first_iteration(tmp_path: Path) -> None:
    assert NONE_PREFETCHED.codes(NONE_PREFETCHED.programs()[0], tmp_path) == {"DL302"}
    before = NONE_PREFETCHED.run_before(tmp_path)
    assert before.said == [{"made": True}]
    assert str(before.raised).startswith("AssertionError: prefetch_factor must be greater than 0")
    assert NONE_PREFETCHED.run_after(tmp_path).values == {"made": True, "batches": 8}
