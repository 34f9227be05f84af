"""`--fix`, `--unsafe-fixes` and `--diff` as users run them."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from benchmarks import processes
from commands import limited

ROOT = Path(__file__).parent.parent
IMPORTS = "from torch.utils.data import DataLoader\n\n"
SAFE = IMPORTS + "loader = DataLoader(data, persistent_workers=True)\n"
FIXED = IMPORTS + "loader = DataLoader(data)\n"
UNSAFE = IMPORTS + (
    "def make(data):\n"
    "    def collate(rows):\n"
    "        return rows\n"
    "    return DataLoader(data, num_workers=2, collate_fn=collate)\n"
)
HOPELESS = IMPORTS + (
    "class Task:\n"
    "    def make(self, data):\n"
    "        return DataLoader(data, num_workers=2, collate_fn=lambda rows: self.pad(rows))\n"
)
MADE = "  fixed 1 DL301 persistent-workers-without-workers\n"
CHANGED = "  changed a.py\n"
ONLY = ("--output-format", "concise", "--select", "DL201,DL202,DL301")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "pycache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str, stdin: bytes | None = None, file_size: int | None = None) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "dataloader_lint", *ONLY, *arguments]
    done = processes.run_bytes(command if file_size is None else limited(file_size, command), input=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_everything_is_fixed() -> None:
    Path("a.py").write_text(SAFE)
    Path("a.py").chmod(0o700)
    code, out, err = run("a.py")
    assert (code, err) == (1, "")
    assert out.endswith("Found 1 problem: 1 error.\n[*] 1 fixable with the `--fix` option.\n")
    assert run("--fix", "a.py") == (0, f"Found 1 problem (1 fixed, 0 remaining).\n{MADE}{CHANGED}", "")
    assert Path("a.py").read_text() == FIXED
    assert stat.S_IMODE(Path("a.py").stat().st_mode) == 0o700
    assert sorted(each.name for each in Path().iterdir()) == [".dataloader_lint_cache", "a.py"]
    before = Path("a.py").stat().st_mtime_ns
    assert run("--fix", "a.py") == (0, "All checks passed!\n", "")
    assert Path("a.py").stat().st_mtime_ns == before


def test_unsafe_fixes_are_announced_and_need_asking() -> None:
    Path("a.py").write_text(UNSAFE)
    hidden = "No safe fixes; 1 with `--unsafe-fixes`.\n"
    code, out, _ = run("a.py")
    assert (code, out.splitlines(keepends=True)[1:]) == (1, ["Found 1 problem: 1 warning.\n", hidden])
    code, out, _ = run("--fix", "a.py")
    assert (code, out.splitlines(keepends=True)[1:]) == (
        1,
        [
            "Found 1 problem (0 fixed, 1 remaining): 1 warning.\n",
            hidden,
            "  left 1 DL202: needs --unsafe-fixes (a.py:6)\n",
        ],
    )
    assert Path("a.py").read_text() == UNSAFE
    code, out, _ = run("--unsafe-fixes", "a.py")
    assert out.endswith("1 fixable with the `--fix` option.\n")
    assert Path("a.py").read_text() == UNSAFE
    made = "  fixed 1 DL202 local-function-collate-fn\n"
    assert run("--fix", "--unsafe-fixes", "a.py") == (
        0,
        f"Found 1 problem (1 fixed, 0 remaining).\n{made}{CHANGED}",
        "",
    )
    assert "\n\ndef collate(rows):\n    return rows\n\n\ndef make" in Path("a.py").read_text()

    Path("a.py").write_text(SAFE)
    Path("b.py").write_text(UNSAFE)
    out = run(".")[1]
    more = "(1 more with `--unsafe-fixes`)"
    assert out.endswith(f"Found 2 problems: 1 error, 1 warning.\n[*] 1 fixable with the `--fix` option {more}.\n")


@pytest.mark.parametrize(("required", "idle"), [("torch==1.13.1", "2"), ("torch>=1.13", "None"), ("torch>=2", "None")])
def test_what_is_written_runs_on_the_torch_that_the_project_requires(required: str, idle: str) -> None:
    Path("requirements.txt").write_text(required + "\n")
    text = (
        IMPORTS + "def make(data, workers=0):\n    return DataLoader(data, num_workers=workers, prefetch_factor={})\n"
    )
    Path("a.py").write_text(text.format(4))
    code, out, err = run("--fix", "--select", "DL302,DL310", "a.py")
    assert (code, Path("a.py").read_text()) == (0, text.format(f"4 if workers > 0 else {idle}")), out + err


@pytest.mark.parametrize(
    ("required", "line", "is_fixed"),
    [
        ("torch", "pass", True),
        ("torch==0.3.1", "pass", False),
        ("torch", "rows = Variable(rows, volatile=True)", False),
    ],
)
def test_torch_before_0_4_has_no_non_blocking(required: str, line: str, is_fixed: bool) -> None:
    Path("requirements.txt").write_text(required + "\n")
    head = "from torch.utils.data import DataLoader, TensorDataset\n\n"
    loop = "for (rows,) in DataLoader(TensorDataset(data), num_workers=2, pin_memory=True):\n    run(rows.cuda())\n    "
    Path("a.py").write_text(head + loop + line + "\n")
    run("--fix", "--unsafe-fixes", "--select", "DL401", "a.py")
    assert ("non_blocking" in Path("a.py").read_text()) is is_fixed


def test_what_cannot_be_fixed_remains() -> None:
    Path("a.py").write_text(SAFE)
    Path("b.py").write_text(HOPELESS)
    code, out, err = run("--fix", "--unsafe-fixes", ".")
    assert (code, err) == (1, "")
    assert out.startswith("b.py:5:59: DL201 ")
    left = "  left 1 DL201: it uses `self` (b.py:5)\n"
    assert out.endswith(f"\nFound 2 problems (1 fixed, 1 remaining): 1 warning.\n{MADE}{left}{CHANGED}")
    assert run("--fix", "--exit-zero", ".")[0] == 0


def test_a_diff_writes_nothing() -> None:
    Path("a.py").write_text(SAFE)
    Path("b.py").write_text(HOPELESS)
    code, out, err = run("--diff", ".")
    assert code == 1
    assert out.splitlines() == [
        "--- a.py",
        "+++ a.py",
        "@@ -1,3 +1,3 @@",
        " from torch.utils.data import DataLoader",
        " ",
        "-loader = DataLoader(data, persistent_workers=True)",
        "+loader = DataLoader(data)",
    ]
    assert err.splitlines() == [
        "Would fix 1 problem; 1 would remain: 1 warning.",
        "  fix 1 DL301 persistent-workers-without-workers",
        "  left 1 DL201: it uses `self` (b.py:5)",
    ]
    assert Path("a.py").read_text() == SAFE
    processes.run(["git", "apply", "-p0"], input=out.encode(), check=True)
    assert Path("a.py").read_text() == FIXED
    assert run("--diff", "a.py") == (0, "", "Nothing to fix.\n")


def test_standard_input_comes_out_fixed() -> None:
    code, out, err = run("--fix", "-", stdin=SAFE.encode())
    assert (code, out, err) == (0, FIXED, f"Found 1 problem (1 fixed, 0 remaining).\n{MADE}")
    code, out, err = run("--fix", "--stdin-filename", "b.py", "-", stdin=HOPELESS.encode())
    assert (code, out) == (1, HOPELESS)
    assert err.startswith("b.py:5:59: DL201 ")
    crlf = SAFE.replace("\n", "\r\n").encode()
    command = [sys.executable, "-m", "dataloader_lint", *ONLY, "--fix", "-"]
    done = processes.run_bytes(command, input=crlf)
    assert done.stdout == FIXED.replace("\n", "\r\n").encode()
    code, out, _ = run("--diff", "-", stdin=SAFE.encode())
    assert code == 1
    assert "+loader = DataLoader(data)" in out.splitlines()


def test_suppressed_and_unselected_findings_are_not_fixed() -> None:
    quiet = SAFE.replace("\n\nloader", "\n\nx = 1\nloader").replace("True)", "True)  # noqa: DL301")
    Path("a.py").write_text(quiet)
    assert run("--fix", "a.py") == (0, "All checks passed!\n", "")
    assert Path("a.py").read_text() == quiet
    Path("a.py").write_text(SAFE)
    assert run("--fix", "--ignore", "DL301", "a.py")[0] == 0
    assert Path("a.py").read_text() == SAFE


def test_json_tells_the_edits() -> None:
    Path("a.py").write_text(SAFE)
    Path("b.py").write_text(UNSAFE)
    code, out, _ = run("--output-format", "json", ".")
    safe, unsafe = (one["fix"] for one in json.loads(out))
    assert code == 1
    assert safe == {
        "applicability": "safe",
        "edits": [{"content": "", "location": {"row": 3, "column": 25}, "end_location": {"row": 3, "column": 50}}],
        "message": "Remove `persistent_workers`",
    }
    assert unsafe["applicability"] == "unsafe"
    assert Path("a.py").read_text() == SAFE
    code, out, _ = run("--output-format", "json", "--fix", ".")
    assert [one["code"] for one in json.loads(out)] == ["DL202"]


def test_a_file_that_cannot_be_written_is_one_line() -> None:
    Path("a.py").write_text(SAFE)
    Path("b.py").write_text(SAFE)
    Path("a.py").chmod(0o444)
    code, out, err = run("--fix", ".")
    assert (code, err) == (2, "dataloader-lint: a.py: cannot be written: permission denied\n")
    left = "  left 1 DL301: could not be written (a.py:3)\n"
    assert out.endswith(f"Found 2 problems (1 fixed, 1 remaining): 1 error.\n{MADE}{left}  changed b.py\n")
    assert (Path("a.py").read_text(), Path("b.py").read_text()) == (SAFE, FIXED)


def test_a_full_disk_is_one_line() -> None:
    content = SAFE + "# long\n" * 100
    Path("a.py").write_text(content)
    code, _, err = run("--fix", "a.py", file_size=300)
    assert (code, err) == (2, "dataloader-lint: a.py: cannot be written: file too large\n")
    assert Path("a.py").read_text() == content
    assert sorted(each.name for each in Path().iterdir()) == ["a.py"]


def test_a_link_is_followed() -> None:
    Path("real").mkdir()
    Path("real/a.py").write_text(SAFE)
    Path("b.py").symlink_to("real/a.py")
    assert run("--fix", "b.py")[0] == 0
    assert Path("b.py").is_symlink()
    assert Path("real/a.py").read_text() == FIXED


def test_findings_of_all_modules_are_seen_after_a_fix() -> None:
    """A file that was fixed is read again for the files that import it."""
    Path("pyproject.toml").write_text("")
    make = "\n\ndef make():\n    return DataLoader(range(3), num_workers=2, collate_fn=keep)\n"
    Path("a.py").write_text(SAFE + "\nkeep = lambda rows: rows\n" + make)
    Path("b.py").write_text(IMPORTS + "from a import keep\n" + make)
    assert run("--fix", ".")[0] == 0
    assert run(".")[0] == 0


READERS = """from torch.utils.data import DataLoader, Dataset

