"""docs/api.md is true: its examples run, and it names what the package exports and raises."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import dataloader_lint
from dataloader_lint import api, lint_paths, load_settings
from dataloader_lint.settings import Settings
from dataloader_lint.source.keys import KEYS

PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FUNCTIONS = ("lint_paths", "lint_source", "fix_source", "load_settings")


@pytest.mark.parametrize("block", BLOCKS)
def test_examples_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("src/a.py", "train.py", "data/b.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("from torch.utils.data import DataLoader\n\nDataLoader(d, prefetch_factor=2)\n")
    exec(compile(block, "docs/api.md", "exec"), {})


def test_the_page_names_all_that_is_exported() -> None:
    exported = set(dataloader_lint.__all__) - {"__version__"}
    assert exported == set(api.__all__)
    assert {name for name in exported if f"`{name}" not in PAGE} == set()
    for name in exported:
        assert getattr(dataloader_lint, name) is getattr(api, name)
    with pytest.raises(AttributeError):
        _ = dataloader_lint.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_of_the_page(name: str) -> None:
    parameters = inspect.signature(getattr(api, name)).parameters.values()
    written = ", ".join(
        each.name if each.default is each.empty else f"{each.name}={each.default!r}".replace("'", '"')
        for each in parameters
    )
    assert f"`{name}({written})`" in PAGE
    assert "Raises:" in (getattr(api, name).__doc__ or "")


def test_fields_are_those_of_the_page() -> None:
    for name in ("Diagnostic", "Position", "Fix", "TextEdit", "Place", "Reason", "FixResult"):
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
        assert [field for field in getattr(api, name).__dataclass_fields__ if f"`{field}`" not in row] == []
    row = next(line for line in PAGE.splitlines() if line.startswith("| `Level` |"))
    assert re.findall(r"`([A-Z]+)`", row) == [level.name for level in api.Level]


def test_settings_take_every_key() -> None:
    names = set(inspect.signature(Settings).parameters)
    assert {key.attribute for key in KEYS.values()} <= names


def test_loaded_settings_are_those_of_the_command(tmp_path: Path) -> None:
    table = "[tool.dataloader-lint]\nselect = ['DL302']\n"
    (tmp_path / "pyproject.toml").write_text(table)
    bad = "from torch.utils.data import DataLoader\n\nDataLoader(d, persistent_workers=True, prefetch_factor=2)\n"
    (tmp_path / "a.py").write_text(bad)
    assert [one.code for one in lint_paths(tmp_path, load_settings(tmp_path))] == ["DL302"]
    assert [one.code for one in lint_paths(tmp_path)] == ["DL301", "DL302"]
    (tmp_path / "other.toml").write_text(table.replace("DL302", "DL301"))
    assert [one.code for one in lint_paths(tmp_path, load_settings(config=tmp_path / "other.toml"))] == ["DL301"]
    (tmp_path / "pyproject.toml").write_text("[tool.dataloader-lint]\nselct = []\n")
    with pytest.raises(api.ConfigurationError, match="did you mean 'select'"):
        load_settings(tmp_path)
