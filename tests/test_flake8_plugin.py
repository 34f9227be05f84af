"""The plugin in a real flake8."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint import Settings, __version__, lint_source
from dataloader_lint.flake8_plugin import Plugin
from dataloader_lint.source.pyproject import SettingsByFile
from fake_rules import fake_rules

__all__ = ["fake_rules"]

ROOT = Path(__file__).parent.parent
BAD = "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True, num_workers=0)\n"
EACH = f"""{BAD}

class Files(Dataset):
    def __init__(self, count):
        self.rows = [str(number) for number in range(count)]

    def __getitem__(self, index):
        return self.rows[index]


def train(count):
    loader = DataLoader(Files(count), num_workers=2, collate_fn=lambda rows: rows)
    for epoch in range(9):
        for batch in loader:
            pass
""".replace("import DataLoader", "import DataLoader, Dataset")

# The three made-up rules in place of the real ones, for flake8 processes: Python imports this at start-up.
MADE_UP = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
import fake_rules, pytest
patch = pytest.MonkeyPatch()
fake_rules.fake_rules.__wrapped__(patch)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes flake8 see the plugin of this checkout whether it is installed or not."""
    info = tmp_path / "path" / "dataloader_lint-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: dataloader-lint\nVersion: {__version__}\n")
    (info / "entry_points.txt").write_text("[flake8.extension]\nDL = dataloader_lint.flake8_plugin:Plugin\n")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(info.parent), str(ROOT)]))


@pytest.fixture
def made_up(tmp_path: Path) -> None:
    (tmp_path / "path" / "sitecustomize.py").write_text(MADE_UP)


def flake8(*arguments: str, stdin: str | None = None) -> tuple[int, list[str], str]:
    command = [sys.executable, "-m", "flake8", *arguments]
    done = processes.run(command, input=stdin)
    return done.returncode, done.stdout.splitlines(), done.stderr


def write(name: str, content: str | bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def places(lines: list[str]) -> list[str]:
    return [" ".join(line.split(" ")[:2]).removeprefix("./") for line in lines]


def test_flake8_knows_the_plugin() -> None:
    assert f"dataloader-lint: {__version__}" in " ".join(flake8("--version")[1])


def test_findings_have_the_right_place() -> None:
    write("a.py", BAD)
    for option in ([], ["--isolated"]):
        code, lines, err = flake8(*option, "--select", "DL301", ".")
        assert (code, err) == (1, "")
        assert places(lines) == ["a.py:3:10: DL301"]
    (expected,) = lint_source(BAD, "a.py", Settings(select=("DL301",)))
    assert lines[0] == f"./a.py:3:10: DL301 {expected.message}"


def test_the_plugin_is_on_by_default() -> None:
    write("a.py", BAD)
    assert "a.py:3:10: DL301" in places(flake8("a.py")[1])
    assert not [line for line in flake8("--select", "E,F", "a.py")[1] if "DL" in line]
    assert not [line for line in flake8("--ignore", "DL", "a.py")[1] if "DL" in line]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ("", ["DL201", "DL301"]),
        ("extend-ignore = DL", []),
        ("select = E,F,W,C90", []),
        ("extend-ignore = DL\nextend-select = DL2", ["DL201"]),
        ("extend-select = DL309", ["DL201", "DL301", "DL309"]),
        ("per-file-ignores = legacy/*:DL", []),
        ("dl-notes = true", ["DL101", "DL201", "DL301"]),
    ],
)
def test_what_the_page_of_settings_says_of_flake8(settings: str, shown: list[str]) -> None:
    write("legacy/a.py", EACH)
    write("setup.cfg", f"[flake8]\n{settings}\n")
    _, lines, err = flake8(".")
    assert (sorted(line.split()[1] for line in lines if " DL" in line), err) == (shown, "")
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").partition("## In flake8")[2]
    assert [line for line in settings.splitlines() if f"`{line}`" not in page] == []


