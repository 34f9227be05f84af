"""What a clean run says of files without a DataLoader."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint import cli

OWN = "class AudioLoader:\n    pass\n"
ADVICE = "--extend-dataloaders sound.loading.AudioLoader"
USE = "from sound.loading import AudioLoader\n\nloader = AudioLoader(files(1), {arguments})\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def lines(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    cli.main(list(options))
    return capsys.readouterr().out.splitlines()


def test_no_dataloader_and_no_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", "import os\n")
    expected = ["All checks passed! 1 file, no DataLoader or Dataset in it."]
    assert lines(capsys) == expected
    assert lines(capsys) == expected  # from the cache
    assert lines(capsys, "--quiet") == []
    assert lines(capsys, "--output-format", "json") == ["[]"]


@pytest.mark.parametrize("base", ["Dataset", "torchvision.datasets.MNIST"])
def test_a_dataset_and_no_dataloader(capsys: pytest.CaptureFixture[str], base: str) -> None:
    write("a.py", "import os\n")
    write("b.py", f"class A({base}):\n    pass\n")
    assert lines(capsys) == ["All checks passed! 2 files, no DataLoader in them."]


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.data import DataLoader\nDataLoader(d)\n",
        "from torch_geometric.loader import NeighborLoader\nNeighborLoader(d)\n",
        "import transformers\ntransformers.Trainer(m, a)\n",
        "import timm\ntimm.data.create_loader(d, 3, 4)\n",
    ],
)
def test_a_known_loader_is_no_news(capsys: pytest.CaptureFixture[str], text: str) -> None:
    write("a.py", text)
    assert lines(capsys, "--select", "DL301") == ["All checks passed!"]


def test_a_loader_that_settings_add(capsys: pytest.CaptureFixture[str]) -> None:
    write("sound/__init__.py", "")
    write("sound/loading.py", OWN)
    write("main.py", USE.format(arguments="num_workers=0"))
    assert lines(capsys, "--extend-dataloaders", "sound.loading.AudioLoader") == ["All checks passed!"]


@pytest.mark.parametrize("arguments", ["batch_size", "batch_size=4", "num_workers=0, persistent_workers=True"])
def test_loaders_of_the_project(capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    write("sound/__init__.py", "")
    write("sound/loading.py", OWN)
    write("main.py", USE.format(arguments=arguments))
    assert lines(capsys) == [
        "All checks passed! 3 files, no DataLoader or Dataset in them.",
        f"`AudioLoader` is not known. If it takes the arguments of DataLoader: {ADVICE}",
    ]
    write("main.py", USE.format(arguments="rate=3") + "other(batch_size=3)\n")
    assert len(lines(capsys)) == 1


def test_the_name_that_is_said_is_the_one_to_add(capsys: pytest.CaptureFixture[str]) -> None:
    write("sound/__init__.py", "")
    write("sound/loading.py", OWN)
    write("main.py", USE.format(arguments="num_workers=0, persistent_workers=True"))
    name = lines(capsys)[-1].split()[-1]
    assert any("`persistent_workers` is true" in line for line in lines(capsys, "--extend-dataloaders", name))


@pytest.mark.parametrize("options", [[], ["--fix"], ["--statistics"]])
def test_nothing_has_passed_where_a_path_is_missing(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    write("a.py", "import os\n")
    assert cli.main([*options, "docter", "a.py"]) == 2
    said = "dataloader-lint: no such file or directory: docter; did you mean `dataloader-lint doctor`?\n"
    assert capsys.readouterr() == ("", said)
    assert cli.main([*options, "data", "a.py"]) == 2
    assert capsys.readouterr() == ("", "dataloader-lint: no such file or directory: data\n")
