"""Settings behave like a frozen dataclass, and codes are chosen by the longest prefix."""

from __future__ import annotations

import pickle

import pytest

from dataloader_lint.rules.selection import UnknownCodeError, find_rule, is_selected, selected_rules
from dataloader_lint.settings import Settings
from fake_rules import fake_rules

__all__ = ["fake_rules"]


def test_settings_are_frozen_values() -> None:
    settings = Settings(select=("DL3",))
    assert settings == Settings(select=("DL3",)) != Settings()
    assert hash(settings) == hash(Settings(select=("DL3",)))
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.replace(ignore=("DL301",)) == Settings(select=("DL3",), ignore=("DL301",))
    assert "select=('DL3',)" in repr(settings)
    with pytest.raises(AttributeError, match="frozen"):
        settings.select = ()
    with pytest.raises(AttributeError, match="frozen"):
        del settings.select
    with pytest.raises(TypeError, match="selct"):
        Settings(selct=())  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (Settings(), True),
        (Settings(select=("DL",)), True),
        (Settings(select=("DL2",)), False),
        (Settings(select=("DL2",), extend_select=("DL3",)), True),
        (Settings(ignore=("DL",)), False),
        (Settings(select=("DL3",), ignore=("DL",)), True),
        (Settings(select=("DL3",), ignore=("DL3",)), False),
        (Settings(select=("DL3",), ignore=("DL301",)), False),
        (Settings(select=("DL301",), ignore=("DL30",)), True),
        (Settings(extend_select=("DL301",), ignore=("DL30",)), True),
    ],
)
def test_the_longest_prefix_decides(settings: Settings, chosen: bool) -> None:
    assert is_selected("DL301", True, settings) is chosen


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (Settings(), False),
        (Settings(select=("DL",)), False),
        (Settings(extend_select=("DL10",)), False),
        (Settings(select=("DL105",)), True),
        (Settings(extend_select=("DL105",)), True),
        (Settings(extend_select=("DL105",), ignore=("DL1",)), True),
        (Settings(extend_select=("DL105",), ignore=("DL105",)), False),
    ],
)
def test_opt_in_rules_need_their_full_code(settings: Settings, chosen: bool) -> None:
    assert is_selected("DL105", False, settings) is chosen


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (Settings(select=("DL301",)), True),
        (Settings(ignore=("DL",)), True),
        (Settings(ignore=("DL000",)), False),
    ],
)
def test_what_was_not_checked_is_said_whatever_is_selected(settings: Settings, chosen: bool) -> None:
    assert is_selected("DL000", True, settings) is chosen


@pytest.mark.parametrize(
    ("codes", "code", "chosen"),
    [
        (("DL3",), "DL301", False),
        (("DL301",), "DL301", False),
        (("DL2",), "DL301", True),
        (("DL",), "DL000", True),
        (("DL00",), "DL000", True),
        (("DL000",), "DL000", False),
    ],
)
def test_what_is_ignored_here_runs_for_no_selection(codes: tuple[str, ...], code: str, chosen: bool) -> None:
    assert is_selected(code, True, Settings(select=("DL301", "DL000"), ignored_here=codes)) is chosen


def test_what_decides_over_a_session() -> None:
    assert Settings(select=("DL1",), max_workers=3).project_key == Settings().project_key
    for name in ("extend_dataloaders", "extend_datasets", "extend_iterable_datasets", "src"):
        assert Settings().replace(**{name: ("a.B",)}).project_key != Settings().project_key


@pytest.mark.usefixtures("fake_rules")
def test_selected_rules() -> None:
    def codes(settings: Settings) -> list[str]:
        return [one.rule.code for one in selected_rules(settings)]

    assert codes(Settings()) == ["DL301", "DL304"]
    assert codes(Settings(extend_select=("DL305",), ignore=("DL304",))) == ["DL301", "DL305"]
    assert codes(Settings(select=("DL000",))) == []


@pytest.mark.usefixtures("fake_rules")
def test_rules_are_found_by_code_and_name() -> None:
    assert find_rule("dl301").rule.code == find_rule("made-up-loader").rule.code == "DL301"
    with pytest.raises(UnknownCodeError, match=r"did you mean 'made-up-loader'\?"):
        find_rule("made-up-loaders")