from tools import resize, shift


class Images(Dataset):
    def __init__(self, names, transform):
        self.names, self.transform = names, transform

    def __getitem__(self, index):
        return self.transform(resize(self.names[index]))


def make(names):
    return DataLoader(Images(names, shift()), num_workers=4)


def debug(names):
    return DataLoader(Images(names, shift()), num_workers=0)
"""
TOOLS = """import cv2
from torchvision import transforms


def shift():
    return transforms.Compose([transforms.Lambda(lambda x: x - 1)])


def resize(image):
    return cv2.resize(image, (3, 3))
"""


def test_a_diff_says_the_numbers_of_the_fix() -> None:
    Path("a.py").write_text(SAFE)
    Path("b.py").write_text(HOPELESS.replace("num_workers=2, ", ""))  # a note
    _, _, would = run("--diff", ".")
    _, out, _ = run("--fix", ".")
    assert would.splitlines()[0] == "Would fix 1 problem; 0 would remain; 1 note."
    assert "Found 1 problem (1 fixed, 0 remaining); 1 note." in out
    _, _, would = run("--diff", ".")
    assert would.splitlines()[0] == "Nothing to fix; 1 note."
    _, _, would = run("--diff", "--fail-on", "note", ".")
    assert would.splitlines()[0] == "No fixes for 1 problem: 1 note."
    assert run("--write-baseline", "known.json")[0] == 0
    for option, stream in (("--diff", 2), ("--fix", 1)):
        assert "1 finding of the baseline is not shown." in run(option, "--baseline", "known.json", ".")[stream]


def test_what_loaders_of_other_files_lead_to_remains_after_a_fix() -> None:
    """The text with repairs is what loaders lead to, though the old one is still on the disk."""
    Path("pyproject.toml").write_text("")
    Path("images.py").write_text(READERS)
    Path("tools.py").write_text(TOOLS)
    select = ("--select", "DL204,DL501")
    code, out, _ = run(*select, "--fix", ".")
    assert (code, [line[:16] for line in out.splitlines() if ": DL" in line]) == (0, ["tools.py:1:1: DL"])
    assert "Found 1 problem (1 fixed, 0 remaining); 1 note." in out
    assert run(*select, ".")[1].splitlines()[0] == out.splitlines()[0]


def test_a_reader_of_a_diff_may_stop_early() -> None:
    for number in range(3):
        Path(f"{number}.py").write_text(SAFE, encoding="utf-8")
    done = processes.run(["bash", "-c", f"{sys.executable} -m dataloader_lint --diff --no-cache | true"])
    assert (done.returncode, done.stderr) == (0, "")


MAKES = """from torch.utils.data import DataLoader, TensorDataset


