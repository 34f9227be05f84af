"""Which files of which project are looked at for who imports a module, and who calls its functions."""

from __future__ import annotations

from pathlib import Path

from dataloader_lint import Settings, lint_paths

HELPERS = """\
def train(model, loader):
    for images in loader:
        model(images.cuda())
"""
SCRIPT = """\
from helpers import train
from torch.utils.data import DataLoader

def main(model, dataset):
    train(model, DataLoader(dataset, num_workers=2, pin_memory=True))
"""


def test_each_project_of_many_side_by_side_is_told_by_its_own_scripts(tmp_path: Path) -> None:
    folders = [tmp_path / f"lesson{number}" for number in range(20)]
    for folder in folders:
        folder.mkdir()
        (folder / "helpers.py").write_text(HELPERS)
        (folder / "train.py").write_text(SCRIPT)
    (tmp_path / "pyproject.toml").touch()
    found = lint_paths([tmp_path], Settings(select=("DL401",)))
    assert [Path(each.filename).parent.name for each in found] == sorted(folder.name for folder in folders)


def test_a_repository_that_is_a_package_has_nothing_to_do_with_those_beside_it(tmp_path: Path) -> None:
    library, other = tmp_path / "library", tmp_path / "other"
    for folder in (library, other):
        folder.mkdir()
        (folder / ".git").mkdir()
        (folder / "__init__.py").touch()
    (library / "helpers.py").write_text(HELPERS)
    (other / "train.py").write_text(SCRIPT.replace("from helpers", "from library.helpers"))
    assert lint_paths([library], Settings(select=("DL401",))) == []
    (library / "train.py").write_text(SCRIPT.replace("from helpers", "from library.helpers"))
    found = lint_paths([library], Settings(select=("DL401",)))
    assert [Path(each.filename).name for each in found] == ["helpers.py"]
