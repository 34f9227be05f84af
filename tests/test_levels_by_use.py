"""Findings whose level depends on what the code does with its batches and loaders: each with a twin that is louder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint import Settings, lint_source
from dataloader_lint.diagnostics import Level

EPOCH = """
import torch
from torch.utils.data import DataLoader

def fit_one_epoch(model, optimizer, dataset, held_out):
    train_batches = DataLoader(dataset, num_workers=2, pin_memory=True)
    batches = DataLoader(held_out, num_workers=2, pin_memory=True)
    for image in train_batches:
        with torch.no_grad():
            image = image.cuda()
        optimizer.zero_grad()
        model(image).backward()
        optimizer.step()
    for image in batches:
        {block}
            optimizer.zero_grad()
            image = image.cuda()
            print(model(image))
"""


@pytest.mark.parametrize(
    ("block", "second"), [("with torch.no_grad():", Level.NOTE), ("with torch.autocast('cuda'):", Level.SPEED)]
)
def test_a_reset_of_gradients_under_no_grad_is_no_training(block: str, second: Level) -> None:
    found = lint_source(EPOCH.format(block=block), "/nonexistent/a.py", Settings(select=("DL401",)))
    assert [one.level for one in found] == [Level.SPEED, second]


IMAGES = """
import argparse
import cv2
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return cv2.{call}

def load(paths):
    args = parser.parse_args()
    return DataLoader(Photos(paths){workers})
"""
RESIZE = "resize(cv2.imread(self.paths[index]), (512, 512))"


@pytest.mark.parametrize(
    ("workers", "level"),
    [("", Level.NOTE), (", num_workers=args.workers", Level.NOTE), (", num_workers=4", Level.SPEED)],
)
def test_threads_of_workers_that_nobody_starts_are_a_note(workers: str, level: Level, tmp_path: Path) -> None:
    source = IMAGES.format(call=RESIZE, workers=workers)
    (found,) = lint_source(source, tmp_path / "a.py", Settings(select=("DL501",)))
    assert found.level is level
    assert ("not in workers yet: each may run a thread per CPU" in found.problem) == (level is Level.NOTE)


def test_calls_without_threads_and_workers_claim_neither(tmp_path: Path) -> None:
    source = IMAGES.format(call="imread(self.paths[index])", workers="")
    (found,) = lint_source(source, tmp_path / "a.py", Settings(select=("DL501",)))
    assert "not in workers yet: it may start no threads, other cv2 calls do" in found.problem


def test_a_file_without_workers_is_not_where_others_set_their_limit(tmp_path: Path) -> None:
    (tmp_path / "a_preview.py").write_text(IMAGES.format(call=RESIZE, workers=""))
    source = IMAGES.format(call=RESIZE, workers=", num_workers=4")
    (tmp_path / "b_train.py").write_text(source)
    (found,) = lint_source(source, tmp_path / "b_train.py", Settings(select=("DL501",)))
    assert found.level is Level.SPEED and "as reported for" not in found.advice


@pytest.mark.parametrize(("side", "level"), [(224, Level.NOTE), (512, Level.SPEED)])
def test_a_size_that_the_object_keeps_is_a_size(side: int, level: Level, tmp_path: Path) -> None:
    call = "resize(cv2.imread(self.paths[index]), (self.side, self.side))"
    source = IMAGES.format(call=call, workers=", num_workers=4").replace(
        "        self.paths = paths", f"        self.paths = paths\n        self.side = {side}"
    )
    (found,) = lint_source(source, tmp_path / "a.py", Settings(select=("DL501",)))
    assert found.level is level


COLLATES = """
from torch.utils.data import DataLoader

def load(data):
    def keep(batch):
        return data[0], batch
    return DataLoader(data{workers}, collate_fn=keep), DataLoader(data{workers}, collate_fn=lambda batch: batch)
"""


@pytest.mark.parametrize(
    ("workers", "levels"), [("", [Level.NOTE] * 2), (", num_workers=2", [Level.WARNING] * 2), (", num_workers=0", [])]
)
def test_what_cannot_be_pickled_is_a_note_until_somebody_asks_for_workers(
    workers: str, levels: list[Level], tmp_path: Path
) -> None:
    source = COLLATES.format(workers=workers)
    found = lint_source(source, tmp_path / "a.py", Settings(select=("DL201", "DL202")))
    assert [one.level for one in found] == levels


SCRIPT = """import os
import sys
from pathlib import Path

{first}
sys.path.append(root)

import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(8))
for batch in DataLoader(data, num_workers=2):
    print(batch)
"""


@pytest.mark.parametrize(
    ("first", "lines"),
    [
        ('root = str(os.path.abspath(os.path.join(__file__, "../.."))) + "/src"', "11-13"),
        ("root = os.path.dirname(os.path.dirname(sys.path[0]))", "11-13"),
        ('root = str(Path(__file__).resolve().parent.parent / "src")', "11-13"),
        ("root = os.environ.setdefault('ROOT', open('root.txt').read())", "5-13"),
        ("root = str(Path(open('root.txt').read()))", "5-13"),
        ("root = Path.cwd().joinpath(*os.listdir())", "5-13"),
    ],
)
def test_the_path_of_a_folder_is_not_what_a_main_guard_is_for(first: str, lines: str, tmp_path: Path) -> None:
    source = SCRIPT.format(first=first)
    (found,) = lint_source(source, tmp_path / "a.py", Settings(select=("DL206",)))
    assert found.advice == f'put lines {lines} under `if __name__ == "__main__":`'
