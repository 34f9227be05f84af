"""Messages as people paste them lead to the right page, and others to none."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from dataloader_lint.cli import main
from dataloader_lint.rules.messages import answer
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.symptoms import SYMPTOMS

# By the symptom that explains them. Most are from public threads; some are wordings of newer versions of Python and
# torch, or the same message with other numbers and paths. The patterns were written with these in view.
MESSAGES = json.loads(Path(__file__).with_name("known_messages.json").read_text(encoding="utf-8"))
KNOWN = [(title, message) for title, several in MESSAGES.items() for message in several]

# Nothing is known about these, so that nothing may be said.
OTHERS = [
    "AssertionError",
    "RuntimeError",
    "RuntimeError: ",
    "ValueError:",
    "TypeError",
    "OSError",
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity)",
    "torch.cuda.OutOfMemoryError: CUDA out of memory.",
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)",
    "RuntimeError: Error(s) in loading state_dict for ResNet:",
    "ModuleNotFoundError: No module named 'torch'",
    "KeyError: 'train'",
    "IndexError: list index out of range",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'",
    "AttributeError: 'Namespace' object has no attribute 'workers'",
    "AttributeError: 'NoneType' object has no attribute 'group'",
    "AssertionError: Torch not compiled with CUDA enabled",
    "GPU memory grows with each iteration",
    "ValueError: not enough values to unpack (expected 2, got 1)",
    "KeyboardInterrupt",
]

DESCRIBED = [
    ("hangs", "It hangs without a message"),
    ("DataLoader gets stuck after the first epoch", "It hangs without a message"),
    ("training freezes with num_workers > 0", "It hangs without a message"),
    ("GPU use goes up and down", "GPU use goes up and down, or stays low"),
    ("GPU use goes 80 % -> 0 % -> 80 %", "GPU use goes up and down, or stays low"),
    ("low GPU utilization", "GPU use goes up and down, or stays low"),
    ("memory grows each epoch", "Memory grows"),
    ("RAM usage keeps increasing during training", "Memory grows"),
    ("the first batch of every epoch is slow", "The first batch of each epoch is slow"),
    ("all workers return the same random crops", "Workers draw the same random numbers"),
    ("every sample comes twice", "Samples come twice"),
]


def title_of(text: str) -> str:
    found = answer(text)
    return found.symptom.title if found is not None and found.symptom is not None else ""


def test_enough_messages() -> None:
    assert len(KNOWN) >= 150


@pytest.mark.parametrize(("title", "message"), KNOWN)
def test_a_known_message_leads_to_its_page(title: str, message: str) -> None:
    assert title_of(message) == title


@pytest.mark.parametrize("message", OTHERS)
def test_other_messages_lead_nowhere(message: str) -> None:
    assert answer(message) is None


@pytest.mark.parametrize(("text", "title"), DESCRIBED)
def test_a_symptom_without_a_message(text: str, title: str) -> None:
    assert title_of(text) == title


def test_symptoms_name_rules_that_exist() -> None:
    assert {code for each in SYMPTOMS for code in each.rules} <= found_rules().keys()
    assert len({each.title for each in SYMPTOMS}) == len(SYMPTOMS)


def test_the_rule_of_an_unusual_message_is_found_by_its_page() -> None:
    found = answer("UserWarning: pin_memory_device is deprecated, the current accelerator will be used")
    assert found is not None
    assert found.symptom is None
    assert [each.rule.code for each in found.rules] == ["DL311"]


def test_a_traceback_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 3\nRuntimeError: context has already been set\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["--explain", "-"]) == 0
    assert "DL210 start-method-unguarded" in capsys.readouterr().out


def test_the_end_of_a_long_log_counts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"step \xff 1\n" * 300_000 + b"RuntimeError: context has already been set\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["--explain", "-"]) == 0
    assert "DL210 start-method-unguarded" in capsys.readouterr().out


def test_several_rules_are_listed_before_the_best_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "DataLoader worker (pid 7) is killed by signal: Bus error."]) == 0
    out = capsys.readouterr().out
    assert "--shm-size" in out
    assert "DL608 " in out
    assert out.index("DL307 large-prefetch: ") < out.index("# DL307 large-prefetch")
