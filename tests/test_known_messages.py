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
OTHERS = json.loads(Path(__file__).with_name("other_messages.json").read_text(encoding="utf-8"))

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
    return found.symptom.title if found is not None and found.is_sure and found.symptom is not None else ""


def test_enough_messages() -> None:
    assert len(KNOWN) >= 320
    assert len(OTHERS) >= 60


@pytest.mark.parametrize(("title", "message"), KNOWN)
def test_a_known_message_leads_to_its_page(title: str, message: str) -> None:
    assert title_of(message) == title


@pytest.mark.parametrize("message", OTHERS)
def test_other_messages_lead_nowhere(message: str) -> None:
    found = answer(message)
    assert found is None or not found.is_sure


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


def test_a_warning_explains_no_exception_that_follows_it() -> None:
    warning = "UserWarning: This DataLoader will create 4 worker processes in total. Our suggested max number of worker"
    assert title_of(warning) == "More workers than CPUs"
    assert answer(f"{warning} is 2\nKeyError: 'pixel_values'") is None
    assert title_of(f"{warning} is 2\nRuntimeError: context has already been set") == "The start method is set twice"


def test_a_frame_of_the_traceback_decides() -> None:
    full = "OSError: [Errno 28] No space left on device"
    assert answer(full) is None
    assert title_of(f'  File "/usr/lib/python3.11/multiprocessing/heap.py", line 75\n{full}') == "Out of shared memory"
    wrong = "TypeError: start() takes 0 positional arguments but 1 was given"
    assert answer(wrong) is None
    title = title_of(f'  File "worker.py", line 290\n    init_fn(worker_id)\n{wrong}')
    assert title == "A worker_init_fn that does not take the worker id"


def test_lines_with_numbers_are_code_only_beside_an_arrow() -> None:
    raised = "RuntimeError: context has already been set"
    assert title_of(f"000101  step 3\n000102  {raised}") == "The start method is set twice"
    assert answer(f"    101 step = 3\n--> 102 raise\n    103 {raised}\nKeyError: 3") is None


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


def test_the_bootstrapping_error_as_python_prints_it() -> None:
    text = """Traceback (most recent call last):
  File "train.py", line 9, in <module>
    for batch in loader:
RuntimeError:
        An attempt has been made to start a new process before the
        current process has finished its bootstrapping phase.

        This probably means that you are not using fork to start your
        child processes and you have forgotten to use the proper idiom
        in the main module:

            if __name__ == '__main__':
                freeze_support()
                ...
"""
    title = "The main module starts workers while it is imported"
    assert title_of(text) == title
    assert title_of(text.partition("RuntimeError:")[2]) == title


def test_the_limit_of_open_files_is_no_lack_of_shared_memory() -> None:
    message = "RuntimeError: unable to open shared memory object </torch_1> in read-write mode"
    assert title_of(message) == "Out of shared memory"
    assert title_of(f"{message}: Too many open files (24)") == "Too many open files"


def test_an_answer_lists_rules_and_says_which_are_off(capsys: pytest.CaptureFixture[str]) -> None:
    message = "DataLoader worker (pid 7) is killed by signal: Bus error."
    assert main(["--isolated", "--explain", message]) == 0
    out = capsys.readouterr().out
    assert "--shm-size" in out
    assert "DL307 large-prefetch (off here: --extend-select DL307): " in out
    assert "Why is this bad?" not in out  # the page comes with `--explain DL307`
    assert len(out.splitlines()) < 24
    assert main(["--isolated", "--extend-select", "DL307", "--explain", message]) == 0
    assert "DL307 large-prefetch: " in capsys.readouterr().out
