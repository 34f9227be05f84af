"""Names that the settings take for torch's DataLoader and Datasets, and folders in which modules are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataloader_lint import Settings, fix_source, lint_source
from dataloader_lint.cli import main
from dataloader_lint.gate import may_matter
from dataloader_lint.source.keys import KEYS

FEEDER = ("mylib.data.Feeder",)
LOADERS = Settings(extend_dataloaders=FEEDER)
PERSISTENT = "(rows, num_workers=0, persistent_workers=True)\n"


def codes(source: str, settings: Settings, path: str = "/nowhere/train.py") -> list[str]:
    return [f"{one.start.line}: {one.code}" for one in lint_source(source, path, settings)]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "source",
    [
        f"from mylib.data import Feeder\nFeeder{PERSISTENT}",
        f"from mylib.data import Feeder as F\nF{PERSISTENT}",
        f"from mylib import data\ndata.Feeder{PERSISTENT}",
        f"import mylib.data\nmylib.data.Feeder{PERSISTENT}",
        f"import mylib.data as d\nd.Feeder{PERSISTENT}",
    ],
)
def test_a_loader_of_another_library(source: str) -> None:
    assert codes(source, LOADERS) == ["2: DL301"]
    assert codes(source, Settings()) == []
    assert codes(source, Settings(extend_dataloaders=("mylib.Feeder", "other.data.Feeder"))) == []


OTHERS = """\
from mindspore.dataset.dataloader import DataLoader
from spdl.dataloader import get_pytorch_dataloader

get_pytorch_dataloader(rows, 8, True, prefetch_factor=4)
get_pytorch_dataloader(rows, 8, True, None, None, 64)
get_pytorch_dataloader(rows, collate_fn=lambda rows: rows)
get_pytorch_dataloader(rows, 8, True, None, None, 0, persistent_workers=True)
DataLoader(rows, 8, True, prefetch_factor=4)
DataLoader(rows, 8, True, None, None, 64)
"""


def test_loaders_by_the_name_of_their_library() -> None:
    read = KEYS["extend-dataloaders"].read(["mindspore", "spdl", "mylib.data.Feeder"], ".")
    assert read == ("mindspore.dataset.dataloader.DataLoader", "spdl.dataloader.get_pytorch_dataloader", *FEEDER)
    both = Settings(extend_dataloaders=read, select=("DL201", "DL301", "DL302", "DL305"))
    assert codes(OTHERS, both.replace(extend_dataloaders=())) == []
    found = ["5: DL305", "6: DL201", "7: DL301", "8: DL302", "9: DL305"]  # SPDL has a worker by default
    assert codes(OTHERS, both) == found
    lambdas = both.replace(select=("DL201",))
    (one,) = lint_source(OTHERS, "/nowhere/train.py", lambdas)
    assert "pickling it for workers fails (macOS" in one.problem
    (one,) = lint_source(OTHERS.replace("get_pytorch_dataloader(rows, c", "DataLoader(rows, c"), "/x/train.py", lambdas)
    assert one.problem.endswith("fails once `num_workers > 0`")


THREADS = """\
import ray
import torchdata.nodes as tn
from dataloader_rs import PyDataloader
from streaming import StreamingDataLoader

