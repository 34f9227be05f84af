"""Settings from `[tool.dataloader-lint]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.cli import main
from dataloader_lint.settings import Settings
from dataloader_lint.source.pyproject import ConfigurationError, configured

LAMBDA = "from torch.utils.data import DataLoader\n\nDataLoader([], num_workers=2, collate_fn=lambda rows: rows)\n"


def write(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def test_nothing_is_configured(tmp_path: Path) -> None:
    assert configured(str(write(tmp_path, "[project]\nname = 'x'\n"))) == {}


def test_python_versions_come_from_the_project(tmp_path: Path) -> None:
    assert configured(str(write(tmp_path, '[project]\nrequires-python = ">=3.14"\n'))) == {"target_python": ">=3.14"}
    assert configured(str(write(tmp_path, "# requires-python is not set here\n"))) == {}


def test_all_kinds_of_values(tmp_path: Path) -> None:
    text = """
[project]
requires-python = ">=3.12"
[tool.dataloader-lint]
select = ["DL2", "DL301"]
extend-exclude = ["old"]
max-workers = 32
start-method = "spawn"
"""
    below = write(tmp_path, text) / "src" / "deep"
    below.mkdir(parents=True)
    settings = Settings(**configured(str(below)))  # type: ignore[arg-type]
    assert settings.select == ("DL2", "DL301")
    assert settings.extend_exclude == ("old",)
    assert (settings.max_workers, settings.start_method, settings.target_python) == (32, "spawn", ">=3.12")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("selct = ['DL1']", "has no key 'selct'; did you mean 'select'?"),
        ("max-workers = 0", "max-workers must be a number above 0, not 0"),
        ("start-method = 'thread'", "start-method must be one of 'auto', 'fork', 'spawn', 'forkserver', not 'thread'"),
        ("ignore = 'DL1'", "ignore must be a list of strings, not 'DL1'"),
        ("select = [", "not valid TOML"),
    ],
)
def test_typos_say_what_and_where(tmp_path: Path, line: str, message: str) -> None:
    folder = write(tmp_path, f"[tool.dataloader-lint]\n{line}\n")
    with pytest.raises(ConfigurationError) as error:
        configured(str(folder))
    assert message in str(error.value)
    assert str(folder / "pyproject.toml") in str(error.value)


def test_options_go_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, "[tool.dataloader-lint]\nselect = ['DL301']\noutput-format = 'concise'\n"))
    (tmp_path / "train.py").write_text(LAMBDA, encoding="utf-8")
    assert main(["train.py"]) == 0
    assert main(["--select", "DL201", "train.py"]) == 1
    assert "train.py:3:42: DL201" in capsys.readouterr().out


def test_with_fork_nothing_is_pickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, "[tool.dataloader-lint]\nstart-method = 'fork'\n"))
    (tmp_path / "train.py").write_text(LAMBDA, encoding="utf-8")
    assert main(["--select", "DL201", "train.py"]) == 0


def test_a_typo_is_the_users_to_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, "[tool.dataloader-lint]\nignored = []\n"))
    assert main([]) == 2
    assert "has no key 'ignored'; did you mean 'ignore'?" in capsys.readouterr().err
