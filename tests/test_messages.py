"""The messages of findings, and rules found by the error message that people paste."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dataloader_lint import lint_paths, lint_source
from dataloader_lint.cli import main
from dataloader_lint.rules.messages import rules_for_message
from dataloader_lint.settings import Settings
from fixture_harness import Unit, find_units

EXAMPLES = Path(__file__).parent.parent / "examples"
REPORTED = [unit for unit in find_units() if unit.expected()]
MOST = 160  # of one line, as flake8, GitHub and editors show it
LONGEST_NAME = 20  # a name of the user's counts as no longer than this
_QUOTED = re.compile(r"`([^`]*)`")


def length(message: str) -> int:
    """The length of a message if the names in it are of ordinary length."""
    return len(_QUOTED.sub(lambda quoted: f"`{quoted[1][:LONGEST_NAME]}`", message))


@pytest.mark.thorough
@pytest.mark.parametrize("unit", REPORTED, ids=lambda unit: unit.name)
def test_a_finding_is_one_short_line(unit: Unit) -> None:
    found = lint_paths([unit.path], Settings(extend_select=(unit.code,)))
    assert [one.message for one in found if length(one.message) > MOST or "\n" in one.message] == []


@pytest.mark.parametrize(
    ("read", "effect"),
    [
        ("self.archive.read(str(index))", "reads in forked workers raise `BadZipFile`"),
        ("index", "archive: pickling it"),
    ],
)
def test_a_handle_that_workers_never_read_fails_by_its_pickle_alone(read: str, effect: str) -> None:
    source = (
        "import zipfile\nfrom torch.utils.data import DataLoader, Dataset\n"
        "class Members(Dataset):\n"
        "    def __init__(self, path):\n        self.archive = zipfile.ZipFile(path)\n"
        "    def __len__(self):\n        return 10\n"
        f"    def __getitem__(self, index):\n        return {read}\n"
        "loader = DataLoader(Members('a.zip'), num_workers=2)\n"
    )
    assert [effect in one.message for one in lint_source(source, "train.py") if one.code == "DL205"] == [True]


def test_findings_in_the_examples_are_short_lines() -> None:
    found = lint_paths([EXAMPLES])
    assert found
    assert [one.message for one in found if length(one.message) > MOST] == []


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
    assert "DL301 persistent-workers-without-workers: " in capsys.readouterr().out
    assert main(["--explain", "no such message at all"]) == 2
