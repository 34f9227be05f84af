"""Settings from `[tool.dataloader-lint]`: which file counts, what its keys mean, and what is said about mistakes."""

from __future__ import annotations

import builtins
import io
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dataloader_lint.cli import main
from dataloader_lint.engine.run import Run
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import discover
from dataloader_lint.source.keys import KEYS
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile, chosen, configured, with_options

LAMBDA = "from torch.utils.data import DataLoader\n\nDataLoader([], num_workers=2, collate_fn=lambda rows: rows)\n"
PERSISTENT = "from torch.utils.data import DataLoader\n\nDataLoader([], num_workers=0, persistent_workers=True)\n"
TABLE = "[tool.dataloader-lint]\n"

Lint = Callable[..., tuple[int, list[str], str]]


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    """Runs the command in the temporary folder; gives exit code, findings as `path: code`, and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, list[str], str]:
        code = main(["--output-format", "concise", *arguments])
        out, err = capsys.readouterr()
        places = [line.split(" ")[:2] for line in out.splitlines() if ": DL" in line]
        return code, [f"{place.split(':')[0]}: {found}" for place, found in places], err

    return run


def test_nothing_is_configured(tmp_path: Path) -> None:
    assert configured(str(write(tmp_path, "[project]\nname = 'x'\n"))) == {}


def test_python_versions_come_from_the_project(tmp_path: Path) -> None:
    assert configured(str(write(tmp_path, '[project]\nrequires-python = ">=3.14"\n'))) == {"target_python": ">=3.14"}
    assert configured(str(write(tmp_path, "# requires-python is not set here\n"))) == {}
    below = write(tmp_path, TABLE) / "package"
    write(below, '[project]\nrequires-python = ">=3.12"\n')
    assert configured(str(below)) == {"target_python": ">=3.12"}
    write(tmp_path, TABLE + 'target-python = ">=3.13"')
    assert configured(str(below)) == {"target_python": ">=3.13"}


def test_all_keys(tmp_path: Path) -> None:
    text = """
