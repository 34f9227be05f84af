"""DL617: the error about a missing picture, with and without its path."""

from __future__ import annotations

from pathlib import Path

from evidence.harness import Proof

HEAD = """
import cv2
import probe
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)


class Pictures(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        image = cv2.imread(f"picture-{index}.png")
"""
MAIN = """

if __name__ == "__main__":
    try:
        next(iter(DataLoader(Pictures(), num_workers=1)))
    except Exception as error:
        probe.say(raised=type(error).__name__, names_the_file="picture-0.png" in str(error))
"""

PROOF = Proof(
    rule="DL617",
    symptom="an error of OpenCV that does not name the file",
    cure="FileNotFoundError, which names the file",
    before=HEAD + "        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)\n" + MAIN,
    after=HEAD
    + """
        if image is None:
            raise FileNotFoundError(f"picture-{index}.png")
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
"""
    + MAIN,
)


def test_symptom_goes_away(tmp_path: Path) -> None:
    before, after = PROOF.run_before(tmp_path).values, PROOF.run_after(tmp_path).values
    assert before["names_the_file"] is False
    assert after == {"raised": "FileNotFoundError", "names_the_file": True}
