"""One file at a time: what comes out, what a crash costs, and what is not even looked at."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dataloader_lint
from benchmarks import processes
from dataloader_lint import Settings, lint_source
from dataloader_lint.diagnostics import Diagnostic, Position
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule
from dataloader_lint.rules.registry import FoundRule, found_rules
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from fake_rules import fake_rules

__all__ = ["fake_rules"]

ONLY_LOADER = Settings(select=("DL301",))


@pytest.mark.usefixtures("fake_rules")
def test_a_finding_knows_its_place() -> None:
    source = b"x = 1\nif x:\n    loader = wrap(DataLoader(\n        'd\xc3\xa9',\n    ))\n"
    assert lint_source(source, "some.py", ONLY_LOADER) == [
        Diagnostic(
            filename="some.py",
            start=Position(3, 18),
            end=Position(5, 5),
            code="DL301",
            problem="this loader is made up",
            advice="do not worry",
            statement_lines=(3, 5),
        )
    ]


@pytest.mark.usefixtures("fake_rules")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_and_text_give_the_same_places(newline: str, mark: bytes) -> None:
    text = f"x = 'ü'{newline}\x0c{newline}é\t= DataLoader(x){newline}"
    from_bytes = lint_source(mark + text.encode(), "some.py", ONLY_LOADER)
    assert [one.start for one in from_bytes] == [Position(3, 4)]
    assert lint_source(mark.decode("utf-8") + text, "some.py", ONLY_LOADER) == from_bytes


@pytest.mark.usefixtures("fake_rules")
def test_findings_are_sorted_and_not_repeated(fake_rules: dict[str, FoundRule]) -> None:
    source = "b = DataLoader(DataLoader(x))\na = DataLoader(y)\n"
    found = lint_source(source, "some.py")
    assert [(one.start.line, one.start.column, one.code) for one in found] == [
        (1, 4, "DL301"), (1, 4, "DL304"), (1, 15, "DL301"), (1, 15, "DL304"), (2, 4, "DL301"), (2, 4, "DL304"),
    ]  # fmt: skip
    whole = fake_rules["DL301"]
    twice = replace(whole, rule=replace(whole.rule, on=Entity.LOOP), find=lambda file: [1, 2])
    fake_rules["DL301"] = replace(twice, check=lambda number, file: whole.check(file))
    assert lint_source(source, "some.py") == found


@pytest.mark.usefixtures("fake_rules")
def test_a_crash_in_a_rule_is_one_diagnostic_and_costs_only_that_rule() -> None:
    found = lint_source("x = 1\ny = DataLoader(crash())\nDataLoader(1)\n", "some.py")
    assert [(one.start.line, one.code) for one in found] == [
        (1, "DL999"),
        (2, "DL301"),
        (2, "DL304"),
        (3, "DL301"),
        (3, "DL304"),
    ]
    crash = found[0]
    assert crash.problem.startswith("internal error in rule DL304: ZeroDivisionError: made up (engine/linter.py:")
    assert "\n" not in crash.message


@pytest.mark.usefixtures("fake_rules")
def test_a_crash_is_not_silenced_by_a_comment_but_by_leaving_the_rule_out() -> None:
    assert lint_source("# noqa\nDataLoader(crash())\n", "some.py")[0].code == "DL999"
    assert [one.code for one in lint_source("DataLoader(crash())\n", "some.py", ONLY_LOADER)] == ["DL301"]


@pytest.mark.usefixtures("fake_rules")
def test_a_crash_in_the_facts_is_one_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("dataloader_lint.pipeline.session.Session.analyse", crash)
    (found,) = lint_source("DataLoader(1)\n", "some.py")
    assert found.problem.startswith("internal error in facts: RecursionError")


def test_a_crash_of_what_a_rule_is_about_costs_only_that_rule(fake_rules: dict[str, FoundRule]) -> None:
    def find(file: object) -> list[object]:
        raise RecursionError

    whole = fake_rules["DL304"]
    fake_rules["DL304"] = replace(whole, rule=replace(whole.rule, on=Entity.LOOP), find=find)
    found = lint_source("DataLoader(1)\n", "some.py")
    assert [one.code for one in found] == ["DL301", "DL999"]
    assert found[1].problem.startswith("internal error in rule DL304: RecursionError")


def test_a_rule_that_reports_a_node_of_another_file_is_a_crash(fake_rules: dict[str, FoundRule]) -> None:
    import libcst

    stray = libcst.Name("x")
    rule = Rule("DL301", "made-up-loader", Entity.FILE, Level.ERROR, Claim.MAY)
    fake_rules["DL301"] = FoundRule(rule, None, lambda facts: [Finding(stray, "here?", "")], "", "fake")
    (crash,) = lint_source("DataLoader(1)\n", "some.py", ONLY_LOADER)
    assert "a node of another file" in crash.problem


@pytest.mark.usefixtures("fake_rules")
def test_unselected_rules_never_run(fake_rules: dict[str, FoundRule]) -> None:
    ran: list[str] = []
    for code in ("DL301", "DL304", "DL305"):
        rule = fake_rules[code].rule
        fake_rules[code] = FoundRule(rule, None, lambda facts, code=code: ran.append(code) or (), "", "fake")  # type: ignore[misc]
    lint_source("DataLoader(1)\n", "some.py", Settings(ignore=("DL304",)))
    assert ran == ["DL301"]


@pytest.mark.usefixtures("fake_rules")
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"DataLoader(\n", "syntax error: '(' was never closed"),
        (b"DataLoader('\xe9')\n", "this file is not valid UTF-8 (byte 0xe9)"),
        (b"DataLoader(\0)\n", "this file holds a NUL byte, which Python source must not"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_one_diagnostic(source: bytes, problem: str) -> None:
    found = lint_source(source, "some.py")
    assert [(one.code, one.problem) for one in found] == [("DL000", problem)]
    assert lint_source(source, "some.py", Settings(ignore=("DL000",))) == []
    assert lint_source(b"# flake8: noqa\n" + source, "some.py", Settings(ignore=("DL000",))) == []


@pytest.mark.usefixtures("fake_rules")
def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    lint_source("DataLoader(1)\n", "some.py")
    lint_source("DataLoader(\n", "some.py")
    assert gc.isenabled()
    gc.disable()
    try:
        lint_source("DataLoader(1)\n", "some.py")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_every_rule_file_is_found_and_named_after_its_code() -> None:
    for code, found in found_rules().items():
        assert found.module.rpartition(".")[2] == f"{code}_{found.rule.name}".lower().replace("-", "_")
        assert found.page.strip()
    assert {code for code, found in found_rules().items() if found.check is None} == {"DL000", "DL001", "DL999"}


def test_the_public_names_come_when_asked_for() -> None:
    for name in dataloader_lint.__all__:
        assert getattr(dataloader_lint, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = dataloader_lint.nonsense
    code = "import sys, dataloader_lint; print(sorted(m for m in sys.modules if m.startswith('dataloader_lint')))"
    done = processes.run([sys.executable, "-c", code], check=True)
    assert done.stdout == "['dataloader_lint']\n"


def test_listing_the_rules_does_not_import_libcst() -> None:
    code = (
        "import sys; from dataloader_lint.rules import registry; registry.found_rules(); print('libcst' in sys.modules)"
    )
    done = processes.run([sys.executable, "-c", code], check=True)
    assert done.stdout == "False\n"


def test_the_cv2_call_that_starts_threads_is_named(tmp_path: Path) -> None:
    source = (
        "import cv2\n"
        "from torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Photos(Dataset):\n"
        "    def __getitem__(self, index):\n"
        "        image = cv2.imread(self.paths[index])\n"
        "        return {}\n\n\n"
        "loader = DataLoader(Photos(), num_workers=2)\n"
    )
    (only,) = (one for one in lint_source(source.format("image"), str(tmp_path / "a.py")) if one.code == "DL501")
    assert only.level is Level.NOTE and "it may start no threads, other cv2 calls do" in only.problem
    both = lint_source(source.format("cv2.cvtColor(image, 4)"), str(tmp_path / "a.py"))
    assert ["cv2.cvtColor" in one.problem for one in both if one.code == "DL501"] == [True]
    helper = "\n\ndef shrink(image):\n    return cv2.resize(image, (640, 480))\n"
    deeper = lint_source(source.format("shrink(image)") + helper, str(tmp_path / "a.py"))
    assert ["`shrink` calls `cv2.resize`" in one.problem for one in deeper if one.code == "DL501"] == [True]


@pytest.mark.parametrize(
    ("options", "opening", "reading", "is_locked"),
    [
        ("", "", "self.env.begin().get(index)", True),
        ("", "self.txn = self.env.begin(buffers=True)", "self.txn.get(index)", False),
        ("", "self.txn = self.env.begin()", "self.env.begin().get(index)", True),
        ("", "self.txn = self.env.begin(write=True)", "self.env.begin().get(index)", True),
        (", lock=False", "", "self.env.begin().get(index)", False),
        (", **{'lock': False, 'readonly': True}", "", "self.env.begin().get(index)", False),
        (", **{'lock': True}", "", "self.env.begin().get(index)", True),
        (", **{'readonly': True}", "", "self.env.begin().get(index)", True),
    ],
)
def test_what_forked_workers_do_to_an_lmdb(
    options: str, opening: str, reading: str, is_locked: bool, tmp_path: Path
) -> None:
    source = (
        "import lmdb\n"
        "from torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Pages(Dataset):\n"
        "    def __init__(self, path):\n"
        f"        self.env = lmdb.open(path{options})\n"
        f"        {opening}\n"
        "    def __getitem__(self, index):\n"
        f"        return {reading}\n\n\n"
        "loader = DataLoader(Pages('pages'), num_workers=2)\n"
    )
    found = [each.problem for each in lint_source(source, str(tmp_path / "a.py")) if each.code == "DL205"]
    assert ["MDB_READERS_FULL" in each for each in found] == [is_locked]
    assert "pickling it" in found[0]


def test_a_list_of_tensors_costs_descriptors(tmp_path: Path) -> None:
    source = (
        "import torch\n"
        "from torch.utils.data import Dataset\n\n\n"
        "class Poses(Dataset):\n"
        "    def __init__(self, poses):\n"
        "        self.poses = [{} for pose in poses]\n"
        "    def __len__(self):\n"
        "        return len(self.poses)\n"
        "    def __getitem__(self, index):\n"
        "        return self.poses[index]\n"
    )
    for made in ("torch.from_numpy(pose)", "torch.tensor(pose).float().unsqueeze(0)"):
        found = lint_source(source.format(made), str(tmp_path / "a.py"))
        assert ["list of tensors" in one.problem and "too many fds" in one.problem for one in found] == [True]
    found = lint_source(source.format("pose.read()"), str(tmp_path / "a.py"))
    assert ["too many fds" in one.problem for one in found] == [False]


def test_what_a_class_and_its_heir_lead_to_is_one_finding(tmp_path: Path) -> None:
    source = (
        "from torch.utils.data import Dataset\n\n\n"
        "class Pets(Dataset):\n"
        "    def __init__(self, split):\n"
        "        self.names = [line.strip() for line in open(split)]\n\n"
        "    def __len__(self):\n"
        "        return len(self.names)\n\n"
        "    def __getitem__(self, index):\n"
        "        return self.names[index]\n\n\n"
        "class SimplePets(Pets):\n"
        "    def __getitem__(self, *args):\n"
        "        return super().__getitem__(*args)\n"
    )
    found = [one for one in lint_source(source, str(tmp_path / "a.py")) if one.code == "DL101"]
    assert [one.start.line for one in found] == [6]
    assert "indexed per sample" in found[0].problem


def _found(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """The codes found in one file of a folder, and the files that were parsed for that."""
    parsed: list[str] = []
    facts = Project._facts

    def noting(self: Project, path: str, text: str) -> ModuleFacts:
        parsed.append(Path(path).name)
        return facts(self, path, text)

    monkeypatch.setattr(Project, "_facts", noting)
    path = folder / name
    return [one.code for one in lint_source(path.read_bytes(), str(path))], parsed


_USED = """\
import cv2
def read(path):
    return cv2.resize(cv2.imread(path), (64, 64))
