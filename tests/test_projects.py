"""Which files are one project: the roots of files, whatever lies beside them and however they are named."""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from benchmarks import processes
from commands import ROOT, here, run
from dataloader_lint import Settings, lint_paths, lint_source
from dataloader_lint.engine.runner import fix_found, lint_found
from dataloader_lint.lsp.checking import Document, check
from dataloader_lint.source import projects
from dataloader_lint.source.discovery import discover
from dataloader_lint.source.projects import Roots, files_of, named_folders, outermost

__all__ = ["here"]

# Reported (DL401) where a script of the project hands over a loader that pins.
HELPERS = """\
def train(model, loader):
    for images in loader:
        model(images.cuda())
"""
SCRIPT = """\
from helpers import train
from torch.utils.data import DataLoader

def main(model, dataset):
    train(model, DataLoader(dataset, num_workers=2, pin_memory={pins}))
"""
# Reported (DL602) unless `persistent_workers` stands anywhere in the project.
SEEDED = """\
import random, torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Flow(Dataset):
    def __init__(self, p):
        self.p = torch.tensor(p)
        self.is_seeded = False
    def __len__(self):
        return len(self.p)
    def __getitem__(self, i):
        if not self.is_seeded:
            info = get_worker_info()
            if info is not None:
                random.seed(info.id)
                self.is_seeded = True
        return self.p[i] * random.random()
"""
LASTING = 'OPTIONS = {"persistent_workers": True}\nfrom torch.utils.data import DataLoader\n'
ONLY = Settings(select=("DL401", "DL602"))


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home folder is elsewhere, and the folder of temporary files is in no project."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def make(folder: Path, *names: str, text: str = "") -> Path:
    """Files below a folder; a name that ends in a slash is that of a folder."""
    for name in names:
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text(text)
    return folder


def root(top: Path, file: str, *named: str) -> str:
    """The root of a file's project, from `top` on."""
    roots = Roots(str(top / each) for each in named)
    return os.path.relpath(roots.of(str((top / file).parent)), top)


