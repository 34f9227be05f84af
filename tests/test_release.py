"""What a tag publishes says the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from dataloader_lint import __version__

ROOT = Path(__file__).parent.parent
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("CHANGELOG.md", r"^## (\S+) \((?:\d{4}-\d\d-\d\d|not released yet)\)$"),
        ("CONTRIBUTING.md", r"git tag -a v(\S+)"),
        ("action.yml", r"^# GitHub Action: uses: dataloader-lint/dataloader-lint@v(\S+)$"),
        ("docs/ci.md", r"^    rev: v(\S+)$"),
        ("packaging/conda/recipe.yaml", r'^  version: "(\S+)"$'),
    ],
)
def test_the_version_is_the_same_in_all_files(name: str, pattern: str) -> None:
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None and found[1] == __version__


def test_each_version_in_the_changelog_has_a_date() -> None:
    headings = re.findall(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings
    assert [each for each in headings[1:] if not re.fullmatch(r"## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", each)] == []


def test_conda_installs_what_pip_does() -> None:
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    made = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, lowest = made["project"], recipe["context"]["python_min"]

    def plain(several: list[str]) -> set[str]:
        return {each.replace(" ", "") for each in several}

    requirements = recipe["requirements"]
    assert plain(requirements["run"]) == plain(project["dependencies"]) | {"python>=${{python_min}}"}
    assert plain(made["build-system"]["requires"]) <= plain(requirements["host"])
    assert project["requires-python"] == f">={lowest}"
    scripts = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["summary"] in project["description"]