PyDataloader(rows, 8, 2, True, num_workers=64, collate_fn=lambda rows: rows)
tn.Loader(tn.ParallelMapper(tn.IterableWrapper(rows), map_fn=lambda row: row, num_workers=64))
ray.data.read_parquet("rows").iter_torch_batches(batch_size=8, collate_fn=lambda rows: rows)
StreamingDataLoader(rows, num_workers=64, collate_fn=lambda rows: rows)
"""


def test_loaders_with_threads_or_processes_of_their_own_are_none_of_ours() -> None:
    assert codes(THREADS, Settings(select=("all",))) == ["9: DL305", "9: DL307", "9: DL201"]
    page = (Path(__file__).parent.parent / "docs" / "settings.md").read_text(encoding="utf-8")
    for name in ("dataloader_rs.PyDataloader", "torchdata.nodes", "iter_torch_batches"):
        assert f"| `{name}`" in page


def test_the_message_names_the_users_class() -> None:
    (one,) = lint_source(f"from mylib.data import Feeder\nFeeder{PERSISTENT}", "a.py", LOADERS)
    assert one.message.startswith("`Feeder` raises ValueError")


@pytest.mark.parametrize("call", ["turbo", "speed.turbo"])
def test_the_message_names_the_users_function(call: str) -> None:
    source = f"from mylib import speed\nfrom mylib.speed import turbo\n{call}{PERSISTENT}"
    (one,) = lint_source(source, "a.py", Settings(extend_dataloaders=("mylib.speed.turbo",)))
    assert one.message.startswith("`turbo` raises ValueError")


def test_what_derives_from_it_is_one_too() -> None:
    source = f"from mylib.data import Feeder\nclass Mine(Feeder):\n    pass\nMine{PERSISTENT}"
    assert codes(source, LOADERS) == ["4: DL301"]
    inside = "from mylib.data import Feeder\nclass Mine(Feeder):\n    def __init__(self, rows):\n"
    assert codes(f"{inside}        super().__init__{PERSISTENT}", LOADERS) == ["4: DL301"]


def test_such_a_file_passes_the_gate() -> None:
    source = b"from mylib.data import Feeder\n"
    assert not may_matter(source)
    assert may_matter(source, LOADERS.extra_words)
    assert may_matter(source.decode().encode("utf-16"), LOADERS.extra_words)
    assert not may_matter(b"from mylib.data import Feed\n", LOADERS.extra_words)


def test_its_findings_are_fixed() -> None:
    source = f"from mylib.data import Feeder\nFeeder{PERSISTENT}".encode()
    assert fix_source(source, "a.py", LOADERS).source == b"from mylib.data import Feeder\nFeeder(rows, num_workers=0)\n"
    assert fix_source(source, "a.py").source == source


TABLE = """
import os
{imported}

class Bars({base}):
    def __init__(self, folder):
        super().__init__()
        self.paths = sorted(os.listdir(folder))

    def __getitem__(self, index):
        return self.paths[index]

    def __len__(self):
        return len(self.paths)
"""
DATASETS = Settings(extend_datasets=("mylib.data.Table",))


def test_a_dataset_of_another_library() -> None:
    source = TABLE.format(imported="from mylib.data import Table", base="Table")
    assert codes(source, DATASETS) == ["8: DL101"]
    assert codes(source, Settings(extend_datasets=("mylib.data.Other",))) == []


def test_a_list_that_an_unknown_base_may_read_stays_a_list() -> None:
    ours = TABLE.format(imported="from mylib.data import Table", base="Table").encode()
    torchs = TABLE.format(imported="from torch.utils.data import Dataset", base="Dataset").encode()
    many = (("*", 5_000_000),)  # of a list of unknown size a note is made, which has no fix
    assert fix_source(torchs, "/nowhere/a.py", Settings(samples=many), unsafe=True).source != torchs
    assert fix_source(ours, "/nowhere/a.py", DATASETS.replace(samples=many), unsafe=True).source == ours


def test_an_iterable_dataset_of_another_library() -> None:
    source = """
from torch.utils.data import DataLoader
from mylib.data import Stream

class Mine(Stream):
    def __iter__(self):
        yield from range(9)

DataLoader(Mine(), num_workers=2)
"""
    settings = Settings(select=("DL6",), extend_iterable_datasets=("mylib.data.Stream",))
    assert codes(source, settings) == ["6: DL601"]
    assert codes(source, Settings(select=("DL6",))) == []


@pytest.mark.parametrize("with_init", [True, False])
def test_classes_and_functions_of_the_project(tmp_path: Path, with_init: bool) -> None:
    module = """
class Table:
    def __init__(self):
        self.name = "table"

class Feeder:
    def __init__(self, rows, **options):
        self.inner = make(rows, options)

def feed(rows, **options):
    return make(rows, options)