def found_in(paths: Iterable[str | Path], settings: Settings = ONLY) -> dict[str, list[tuple[int, str, str]]]:
    """The findings of each file."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for one in lint_paths(list(paths), settings):
        found.setdefault(str(Path(one.filename).absolute()), []).append((one.start.line, one.code, one.message))
    return found


@pytest.mark.parametrize(
    ("files", "file", "named", "expected"),
    [
        # The nearest marker counts.
        (["p/pyproject.toml", "p/a.py"], "p/a.py", [], "p"),
        (["p/.git/", "p/pkg/__init__.py", "p/pkg/sub/__init__.py"], "p/pkg/sub/m.py", [], "p"),
        (["p/.hg/", "p/train.py", "p/in/b.py"], "p/in/b.py", ["p/in"], "p"),
        (["p/.git/", "p/one/setup.py", "p/one/a.py", "p/two/setup.py"], "p/one/a.py", ["p"], "p/one"),
        (["p/.git", "p/pyproject.toml", "p/deep/er/still/a.py"], "p/deep/er/still/a.py", ["p"], "p"),
        # Some folders of projects are known to hold no code themselves; other empty ones end the search.
        (["p/pyproject.toml", "p/src/pkg/__init__.py"], "p/src/pkg/m.py", [], "p"),
        (["p/pyproject.toml", "p/src/space/pkg/__init__.py"], "p/src/space/pkg/m.py", ["p/src/space/pkg"], "p"),
        (["p/setup.cfg", "p/examples/vision/a.py"], "p/examples/vision/a.py", [], "p"),
        (["setup.cfg", "downloads/zip-main/a.py"], "downloads/zip-main/a.py", [], "downloads/zip-main"),
        (["setup.cfg", "downloads/zip-main/a.py"], "downloads/zip-main/a.py", ["downloads/zip-main"],
         "downloads/zip-main"),
        ([".git/", "x.py", "far/away/zip-main/x/a.py"], "far/away/zip-main/x/a.py", ["far/away/zip-main"],
         "far/away/zip-main"),
        # Where there is none, what was named does; of two, the outer one.
        (["p/a.py", "p/in/b.py"], "p/in/b.py", ["p"], "p"),
        (["p/a.py", "p/in/b.py"], "p/in/b.py", ["p/in", "p"], "p"),
        (["p/a.py", "p/in/b.py"], "p/in/b.py", [], "p/in"),
        (["p/a.py", "p-b/a.py"], "p-b/a.py", ["p"], "p-b"),
        # A package is never cut, with or without `__init__.py` in the folders below.
        (["p/pkg/__init__.py", "p/pkg/sub/__init__.py"], "p/pkg/sub/m.py", [], "p/pkg"),
        (["p/pkg/__init__.py", "p/pkg/sub/m.py"], "p/pkg/sub/m.py", [], "p/pkg"),
        (["p/pkg/__init__.py", "p/pkg/sub/m.py"], "p/pkg/sub/m.py", ["p/pkg/sub"], "p/pkg"),
        (["p/pkg/__init__.py", "p/pkg/a/x.py", "p/pkg/a/b/__init__.py"], "p/pkg/a/b/m.py", [], "p/pkg"),
        (["p/a.py", "p/pkg/__init__.py", "p/pkg/sub/m.py"], "p/pkg/sub/m.py", ["p"], "p"),
        # No project starts in a package, but for a repository, and a package that lies in no project.
        (["p/setup.py", "p/pkg/__init__.py", "p/pkg/in/__init__.py", "p/pkg/in/setup.py"], "p/pkg/in/m.py", [], "p"),
        (["p/setup.py", "p/pkg/__init__.py", "p/pkg/setup.py"], "p/pkg/m.py", [], "p"),
        (["p/setup.py", "p/pkg/__init__.py", "p/pkg/in/__init__.py", "p/pkg/in/.git"], "p/pkg/in/m.py", [], "p/pkg/in"),
        (["nodes/example.py", "nodes/one/__init__.py", "nodes/one/pyproject.toml"], "nodes/one/m.py", [], "nodes/one"),
        # Copies of other projects are no part of the one around them, unless they are packages of it.
        (["p/.git/", "p/third_party/lib/a.py"], "p/third_party/lib/a.py", ["p"], "p/third_party/lib"),
        (["p/.git/", "p/pkg/__init__.py", "p/pkg/external/__init__.py"], "p/pkg/external/a.py", ["p"], "p"),
        (["p/.git/", "p/.hidden/a.py"], "p/.hidden/a.py", ["p"], "p/.hidden"),
        (["p/site-packages/lib/__init__.py", "p/site-packages/x.py"], "p/site-packages/lib/a.py", [],
         "p/site-packages/lib"),
        # The home folder is no project unless it is named, and neither is what lies above it.
        (["home/.git/", "home/x.py", "home/p/a.py"], "home/p/a.py", [], "home/p"),
        (["home/.git/", "home/x.py", "home/p/a.py"], "home/p/a.py", ["home/p"], "home/p"),
        (["home/.git/", "home/x.py", "home/p/a.py"], "home/p/a.py", ["home"], "home"),
        (["setup.cfg", "home/x.py"], "home/x.py", [], "home"),
        (["home/__init__.py", "home/p/a.py"], "home/p/a.py", [], "home/p"),
    ],
)  # fmt: skip
def test_the_root_of_a_project(tmp_path: Path, files: list[str], file: str, named: list[str], expected: str) -> None:
    make(tmp_path, *files, file)
    assert root(tmp_path, file, *named) == expected
    assert root(tmp_path, file, *reversed(named)) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such mode there")
def test_a_folder_that_everybody_may_write_to_is_no_project(tmp_path: Path) -> None:
    shared = make(tmp_path, "shared/setup.cfg", "shared/x.py", "shared/p/a.py") / "shared"
    assert root(tmp_path, "shared/p/a.py") == "shared"
    shared.chmod(0o1777)
    assert root(tmp_path, "shared/p/a.py") == "shared/p"
    assert root(tmp_path, "shared/p/a.py", "shared") == "shared"
    roots = Roots()
    assert files_of(roots.context_of(str(shared / "x.py"))) == [str(shared / "x.py")]


def test_named_folders_are_told_by_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "p/a.py", "p/in/b.py", "q/.git/", "q/empty/deep/c.py")
    monkeypatch.chdir(tmp_path)
    p, q = str(tmp_path / "p"), str(tmp_path / "q")
    assert named_folders(["p/", "./p/in/..", "p/in", "p/a.py", "missing"]) == (p,)
    assert named_folders(["p"], str(tmp_path)) == (p,)
    assert named_folders(["empty"], str(tmp_path / "q")) == (q,)
    assert named_folders([], str(tmp_path / "q" / "empty")) == (q,)
    assert outermost(["/a/b", "/a-b", "/a", "/a/c"]) == ("/a", "/a-b")
    assert outermost(["/", "/a"]) == ("/",)


def test_a_project_without_marker_ends_where_another_begins(tmp_path: Path) -> None:
    files = ["a.py", "in/b.py", "other/setup.py", "other/c.py", "env/pyvenv.cfg", "env/d.py", "envs/e.py"]
    make(tmp_path / "p", *files)
    assert [Path(path).name for path in files_of(str(tmp_path / "p"))] == ["a.py", "e.py", "b.py"]
    make(tmp_path / "p", ".git/")
    names = [Path(path).name for path in files_of(str(tmp_path / "p"))]
    assert names == ["a.py", "e.py", "b.py", "c.py", "setup.py"]


def test_every_file_is_part_of_its_context_in_a_large_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MAX_FILES", 5)
    small = [f"small/in{number}/m.py" for number in range(4)]
    names = ["top.py", *small, "small/x.py", *(f"flat/m{number}.py" for number in range(9))]
    make(tmp_path, ".git/", *names)
    roots = Roots([str(tmp_path)])
    contexts = {name: files_of(roots.context_of(str(tmp_path / name))) for name in names}
    assert all(str(tmp_path / name) in files for name, files in contexts.items())
    assert all(len(files) <= 5 for files in contexts.values())
    assert len(contexts["small/in0/m.py"]) == 5
    assert len(contexts["top.py"]) == len(contexts["flat/m8.py"]) == 1
    assert roots.too_large == {str(tmp_path)}
    assert contexts == {name: files_of(Roots([str(tmp_path)]).context_of(str(tmp_path / name))) for name in names[::-1]}


def test_a_large_project_is_spoken_of_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MAX_FILES", 3)
    make(here, ".git/")
    make(here, *(f"m{number}.py" for number in range(5)), text=SEEDED)
    monkeypatch.setattr("dataloader_lint.engine.parallel.WORTH_IT", 0)
    for jobs in (1, 2):
        said: list[str] = []
        lint_found(discover(["."], ONLY), ONLY.replace(roots=named_folders(["."])), jobs=jobs, warn=said.append)
        assert len(said) == 1
        assert said[0].startswith(f"warning: {here} has more than 4,000 Python files; ")


def test_fixing_speaks_of_a_large_project_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MAX_FILES", 3)
    make(here, ".git/")
    make(here, *(f"m{number}.py" for number in range(5)), text=SEEDED + "DataLoader([1], persistent_workers=True)\n")
    said: list[str] = []
    settings = Settings(select=("DL301", "DL602"), roots=named_folders(["."]))
    fixed = fix_found(discover(["."], settings), settings, False, lambda path, old, new: None, warn=said.append)
    assert fixed.fixed == 5
    assert len(said) == 1
    assert said[0].startswith(f"warning: {here} has more than 4,000 Python files; ")


# Namespace packages.

CONFIG = "WORKERS = 0\n"


@pytest.mark.parametrize(
    ("importing", "workers"),
    [
        ("from .deep.config import WORKERS", "WORKERS"),
        ("from .deep import config", "config.WORKERS"),
        ("from . import deep", "deep.config.WORKERS"),
        ("from pkg.sub.deep import config", "config.WORKERS"),
        ("from pkg.sub.deep.config import WORKERS", "WORKERS"),
        ("import pkg.sub.deep.config", "pkg.sub.deep.config.WORKERS"),
        ("import pkg.sub.deep.config as c", "c.WORKERS"),
        ("from pkg import sub", "sub.deep.config.WORKERS"),
        ("from ..options import WORKERS", "WORKERS"),
        ("from pkg.options import WORKERS", "WORKERS"),
    ],
)
@pytest.mark.parametrize("marker", ["setup.py", ""])
def test_folders_without_init_belong_to_their_package(
    tmp_path: Path, importing: str, workers: str, marker: str
) -> None:
    make(tmp_path, "p/pkg/__init__.py", f"p/{marker}")
    make(tmp_path, "p/pkg/options.py", "p/pkg/sub/deep/config.py", text=CONFIG)
    train = tmp_path / "p" / "pkg" / "sub" / "train.py"
    train.write_text(
        f"from torch.utils.data import DataLoader\n{importing}\n\n"
        f"def make(data):\n    return DataLoader(data, num_workers={workers}, persistent_workers=True)\n"
    )
    for named in (tmp_path / "p", tmp_path / "p" / "pkg", train.parent, train):
        assert [one.code for one in lint_paths([named], Settings(select=("DL301",)))] == ["DL301"], named


# The same findings whatever lies beside, in whatever order, by every way in.


def repository(folder: Path, chance: random.Random) -> Path:
    """An unpacked repository of one of the usual shapes, with or without a marker."""
    home = folder / chance.choice(["", "", "src", "pkg", "pkg/sub", "scripts", "src/space/pkg"])
    make(home, "helpers.py", text=HELPERS)
    make(home, "train.py", text=SCRIPT.format(pins=chance.random() < 0.5))
    make(folder / chance.choice(["", "data", "pkg"]), "flow.py", text=SEEDED)
    if chance.random() < 0.5:
        make(folder / chance.choice(["", "data", "deep/er"]), "options.py", text=LASTING)
    for name in ("pkg/__init__.py", "__init__.py", "setup.cfg", "PKG-INFO", ".git/", "tests/__init__.py", "x.py"):
        if chance.random() < 0.25:
            make(folder, name)
    return folder


def trees(top: Path, count: int, seed: int) -> Iterator[tuple[Path, list[Path], random.Random]]:
    """Folders, each with repositories side by side in it that know nothing of each other."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        folder = top / f"tree{number}"
        names = [f"repo{part}-main" for part in range(chance.randint(2, 4))]
        yield folder, [repository(folder / name, chance) for name in names], chance


