"""Options that change nothing are named on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint import cli


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        ".git/HEAD": "",
        "sound/__init__.py": "",
        "sound/data/__init__.py": "from .loading import AudioLoader\n",
        "sound/data/loading.py": "class AudioLoader:\n    class Inner:\n        pass\n\nmake_loader = AudioLoader\n",
        "sound/many.py": (
            "from sound.data import (\n    AudioLoader,\n    make_loader,\n)\n\n"
            "Clips, Loader = make(AudioLoader)\n(Loud, Low) = 1, 2\nif True: Built = 1\n"
        ),
        "sound/fast.cpython-313-darwin.so": "",
        "main.py": "import torchvision\n\ndata = torchvision.datasets.ImageFolder(root)\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def warnings(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert cli.main(["--no-cache", *options]) == 0
    return [line.removeprefix("dataloader-lint: warning: ") for line in capsys.readouterr().err.splitlines()]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("sound.data.loading.AudioLoader", ""),
        ("sound.data.loading.AudioLoader.Inner", ""),
        ("sound.data.loading.make_loader", ""),
        ("elsewhere.data.AudioLoader", ""),  # a library
        (
            "sound.data.loading.AudioLoaderrr",
            "sound.data.loading defines no AudioLoaderrr; did you mean 'AudioLoader'?",
        ),
        ("sound.dta.AudioLoader", "sound defines no dta"),
        ("sound.data.AudioLoader", "sound.data only imports AudioLoader: name the module that defines it"),
        ("sound.many.AudioLoader", "sound.many only imports AudioLoader: name the module that defines it"),
        ("sound.many.Loader", ""),
        ("sound.many.Low", ""),
        ("sound.many.Built", ""),
        ("sound.fast.FastLoader", ""),
        ("sound.faster.FastLoader", "sound defines no faster"),
        ("main.Loader", "main defines no Loader"),
    ],
)
@pytest.mark.parametrize("option", ["extend-dataloaders", "extend-iterable-datasets"])
def test_names_to_add(capsys: pytest.CaptureFixture[str], option: str, name: str, problem: str) -> None:
    assert warnings(capsys, f"--{option}", name) == ([f"{option}: {problem}"] if problem else [])
    assert warnings(capsys, "--quiet", f"--{option}", name) == []


def test_names_in_a_file_of_settings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text('[tool.dataloader-lint]\nextend-datasets = ["sound.Clips"]\n')
    assert warnings(capsys) == ["extend-datasets: sound defines no Clips"]


def test_classes_with_samples(capsys: pytest.CaptureFixture[str]) -> None:
    assert warnings(capsys, "--samples", "AudioLoader:5M,Image*:2M,7M") == []
    assert warnings(capsys, "--samples", "Nope:20M") == ["samples: the project has no class 'Nope'"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--max-workers 2", "max-workers: DL305 is off; use --extend-select DL305"),
        ("--max-workers 2 --extend-select DL305", ""),
        ("--max-workers 2 --select all", ""),
        ("--max-prefetched-batches 9", "max-prefetched-batches: DL307 is off; use --extend-select DL307"),
        ("--memory-threshold 9MB", ""),
        (
            "--memory-threshold 9MB --select DL2",
            "memory-threshold: DL101, DL102, DL103 are off; use --extend-select DL101,DL102,DL103",
        ),
        ("--memory-threshold 9MB --select DL102", ""),
    ],
)
def test_options_for_rules_that_are_off(capsys: pytest.CaptureFixture[str], options: str, problem: str) -> None:
    assert warnings(capsys, *options.split()) == ([problem] if problem else [])


def test_a_file_of_settings_may_hold_them_for_another_selection(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text("[tool.dataloader-lint]\nmax-workers = 2\n")
    assert warnings(capsys) == []