def test_notes_are_for_an_option_of_flake8_to_show() -> None:
    write("a.py", EACH)
    write("pyproject.toml", "[tool.dataloader-lint]\nnotes = true\nignore = ['DL2']\n")
    assert sorted(line.split()[1] for line in flake8("--select", "DL", "a.py")[1]) == ["DL201", "DL301"]
    shown = flake8("--select", "DL", "--dl-notes", "true", "a.py")[1]
    assert sorted(line.split()[1] for line in shown) == ["DL101", "DL201", "DL301"]


def test_notes_alone_fail_no_run() -> None:
    write("a.py", EACH.replace(", persistent_workers=True", "").replace(", collate_fn=lambda rows: rows", ""))
    assert flake8("--isolated", "--select", "DL", "a.py") == (0, [], "")


def test_jobs() -> None:
    for number in range(8):
        write(f"p{number}/a.py", BAD)
    serial = flake8("--isolated", "--select", "DL301", "--jobs", "1", ".")
    assert len(serial[1]) == 8
    assert flake8("--isolated", "--select", "DL301", "--jobs", "3", ".") == serial


def test_noqa_and_per_file_ignores_are_flake8s() -> None:
    write("a.py", BAD.replace("=0)", "=0)  # noqa: DL301"))
    write("b.py", BAD.replace("=0)", "=0)  # noqa"))
    write("c.py", "# flake8: noqa\n" + BAD)
    write("e.py", "# dataloader-lint: ignore-file\n" + BAD)
    write("d.py", BAD)
    write("setup.cfg", "[flake8]\nselect = DL301\nper-file-ignores =\n    d.py: DL301\n")
    assert flake8(".") == (0, [], "")
    assert places(flake8("--disable-noqa", ".")[1]) == [
        *(f"{name}.py:{line}:10: DL301" for name, line in (("a", 3), ("b", 3), ("c", 4), ("e", 4)))
    ]


def test_standard_input() -> None:
    code, lines, _ = flake8("--isolated", "--select", "DL301", "--stdin-display-name", "x/y.py", "-", stdin=BAD)
    assert (code, places(lines)) == (1, ["x/y.py:3:10: DL301"])
    assert places(flake8("--isolated", "--select", "DL301", "-", stdin=BAD)[1]) == ["stdin:3:10: DL301"]


def test_encodings_and_newlines() -> None:
    write("bom.py", b"\xef\xbb\xbf" + BAD.encode())
    write("crlf.py", BAD.replace("\n", "\r\n"))
    write("latin.py", ("# coding: latin-1\n" + BAD + "x = 'é'\n").encode("latin-1"))
    write("wide.py", BAD.replace("loader =", "ü数 ="))
    _, lines, err = flake8("--isolated", "--select", "DL", ".")
    assert err == ""
    found = [place for place in places(lines) if place.endswith("DL301")]
    assert found == ["bom.py:3:10: DL301", "crlf.py:3:10: DL301", "latin.py:4:10: DL301", "wide.py:3:6: DL301"]


def test_broken_files_are_flake8s() -> None:
    write("a.py", "DataLoader(\n")
    write("b.py", b"x = 1\0DataLoader\n")
    write("c.py", b"# DataLoader \xe9\n")
    write("d.py", "")
    write("e.py", BAD)
    code, lines, err = flake8("--isolated", "--select", "DL,E9", ".")
    assert (code, err) == (1, "")
    assert {line.split(" ")[1] for line in lines if not line.startswith("./e.py")} <= {"E902", "E999"}
    assert "e.py:3:10: DL301" in places(lines)


@pytest.mark.usefixtures("made_up")
def test_opt_in_rules_are_off_until_asked_for_by_code() -> None:
    write("a.py", "DataLoader(Dataset(1))\n")

    def codes(*arguments: str) -> list[str]:
        _, lines, err = flake8(*arguments, "a.py")
        assert err == ""
        return [line.split(" ")[1] for line in lines if " DL" in line]

    assert codes() == ["DL301", "DL304"]
    assert codes("--select", "DL") == codes("--extend-select", "DL30") == ["DL301", "DL304"]
    assert codes("--extend-select", "DL305") == ["DL301", "DL304", "DL305"]
    assert codes("--select", "DL305") == ["DL305"]
    assert codes("--select", "DL,DL305", "--ignore", "DL304") == ["DL301", "DL305"]
    assert codes("--select", "DL3", "--extend-ignore", "DL301") == ["DL304"]
    write("setup.cfg", "[flake8]\nextend-select = DL305\nextend-ignore = DL304\n")
    assert codes() == ["DL301", "DL305"]


