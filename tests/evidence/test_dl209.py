"""DL209: what a package started in threads of its own does not run in a forked process."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

PROOF = Proof(
    rule="DL209",
    symptom="RuntimeError: This class is not fork-safe (fsspec)",
    cure="gives all batches",
    before="""
    import fsspec
    import probe
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from torch.utils.data import DataLoader, Dataset


    class Files(Dataset):
        def __init__(self, paths):
            self.paths = paths
            self.opened = [AsyncFileSystemWrapper(fsspec.filesystem("file"))]

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            return len(self.opened[0].cat_file(self.paths[index]))


    def batches():
        loader = DataLoader(Files(("probe.py", "probe.py")), num_workers=1, multiprocessing_context="fork")
        return [int(batch) for batch in loader]


    if __name__ == "__main__":
        size = len(open("probe.py", "rb").read())
        probe.say(size=size)
        probe.attempt(batches)
    """,
    after="""
    import fsspec
    import probe
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from torch.utils.data import DataLoader, Dataset


    class Files(Dataset):
        def __init__(self, paths):
            self.paths = paths
            self.opened = [AsyncFileSystemWrapper(fsspec.filesystem("file"))]

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            return len(self.opened[0].cat_file(self.paths[index]))


    def batches():
        loader = DataLoader(Files(("probe.py", "probe.py")), num_workers=1, multiprocessing_context="forkserver")
        return [int(batch) for batch in loader]


    if __name__ == "__main__":
        size = len(open("probe.py", "rb").read())
        probe.say(size=size)
        probe.attempt(batches)
    """,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_each(tmp_path, start_methods=["fork"])["fork"]
    assert before.values["batches"].startswith("RuntimeError: Caught RuntimeError in DataLoader worker process 0.")
    assert "RuntimeError: This class is not fork-safe" in before.values["batches"]
    assert after.values["batches"] == [after.values["size"]] * 2
