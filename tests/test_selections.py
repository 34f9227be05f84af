"""Rules by name: named selections, names of rules, lower case, preview, and what may be fixed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commands import BAD, here, run, write
from dataloader_lint.diagnostics import Level
from dataloader_lint.rules.registry import FoundRule, found_rules
from dataloader_lint.rules.selection import SELECTIONS, is_fixable, is_selected, members, selected_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source import key
from fake_rules import fake_rules

__all__ = ["fake_rules", "here"]


def codes(**settings: object) -> list[str]:
    return [found.rule.code for found in selected_rules(Settings(**settings))]  # type: ignore[arg-type]


def test_the_names_are_those_that_settings_take() -> None:
    assert tuple(SELECTIONS) == key.SELECTIONS


def test_each_selection_holds_what_it_says() -> None:
    rules = {found.rule.code: found.rule for found in found_rules().values() if found.check is not None}
    assert codes(select=("all",)) == list(rules)
    assert codes(select=("correctness",)) == [code for code, rule in rules.items() if rule.level is Level.ERROR]
    assert codes(select=("speed",)) == [code for code, rule in rules.items() if rule.level is Level.SPEED]
    assert {"DL306", "DL309"} <= set(codes(select=("speed",)))
    portability, py314 = set(codes(select=("portability",))), set(codes(select=("py314",)))
    assert {code for code, rule in rules.items() if rule.spawning} <= portability
    assert "DL205" in portability
    assert py314 - portability == {"DL106"}
    assert [found.rule.code for found in members("memory")] == codes(select=("memory",))


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (Settings(select=("speed",)), False),
        (Settings(select=("all",)), True),
        (Settings(select=("correctness",)), True),
        # A code outweighs a name.
        (Settings(select=("all",), ignore=("DL3",)), False),
        (Settings(select=("correctness",), ignore=("DL",)), False),
        (Settings(select=("DL",), ignore=("correctness",)), False),
        (Settings(select=("DL30",), ignore=("correctness",)), False),
        (Settings(select=("DL301",), ignore=("correctness",)), True),
        (Settings(select=("all",), ignore=("all",)), False),
        (Settings(extend_ignore=("DL3",)), False),
        (Settings(extend_ignore=("DL301",), extend_select=("DL30",)), False),
        (Settings(ignored_here=("correctness",)), False),
    ],
)
def test_the_most_specific_wins(settings: Settings, chosen: bool) -> None:
    assert is_selected(found_rules()["DL301"].rule, settings) is chosen


def test_no_name_keeps_unreadable_files_quiet() -> None:
    rule = found_rules()["DL000"].rule
    assert is_selected(rule, Settings(select=("speed",), ignore=("all",), ignored_here=("all",)))


def test_new_rules_need_preview(fake_rules: dict[str, FoundRule]) -> None:
    found = fake_rules["DL301"]
    fake_rules["DL301"] = replace(found, rule=replace(found.rule, preview=True))
    assert "DL301" not in codes()
    assert "DL301" not in codes(select=("all",))
    assert "DL301" not in codes(select=("DL3",))
    assert "DL301" in codes(preview=True)
    assert "DL301" in codes(select=("DL301",))
    fake_rules["DL301"] = replace(found, rule=replace(found.rule, preview=True, default=False))
    assert "DL301" not in codes(preview=True)
    assert "DL301" in codes(preview=True, select=("all",))


@pytest.mark.parametrize(
    ("settings", "fixable"),
    [
        (Settings(), True),
        (Settings(fixable=("DL3",)), True),
        (Settings(fixable=("DL2",)), False),
        (Settings(unfixable=("DL301",)), False),
        (Settings(unfixable=("DL3",)), False),
        (Settings(fixable=("DL301",), unfixable=("DL3",)), True),
        (Settings(unfixable=("correctness",)), False),
    ],
)
def test_fixable_and_unfixable(settings: Settings, fixable: bool) -> None:
    assert is_fixable(found_rules()["DL301"].rule, settings) is fixable


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["DL301", "dl301", "dl3", "persistent-workers-without-workers", "ALL", "Correctness"])
def test_names_on_the_command_line(name: str) -> None:
    write("a.py", BAD)
    assert "DL301" in run("--select", name, "--statistics", "a.py")[1]
    assert "DL301" not in run("--ignore", name, "--statistics", "a.py")[1]
    assert "error: " in run("--select", "DL301", "--severity", f"{name}:error", "a.py")[1]


FAMILIES = "; there are DL101 to DL106, DL201 to DL217, DL301 to DL317, DL401 to DL408, DL501 to DL504, DL601 to DL628"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("spede", "; did you mean 'speed'?"),
        ("list-atribute", "; did you mean 'list-attribute'?"),
        ("DL31O", "; did you mean 'DL310'?"),
        ("DL801", FAMILIES),
        ("qqq", f"; besides codes there are {', '.join(SELECTIONS)}"),
    ],
)
def test_unknown_names(name: str, near: str) -> None:
    assert run("--select", name)[::2] == (
        2,
        f"dataloader-lint: --select has the unknown rule code {name!r}{near}\n",
    )


@pytest.mark.usefixtures("here")
def test_a_preview_setting_reaches_the_rules() -> None:
    write("pyproject.toml", "[tool.dataloader-lint]\npreview = true\nextend-ignore = ['speed']\n")
    shown = run("--show-settings")[1]
    assert "\npreview = true  # " in shown
    assert '\nextend-ignore = ["speed"]  # ' in shown