def make(images):
    return DataLoader(TensorDataset(images), batch_size=8)


def fit(model, images):
    for (batch,) in make(images):
        model(batch.cuda(non_blocking=True)).backward()
"""
MOVES = """from a import make
from torch.utils.data import DataLoader


def fit_more(model, images):
    for (batch,) in make(images):
        model(batch.cuda()).backward()
"""


def test_a_diff_shows_what_a_fix_does_where_one_file_matters_to_another() -> None:
    """Once the first file pins its batches, the second one should not wait for them."""
    Path("setup.cfg").touch()
    before = {"a.py": MAKES, "b.py": MOVES}
    for name, text in before.items():
        Path(name).write_text(text)
    options = ("--select", "DL401,DL402", "--unsafe-fixes")
    found = run(*options, "--output-format", "concise", ".")[1]
    assert [line.partition(":")[0] for line in found.splitlines() if " DL40" in line] == ["a.py"]
    out = run("--diff", *options, ".")[1]
    run("--fix", *options, ".")
    assert {name: Path(name).read_text() != text for name, text in before.items()} == {"a.py": True, "b.py": True}
    assert [line[4:] for line in out.splitlines() if line.startswith("+++ ")] == ["a.py", "b.py"]
    added = [line[1:] for line in out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert all(line in Path("a.py").read_text() + Path("b.py").read_text() for line in added)


def test_a_diff_with_nothing_to_show_ends_with_0() -> None:
    Path("b.py").write_text(HOPELESS)
    code, out, err = run("--diff", ".")
    assert (code, out) == (0, "")
    assert err == "No fixes for 1 problem: 1 warning.\n  left 1 DL201: it uses `self` (b.py:5)\n"
