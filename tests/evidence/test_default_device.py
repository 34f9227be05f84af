"""What DL314 says of the default device, where there is no CUDA: it is for the numbers, not for their generator."""

from __future__ import annotations

import torch
from torch.utils._device import _device_constructors


def test_the_default_device_applies_to_the_numbers_and_not_to_their_generator() -> None:
    with_device = _device_constructors()
    assert torch.randperm in with_device
    assert torch.Generator not in with_device