def check_trees(top: Path, count: int, seed: int) -> int:
    """Lints each repository alone, and again beside all the others in another order; returns the number of findings."""
    total = 0
    for folder, repositories, chance in trees(top, count, seed):
        alone: dict[str, list[tuple[int, str, str]]] = {}
        for each in repositories:
            others = [other for other in repositories if other != each]
            for other in others:
                other.rename(folder / f".{other.name}")
            alone |= found_in([each])
            for other in others:
                (folder / f".{other.name}").rename(other)
            assert found_in([each]) == {path: found for path, found in alone.items() if Path(path).is_relative_to(each)}
        mixed = chance.sample(repositories, len(repositories))
        assert found_in(mixed) == alone
        files = [path for each in repositories for path in each.rglob("*.py")]
        assert found_in([*chance.sample(files, len(files)), *mixed, *mixed]) == alone
        total += sum(map(len, alone.values()))
    return total


def test_what_lies_beside_does_not_matter(tmp_path: Path) -> None:
    assert check_trees(tmp_path, 8, seed=1) > 8


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 52))
def test_what_lies_beside_does_not_matter_in_many_trees(tmp_path: Path, seed: int) -> None:
    assert check_trees(tmp_path, 40, seed) > 20


def findings_in(report: str) -> set[tuple[str, int, str]]:
    """Path, line and code of each finding in a report of one line for each."""
    places = re.findall(r"^(.+?):(\d+):\d+: (DL\d+)", report, re.MULTILINE)
    return {(os.path.relpath(path), int(line), code) for path, line, code in places}


