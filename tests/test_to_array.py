"""Where the project demands a numpy without `StringDType`, strings stay in their list."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings

SOURCE = b"""\
import os
from torch.utils.data import Dataset

class Files(Dataset):
    def __init__(self, folder):
        self.names = os.listdir(folder)
        self.ranks = [int(name) for name in self.names]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index], self.ranks[index]
"""


def wrapped(folder: Path) -> tuple[bool, bool]:
    """True if strings and whether numbers become arrays in a file of that folder."""
    made = fix_source(SOURCE, str(folder / "data.py"), Settings(select=("DL101",)), unsafe=True).source.decode()
    return "np.array(os.listdir" in made, "np.array([int" in made


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", '[project]\ndependencies = [\n    "torch>=2",\n    "numpy>=1.21,<2",\n]\n'),
        ("pyproject.toml", '[project]\ndependencies = ["numpy<2.0", "torch"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nnumpy = "^1.26"\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nnumpy = { version = ">=1.20,<2.0.0" }\n'),
        ("requirements.txt", "torch\nnumpy==1.26.4\n"),
        ("requirements-dev.txt", "numpy~=1.26\n"),
        ("environment.yml", "dependencies:\n  - numpy=1.26\n"),
        ("setup.py", 'setup(install_requires=["numpy <2", "torch"])\n'),
    ],
)
def test_an_old_numpy_keeps_strings_in_their_list(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / name).write_text(content)
    (tmp_path / "package").mkdir()
    assert wrapped(tmp_path / "package") == (False, True)


@pytest.mark.parametrize(
    "content",
    [
        "numpy\ntorch<2\n",
        "numpy>=1.20\n",
        "numpy>=2,<3\n",
        "numpy<2.4\n",
        "numpy-quaternion<2\n",
        "numpy==2.1.0\n",
        'dependencies = ["numpy>=1.20", "scipy==1.2"]\nnumpy = ">=1.20"\n',
    ],
)
def test_any_other_numpy_does_not(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content)
    assert wrapped(tmp_path) == (True, True)