@pytest.mark.usefixtures("made_up")
def test_a_crash_is_a_finding_that_names_the_rule() -> None:
    write("a.py", "x = 1\nDataLoader(crash())\n")
    code, lines, err = flake8("--isolated", "--select", "DL", "a.py")
    assert (code, err) == (1, "")
    assert places(lines) == ["a.py:1:1: DL999", "a.py:2:1: DL301", "a.py:2:1: DL304"]
    assert "internal error in rule DL304: ZeroDivisionError: made up" in lines[0]


def report(source: str) -> list[tuple[int, int, str]]:
    plugin = Plugin(ast.parse(source), "a.py", source.splitlines(keepends=True))
    return [(line, column, text.split(" ")[0]) for line, column, text, _ in plugin.run()]


@pytest.mark.usefixtures("fake_rules")
def test_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plugin, "sessions", {})
    monkeypatch.setattr(Plugin, "settings", SettingsByFile(Settings(select=("DL301",))))
    assert report("x = 1\ny = DataLoader(1)\n") == [(2, 4, "DL301")]
    assert report("import os\n") == []

    def crash(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("dataloader_lint.engine.linter.lint_text", crash)
    monkeypatch.setattr(Plugin, "settings", SettingsByFile(Settings()))
    assert report("DataLoader(1)\n") == [(1, 0, "DL999")]


def test_what_flake8_has_parsed_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plugin, "sessions", {})
    plugin = Plugin(ast.parse(BAD), "a.py", BAD.splitlines(keepends=True))
    parsed: list[str] = []

    def parse_as_python(text: str) -> ast.Module:
        parsed.append(text)
        return ast.parse(text)

    monkeypatch.setattr("dataloader_lint.source.fast_tree.parse_as_python", parse_as_python)
    assert [code[:5] for _, _, code, _ in plugin.run()] == ["DL301"]
    assert parsed == []
    assert [one.code for one in lint_source(BAD, "b.py")] == ["DL301"]
    assert parsed == [BAD]


def test_libcst_is_imported_only_for_files_that_pass_the_gate() -> None:
    write("a.py", "import os\n")
    code = (
        "import sys; from flake8.main.cli import main; main(['-j1', '--isolated', '--select', 'DL', sys.argv[1]]);"
        "print('libcst' in sys.modules)"
    )

    def imported(file: str) -> str:
        command = [sys.executable, "-c", code, file]
        return processes.run(command, check=True).stdout.splitlines()[-1]

    assert imported("a.py") == "False"
    write("b.py", BAD)
    assert imported("b.py") == "True"


def test_rules_that_flake8_would_not_show_do_not_run() -> None:
    write("b.py", BAD)
    code = (
        "import sys; from flake8.main.cli import main; main(['-j1', '--isolated', '--select', 'E', 'b.py']);"
        "print('libcst' in sys.modules)"
    )
    done = processes.run([sys.executable, "-c", code], check=True)
    assert done.stdout.splitlines()[-1] == "False"


FAST = "from mylib.data import FastLoader\n\nloader = FastLoader(data, persistent_workers=True, num_workers=0)\n"


def test_our_options_on_the_command_line() -> None:
    write("a.py", FAST)
    assert flake8("--select", "DL", "a.py") == (0, [], "")
    _, lines, err = flake8("--select", "DL", "--dl-extend-dataloaders", "x.Other,mylib.data.FastLoader", "a.py")
    assert (places(lines), err) == (["a.py:3:10: DL301"], "")
    help_text = " ".join(" ".join(flake8("--help")[1]).split())
    assert "--dl-start-method" in help_text
    assert "--dl-max-prefetched-batches N" in help_text


