"""Which devices an expression can name: `possible_devices`."""

from __future__ import annotations

import pytest

from asking import asked
from dataloader_lint.pipeline.devices.devices import Device
from dataloader_lint.rules.transfers._shared.possible_devices import possible_devices

CPU, CUDA, MPS, UNKNOWN = Device.CPU, Device.CUDA, Device.MPS, Device.UNKNOWN
BEFORE = """
GPU = torch.device("cuda")
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


def best():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")
"""
TABLE = [
    ("'cuda'", {CUDA}),
    ("'cuda:1'", {CUDA}),
    ("'cpu'", {CPU}),
    ("'mps'", {MPS}),
    ("'xpu'", {Device.OTHER}),
    ("torch.device('cuda', 0)", {CUDA}),
    ("torch.device(type='cuda')", {CUDA}),
    ("f'cuda:{rank}'", {CUDA}),
    ("GPU", {CUDA}),
    ("best()", {CUDA, CPU}),
    ("'cuda' if torch.cuda.is_available() else 'cpu'", {CUDA, CPU}),
    ("'mps' if torch.backends.mps.is_available() else 'cpu'", {MPS, CPU}),
    # an ordinal is the accelerator of the machine, and users may set an option to anything
    ("0", {UNKNOWN}),
    ("args.device", {UNKNOWN}),
    ("rank", {UNKNOWN}),
]


@pytest.mark.parametrize(("expression", "answer"), TABLE)
def test_devices(expression: str, answer: set[Device]) -> None:
    assert possible_devices(*asked(expression, BEFORE, "rank")) == answer
