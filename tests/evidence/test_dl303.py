"""DL303: `multiprocessing_context` and `timeout` without workers."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL303",
    symptom="multiprocessing_context: ValueError from the constructor, timeout: AssertionError at the first batch",
    cure="both loaders give all 8 batches",
    before="""
    import probe
    from torch.utils.data import DataLoader


    def with_context(dataset):
        return DataLoader(dataset, num_workers=0, multiprocessing_context="spawn")


    def with_timeout(dataset):
        return DataLoader(dataset, num_workers=0, timeout=60)


    if __name__ == "__main__":
        for make in (with_context, with_timeout):
            seen = {"made": False}
            try:
                loader = make(range(8))
                seen["made"] = True
                seen["batches"] = len(list(loader))
            except (ValueError, AssertionError) as error:
                seen["error"] = f"{type(error).__name__}: {error}"
            probe.say(**{make.__name__: seen})
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before = PROOF.run_before(tmp_path).values
    assert before["with_context"]["made"] is False
    assert before["with_context"]["error"].startswith(
        "ValueError: multiprocessing_context can only be used with multi-process loading (num_workers > 0)"
    )
    assert before["with_timeout"]["made"] is True
    assert before["with_timeout"]["error"] == "AssertionError: _SingleProcessDataLoaderIter requires timeout == 0"
    works = {"made": True, "batches": 8}
    assert PROOF.run_after(tmp_path).values == {"with_context": works, "with_timeout": works}