"""
    write(tmp_path / "mylib" / "data.py", module)
    if with_init:
        write(tmp_path / "mylib" / "__init__.py", "from .data import Feeder, feed\n")
    settings = Settings(
        select=("DL101", "DL301"),
        samples=(("*", 5_000_000),),
        extend_datasets=("mylib.data.Table",),
        extend_dataloaders=("mylib.data.Feeder", "mylib.data.feed"),
    )
    package = "mylib" if with_init else "mylib.data"
    calls = f"from {package} import Feeder, feed\nFeeder{PERSISTENT}feed{PERSISTENT}"
    path = write(tmp_path / "train.py", calls)
    assert codes(calls, settings, str(path)) == ["2: DL301", "3: DL301"]
    assert codes(calls, Settings(select=("DL301",)), str(path)) == []
    bars = TABLE.format(imported="from mylib.data import Table", base="Table")
    path = write(tmp_path / "bars.py", bars)
    assert codes(bars, settings, str(path)) == ["8: DL101"]
    assert codes(bars, Settings(select=("DL101",)), str(path)) == []
    # All of such a base is in sight, so the repair that an unknown base forbids is made.
    assert fix_source(bars.encode(), str(path), settings, unsafe=True).fixed == {"DL101": 1}
    inside = write(tmp_path / "mylib" / "data.py", f"{module}\nFeeder{PERSISTENT}")
    assert codes(inside.read_text(encoding="utf-8"), settings, str(inside)) == ["13: DL301"]


def test_callers_that_only_name_it_are_found(tmp_path: Path) -> None:
    """A file that the gate lets pass for an added name counts where callers are looked for."""
    dataset = TABLE.format(imported="# a Dataset", base="object")
    path = write(tmp_path / "bars.py", dataset)
    write(
        tmp_path / "train.py",
        "from bars import Bars\nfrom mylib.data import Feeder\n\nFeeder(Bars('x'), num_workers=2)\n",
    )
    assert codes(dataset, LOADERS, str(path)) == ["8: DL101"]
    assert codes(dataset, Settings(), str(path)) == []


def test_modules_are_looked_for_in_src(tmp_path: Path) -> None:
    write(tmp_path / "libs" / "core" / "pyproject.toml", "")
    write(tmp_path / "libs" / "core" / "lib" / "options.py", "WORKERS = 0\n")
    source = (
        "from torch.utils.data import DataLoader\nfrom options import WORKERS\n\n"
        "DataLoader([], num_workers=WORKERS, persistent_workers=True)\n"
    )
    path = str(write(tmp_path / "apps" / "train" / "train.py", source))
    assert codes(source, Settings(src=(str(tmp_path / "libs" / "core" / "lib"),)), path) == ["4: DL301"]
    assert codes(source, Settings(), path) == []
    write(tmp_path / "apps" / "train" / "options.py", "WORKERS = 3\n")
    assert codes(source, Settings(src=(str(tmp_path / "libs" / "core" / "lib"),)), path) == []


def test_parts_of_a_monorepo_do_not_share_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = f"from mylib.data import Feeder\nFeeder{PERSISTENT}"
    for part in ("a", "b", "c"):
        write(tmp_path / part / "train.py", source)
    table = "[tool.dataloader-lint]\n"
    write(tmp_path / "pyproject.toml", table)
    write(tmp_path / "b" / "pyproject.toml", table + "extend-dataloaders = ['mylib.data.Feeder']\n")
    assert main(["--output-format", "concise"]) == 1
    assert [line.split(" ")[0] for line in capsys.readouterr().out.splitlines() if " DL" in line] == ["b/train.py:2:1:"]
    assert main(["--output-format", "concise", "--extend-dataloaders", "mylib.data.Feeder,x.Y"]) == 1
    assert len([line for line in capsys.readouterr().out.splitlines() if " DL301 " in line]) == 3
    assert main(["--fix", "--quiet"]) == 0
    assert (tmp_path / "b" / "train.py").read_text(encoding="utf-8") == source.replace(", persistent_workers=True", "")
    assert (tmp_path / "a" / "train.py").read_text(encoding="utf-8") == source