def ways_in(repository: Path, flake8_home: Path) -> dict[str, set[tuple[str, int, str]]]:
    """What each way in says of a repository, from inside it."""
    found: dict[str, set[tuple[str, int, str]]] = {}
    options = ("--no-cache", "--output-format", "concise", "--select", "DL401,DL602")
    found["command"] = findings_in(run(*options, ".")[1])
    found["command, two processes"] = findings_in(run(*options, "-j2", ".")[1])
    found["command, from above"] = findings_in(run(*options, f"../{repository.name}/")[1])
    found["API"] = {
        (os.path.relpath(path), line, code)
        for path, all_of_it in found_in([repository]).items()
        for line, code, _ in all_of_it
    }
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(flake8_home), str(ROOT)])}
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "DL401,DL602", "."]
    done = processes.run(command, env=environment)
    found["flake8"] = findings_in(done.stdout)
    found["editor"], found["text"] = set(), set()
    for path in sorted(repository.rglob("*.py")):
        name = os.path.relpath(path)
        checked = check(Document(str(path), path.read_text(), str(repository)), [])
        found["editor"] |= {(name, one.start.line, one.code) for one in checked.found if one.code in ONLY.select}
        settings = ONLY.replace(roots=(str(repository),))
        found["text"] |= {
            (name, one.start.line, one.code) for one in lint_source(path.read_bytes(), str(path), settings)
        }
    return found


