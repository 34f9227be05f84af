"""`dataloader-lint doctor`: the symptom that was measured, the rule, and the line."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from doctor.programs import LIMIT, examined, explained, left_of, line_of, write

GROWING = """
    import numpy as np
    from torch.utils.data import DataLoader, Dataset


    class Images(Dataset):
        def __init__(self, count):
            self.paths = [f"{number:032d}.png" for number in range(count)]
            self.classes = ["cat", "dog"]
            self.change = lambda row: row
            self.rng = np.random.default_rng()

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            return len(self.paths[index]) + len(self.classes[index % 2]) + self.rng.random()


    if __name__ == "__main__":
        for epoch in range(2):
            for batch in DataLoader(Images(200_000), batch_size=1000, shuffle=True, num_workers=2):
                pass
"""


@pytest.mark.evidence
def test_growth_randomness_and_pickling_with_their_lines(tmp_path: Path) -> None:
    report = examined(tmp_path, GROWING)
    found = explained(report)
    assert found["growth"] == {("DL101", line_of(GROWING, "self.paths ="))}
    assert found["randomness"] == {("DL602", line_of(GROWING, "self.rng ="))}
    assert found["pickling"] == {("DL204", line_of(GROWING, "self.change ="))}
    loader = report["loaders"][0]
    assert loader["row"] == line_of(GROWING, "in DataLoader(") and loader["batches"] == 400
    assert loader["pickled"]["dataset"]["path"] == "dataset.change"
    assert loader["attributes"][0]["path"] == "dataset.paths" and loader["attributes"][0]["elements"] == 200_000
    assert len(loader["workers"]) == 4
    assert loader["fetch_per_batch"] > 0 and loader["startup"] > 0


def test_a_script_that_raises(tmp_path: Path) -> None:
    program = """
        from torch.utils.data import DataLoader

        if __name__ == "__main__":
            DataLoader(range(8), persistent_workers=True)
    """
    report = examined(tmp_path, program)
    assert explained(report) == {"error": {("DL301", 4)}}


@pytest.mark.evidence
def test_ctrl_c_gives_the_report_and_leaves_no_process(tmp_path: Path) -> None:
    program = """
        import time

        from torch.utils.data import DataLoader

        if __name__ == "__main__":
            for number, batch in enumerate(DataLoader(range(100_000), num_workers=2)):
                if number == 20:
                    print("begun", flush=True)
                time.sleep(0.01)
    """
    path = write(tmp_path, program)
    command = [sys.executable, "-m", "dataloader_lint", "doctor", str(path), "--to-end"]
    with processes.started(command, cwd=tmp_path, seconds=LIMIT) as running:
        assert running.next_line(LIMIT) == "begun"
        os.kill(running.pid, signal.SIGINT)
        assert running.wait() in (0, 1)
        assert "The script was interrupted." in running.out.decode()
        assert left_of(running) == []


def test_usage(tmp_path: Path) -> None:
    def run(*arguments: str, **environment: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "dataloader_lint", "doctor", *arguments]
        done = processes.run(command, cwd=tmp_path, env={**os.environ, **environment})
        return done.returncode, done.stderr

    assert run("nowhere.py") == (2, "dataloader-lint: no such script: nowhere.py\n")
    (tmp_path / "psutil.py").write_text("raise ImportError('hidden')")
    message = "dataloader-lint: `dataloader-lint doctor` needs psutil: pip install 'dataloader-lint[doctor]'\n"
    assert run("a.py", PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}") == (2, message)
