"""Commits of maintainers as judges: a fix is named if its pitfall is reported before, and no longer after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import history, processes

BEFORE = """from torch.utils.data import DataLoader


def make(data):
    return DataLoader(data, persistent_workers=True)
"""


@pytest.fixture
def mirror(tmp_path: Path) -> tuple[Path, str, str]:
    """A folder with one repository of two commits, and these."""
    work = tmp_path / "owner+name"
    work.mkdir()

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return processes.run(command, cwd=work, check=True).stdout.strip()

    git("init", "-q")
    commits = []
    for text in (BEFORE, BEFORE.replace("True", "False")):
        (work / "train.py").write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", "x")
        commits.append(git("rev-parse", "HEAD"))
    return tmp_path, commits[0], commits[1]


def test_a_fix_is_named_by_what_was_there_before_and_is_gone(mirror: tuple[Path, str, str]) -> None:
    folder, before, after = mirror
    fix = history.Fix("owner/name", before, after, "train.py", 5, "DL301")
    assert history.judge(fix, folder) == history.Outcome(fix, is_named=True, is_gone=True)
    above = history.Fix("owner/name", before, after, "train.py", 1, "DL301")
    assert not history.judge(above, folder).is_named
    also = history.Fix("owner/name", before, after, "train.py", 1, "DL301", also=(4,))
    assert history.judge(also, folder).is_named
    backwards = history.Fix("owner/name", after, before, "train.py", 5, "DL301")
    assert history.judge(backwards, folder) == history.Outcome(backwards, is_named=False, is_gone=False)


def test_a_list_is_judged_and_counted(
    mirror: tuple[Path, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, before, after = mirror
    row = {"repo": "owner/name", "before": before, "after": after, "path": "train.py", "line": 5, "code": "DL301"}
    listed = tmp_path / "list.jsonl"
    listed.write_text(f"{json.dumps(row)}\n{json.dumps(row | {'repo': 'not/there'})}\n")
    page = tmp_path / "page.md"
    assert history.main([str(folder), "--list", str(listed), "--page", str(page)]) == 0
    assert f"| DL301 | [owner/name](https://github.com/owner/name/commit/{after}) |" in page.read_text()
    assert "| 1 | 1 | 1 | 0 | 19 | 1 | 0 of 0 | 0 |" in page.read_text()
    printed = capsys.readouterr()
    assert "named: DL301 train.py:5" in printed.out and "| all | 1 | 1 | 1 |" in printed.out
    assert "left out: https://github.com/not/there/commit/" in printed.err


def test_a_fix_that_no_rule_is_about_is_counted_and_not_linted(tmp_path: Path) -> None:
    fix = history.Fix("not/there", "a", "b", "train.py", 5, "", "loss kept with its graph", claim="no", batch=2)
    outcome = history.judge(fix, tmp_path)
    assert outcome == history.Outcome(fix, is_named=False, is_gone=False)
    assert "| all | 0 | 0 | 0 |" in list(history.rows([outcome]))
    assert "| none | [not/there](https://github.com/not/there/commit/b) | loss kept with its graph |  | no |" in list(
        history.page([outcome])
    )


def test_a_row_that_is_none_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = tmp_path / "list.jsonl"
    listed.write_text('{"repo": "a/b"}\n')
    with pytest.raises(SystemExit, match="2"):
        history.main([str(tmp_path), "--list", str(listed)])
    assert f"{listed}:1: " in capsys.readouterr().err


def test_the_list_has_each_commit_once_and_codes_of_rules() -> None:
    from dataloader_lint.rules.registry import found_rules

    fixes = history.read(history.LISTED)
    assert len({(fix.repo, fix.after, fix.path, fix.line, fix.code) for fix in fixes}) == len(fixes)
    assert {fix.code for fix in fixes if fix.code} <= set(found_rules())
    assert {fix.claim for fix in fixes} == {"yes", "unclear", "no"}
    assert {fix.claim for fix in fixes if not fix.code} == {"no"}
