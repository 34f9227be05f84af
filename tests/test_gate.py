"""Files that cannot matter are turned away, all others pass."""

from __future__ import annotations

import pytest

from dataloader_lint.gate import may_matter


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