[project]
requires-python = ">=3.12"
[tool.dataloader-lint]
select = ["DL2", "DL301"]
ignore = ["DL206"]
extend-select = ["DL306"]
extend-ignore = ["no-workers", "speed"]
preview = true
fixable = ["ALL"]
unfixable = ["dl2"]
fix = true
ignore-noqa = true
notes = false
unsafe-fixes = true
show-fixes = true
respect-gitignore = false
cache-dir = ".cache"
fail-on = "warning"
severity = { DL101 = "error" }
exclude = ["old", "data/*/raw"]
extend-exclude = ["third_party", "*_pb2.py"]
output-format = "concise"
start-method = "spawn"
max-workers = 32
max-prefetched-batches = 128
samples = { "*Caption*" = "3M", Clicks = 250000 }
memory-threshold = "250 MB"
extend-dataloaders = ["mylib.data.FastLoader"]
extend-datasets = ["mylib.data.Table"]
extend-iterable-datasets = ["mylib.data.Stream"]
src = ["libs/core"]
[tool.dataloader-lint.per-file-ignores]
"tests/*.py" = ["DL1"]
"""
    (tmp_path / "libs" / "core").mkdir(parents=True)
    below = write(tmp_path, text) / "src" / "deep"
    below.mkdir(parents=True)
    root = tmp_path.as_posix()
    found = configured(str(below))
    assert found == {
        "select": ("DL2", "DL301"),
        "ignore": ("DL206",),
        "extend_select": ("DL306",),
        "extend_ignore": ("DL306", "speed"),
        "preview": True,
        "fixable": ("all",),
        "unfixable": ("DL2",),
        "fix": True,
        "ignore_noqa": True,
        "notes": False,
        "unsafe_fixes": True,
        "show_fixes": True,
        "respect_gitignore": False,
        "cache_dir": str(tmp_path / ".cache"),
        "fail_on": "warning",
        "severity": (("DL101", "error"),),
        "exclude": ("old", f"{root}/data/*/raw"),
        "extend_exclude": ("third_party", "*_pb2.py"),
        "output_format": "concise",
        "start_method": "spawn",
        "target_python": ">=3.12",
        "max_workers": 32,
        "max_prefetched_batches": 128,
        "samples": (("*Caption*", 3_000_000), ("Clicks", 250_000)),
        "memory_threshold": 250_000_000,
        "extend_dataloaders": ("mylib.data.FastLoader",),
        "extend_datasets": ("mylib.data.Table",),
        "extend_iterable_datasets": ("mylib.data.Stream",),
        "src": (str(tmp_path / "libs" / "core"),),
        "per_file_ignores": ((f"{root}/tests/*.py", ("DL1",)), (f"{root}/tests/*.py/*", ("DL1",))),
    }
    assert {name.replace("_", "-") for name in found} == set(KEYS)
    assert Settings(**found).max_workers == 32  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "count"),
    [("64MB", 64_000_000), ("64m", 64_000_000), ("1.5 GiB", 3 * 2**29), ("64KiB", 2**16), ("1_000B", 1000)],
)
def test_sizes(tmp_path: Path, size: str, count: int) -> None:
    assert configured(str(write(tmp_path, f"{TABLE}memory-threshold = '{size}'\n"))) == {"memory_threshold": count}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("selct = ['DL1']", "has no key 'selct'; did you mean 'select'?"),
        ("max_workers = 3", "has no key 'max_workers'; did you mean 'max-workers'?"),
        ("colour = 'red'", "has no key 'colour'"),
        ("baseline = 'known.json'", "has no key 'baseline'; it is an option of the command: --baseline FILE"),
        ("output = 'a.json'", "has no key 'output'; it is an option of the command: --output-file FILE"),
        ("format = 'json'", "has no key 'format'; did you mean 'output-format'?"),
        ("select = ['DL31x']", "select has the unknown rule code 'DL31x'; did you mean 'DL31"),
        ("ignore = ['dl30x']", "ignore has the unknown rule code 'dl30x'; did you mean 'DL301'?"),
        ("extend-select = ['']", "extend-select has the unknown rule code ''"),
        ("ignore = 'DL1'", "ignore must be a list of strings, not 'DL1'"),
        ("exclude = [1]", "exclude must be a list of strings, not [1]"),
        ("samples = 'many'", "samples must be a number such as '5M', or a table of a class name and a number each"),
        ("memory-threshold = '64 miles'", "memory-threshold must be a size with its unit (B, KB"),
        ("memory-threshold = 64", "MiB, GiB, TiB), such as '64MB', not 64"),
        ("memory-threshold = '64i'", "such as '64MB', not '64i'"),
        ("max-workers = 0", "max-workers must be a number above 0, not 0"),
        ("max-prefetched-batches = true", "max-prefetched-batches must be a number above 0, not True"),
        ("max-workers = '8'", "max-workers must be a number above 0, not '8'"),
        ("start-method = 'thread'", "start-method must be one of 'auto', 'fork', 'spawn', 'forkserver', not 'thread'"),
        ("start-method = 'spwan'", "not 'spwan'; did you mean 'spawn'?"),
        ("output-format = 'ful'", "not 'ful'; did you mean 'full'?"),
        ("target-python = 'py312'", "target-python must be Python versions such as '>=3.11', not 'py312'"),
        ("target-python = 3.12", "target-python must be Python versions such as '>=3.11', not 3.12"),
        ("extend-dataloaders = ['FastLoader']", "such as 'mylib.data.FastLoader', not 'FastLoader'"),
        ("extend-datasets = ['my-lib.Table']", "extend-datasets must hold names with their modules"),
        ("extend-iterable-datasets = 'a.B'", "extend-iterable-datasets must be a list of strings, not 'a.B'"),
        ("src = ['scr']", "src has no folder 'scr' in "),
        ("src = ['scr']", "; did you mean 'src'?"),
        ("per-file-ignores = ['tests']", "per-file-ignores must be a table of a glob and a list of codes each"),
        ("per-file-ignores = { 'tests' = 'DL1' }", "per-file-ignores for 'tests' must be a list of strings, not 'DL1'"),
        ("per-file-ignores = { 'tests' = ['DL9x'] }", "per-file-ignores has the unknown rule code 'DL9x'"),
        ("per-file-ignores = { '!src' = ['DL1'] }", "per-file-ignores has the glob '!src'"),
    ],
)
def test_typos_say_what_and_where(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "src").mkdir()
    folder = write(tmp_path, f"{TABLE}{line}\n")
    with pytest.raises(ConfigurationError) as error:
        configured(str(folder))
    assert message in str(error.value)
    assert str(error.value).startswith(f"{folder / 'pyproject.toml'}: [tool.dataloader-lint] ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\n[tool.dataloader-lint]\nselect = [\n", 3, "not valid TOML: "),
        ("[tool.dataloader-lint]\n\nselect ['DL1']\n", 3, "not valid TOML: Expected '='"),
        ("[tool.dataloader-lint]\nselect = []\nselect = []\n", 3, "not valid TOML: "),
    ],
)
def test_bad_toml_is_one_line_with_its_place(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        configured(str(write(tmp_path, text)))
    assert str(error.value).startswith(f"{tmp_path / 'pyproject.toml'}:{line}: {message}")
    assert "\n" not in str(error.value)


def test_bad_bytes_are_one_line_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.dataloader-lint]\n\n# \xe9\n")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml:3: not valid TOML: the file is not UTF-8$"):
        configured(str(tmp_path))


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xef\xbb\xbf[tool.dataloader-lint]\nmax-workers = 3\n")
    assert configured(str(tmp_path)) == {"max_workers": 3}


def test_an_unreadable_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write(tmp_path, TABLE) / "pyproject.toml")
    real = builtins.open

    def refusing(name: object, *rest: object, **more: object) -> object:
        if name == path:
            raise PermissionError(13, "Permission denied")
        return real(name, *rest, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(builtins, "open", refusing)
    with pytest.raises(ConfigurationError) as error:
        configured(str(tmp_path))
    assert str(error.value) == f"{path}: cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[tool.dataloader_lint]\nselect = []\n", "tool.dataloader_lint"),
        ("[dataloader-lint]\nselect = []\n", "dataloader-lint"),
    ],
)
def test_a_table_under_another_name_is_not_passed_over(tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        configured(str(write(tmp_path, text)))
    assert str(error.value).endswith(f"the table [{wrong}] must be called [tool.dataloader-lint]")


def test_a_value_where_the_table_belongs(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\[tool\.dataloader-lint\] must be a table$"):
        configured(str(write(tmp_path, "[tool]\ndataloader-lint = 3\n")))


def test_files_that_only_name_us_are_passed_over(tmp_path: Path) -> None:
    below = write(tmp_path, TABLE + "max-workers = 3\n") / "package"
    write(below, "[project]\ndependencies = ['dataloader-lint']\n")
    assert configured(str(below)) == {"max_workers": 3}


def test_options_go_over_what_was_found() -> None:
    found: dict[str, object] = {"select": ("DL2",), "ignore": ("DL201",), "extend_select": ("DL306",), "src": ("/a",)}
    assert with_options(found, {}) == found
    assert with_options(found, {"src": ("/b",)})["src"] == ("/b",)
    assert with_options(found, {"extend_select": ("DL309",)}) == {**found, "extend_select": ("DL306", "DL309")}
    assert with_options(found, {"select": ("DL201",)}) == {"select": ("DL201",), "src": ("/a",)}
    assert with_options(found, {"extend_exclude": ("x",)})["extend_exclude"] == ("x",)


def test_each_file_goes_by_its_nearest_table(tmp_path: Path) -> None:
    write(tmp_path, TABLE + "max-workers = 1\n")
    write(tmp_path / "a", "[project]\nname = 'a'\n")
    write(tmp_path / "b", TABLE + "start-method = 'spawn'\n")
    (tmp_path / "b" / "deep").mkdir()
    by_file = SettingsByFile(Settings(options=(("max_prefetched_batches", 9),)))

    def of(name: str) -> tuple[int, str, int]:
        found = by_file.of_file(str(tmp_path / name))
        return found.max_workers, found.start_method, found.max_prefetched_batches

    assert of("x.py") == of("a/x.py") == (1, "auto", 9)
    assert of("b/x.py") == of("b/deep/x.py") == (16, "spawn", 9)
    assert by_file.of_file(str(tmp_path / "b" / "x.py")) is by_file.of_file(str(tmp_path / "b" / "y.py"))
    write(tmp_path / "b", TABLE)
    assert of("b/x.py") == (16, "spawn", 9), "one run reads a file once"
    assert SettingsByFile(Settings(options=())).of_file(str(tmp_path / "b" / "x.py")).start_method == "auto"


def test_given_settings_hold_for_every_file(tmp_path: Path) -> None:
    write(tmp_path, "[tool.dataloader-lint\n")
    settings = Settings(max_workers=5)
    assert SettingsByFile(settings).of_file(str(tmp_path / "a.py")) is settings
    assert discover([str(tmp_path)], settings).files == []


@pytest.mark.parametrize(
    ("glob", "fitting", "others"),
    [
        ("tests/*", ["tests/a.py", "tests/deep/a.py"], ["a.py", "src/tests/a.py", "tests.py"]),
        ("tests", ["tests/a.py", "src/tests/deep/a.py"], ["a.py", "tests.py", "mytests/a.py"]),
        ("tests/", ["tests/a.py", "src/tests/a.py"], ["a.py"]),
        ("train_*.py", ["train_a.py", "deep/train_b.py"], ["train.py", "train_x/a.py"]),
        ("src/*/gen.py", ["src/a/gen.py", "src/a/b/gen.py"], ["src/gen.py", "a/gen.py"]),
        ("./src/a.py", ["src/a.py"], ["a.py"]),
    ],
)
def test_globs_of_per_file_ignores(tmp_path: Path, glob: str, fitting: list[str], others: list[str]) -> None:
    root = write(
        tmp_path / "tests" / "with[brackets]", f"{TABLE}per-file-ignores = {{ '{glob}' = ['DL2', 'DL301'] }}\n"
    )
    by_file = SettingsByFile(Settings(options=()))
    for name in fitting:
        assert by_file.of_file(str(root / name)).ignored_here == ("DL2", "DL301"), name
    for name in others:
        assert by_file.of_file(str(root / name)).ignored_here == (), name
    assert by_file.of_file(str(root / fitting[0])).per_file_ignores == ()


def test_settings_of_a_file_cross_processes_and_tell_what_matters(tmp_path: Path) -> None:
    write(tmp_path, f"{TABLE}per-file-ignores = {{ 'a.py' = ['DL2'] }}\nextend-exclude = ['x']\n")
    by_file = SettingsByFile(chosen({"max_workers": 7}, str(tmp_path)))
    spared, other = by_file.of_file(str(tmp_path / "a.py")), by_file.of_file(str(tmp_path / "b.py"))
    assert pickle.loads(pickle.dumps(by_file)).of_file(str(tmp_path / "a.py")) == spared
    assert spared.key != other.key
    assert other.key == Settings(max_workers=7, output_format="json", extend_exclude=("y",)).key
    for name, value in {
        "select": ("DL1",),
        "ignore": ("DL1",),
        "extend_select": ("DL306",),
        "start_method": "fork",
        "target_python": ">=3.14",
        "max_workers": 8,
        "max_prefetched_batches": 8,
        "extend_dataloaders": ("a.B",),
        "extend_datasets": ("a.B",),
        "extend_iterable_datasets": ("a.B",),
        "src": ("/a",),
    }.items():
        assert other.replace(**{name: value}).key != other.key, name


def test_options_go_over_the_file(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, TABLE + "select = ['DL301']\n")
    (tmp_path / "train.py").write_text(LAMBDA, encoding="utf-8")
    assert lint("train.py") == (0, [], "")
    assert lint("--select", "DL201", "train.py") == (1, ["train.py: DL201"], "")
    assert lint("--extend-select", "DL201", "train.py") == (1, ["train.py: DL201"], "")
    write(tmp_path, TABLE + "ignore = ['DL201']\nextend-select = ['DL206']\n")
    assert lint("--select", "DL201", "train.py") == (1, ["train.py: DL201"], "")
    assert lint("--select", "DL201", "--per-file-ignores", "train*:DL2", "train.py") == (0, [], "")


def test_with_fork_nothing_is_pickled(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, TABLE + "start-method = 'fork'\n")
    (tmp_path / "train.py").write_text(LAMBDA, encoding="utf-8")
    assert lint("--select", "DL201", "train.py")[0] == 0
    assert lint("--select", "DL201", "--start-method", "spawn", "train.py")[0] == 1


def test_a_monorepo(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, TABLE + "select = ['DL2', 'DL3']\nper-file-ignores = { 'a' = ['DL3'] }\nexclude = ['old']\n")
    write(tmp_path / "a", "[project]\nname = 'a'\n")
    write(tmp_path / "b", TABLE + "select = ['DL3']\nexclude = ['gen/*']\n")
    for folder in ("a", "a/old", "b", "b/old", "b/gen", "c"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "train.py").write_text(LAMBDA + PERSISTENT, encoding="utf-8")
    expected = ["a/train.py: DL201", "b/old/train.py: DL301", "b/train.py: DL301"]
    assert lint("--ignore", "DL206") == (1, [*expected, "c/train.py: DL201", "c/train.py: DL301"], "")
    assert lint("--ignore", "DL206", "b/gen/train.py", "b/train.py")[1] == [
        "b/gen/train.py: DL301",
        "b/train.py: DL301",
    ]
    assert lint("--ignore", "DL206", "a", "b")[1] == expected
    assert lint("--isolated", "--select", "DL201", "--exclude", "old,gen,c")[1] == [
        "a/train.py: DL201",
        "b/train.py: DL201",
    ]


def test_one_file_for_all(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, TABLE + "select = ['DL2']\n")
    shared = tmp_path / "shared" / "lint.toml"
    shared.parent.mkdir()
    shared.write_text(TABLE + "select = ['DL3']\nper-file-ignores = { 'a/*' = ['DL301'] }\n", encoding="utf-8")
    for folder in ("a", "b"):
        write(tmp_path / folder, TABLE + "ignore = ['DL301']\n")
        (tmp_path / folder / "train.py").write_text(PERSISTENT, encoding="utf-8")
    assert lint("--config", "shared/lint.toml") == (1, ["b/train.py: DL301"], "")
    assert lint("--config", "shared/lint.toml", "--ignore", "DL301") == (0, [], "")
    code, _, err = lint("--config", "missing.toml")
    assert (code, err) == (2, "dataloader-lint: missing.toml: cannot be read: No such file or directory\n")
    shared.write_text("[project]\n", encoding="utf-8")
    code, _, err = lint("--config", "shared/lint.toml")
    assert (code, err) == (2, "dataloader-lint: shared/lint.toml: there is no table [tool.dataloader-lint]\n")


def test_isolated(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, "[tool.dataloader-lint\n")
    (tmp_path / "train.py").write_text(PERSISTENT, encoding="utf-8")
    assert lint("train.py")[0] == 2
    assert lint("--isolated", "train.py") == (1, ["train.py: DL301"], "")


def test_standard_input_goes_by_the_file_that_it_is(
    tmp_path: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, TABLE + "ignore = ['DL301']\n")
    write(tmp_path / "b", TABLE + "per-file-ignores = { 'spared.py' = ['DL301'] }\n")

    def stdin(*arguments: str) -> tuple[int, list[str], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PERSISTENT.encode())))
        return lint(*arguments, "-")

    assert stdin() == (0, [], "")
    assert stdin("--stdin-filename", "b/train.py") == (1, ["b/train.py: DL301"], "")
    assert stdin("--stdin-filename", "b/spared.py") == (0, [], "")
    assert stdin("--stdin-filename", "train.py") == (0, [], "")
    write(tmp_path / "b", TABLE + "ignored = []\n")
    assert stdin("--stdin-filename", "b/train.py")[0] == 2
    assert stdin("--stdin-filename", "train.py")[0] == 0


@pytest.mark.parametrize("paths", [[], ["sub/train.py"], ["sub"]])
def test_a_typo_is_the_users_to_mend(tmp_path: Path, lint: Lint, paths: list[str]) -> None:
    (tmp_path / "good.py").write_text(PERSISTENT, encoding="utf-8")
    path = write(tmp_path / "sub", TABLE + "ignored = []\n") / "pyproject.toml"
    (tmp_path / "sub" / "train.py").write_text("import os\n", encoding="utf-8")
    code, found, err = lint(*paths)
    assert (code, found) == (2, [])
    problem = "[tool.dataloader-lint] has no key 'ignored'; did you mean 'ignore'?"
    assert err == f"dataloader-lint: {path}: {problem}\n"
    assert lint("good.py")[0] == 1, "what does not concern the files is not read"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-workers", "0"], "--max-workers must be a number above 0, not 0"),
        (["--max-workers", "many"], "--max-workers must be a number above 0, not 'many'"),
        (["--target-python", "new"], "--target-python must be Python versions such as '>=3.11', not 'new'"),
        (["--extend-datasets", "Table"], "--extend-datasets must hold names with their modules"),
        (["--per-file-ignores", "tests"], "--per-file-ignores must be pairs such as tests/*:DL206, not 'tests'"),
        (["--per-file-ignores", "a.py:DL9x"], "--per-file-ignores has the unknown rule code 'DL9x'"),
        (["--config", "a.toml", "--isolated"], "--config FILE and --isolated cannot be used together"),
    ],
)
def test_wrong_options(lint: Lint, arguments: list[str], message: str) -> None:
    code, _, err = lint(*arguments)
    assert code == 2
    assert err.startswith(f"dataloader-lint: {message}")


def test_what_names_no_table_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tomllib", "dataloader_lint.source.keys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    folder = write(tmp_path, "[project]\nname = 'x'\nrequires-python = '>=3.12'\n[tool.ruff]\n")
    assert SettingsByFile(chosen({}, str(folder))).of_file(str(folder / "a.py")).target_python == ">=3.12"
    assert not {"tomllib", "dataloader_lint.source.keys"} & set(sys.modules)


def test_hooks_obey_exclusions(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, TABLE + "extend-exclude = ['old', 'gen/*.py']\n")
    write(tmp_path / "part", TABLE + "exclude = ['a.py']\n")
    files = ["a.py", "old/deep/a.py", "gen/a.py", "part/a.py", "part/old/b.py", "build/a.py"]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(PERSISTENT, encoding="utf-8")
    assert len(lint(*files)[1]) == len(files)
    expected = ["a.py: DL301", "part/old/b.py: DL301"]
    assert lint("--force-exclude", *files)[1] == expected
    assert lint("--force-exclude", *(str(tmp_path / name) for name in files))[1] == expected
    assert lint("--force-exclude", "old", "part")[1] == ["part/old/b.py: DL301"]
    assert lint("old")[1] == ["old/deep/a.py: DL301"]
    hooks = (Path(__file__).parent.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert hooks.count("--force-exclude") == hooks.count("entry:") == 2


def test_files_that_cannot_be_read_can_be_spared(tmp_path: Path, lint: Lint) -> None:
    write(tmp_path, TABLE + "per-file-ignores = { 'templates' = ['DL000'], 'old' = ['DL'] }\n")
    for name in ("templates/a.py", "old/a.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("DataLoader(\n", encoding="utf-8")
    assert lint() == (1, ["old/a.py: DL000"], "")
    assert lint("--fix") == (1, ["old/a.py: DL000"], "")


def test_a_file_that_breaks_during_a_run_is_a_finding(tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    write(tmp_path, TABLE + "max-worker = 3\n")
    for found in (
        Run(Settings(options=())).lint_bytes(PERSISTENT.encode(), path),
        Run(Settings(options=())).lint_file(path),
        Run(Settings(options=())).fix_bytes(PERSISTENT.encode(), path, unsafe=False).remaining,
    ):
        assert [one.code for one in found] == ["DL000"]
        assert "its settings cannot be used: " in found[0].message
        assert "did you mean 'max-workers'?" in found[0].message
