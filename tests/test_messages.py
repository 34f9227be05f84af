"""Rules found by the error message that people paste."""

from __future__ import annotations

import pytest

from dataloader_lint.cli import main
from dataloader_lint.rules.messages import rules_for_message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Can't pickle local object", "DL201"),
        ("AttributeError: Can't pickle local object 'Trainer.fit.<locals>.<lambda>'", "DL201"),
        ("AttributeError: Can't get local object 'Trainer.fit.<locals>.collate'", "DL202"),
        ("TypeError: cannot pickle 'BufferedReader' instances", "DL205"),
        ("persistent_workers option needs num_workers > 0", "DL301"),
        ("An attempt has been made to start a new process before the current process has finished", "DL206"),
    ],
)
def test_messages_lead_to_rules(text: str, code: str) -> None:
    assert code in [found.rule.code for found in rules_for_message(text)]


def test_words_that_say_nothing_find_nothing() -> None:
    assert rules_for_message("error") == []
    assert rules_for_message("the moon is made of green cheese") == []


def test_explain_takes_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain", "persistent_workers option needs num_workers > 0"]) == 0
    assert "# DL301 persistent-workers-without-workers" in capsys.readouterr().out
    assert main(["--explain", "no such message at all"]) == 2