"""
_READING = """\
from torch.utils.data import DataLoader, Dataset
from images import read
class Faces(Dataset):
    def __getitem__(self, index):
        return read(f"{index}.png")
    def __len__(self):
        return 1000
def load():
    return DataLoader(Faces(), num_workers=4)
"""


def test_a_file_without_a_word_of_loading_matters_where_workers_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "images.py").write_text(_USED)
    (tmp_path / "data.py").write_text(_READING)
    assert _found(tmp_path, "images.py", monkeypatch)[0] == ["DL501"]


def test_and_is_not_even_parsed_where_no_loader_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "images.py").write_text(_USED)
    (tmp_path / "data.py").write_text(_READING.replace('read(f"{index}.png")', "index"))
    assert _found(tmp_path, "images.py", monkeypatch) == ([], ["data.py"])


def test_or_where_it_derives_from_a_dataset_of_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base.py").write_text("from torch.utils.data import Dataset as Data\nclass Base(Data): ...\n")
    (tmp_path / "images.py").write_text(
        "import cv2\nfrom base import Base\nclass Faces(Base):\n"
        "    def __getitem__(self, index):\n        return cv2.resize(cv2.imread(f'{index}.png'), (64, 64))\n"
    )
    assert _found(tmp_path, "images.py", monkeypatch)[0] == ["DL501"]


@pytest.mark.parametrize(
    "made",
    [
        "list(map(int, lines))",
        "[int(line) for line in lines]",
        "list(chain(map(int, lines), range(9)))",
        "list(chain.from_iterable(range(3) for _ in lines))",
        "[sorted(set(lines)).index(line) for line in lines]",
    ],
)
def test_lists_of_numbers_say_what_each_takes(made: str) -> None:
    source = (
        "from itertools import chain\nfrom torch.utils.data import DataLoader, Dataset\n"
        "class Faces(Dataset):\n"
        f"    def __init__(self, lines):\n        self.labels = {made}\n"
        "    def __getitem__(self, index):\n        return self.labels[index]\n"
        "    def __len__(self):\n        return len(self.labels)\n"
        "def load(path):\n    return DataLoader(Faces(open(path).read().splitlines()), num_workers=4)\n"
    )
    [one] = lint_source(source, "faces.py")
    assert one.code == "DL101"
    assert "list of int" in one.problem
    assert "(41 B per item)" in one.problem and one.level is Level.NOTE


@pytest.mark.parametrize("made", ["Image.open(path)", 'Image.open(path).convert("RGB").resize((64, 64))'])
def test_lists_of_images_say_that_forked_workers_share_what_is_in_them(made: str) -> None:
    source = (
        "from PIL import Image\nfrom torch.utils.data import DataLoader, Dataset\n"
        "class Faces(Dataset):\n"
        "    def __init__(self, paths):\n        self.images = []\n"
        f"        for path in paths:\n            self.images.append({made})\n"
        "    def __getitem__(self, index):\n        return self.images[index]\n"
        "    def __len__(self):\n        return len(self.images)\n"
        "def load(paths):\n    return DataLoader(Faces(paths), num_workers=4)\n"
    )
    one, *others = lint_source(source, "faces.py")
    assert [each.code for each in others] == (["DL205"] if made == "Image.open(path)" else [])
    assert one.code == "DL101"
    assert "list of images" in one.problem
    assert one.problem.endswith("is copied to each of 4 workers: the objects if forked, all data if spawned")


@pytest.mark.parametrize(
    ("made", "advice"),
    [
        ('{"path": [line for line in lines], "text": [line.upper() for line in lines]}', "one array or tensor per key"),
        ("{line: [line] for line in lines}", "sorted key and value arrays"),
    ],
)
def test_a_dict_of_lists_becomes_one_array_for_each_key(made: str, advice: str) -> None:
    source = (
        "from torch.utils.data import DataLoader, Dataset\n"
        "class Pages(Dataset):\n"
        "    def __init__(self, lines):\n"
        f"        self.lines = lines\n        self.columns = {made}\n"
        "    def __getitem__(self, index):\n"
        "        return [each[index] for each in self.columns.values()], self.columns.get(self.lines[index])\n"
        "    def __len__(self):\n        return len(self.columns)\n"
        "def load(path):\n    return DataLoader(Pages(open(path).read().splitlines()), num_workers=4)\n"
    )
    [one] = [each for each in lint_source(source, "pages.py") if each.code == "DL102"]
    assert advice in one.advice


@pytest.mark.parametrize(
    ("bound", "iterated", "name"),
    [
        ("", "train_loader", "train_loader"),
        ("bar = tqdm(train_loader)", "enumerate(bar)", "train_loader"),
        ("bar = wrapped(train_loader)", "bar", "train_loader"),
        ("loaders = {'train': train_loader}", "loaders['train']", "loaders['train']"),
        ("made = make(data)", "enumerate(made)", "made"),
    ],
)
def test_a_loader_is_called_what_the_user_calls_it(bound: str, iterated: str, name: str) -> None:
    source = f"""\
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm
def wrapped(loader):
    return tqdm(loader) if verbose else loader
def make(data):
    return DataLoader(data, sampler=DistributedSampler(data))
def fit(model, data):
    train_loader = DataLoader(data, sampler=DistributedSampler(data))
    {bound or "pass"}
    for epoch in range(10):
        for batch in {iterated}:
            model(batch).backward()
"""
    (found,) = lint_source(source, "fit.py", Settings(select=("DL603",)))
    assert f"`DistributedSampler` of `{name}`" in found.message
