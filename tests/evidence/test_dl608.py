"""DL608: with the sharing strategy `file_system` each tensor from a worker is a file, which can outlive the program."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from evidence.harness import Proof

SHARED_MEMORY = Path("/dev/shm")

FILES = """
import torch.multiprocessing

torch.multiprocessing.set_sharing_strategy("file_system")
"""
DESCRIPTORS = """
import resource

_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
"""
MAIN = """
import multiprocessing
import os
import signal
import sys

import probe
import torch
from torch.utils.data import DataLoader


def kill_all():
    # As when a container is killed: also the daemon that removes files.
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/comm") as name, open(f"/proc/{process}/environ") as environment:
                if name.read().startswith("torch_shm") and os.environ["TMPDIR"] in environment.read():
                    os.kill(int(process), signal.SIGKILL)
        except OSError:  # not ours, or ended meanwhile
            continue
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    batches = iter(DataLoader(torch.zeros(17, 1024), batch_size=1, num_workers=1))
    (worker,) = multiprocessing.active_children()
    kept = [next(batches) for _ in range(16)]
    files = [name for name in os.listdir("/dev/shm") if name.startswith(f"torch_{worker.pid}_")]
    probe.say(kept=len(kept), files=len(files), worker=worker.pid)
    if "killed" in sys.argv:
        kill_all()
    if "stopped" in sys.argv:
        os.killpg(0, signal.SIGKILL)
"""

PROOF = Proof(
    rule="DL608",
    symptom="16 batches are 16 files or more in /dev/shm, which stay there when a whole container is killed",
    cure="no files, neither while the program runs nor after it was killed",
    before=FILES + MAIN,
    after=DESCRIPTORS + MAIN,
)


def left_by(worker: int) -> list[Path]:
    return list(SHARED_MEMORY.glob(f"torch_{worker}_*"))


@pytest.mark.parametrize("end", ["killed", "stopped", "regular"])
def test_symptom_goes_away(end: str, tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, end).values, PROOF.run_after(tmp_path, end).values
    until = time.monotonic() + 100  # torch's own manager clears away, in its own time
    while (left := left_by(before["worker"])) and end != "killed" and time.monotonic() < until:
        time.sleep(0.1)
    for path in left:
        path.unlink(missing_ok=True)
    assert before["kept"] == after["kept"] == 16
    assert before["files"] >= 16
    assert after["files"] == 0
    assert left_by(after["worker"]) == []
    assert len(left) >= 16 if end == "killed" else left == []
