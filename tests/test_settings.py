"""Settings behave like a frozen dataclass, and codes are chosen by the longest prefix."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from dataloader_lint import fix_source, lint_paths, lint_source
from dataloader_lint.rules.base import Rule
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.selection import UnknownCodeError, find_rule, is_selected, selected_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.pyproject import chosen
from fake_rules import fake_rules

__all__ = ["fake_rules"]


def rule(code: str) -> Rule:
    return found_rules()[code].rule


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
    assert is_selected(rule("DL301"), settings) is chosen


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
    assert is_selected(rule("DL105"), settings) is chosen


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        (Settings(select=("DL301",)), True),
        (Settings(ignore=("DL",)), True),
        (Settings(ignore=("DL000",)), False),
    ],
)
def test_what_was_not_checked_is_said_whatever_is_selected(settings: Settings, chosen: bool) -> None:
    assert is_selected(rule("DL000"), settings) is chosen


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
    assert is_selected(rule(code), Settings(select=("DL301", "DL000"), ignored_here=codes)) is chosen


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


WRONG_TYPES = {
    "select": ["DL301", ["DL301"], (1,), None],
    "exclude": ["build", (b"build",)],
    "per_file_ignores": [{"a.py": ("DL1",)}, (("a.py", "DL1"),), ("ab",), (("a.py",),)],
    "output_format": [None, ("full",)],
    "max_workers": ["4", 4.0, True, None],
    "options": [{}, ("ab", 1)],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG_TYPES.items() for value in values])
def test_values_of_another_type_are_refused(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=rf"^{name} must be an? .*, not "):
        Settings(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=rf"^{name} must be"):
        Settings().replace(**{name: value})


WRONG_VALUES = {
    "select": (("DL9", "XY1"), "has the unknown rule code 'XY1'"),
    "ignore": (
        ("persistent-worker",),
        "has the unknown rule code 'persistent-worker'",
    ),
    "extend_select": (("",), "has the unknown rule code ''"),
    "per_file_ignores": ((("a.py", ("DL8",)),), "has the unknown rule code 'DL8'"),
    "output_format": ("ful", "must be one of 'concise', .*, not 'ful'; did you mean 'full'?"),
    "start_method": ("vfork", "must be one of 'auto', .*, not 'vfork'; did you mean 'fork'?"),
    "max_workers": (0, "must be a number above 0, not 0"),
    "extend_dataloaders": (("FastLoader",), "must hold names with their modules, such as .*, not 'FastLoader'"),
    "src": (("lib",), "must hold absolute paths, not 'lib'"),
}


@pytest.mark.parametrize(("name", "value", "message"), [(name, *pair) for name, pair in WRONG_VALUES.items()])
def test_values_that_mean_nothing_are_refused_as_by_the_command_line(name: str, value: object, message: str) -> None:
    settings = Settings(**{name: value})  # type: ignore[arg-type]
    wanted = f"^{name} {message.replace('?', '[?]')}"
    with pytest.raises(ValueError, match=wanted):
        lint_source("x = 1\n", "a.py", settings)
    with pytest.raises(ValueError, match=wanted):
        fix_source(b"x = 1\n", "a.py", settings)
    with pytest.raises(ValueError, match=wanted):
        lint_paths([], settings)


def test_a_project_may_require_what_could_not_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = "^3.8rc1"\n', encoding="utf-8")
    (tmp_path / "a.py").write_text(BAD, encoding="utf-8")
    assert [one.code for one in lint_paths(tmp_path, chosen(folder=str(tmp_path)))] == ["DL301"]
    assert fix_source(BAD.encode(), tmp_path / "a.py", chosen(folder=str(tmp_path))).fixed == {"DL301": 1}


def test_arguments_of_another_type_are_refused(tmp_path: Path) -> None:
    for call in (lint_source, fix_source):
        with pytest.raises(TypeError, match=r"^settings must be Settings, not dict"):
            call(b"", "a.py", {"select": ("DL301",)})  # type: ignore[operator]
        with pytest.raises(TypeError, match=r"^filename must be a str or a path of str, not bytes"):
            call(b"", b"a.py")  # type: ignore[operator]
        with pytest.raises(TypeError, match=r"^source must be bytes"):
            call(None, "a.py")  # type: ignore[operator]
        call(b"", tmp_path / "a.py")  # type: ignore[operator]
    with pytest.raises(TypeError, match=r"^source must be bytes, not str"):
        fix_source("x = 1\n", "a.py")  # type: ignore[arg-type]


BAD = "from torch.utils.data import DataLoader\n\nDataLoader(data, persistent_workers=True, num_workers=0)\n"


@pytest.mark.parametrize("as_given", [str, Path, lambda path: [str(path)], lambda path: iter([path])])
def test_one_path_or_several(tmp_path: Path, as_given: Callable[[Path], str]) -> None:
    """A text is made of texts, of which `/` would be the whole file system."""
    (tmp_path / "a.py").write_text(BAD, encoding="utf-8")
    assert [one.code for one in lint_paths(as_given(tmp_path), Settings(select=("DL301",)))] == ["DL301"]


@pytest.mark.parametrize("given", [b"dir", None, 3, [b"dir"], [None], ["a", 3]])
def test_what_is_no_path_is_refused(given: object) -> None:
    with pytest.raises(TypeError, match=r"^paths must be "):
        lint_paths(given)  # type: ignore[arg-type]
