"""Every file of the standard library and its tests, of site-packages and of released packages: no internal error."""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path

import pytest

from benchmarks import processes

SWEEP = Path(__file__).parent / "sweep.py"
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
PACKAGES = Path(__file__).parent.parent.parent / "benchmarks" / ".cache" / "unpacked"


def check(folder: Path, step: int = 1, first: int = 0) -> dict[str, int]:
    """Sweep a folder; counts of what came of it. Files that cannot be read are no failure, but they are counted."""
    command = [sys.executable, "-W", "ignore", str(SWEEP), str(folder), str(step), str(first)]
    done = processes.run(command)
    assert done.returncode == 0, (done.returncode, done.stdout.splitlines()[-1:], done.stderr)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [one for one in outcomes if one["crashes"] or one["broken_by_fix"]]
    return {
        "files": len(outcomes),
        "findings": sum(one["findings"] for one in outcomes),
        "unreadable": sum(bool(one["unreadable"]) for one in outcomes),
        "fixed": sum(one["fixed"] for one in outcomes),
    }


def test_some_of_the_standard_library() -> None:
    assert check(STANDARD_LIBRARY, step=150, first=7)["files"] > 3


@pytest.mark.long
@pytest.mark.parametrize("folder", [STANDARD_LIBRARY, SITE_PACKAGES, PACKAGES], ids=lambda folder: folder.name)
def test_everything(folder: Path) -> None:
    if not folder.is_dir():
        pytest.skip("the packages are downloaded by `python -m benchmarks.real_code --download-only`")
    counts = check(folder)
    print(folder, counts)
    assert counts["files"] > 1_000
