"""Symptoms that no exception shows, and exceptions that the program catches: each with its rule and its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.programs import examined, explained, line_of

pytestmark = pytest.mark.evidence

SILENT = """
    import gc
    import multiprocessing
    import os

    import torch
    from torch.utils.data import DataLoader, Dataset
    from torch.utils.data.distributed import DistributedSampler


    class Curriculum(Dataset):
        def __init__(self):
            self.difficulty = 0

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return int(self.difficulty)


    class Pools(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            try:
                with multiprocessing.Pool(1) as pool:
                    return pool.map(abs, [-1])[0]
            except AssertionError:
                return 0


    def harder():
        data = Curriculum()
        loader = DataLoader(data, num_workers=1, persistent_workers=True)
        for epoch in range(3):
            data.difficulty = epoch
            for batch in loader:
                pass


    def ordered(model, rows):
        loader = DataLoader(rows, batch_size=4, sampler=DistributedSampler(rows, num_replicas=2, rank=0))
        for epoch in range(3):  # ordered
            for batch in loader:
                model(batch).sum().backward()


    def collected(model, rows):
        for batch in DataLoader(rows, batch_size=2):
            model(batch).sum().backward()
            gc.collect()


    def evaluate(errors):
        total, count = 0.0, 0
        with torch.no_grad():
            for batch in DataLoader(errors, batch_size=32, drop_last=True):
                total += float(batch.sum())
                count += len(batch)
        return total / count


    def crowded(rows):
        return sum(len(batch) for batch in DataLoader(rows, num_workers=os.cpu_count()))


    if __name__ == "__main__":
        model, rows = torch.nn.Linear(1, 1), torch.arange(64.0).unsqueeze(1)
        harder()
        ordered(model, rows)
        collected(model, rows)
        evaluate(torch.ones(50))
        for batch in DataLoader(Pools(), num_workers=1):
            pass
        if hasattr(os, "sched_setaffinity") and os.cpu_count() > 1:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
            crowded(rows)
"""


def test_symptoms_without_an_exception(tmp_path: Path) -> None:
    report = examined(tmp_path, SILENT)
    found = explained(report)
    assert found["stale"] == {("DL609", line_of(SILENT, "data.difficulty = epoch"))}
    assert found["order"] == {("DL603", line_of(SILENT, "# ordered"))}
    assert found["collections"] == {("DL607", line_of(SILENT, "gc.collect()"))}
    assert found["left-out"] == {("DL313", line_of(SILENT, "drop_last=True"))}
    assert found["nested"] == {("DL214", line_of(SILENT, "multiprocessing.Pool(1)"))}
    titles = [symptom["title"] for symptom in report["symptoms"]]
    assert "`Curriculum.difficulty` was 0 when the workers started and is 2 now; they still see 0" in titles
    assert "18 of 50 samples are left out of each epoch (`drop_last=True`)" in titles


CAUGHT = """
    from torch.utils.data import DataLoader, Dataset


    class Numbers(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            try:
                return [0, 1, 2][index]
            except IndexError:
                return None


    def start():
        pass


    def persistent(workers=0):
        return DataLoader(Numbers(), num_workers=workers, persistent_workers=True)


    def missing():
        return DataLoader(Numbers(), batch_size=2)


    def started():
        return DataLoader(range(4), num_workers=1, worker_init_fn=start)


    def iterate(make):
        for batch in make():
            pass


    if __name__ == "__main__":
        for make in (persistent, missing, started):
            try:
                iterate(make)
            except Exception as error:
                print("no matter:", type(error).__name__)
"""


def test_exceptions_that_the_program_catches(tmp_path: Path) -> None:
    report = examined(tmp_path, CAUGHT)
    assert report["error"] is None
    found = {
        symptom["title"].split(":")[0]: {(one["code"], one["row"]) for one in symptom["findings"]}
        for symptom in report["symptoms"]
        if symptom["kind"] == "error"
    }
    assert found == {
        "a loader raised ValueError": {("DL301", line_of(CAUGHT, "persistent_workers=True"))},
        "a loader raised RuntimeError": {("DL604", line_of(CAUGHT, "return None"))},
        "a loader raised TypeError": {("DL212", line_of(CAUGHT, "worker_init_fn=start"))},
    }


GLOBALS = """
    from torch.utils.data import DataLoader, Dataset

    scale = 1


    class Rows(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return index * scale

    def choose_scale():
        global scale
        scale = 3


    if __name__ == "__main__":
        choose_scale()
        for row in DataLoader(Rows(), num_workers=1, multiprocessing_context="spawn"):
            print(int(row))
"""


def test_a_global_that_spawned_workers_do_not_have(tmp_path: Path) -> None:
    report = examined(tmp_path, GLOBALS)
    assert explained(report)["stale"] == {("DL211", line_of(GLOBALS, "scale = 3"))}


PARTS = """
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self):
            self.log = open(__file__)
            self.change = lambda row: row

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return self.change(index)


    if __name__ == "__main__":
        for row in DataLoader(Rows(), num_workers=1):
            pass
"""


def test_each_part_that_cannot_be_pickled_has_its_own_finding(tmp_path: Path) -> None:
    report = examined(tmp_path, PARTS)
    found = {
        symptom["title"].split("`")[1]: {(one["code"], one["row"]) for one in symptom["findings"]}
        for symptom in report["symptoms"]
    }
    assert found == {
        "dataset.log": {("DL205", line_of(PARTS, "self.log ="))},
        "dataset.change": {("DL204", line_of(PARTS, "self.change ="))},
    }


UNGUARDED = """
    from torch.utils.data import DataLoader

    loader = DataLoader(range(6), batch_size=2, num_workers=1, multiprocessing_context="spawn")
    for batch in loader:
        print(batch)
"""


SEVERAL = """
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, change):
            self.change = change
            self.cache = {}

        def __len__(self):
            return 64

        def __getitem__(self, index):
            if index not in self.cache:
                self.cache[index] = self.change(torch.tensor([float(index)]))
            return self.cache[index]


    def first():
        return DataLoader(Rows(torch.abs), batch_size=8, num_workers=1)


    def second():
        change = [torch.abs, lambda row: row * 2]
        return DataLoader(Rows(change[1]), batch_size=8, num_workers=1)


    def third():
        return DataLoader(Rows(lambda row: row + 1), batch_size=8)


    def main():
        one, two, three = first(), second(), third()
        for epoch in range(3):
            for loader in (one, two, three):
                for batch in loader:
                    pass
            for batch in two:
                pass


    if __name__ == "__main__":
        main()
"""


def test_a_line_that_makes_one_loader_explains_nothing_of_another(tmp_path: Path) -> None:
    found = examined(tmp_path, SEVERAL)
    by_loader: dict[str, set[tuple[str, int]]] = {}
    for symptom in found["symptoms"]:
        pairs = {(one["code"], one["row"]) for one in symptom["findings"]}
        by_loader.setdefault(symptom["loader"], set()).update(pairs)
    first, second = line_of(SEVERAL, "Rows(torch.abs)"), line_of(SEVERAL, "Rows(change[1])")
    lambdas = line_of(SEVERAL, "row * 2"), line_of(SEVERAL, "row + 1")
    assert {("DL309", first)} == {each for each in by_loader["loader 1 (Rows)"] if each[0] in ("DL309", "DL204")}
    assert ("DL309", second) in by_loader["loader 2 (Rows)"] and ("DL309", first) not in by_loader["loader 2 (Rows)"]
    codes = [each for each in by_loader.get("loader 3 (Rows)", ()) if each[0] == "DL204"]
    assert codes in ([], [("DL204", lambdas[1])])
    assert ("DL204", lambdas[1]) not in by_loader["loader 2 (Rows)"]


def test_a_script_that_workers_import(tmp_path: Path) -> None:
    report = examined(tmp_path, UNGUARDED)
    found = explained(report)
    assert found["death"] == {("DL206", line_of(UNGUARDED, "for batch"))}
    assert any("while it started (spawn)" in symptom["title"] for symptom in report["symptoms"])


THREADS = """
    import os

    {first}
    {second}

    torch.ones(3).sum()
"""
SET, IMPORT = 'os.environ["OMP_NUM_THREADS"] = "1"', "import torch"


def test_torch_is_imported_by_the_script_and_not_before(tmp_path: Path) -> None:
    early, late = (THREADS.format(first=a, second=b) for a, b in ((SET, IMPORT), (IMPORT, SET)))
    assert examined(tmp_path, early, OMP_NUM_THREADS="2")["symptoms"] == []
    assert explained(examined(tmp_path, late, OMP_NUM_THREADS="2")) == {"late-limit": {("DL502", line_of(late, SET))}}


STUCK = """
    import signal
    import time

    from torch.utils.data import DataLoader

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        loader = DataLoader(range(8), num_workers=1, persistent_workers=True)
        for batch in loader:
            pass
        time.sleep(3_000)
"""


def test_a_script_that_ignores_ctrl_c_ends_with_a_report(tmp_path: Path) -> None:
    report = examined(tmp_path, STUCK, "--seconds", "20", codes=(2,))
    assert report["stopped"] == "The script did not end when it was told to, so it was killed."
    assert report["loaders"][0]["batches"] == 8
