"""Levels: what they decide, on the command line and in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import here, run, write
from dataloader_lint import lint_source
from dataloader_lint.diagnostics import Diagnostic, Level, Position
from dataloader_lint.output.levels import NAMES, counted
from dataloader_lint.rules.base import Entity, Rule
from dataloader_lint.rules.levels import level_of
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.keys import LEVELS

__all__ = ["here"]

RAISES = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n"
WAITS = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, num_workers=64)\n"


def finding(level: Level) -> Diagnostic:
    return Diagnostic("a.py", Position(1, 0), Position(1, 1), "DL301", "it hurts", "", (1, 1), level=level)


def test_the_worst_comes_first_everywhere() -> None:
    assert tuple(level.value for level in Level) == LEVELS
    assert list(NAMES) == list(Level)
    severities = [names.lsp for names in NAMES.values()]
    assert severities == sorted(severities)
    found = [finding(level) for level in (Level.SPEED, Level.ERROR, Level.WARNING, Level.WARNING)]
    assert counted(found) == "1 error, 2 warnings, 1 speed"


def test_each_rule_has_a_level() -> None:
    """The level has no default, so a rule without one cannot be loaded."""
    assert all(isinstance(found.rule.level, Level) for found in found_rules().values())
    with pytest.raises(TypeError, match="level"):
        Rule("DL399", "made-up", Entity.LOADER)  # type: ignore[call-arg]


def test_what_needs_no_spawning_is_never_a_warning() -> None:
    """`warning` means that it fails where workers are spawned, so with `start-method = "fork"` none may be left."""
    spawning = {code for code, found in found_rules().items() if found.rule.spawning}
    warnings = {code for code, found in found_rules().items() if found.rule.level is Level.WARNING}
    assert spawning <= warnings
    assert warnings - spawning <= {"DL210"}


@pytest.mark.parametrize(
    ("severity", "level"),
    [
        ((), Level.MEMORY),
        ((("DL", "speed"),), Level.SPEED),
        ((("DL101", "error"), ("DL1", "opinion")), Level.ERROR),
        ((("DL10", "opinion"), ("DL1", "error")), Level.OPINION),
        ((("DL2", "error"),), Level.MEMORY),
    ],
)
def test_settings_give_another_level(severity: tuple[tuple[str, str], ...], level: Level) -> None:
    assert level_of(found_rules()["DL101"].rule, Settings(severity=severity)) is level


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        (Settings(), Level.WARNING),
        (Settings(start_method="spawn"), Level.ERROR),
        (Settings(start_method="forkserver"), Level.ERROR),
        (Settings(target_python=">=3.14"), Level.ERROR),
        (Settings(target_python=">=3.11"), Level.WARNING),
        (Settings(start_method="spawn", severity=(("DL201", "warning"),)), Level.WARNING),
    ],
)
def test_what_fails_in_spawned_workers_is_an_error_where_they_are_spawned(settings: Settings, level: Level) -> None:
    assert level_of(found_rules()["DL201"].rule, settings) is level


@pytest.mark.usefixtures("here")
def test_fail_on_decides_the_exit_code() -> None:
    write("a.py", WAITS)
    rules = ("--select", "DL305", "a.py")
    assert run(*rules)[0] == 1
    assert run("--fail-on", "speed", *rules)[0] == 0
    assert run("--fail-on", "opinion", *rules)[0] == 1
    assert run("--fail-on", "error", "--severity", "DL305:error", *rules)[0] == 1
    assert run("--severity", "DL305:note", *rules)[0] == 0
    strict = ("--fail-on", "note", "--severity", "DL305:note", *rules)
    code, out, _ = run(*strict)
    assert (code, out.splitlines()[-1]) == (1, "Found 1 problem: 1 note.")
    assert 'failures="1"' in run("--output-format", "junit", *strict)[1]
    lenient = ("--severity", "DL305:note", *rules)
    assert run(*lenient)[1].splitlines()[-1] == "No problems, 1 note."
    assert 'failures="0"' in run("--output-format", "junit", *lenient)[1]
    assert run("--fail-on", "note", "--severity", "DL305:note", "--no-notes", *rules)[0] == 0
    assert run("--fail-on", "error", "--diff", *rules)[0] == 0
    write("pyproject.toml", '[tool.dataloader-lint]\nfail-on = "error"\nseverity = { DL3 = "speed" }\n')
    code, out, err = run(*rules)
    assert (code, out.splitlines()[-1], err) == (0, "Found 1 problem: 1 speed.", "")
    assert out.startswith("DL305 speed: ")
    write("a.py", "DataLoader(\n")
    assert run(*rules)[0] == 1


@pytest.mark.usefixtures("here")
def test_formats_name_the_level() -> None:
    write("a.py", RAISES + WAITS)
    rules = ("--select", "DL301,DL305", "--no-cache", "a.py")

    def said(shape: str) -> str:
        return run("--output-format", shape, *rules)[1]

    assert [one["level"] for one in json.loads(said("json"))] == ["error", "opinion"]
    assert [line.partition(" ")[0] for line in said("github").splitlines()] == ["::error", "::notice"]
    assert [one["severity"] for one in json.loads(said("gitlab"))] == ["critical", "info"]
    log = json.loads(said("sarif"))["runs"][0]
    assert [one["level"] for one in log["results"]] == ["error", "note"]
    assert [one["defaultConfiguration"]["level"] for one in log["tool"]["driver"]["rules"]] == ["error", "note"]


@pytest.mark.usefixtures("here")
def test_a_level_survives_the_cache() -> None:
    write("a.py", WAITS)
    first = run("--select", "DL305", "--severity", "DL305:memory", "a.py")
    assert first == run("--select", "DL305", "--severity", "DL305:memory", "a.py")
    assert "1 memory." in first[1]
    assert "1 opinion." in run("--select", "DL305", "a.py")[1]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (
            'severity = { DL101 = "fatal" }',
            "severity for 'DL101' must be one of error, warning, memory, speed, opinion",
        ),
        ('severity = { DL777 = "error" }', "severity has the unknown rule code 'DL777'"),
        ('severity = "error"', "severity must be a table of a code and a level each, not 'error'"),
        (
            'fail-on = "errors"',
            "fail-on must be one of 'error', 'warning', 'memory', 'speed', 'opinion', 'note', not 'errors'",
        ),
    ],
)
def test_what_means_nothing_is_refused(table: str, problem: str) -> None:
    Path("pyproject.toml").write_text(f"[tool.dataloader-lint]\n{table}\n")
    code, _, err = run(".")
    assert code == 2
    assert problem in err


@pytest.mark.parametrize(
    ("settings", "named"),
    [(Settings(), True), (Settings(start_method="spawn"), False), (Settings(target_python=">=3.14"), False)],
)
def test_what_the_settings_say_is_not_said_again(settings: Settings, named: bool) -> None:
    source = "from torch.utils.data import DataLoader\n\n\ndef f(d):\n    return DataLoader(d, 2, num_workers=2, "
    (one,) = lint_source(source + "collate_fn=lambda rows: rows)\n", "a.py", settings)
    assert ("macOS" in one.problem) is named
