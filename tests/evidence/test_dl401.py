"""DL401: a pinned batch that is moved without `non_blocking=True`."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.harness import Proof

PROOF = Proof(
    rule="DL401",
    symptom="torch is asked for 8 copies that the host waits for",
    cure="torch is asked for 8 copies of which the host waits for none",
    before="""
    import sys

    import probe
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils.data import DataLoader, TensorDataset

    ROWS = int(sys.argv[1])


    class Copies(TorchFunctionMode):
        \"\"\"Counts the copies that torch is asked for, those that the host waits for, and those done on return.\"\"\"

        def __init__(self):
            super().__init__()
            self.asked = self.awaited = self.done = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = function(*args, **kwargs)
            if function is torch.Tensor.to:
                self.asked += 1
                self.awaited += not kwargs.get("non_blocking")
                if torch.cuda.is_available():
                    self.done += torch.cuda.current_stream().query()
                    torch.cuda.synchronize()
            return result


    def train(model, dataset, device):
        loader = DataLoader(dataset, batch_size=len(dataset) // 4, pin_memory=True)
        for images, labels in loader:
            images = images.to(device)
            labels = labels.to(device)
            model(images, labels)


    if __name__ == "__main__":
        # Without a GPU nothing is copied, and what is asked for is all that can be seen.
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dataset = TensorDataset(torch.zeros(ROWS, 1024), torch.zeros(ROWS, 1024))
        with Copies() as copies:
            train(torch.add, dataset, device)
        probe.say(asked=copies.asked, awaited=copies.awaited)
        if torch.cuda.is_available():
            probe.say(done=copies.done)
    """,
)


def test_what_torch_is_asked_for(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path, "64").values, PROOF.run_after(tmp_path, "64").values
    assert (before["asked"], before["awaited"]) == (8, 8)
    assert (after["asked"], after["awaited"]) == (8, 0)


@pytest.mark.usefixtures("cuda")
def test_symptom_goes_away(tmp_path: Path) -> None:
    rows = str(4 * 64 * 1024)  # 256 MiB a copy
    assert PROOF.run_before(tmp_path, rows).values["done"] == 8
    assert PROOF.run_after(tmp_path, rows).values["done"] == 0
