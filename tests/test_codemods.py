"""The fixes as commands of LibCST's own runner, by that runner."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.rules.base import FixLevel
from dataloader_lint.rules.registry import found_rules
from fixture_harness import FIXTURES

ROOT = Path(__file__).parent.parent
CONFIG = "modules:\n- dataloader_lint.codemods\nformatter: [{formatter}]\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "libcst.tool", *arguments]
    done = processes.run(command)
    assert done.returncode == 0, done.stderr
    return done


def copies(code: str, count: int) -> str:
    """Puts copies of a fixture here, and returns what fixing makes of them."""
    for number in range(count):
        shutil.copy(FIXTURES / code / "fixable.py", f"file{number}.py")
    golden = FIXTURES / code / "fixable.py.unsafe"
    golden = golden if golden.exists() else golden.with_suffix(".safe")
    return golden.read_text(encoding="utf-8")


def test_every_fix_is_a_command() -> None:
    Path(".libcst.codemod.yaml").write_text(CONFIG.format(formatter="cat"))
    listed = dict(line.split(" - ", 1) for line in tool("list").stdout.splitlines())
    assert listed.pop("fixes.ApplySafeFixes") == "Fix everything that dataloader-lint can fix safely."
    codes = [text.partition(":")[0] for text in listed.values()]
    fixable = [code for code, one in found_rules().items() if one.rule.fix is not FixLevel.NONE]
    assert sorted(codes) == fixable
    assert listed["fixes.HoistCollateLambda"].startswith("DL201: ")
    assert all(name.startswith("fixes.") for name in listed)


def test_without_any_configuration_in_parallel() -> None:
    expected = copies("DL201", 6)
    done = tool("codemod", "-x", "dataloader_lint.codemods.HoistCollateLambda", "--no-format", "-j", "2", ".")
    assert " - Transformed 6 files successfully." in done.stderr
    assert {path.read_text(encoding="utf-8") for path in Path().glob("*.py")} == {expected}


def test_by_its_full_name_where_it_is_configured() -> None:
    Path(".libcst.codemod.yaml").write_text(CONFIG.format(formatter="cat"))
    expected = copies("DL202", 1)
    tool("codemod", "dataloader_lint.codemods.LiftCollateFunction", "--no-format", ".")
    assert Path("file0.py").read_text(encoding="utf-8") == expected


def test_with_a_formatter() -> None:
    Path(".libcst.codemod.yaml").write_text(CONFIG.format(formatter="sed, 's/DataLoader/Formatted/'"))
    expected = copies("DL301", 1)
    Path("untouched.py").write_text("from torch.utils.data import DataLoader\n")
    tool("codemod", "fixes.FixPersistentWorkersWithoutWorkers", "file0.py", "untouched.py")
    first = expected.replace("DataLoader", "Formatted", 1).splitlines()[0]
    assert Path("file0.py").read_text(encoding="utf-8").splitlines()[0] == first
    assert "Formatted" in Path("file0.py").read_text(encoding="utf-8")
    assert "DataLoader" in Path("untouched.py").read_text(encoding="utf-8")


def test_all_safe_fixes_leave_unsafe_ones_out() -> None:
    shutil.copy(FIXTURES / "DL202" / "fixable.py", "unsafe.py")
    expected = copies("DL301", 1)
    tool("codemod", "-x", "dataloader_lint.codemods.ApplySafeFixes", "--no-format", ".")
    assert Path("file0.py").read_text(encoding="utf-8") == expected
    assert Path("unsafe.py").read_bytes() == (FIXTURES / "DL202" / "fixable.py").read_bytes()
    tool("codemod", "-x", "dataloader_lint.codemods.ApplySafeFixes", "--unsafe-fixes", "--no-format", ".")
    assert Path("unsafe.py").read_bytes() == (FIXTURES / "DL202" / "fixable.py.unsafe").read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_bytes_stay(mark: bytes, newline: bytes) -> None:
    source = b"# \xc3\xa9\nfrom torch.utils.data import DataLoader\n\n\n%s" + b"x = 1"
    call = b"loader = DataLoader(data%s)\n"
    old = mark + (source % (call % b", persistent_workers=True")).replace(b"\n", newline)
    Path("a.py").write_bytes(old)
    tool("codemod", "-x", "dataloader_lint.codemods.ApplySafeFixes", "--no-format", "a.py")
    assert Path("a.py").read_bytes() == mark + (source % (call % b"")).replace(b"\n", newline)


@pytest.mark.thorough
@pytest.mark.parametrize("odd", [b"x = 1\n\\\ny = 2\n", b"\x0cx = 1\n", b"x = 1\r"])
def test_files_that_libcst_writes_in_another_way_are_skipped(odd: bytes) -> None:
    head = b"from torch.utils.data import DataLoader\n\n\nloader = DataLoader(data, persistent_workers=True)\n"
    Path("a.py").write_bytes(head + odd)
    Path("b.py").write_bytes(head)
    done = tool("codemod", "-x", "dataloader_lint.codemods.ApplySafeFixes", "--no-format", "a.py", "b.py")
    assert Path("a.py").read_bytes() == head + odd
    assert b"persistent_workers" not in Path("b.py").read_bytes()
    assert "Skipped 1 files" in done.stderr
