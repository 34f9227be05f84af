"""DL103: an array of Python objects is copied into workers that read it, as a list is; one of strings is not."""

from __future__ import annotations

from pathlib import Path

from dataloader_lint.settings import Settings
from evidence.harness import Proof

PROOF = Proof(
    rule="DL103",
    settings=Settings(samples=(("*", 5_000_000),)),
    symptom="two forked workers add more than 120 bytes a sample in an epoch",
    cure="they add less than 40",
    before="""
    import numpy as np
    import probe
    from torch.utils.data import DataLoader, Dataset, RandomSampler


    class Sentences(Dataset):
        def __init__(self, count):
            self.lines = np.array([f"sentence {number}" for number in range(count)], dtype=object)

        def __len__(self):
            return len(self.lines)

        def __getitem__(self, index):
            return len(self.lines[index])


    def make_loader(count):
        sentences = Sentences(count)
        sampler = RandomSampler(sentences, replacement=True)
        return DataLoader(sentences, batch_size=1000, sampler=sampler, num_workers=2, persistent_workers=True)


    if __name__ == "__main__":
        probe.say(growth=probe.bytes_per_sample(make_loader))
    """,
    after="""
    import numpy as np
    import probe
    from torch.utils.data import DataLoader, Dataset, RandomSampler


    class Sentences(Dataset):
        def __init__(self, count):
            self.lines = np.array([f"sentence {number}" for number in range(count)])

        def __len__(self):
            return len(self.lines)

        def __getitem__(self, index):
            return len(self.lines[index])


    def make_loader(count):
        sentences = Sentences(count)
        sampler = RandomSampler(sentences, replacement=True)
        return DataLoader(sentences, batch_size=1000, sampler=sampler, num_workers=2, persistent_workers=True)


    if __name__ == "__main__":
        probe.say(growth=probe.bytes_per_sample(make_loader))
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert before.values["growth"] > 120
    assert after.values["growth"] < 40


def test_a_worker_of_a_fork_server_starts_with_a_copy(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, start_method="forkserver").values["growth"] > 120
