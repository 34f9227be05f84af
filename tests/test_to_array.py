"""Strings become an array that every numpy has which the project allows; `StringDType` needs NumPy 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings

SOURCE = b"""\
import os
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __init__(self, folder):
        self.names = os.listdir(folder)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]


class Ranks(Dataset):
    def __init__(self, folder):
        self.ranks = [int(name) for name in os.listdir(folder)]

    def __len__(self):
        return len(self.ranks)

    def __getitem__(self, index):
        return self.ranks[index]


loaders = DataLoader(Files("images"), num_workers=2), DataLoader(Ranks("images"), num_workers=2)
"""


LARGE = Settings(select=("DL101",), samples=(("*", 10_000_000),))


def fixed(folder: Path, settings: Settings = LARGE) -> str:
    return fix_source(SOURCE, str(folder / "data.py"), settings, unsafe=True).source.decode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", '[project]\ndependencies = [\n    "torch>=2",\n    "numpy>=1.21,<2",\n]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nnumpy = "^1.26"\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nnumpy = { version = ">=1.20,<2.0.0" }\n'),
        ("requirements.txt", "torch\nnumpy==1.26.4\n"),
        ("requirements-dev.txt", "numpy~=1.26\n"),
        ("environment.yml", "dependencies:\n  - numpy=1.26\n"),
        ("setup.py", 'setup(install_requires=["numpy <2", "torch"])\n'),
        ("requirements.txt", "numpy\ntorch>=2\n"),
        ("requirements.txt", "numpy>=1.20\n"),
        ("requirements.txt", "numpy-quaternion>=2\n"),
        ("setup.cfg", ""),
    ],
)
def test_every_numpy_has_what_is_written(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / name).write_text(content)
    (tmp_path / "package").mkdir()
    assert "np.array(os.listdir(folder), dtype=np.str_)" in fixed(tmp_path / "package")


@pytest.mark.parametrize(
    "content",
    [
        "numpy>=2,<3\n",
        "numpy==2.1.0\n",
        "numpy ~= 2.0\n",
        'dependencies = ["numpy>=2.0", "scipy==1.2"]\n',
        '[tool.poetry.dependencies]\nnumpy = "^2.1"\n',
    ],
)
def test_a_new_numpy_has_a_type_for_strings(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content)
    assert "np.array(os.listdir(folder), dtype=np.dtypes.StringDType())" in fixed(tmp_path)


def test_a_list_of_unknown_size_stays(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    assert fixed(tmp_path, Settings(select=("DL101",))).encode() == SOURCE