def check_ways_in(here: Path, monkeypatch: pytest.MonkeyPatch, count: int, seed: int) -> None:
    info = here / "home" / "path" / "dataloader_lint-0.dist-info"
    make(info, "METADATA", text="Metadata-Version: 2.1\nName: dataloader-lint\nVersion: 0\n")
    make(info, "entry_points.txt", text="[flake8.extension]\nDL = dataloader_lint.flake8_plugin:Plugin\n")
    for _, repositories, _ in trees(here, count, seed):
        monkeypatch.chdir(repositories[0])
        found = ways_in(repositories[0], info.parent)
        assert all(each == found["command"] for each in found.values()), found


def test_every_way_in_sees_the_same_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_ways_in(here, monkeypatch, 1, seed=4)


@pytest.mark.long
def test_every_way_in_sees_the_same_project_in_many_trees(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_ways_in(here, monkeypatch, 60, seed=5)


def test_standard_input_and_named_files_see_the_project_of_the_working_directory(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(here / "p", ".git/", "odd/place/flow.py", text=SEEDED)
    make(project, "options.py", text=LASTING)
    monkeypatch.chdir(project)
    arguments = ("--no-cache", "--output-format", "concise", "--select", "DL602")
    stdin = ("--stdin-filename", "odd/place/flow.py", "-")
    for marked in (True, False):  # without a marker, the file's folder is all that is known
        for names in (["odd/place/flow.py"], ["odd"]):
            assert run(*arguments, *names)[0] == (0 if marked else 1), names
        assert run(*arguments, *stdin, stdin=SEEDED.encode())[0] == (0 if marked else 1)
        assert run(*arguments, ".")[0] == 0
        if marked:
            (project / ".git").rmdir()


def test_the_cache_tells_roots_apart(here: Path) -> None:
    make(here, "p/flow.py", text=SEEDED)
    make(here, "options.py", text=LASTING)
    for _ in range(2):
        for names, expected in ((["p"], 1), (["."], 0), (["p/flow.py"], 1), (["p", "."], 0)):
            assert run("--output-format", "concise", "--select", "DL602", *names)[0] == expected, names
