"""The one table of settings agrees with Settings, the rules, the command line and flake8's options."""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path

import pytest

from dataloader_lint.cli.arguments import parser
from dataloader_lint.flake8_plugin import Plugin
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import EXCLUDED_FOLDERS
from dataloader_lint.source.key import ONLY_OPTIONS, OTHER_NAMES, Key, UnfitValueError, known_codes, rule_names
from dataloader_lint.source.keys import KEYS

INTERNAL = {"options", "ignored_here", "measured", "record", "roots"}


def test_every_setting_is_a_key() -> None:
    assert {key.attribute for key in KEYS.values()} == set(vars(Settings())) - INTERNAL


def test_every_key_is_an_option() -> None:
    options = {option for action in parser()._actions for option in action.option_strings}
    assert {f"--{name}" for name in KEYS} <= options


def test_flake8_has_what_is_true_of_the_programs() -> None:
    names: list[str] = []

    class Manager:
        def extend_default_ignore(self, error_codes: object) -> None:
            """Not of interest."""

        def add_option(self, long_option_name: str, **_: object) -> None:
            names.append(long_option_name)

    Plugin.add_options(Manager())
    assert names == [
        "--dl-notes",
        "--dl-start-method",
        "--dl-target-python",
        "--dl-max-workers",
        "--dl-max-prefetched-batches",
        "--dl-samples",
        "--dl-memory-threshold",
        "--dl-extend-dataloaders",
        "--dl-extend-datasets",
        "--dl-extend-iterable-datasets",
    ]


def test_the_codes_are_those_of_the_rules() -> None:
    assert known_codes() == list(found_rules())


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_examples_are_what_the_key_takes(key: Key, tmp_path: Path) -> None:
    for folder in ("libs/core/src", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    ((name, value),) = tomllib.loads(key.example).items()
    assert name == key.name
    assert key.read(value, str(tmp_path)) != getattr(Settings(), key.attribute)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_defaults_are_those_of_settings(key: Key, tmp_path: Path) -> None:
    default = getattr(Settings(), key.attribute)
    if key.name == "exclude":
        assert default is None
        assert {".git", ".venv", "build", "node_modules"} <= set(EXCLUDED_FOLDERS)
    elif key.name in ("target-python", "cache-dir"):
        assert default == ""
    else:
        assert key.read(tomllib.loads(f"it = {key.default}")["it"], str(tmp_path)) == default


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("select", "DL1, DL301 DL302", ("DL1", "DL301", "DL302")),
        ("select", "", ()),
        ("exclude", "a b, *.py", ("a b", "*.py")),
        ("max-workers", " 8 ", 8),
        ("start-method", "fork", "fork"),
        ("target-python", ">=3.11,<3.15", ">=3.11,<3.15"),
        ("target-python", "~=3.12", "~=3.12"),
        ("target-python", "==3.12.*", "==3.12.*"),
        ("extend-datasets", "a.B,\n c.d.E,", ("a.B", "c.d.E")),
        ("per-file-ignores", "/a/*:DL1, /a/*:DL2,", (("/a/*", ("DL1", "DL2")), ("/a/*/*", ("DL1", "DL2")))),
    ],
)
def test_values_as_text(name: str, text: str, value: object) -> None:
    assert KEYS[name].read_text(text) == value


@pytest.mark.parametrize("text", ["3.x", "", ">=", ">=3.11 <3.15", "python3"])
def test_what_is_no_python_version(text: str) -> None:
    with pytest.raises(UnfitValueError):
        KEYS["target-python"].read(text, ".")


def test_many_file_patterns_list_the_rules_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 of them took minutes."""
    listed: list[object] = []
    real = pkgutil.iter_modules

    def counted(path: list[str]) -> object:
        listed.append(path)
        return real(path)

    monkeypatch.setattr(pkgutil, "iter_modules", counted)
    rule_names.cache_clear()
    for number in range(20):
        KEYS["per-file-ignores"].read({f"**/a{number}.py": ["DL301"]}, ".")
    assert 0 < len(listed) < 5


def test_what_is_only_an_option_is_no_key() -> None:
    known = parser()._option_string_actions
    for name, shown in ONLY_OPTIONS.items():
        action = known[f"--{name}"]
        assert name not in KEYS
        assert shown == f"--{name} {action.metavar}" if action.nargs != 0 else shown == f"--{name}"
    for name, meant in OTHER_NAMES.items():
        assert name not in KEYS and f"--{name}" not in known
        assert f"--{meant}" in known
