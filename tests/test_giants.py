"""The benchmark on huge repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.giants import Giant, main, report

WITHIN = Giant("a", 59.0, 500.0, 3, 1, 0, 0)


@pytest.mark.parametrize(
    ("giant", "is_within"),
    [
        (WITHIN, True),
        (Giant("a", 61.0, 500.0, 3, 0, 0, 0), False),
        (Giant("a", 59.0, 601.0, 3, 0, 0, 0), False),
        (Giant("a", 59.0, 500.0, 3, 1, 1, 0), False),
        (Giant("a", 59.0, 500.0, 3, 0, 0, 1), False),
    ],
)
def test_limits(giant: Giant, is_within: bool) -> None:
    assert giant.is_within(60, 600) is is_within
    assert report([giant], 60, 600).splitlines()[-1].endswith("| yes |" if is_within else "| no |")


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    loader = "from torch.utils.data import DataLoader\nDataLoader(range(9), num_workers=0, persistent_workers=True)\n"
    (folder / "found.py").write_text(loader)
    (folder / "broken.py").write_text(f"{loader}(\n")
    # A process starts as a copy of the tests' own, whose memory counts in its peak.
    assert main([str(tmp_path), "--megabytes", "4000"]) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    assert [cell.strip() for cell in row.split("|")][1::3] == ["small", "1", "0"]
    assert main([str(tmp_path), "--megabytes", "1"]) == 1


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path)])
    assert ended.value.code == 2
