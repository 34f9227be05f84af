"""What goes to PyPI: built for real, checked as PyPI checks it, and tested from the source archive alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import __version__

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow
pytest.importorskip("build", reason="needs the extra `dev`")
pytest.importorskip("twine", reason="needs the extra `dev`")


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", *arguments]
    return processes.run(command, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    done = run("build", "--outdir", str(folder), folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_flake8_with_and_without_the_package(built: Path, tmp_path: Path) -> None:
    """What docs/settings.md says of an environment that has flake8, then both, then flake8 again."""
    assert run("venv", str(tmp_path / "venv"), folder=tmp_path).returncode == 0
    python = str(tmp_path / "venv" / "bin" / "python")
    (wheel,) = built.glob("*.whl")
    code = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n"
    (tmp_path / "a.py").write_text(code)
    (tmp_path / "setup.cfg").write_text("[flake8]\ndl-notes = false\nextend-ignore = F821\n")

    def there(*arguments: str) -> tuple[int, str]:
        done = processes.run([python, "-m", *arguments], cwd=tmp_path)
        return done.returncode, done.stdout + done.stderr

    assert there("pip", "install", "-q", "flake8")[0] == 0
    assert there("flake8", "--select", "DL", "a.py") == there("flake8", "a.py") == (0, "")
    assert there("pip", "install", "-q", str(wheel))[0] == 0
    assert there("flake8", "a.py")[1].startswith("a.py:3:10: DL301 ")
    assert "dataloader-lint: " in there("flake8", "--version")[1]
    assert there("flake8", "--extend-ignore", "F821,DL", "a.py") == (0, "")
    assert there("pip", "uninstall", "-qy", "dataloader-lint")[0] == 0
    assert there("flake8", "a.py") == (0, "")


def test_pypi_would_take_both(built: Path) -> None:
    files = sorted(str(path) for path in built.iterdir())
    assert [Path(path).suffix for path in files] == [".whl", ".gz"]
    done = run("twine", "check", "--strict", *files, folder=built)
    assert (done.returncode, done.stdout.count("PASSED")) == (0, 2), done.stdout


def test_the_wheel_is_whole_and_says_what_it_is(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        info = f"dataloader_lint-{__version__}.dist-info"
        metadata = wheel.read(f"{info}/METADATA").decode()
        entries = wheel.read(f"{info}/entry_points.txt").decode()
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dataloader_lint").rglob("*.py")}
    assert {name for name in names if not name.startswith(info)} == {*modules, "dataloader_lint/py.typed"}
    for minor in range(11, 15):
        assert f"Classifier: Programming Language :: Python :: 3.{minor}\n" in metadata
    for line in ("Requires-Python: >=3.11", "License-Expression: MIT", "Classifier: Typing :: Typed"):
        assert f"{line}\n" in metadata
    assert "](docs/" not in metadata  # a relative link leads nowhere on PyPI
    assert "dataloader-lint = dataloader_lint.cli" in entries
    assert "DL = dataloader_lint.flake8_plugin:Plugin" in entries


def test_the_tests_run_from_the_source_archive(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    some = ("tests/test_gate.py", "tests/test_readme.py", "tests/test_rules_meta.py", "tests/test_docs.py")
    done = run("pytest", "-q", "-p", "no:cacheprovider", *some, folder=folder)
    assert done.returncode == 0, done.stdout
    everything = run("pytest", "-q", "-p", "no:cacheprovider", "--collect-only", folder=folder)
    assert everything.returncode == 0, everything.stdout
