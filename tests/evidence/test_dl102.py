"""DL102: workers that read a dict come to hold a copy of it; two arrays they share when forked."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

MAIN = """

def make_loader(count):
    captions = Captions((f"{number:08d}", f"the picture number {number}") for number in range(count))
    sampler = RandomSampler(captions, replacement=True)
    return DataLoader(captions, batch_size=1000, sampler=sampler, num_workers=2, persistent_workers=True)


if __name__ == "__main__":
    probe.say(growth=probe.bytes_per_sample(make_loader))
"""
PROOF = Proof(
    rule="DL102",
    symptom="two forked workers add more than 120 bytes a sample in an epoch",
    cure="they add less than 40",
    before="""
import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Captions(Dataset):
    def __init__(self, rows):
        self.captions = {}
        for name, text in rows:
            self.captions[name] = text
        self.ids = np.array(list(self.captions))

    def __len__(self):
        return len(self.captions)

    def __getitem__(self, index):
        return len(self.captions[str(self.ids[index])])

"""
    + MAIN,
    after="""
import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Captions(Dataset):
    def __init__(self, rows):
        ids, texts = zip(*sorted(rows))
        self.ids = np.array(ids)
        self.texts = np.array(texts, dtype=np.dtypes.StringDType())

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return len(self.texts[np.searchsorted(self.ids, self.ids[index])])

"""
    + MAIN,
)


LOADED = Proof(
    rule="DL102",
    symptom="a dict from pickle.load, asked for the id of the record: more than 120 bytes a sample",
    cure="sorted arrays: less than 40",
    before="""
import pickle
import numpy as np
import probe
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Captions(Dataset):
    def __init__(self, rows):
        rows = list(rows)
        np.save("records.npy", np.array([(name, 0) for name, _ in rows], dtype=[("image_id", "U8"), ("label", "i4")]))
        with open("captions.pickle", "wb") as file:
            pickle.dump(dict(rows), file)
        self.records = np.load("records.npy")
        with open("captions.pickle", "rb") as file:
            self.captions = pickle.load(file)

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        return len(self.captions[str(record["image_id"])])

"""
    + MAIN,
    after=PROOF.after,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert before.values["growth"] > 120
    assert after.values["growth"] < 40


def test_a_dict_from_a_file_is_copied_as_well(tmp_path: Path) -> None:
    before, after = LOADED.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert LOADED.codes(LOADED.programs()[0], tmp_path / "linted") == {"DL102"}
    assert before.values["growth"] > 120
    assert after.values["growth"] < 40


def test_a_worker_of_a_fork_server_starts_with_a_copy(tmp_path: Path) -> None:
    assert PROOF.run_before(tmp_path, start_method="forkserver").values["growth"] > 120