@pytest.mark.parametrize("file", ["setup.cfg", "tox.ini", ".flake8"])
def test_our_options_in_flake8s_files(file: str) -> None:
    write("a.py", FAST.replace("0)", "3)"))
    options = "dl-max-workers = 2\ndl-extend-dataloaders =\n    other.Loader\n    mylib.data.FastLoader\n"
    write(file, f"[flake8]\nselect = DL305\n{options}")
    assert places(flake8("a.py")[1]) == ["a.py:3:10: DL305"]
    assert flake8("--dl-max-workers", "3", "a.py") == (0, [], "")
    assert flake8("--isolated", "--select", "DL305", "a.py") == (0, [], "")


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_datasets_and_start_methods_as_options(jobs: str) -> None:
    write("a.py", "import mylib\n\n\nclass Mine(mylib.Stream):\n    def __iter__(self):\n        yield from range(9)\n")
    write("b.py", "from a import Mine\nfrom torch.utils.data import DataLoader\n\nDataLoader(Mine(), num_workers=2)\n")
    write("c.py", BAD.replace("persistent_workers=True, num_workers=0", "num_workers=2, collate_fn=lambda rows: rows"))
    options = ("--select", "DL201,DL601", "--jobs", jobs, ".")
    assert places(flake8(*options)[1]) == ["c.py:3:53: DL201"]
    more = ("--dl-extend-iterable-datasets=mylib.Stream", "--dl-start-method=fork")
    assert places(flake8(*more, *options)[1]) == ["a.py:5:5: DL601"]


def test_the_nearest_pyproject_says_what_is_true_of_the_programs() -> None:
    write("pyproject.toml", "[tool.dataloader-lint]\nignore = ['DL301']\n")
    table = "[tool.dataloader-lint]\nextend-dataloaders = ['mylib.data.FastLoader']\nselect = ['DL2']\n"
    write("part/pyproject.toml", table)
    for name in ("a.py", "part/a.py"):
        write(name, FAST)
    write("b.py", BAD)
    assert places(flake8("--select", "DL", ".")[1]) == ["b.py:3:10: DL301", "part/a.py:3:10: DL301"]
    _, lines, _ = flake8("--isolated", "--select", "DL", "--stdin-display-name", "part/b.py", "-", stdin=FAST)
    assert places(lines) == ["part/b.py:3:10: DL301"], "flake8 does not tell plugins that it is isolated"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "dl-max-workers = none",
            "dl-max-workers (command line or settings of flake8) must be a number above 0, not 'none'",
        ),
        (
            "dl-start-method = spwan",
            "dl-start-method (command line or settings of flake8) must be one of 'auto', 'fork', 'spawn', 'for",
        ),
        (
            "dl-extend-datasets = Table",
            "dl-extend-datasets (command line or settings of flake8) must hold names with their modules",
        ),
        ("dl-target-python = new", "dl-target-python (command line or settings of flake8) must be Python versions"),
    ],
)
def test_a_wrong_option_is_said_by_flake8(option: str, message: str) -> None:
    write("a.py", BAD)
    write("setup.cfg", f"[flake8]\n{option}\n")
    code, lines, err = flake8("a.py")
    assert (code, err) == (1, "")
    assert lines[-1].startswith(f"dataloader-lint: {message}")


def test_mistakes_in_a_pyproject_are_said() -> None:
    write("a.py", BAD)
    write("part/a.py", BAD)
    write("part/pyproject.toml", "[tool.dataloader-lint]\nmax-worker = 3\n")
    code, lines, err = flake8("--select", "DL", ".")
    assert (code, err) == (1, "")
    assert places(lines) == ["a.py:3:10: DL301", "part/a.py:1:1: DL000"]
    assert "has no key 'max-worker'; did you mean 'max-workers'?" in lines[1]
    Path("part/pyproject.toml").rename("pyproject.toml")
    code, lines, err = flake8("--select", "DL", ".")
    assert (code, err) == (1, "")
    assert lines[-1].endswith("[tool.dataloader-lint] has no key 'max-worker'; did you mean 'max-workers'?")
    assert flake8("--select", "E9", ".") == (0, [], ""), "where nothing of ours is shown, our settings do not matter"
