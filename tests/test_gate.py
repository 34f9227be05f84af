"""Files that cannot matter are turned away, all others pass."""

from __future__ import annotations

import pytest

from dataloader_lint.engine.linter import lint_source
from dataloader_lint.gate import (
    DERIVED,
    DEVICES,
    LOADING,
    MEMOISING,
    OPENCV,
    RANDOM,
    STORES,
    THREADS,
    TRANSFERS,
    TRANSFORMS,
    may_matter,
    subjects,
    words_about,
)


@pytest.mark.parametrize(
    "source",
    [
        b"from torch.utils.data import DataLoader",
        b"class Faces(Dataset): ...",
        b"import cv2",
        b"import h5py",
        b"from PIL import Image\nscale = lambda image: image",
        b"make_loader(data, num_workers=4)",
        b"import torch\nx = x.to(device)",
        b"import torch\nx = x.cuda()",
        b"multiprocessing.set_start_method('spawn')",
        "from torch.utils.data import DataLoader".encode("utf-16"),
        b"x = 1\0DataLoader",
    ],
)
def test_passes(source: bytes) -> None:
    assert may_matter(source)


@pytest.mark.parametrize("source", [b"", b"import os", b"import torch", b"x.to(device)", b"\0", bytes(range(256))])
def test_is_turned_away(source: bytes) -> None:
    assert not may_matter(source)


@pytest.mark.parametrize(
    ("source", "about"),
    [
        (b"from torch.utils.data import DataLoader\nimport cv2", {LOADING}),
        (b"@lru_cache\ndef read(path): ...", {MEMOISING}),
        (b"import cv2", {OPENCV}),
        (b"random.Random()", {RANDOM}),
        (b"os.environ['OMP_NUM_THREADS'] = '1'", {THREADS}),
        (b"import torch\nx = x.to(device)", {DEVICES}),
        (b"import torch\nx = x.to(self.device)", {DEVICES}),
        (b"import torch\nfor x in dataloader: x.to(device)", {DEVICES, TRANSFERS}),
        (b"import torch\ndef run_epoch(data): data.cuda()", {DEVICES, TRANSFERS}),
        (b"import torch\ndef to_device(batch, device): return batch.to(device)", {DEVICES, TRANSFERS}),
        (b"import torch\nself.real = data['A'].to(self.device)", {DEVICES, TRANSFERS}),
        (b"import torch\nself.weight = torch.ones(3).to(device)", {DEVICES}),
        (b"import torch\n\n\nfor x, y in feed:\n    x.cuda()", {DEVICES}),
        (b"def fit(data):\n    for x, y in data.train():\n        x.cuda()", {DEVICES, TRANSFERS}),
        (b"def fit(data):\n    for batch in data:\n        batch.cuda()", {DEVICES, TRANSFERS}),
        (b"def fit(data):\n    for name, x in data.items():\n        x.cuda()", {DEVICES}),
        (b"import numpy\nclass Photos(Images): ...", {DERIVED}),
        (b"import numpy\nclass Photos(base.Images, ABC): ...", {DERIVED}),
        (b"import torch\nclass Net(torch.nn.Module): ...", set()),
        (b"import json\nclass Photos(Images): ...", set()),
        (b"import torch\nx = x.to(torch.float32)", set()),
        (b"import torch\nx = x.to(dtype=torch.float32)", set()),
        (b"import torch\nx = x.to(y.dtype)", set()),
        (b"import torch\nx = x.to(y.device)", set()),
    ],
)
def test_what_a_file_is_about(source: bytes, about: set[str]) -> None:
    assert subjects(source) == about


def test_words_of_the_settings_are_about_loading() -> None:
    assert subjects(b"FastReader(data)") == set()
    assert subjects(b"FastReader(data)", (b"FastReader",)) == {LOADING}


def test_words_of_subjects_beside_loading() -> None:
    assert words_about(frozenset({OPENCV, DEVICES})) == {b"cv2", b"cuda", b"to"}
    assert words_about(frozenset({MEMOISING, TRANSFORMS})) == {b"lru_cache", b"cache", b"lambda"}
    generators = {b"default_rng", b"RandomState", b"Random", b"Generator"}
    assert words_about(frozenset({RANDOM})) == {*generators, b"albumentations", b"Compose", b"Sequential"}
    assert words_about(frozenset({STORES})) >= {b"h5py", b"open_file"}


def test_a_move_over_several_lines() -> None:
    text = b"import torch\n\n\ndef predict(model, images):\n    return model(images.cuda()).to(%s).numpy()\n"
    for arguments in (b'"cpu", torch.float32, True', b'\n        "cpu",\n        torch.float32,\n        True,\n    '):
        assert may_matter(text % arguments)
        assert [one.code for one in lint_source(text % arguments, "/nonexistent/a.py")] == ["DL404"]
