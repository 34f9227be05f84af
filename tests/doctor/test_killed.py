"""Workers that die while they are watched, or never answer: the report comes, and no process is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.doctor.inside import read_lines
from doctor.programs import examined, explained, line_of

pytestmark = pytest.mark.evidence

KILLED = """
    import os
    import signal

    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __len__(self):
            return 1000

        def __getitem__(self, index):
            if index == 500:
                os.kill(os.getpid(), signal.SIGKILL)
            return index


    if __name__ == "__main__":
        for batch in DataLoader(Rows(), batch_size=10, num_workers=2):
            pass
"""


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    report = examined(tmp_path, KILLED)
    kinds = [symptom["kind"] for symptom in report["symptoms"]]
    assert {"error", "death"} <= set(kinds)
    assert any("killed by signal 9" in symptom["title"] for symptom in report["symptoms"])
    assert report["loaders"][0]["batches"] >= 20


@pytest.mark.parametrize("guard", ["", 'if __name__ == "__main__":\n    '])
def test_a_forked_worker_that_is_killed_is_not_blamed_on_a_missing_guard(tmp_path: Path, guard: str) -> None:
    program = KILLED.partition("    if __name__")[0] + "    " + guard.replace("\n", "\n    ")
    program += "for batch in DataLoader(Rows(), batch_size=10, num_workers=1): print(batch)\n"
    report = examined(tmp_path, program)
    assert {"error", "death"} <= {symptom["kind"] for symptom in report["symptoms"]}
    rules = {rule for symptom in report["symptoms"] for rule in symptom["rules"]}
    assert not rules & {"DL206", "DL210", "DL211"}


def test_a_program_that_is_killed_itself(tmp_path: Path) -> None:
    program = """
        import os
        import signal

        from torch.utils.data import DataLoader

        for batch in DataLoader(range(8), batch_size=4):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    """
    report = examined(tmp_path, program)
    assert report["error"] == "signal 9: Killed"
    assert report["symptoms"][0]["title"] == "the program ended with signal 9: Killed"
    assert report["loaders"][0]["batches"] == 2


KILLED_WHILE_IT_LOOKS = """
    import os
    import signal
    import time

    from torch.utils.data import DataLoader, Dataset, get_worker_info

    from dataloader_lint.doctor import meter

    main, look = os.getpid(), meter.memory_of_this_process


    def look_and_die():
        if os.getpid() != main and os.path.exists("now"):
            # One after the other, so that the others die while the main process is busy with the first.
            time.sleep(0.4 * get_worker_info().id)
            os.kill(os.getpid(), signal.SIGKILL)
        return look()


    class Rows(Dataset):
        def __len__(self):
            return 1_000_000

        def __getitem__(self, index):
            return index


    if __name__ == "__main__":
        meter.memory_of_this_process = look_and_die
        for number, batch in enumerate(DataLoader(Rows(), batch_size=10, num_workers=6)):
            if number == 100:
                open("now", "w").close()
"""


def test_a_worker_that_is_killed_while_it_looks(tmp_path: Path) -> None:
    report = examined(tmp_path, KILLED_WHILE_IT_LOOKS)
    titles = [symptom["title"] for symptom in report["symptoms"] if symptom["kind"] == "death"]
    assert any("killed by signal 9" in title for title in titles)
    assert report["error"]  # of a worker that was killed or has exited, or of a connection: torch raises either
    assert report["loaders"][0]["batches"] > 100 and report["loaders"][0]["fetch_per_batch"] > 0


OUT_OF_MEMORY = """
    import resource

    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self):
            self.cache = {}

        def __len__(self):
            return 100_000

        def __getitem__(self, index):
            if index not in self.cache:
                self.cache[index] = [0.5 + index] * 100_000
            return len(self.cache[index])


    def limited(worker):
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + 100_000_000, held + 100_000_000))


    if __name__ == "__main__":
        for batch in DataLoader(Rows(), batch_size=4, num_workers=2, worker_init_fn=limited):
            pass
"""


def test_a_worker_that_runs_out_of_memory(tmp_path: Path) -> None:
    """Memory ends in the Dataset, which raises, or in torch, which may raise, abort, or lose a batch without a word."""
    report = examined(tmp_path, OUT_OF_MEMORY, "--stall", "30")
    assert report["error"]
    assert explained(report)["cache"] == {("DL104", line_of(OUT_OF_MEMORY, "self.cache[index] ="))}


def test_a_loader_that_hangs_is_given_up(tmp_path: Path) -> None:
    program = """
        from torch.utils.data import DataLoader, Dataset


        class Words(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                return (word for word in ["a", "b"])


        def keep(rows):
            return rows


        if __name__ == "__main__":
            for batch in DataLoader(Words(), num_workers=1, collate_fn=keep):
                pass
    """
    report = examined(tmp_path, program, "--stall", "30")
    assert explained(report)["batch"] == {("DL213", line_of(program, "return (word"))}
    assert "timed out" in report["error"]


def test_a_line_that_was_left_unfinished(tmp_path: Path) -> None:
    (tmp_path / "12.jsonl").write_bytes(b'{"kind": "start"}\n{"kind": "mem')
    (tmp_path / "other.txt").touch()
    assert read_lines(str(tmp_path)) == {12: [{"kind": "start"}]}
