"""Which of the fixes that maintainers made the linter would have asked for: their own commits are the judges.

    python -m benchmarks.history ~/mirror                    the commits listed in benchmarks/history.jsonl
    python -m benchmarks.history ~/mirror --page docs/history.md
    python -m benchmarks.history ~/mirror --list more.jsonl --json found.json

A commit is listed by `repo` (owner/name), `before` and `after` (two commits of it), `path`, `line` (of the pitfall in
`before`), `code` (empty where no rule is about the pitfall), `subject`, `claim` (does the page of the rule cover it:
yes, unclear or no, written before any run) and `batch` (the search that found it). The folder holds the repositories as
bare git directories, OWNER+NAME or OWNER+NAME/repo. Both versions are linted whole, each as a checkout of its own. The
linter names a fix if it reports the code within three lines of `line` before, or of one of `also`, other lines of the
same pitfall, and fewer findings of that code in the file after. Exit code: 0, or 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from benchmarks import processes
from benchmarks.real_code import ROOT

LISTED = Path(__file__).with_suffix(".jsonl")
NEAR = 3  # lines between a finding and the line that the commit is about
SECONDS = 600  # for one version of a repository
_FIRST_RUNS = {1: 19, 2: 22}  # fixes named before any rule was changed with the commits of a search in view

_HOW = """\
These commits are no sample of all fixes. They were found by searching histories for words of such fixes, `worker`,
`pickle`, `set_epoch`, and for diffs that change such code. A diff was read, and the rule, the line and whether the page
of the rule claims such code were written down, before the linter saw it. The second search took merged commits alone,
left out the projects of the first, and lists fixes that no rule is about as well: 7 change seeds that torch sets itself
since 1.9, 6 deal with other objects that workers cannot get, 3 with a start method that is set twice.

A claim can be wrong, and stays as it was written: one file is no Python since 3.7, one commit leaves seeds that repeat
in the next epoch, so that the rule goes on, one loader got no workers and keeps its lambda. `python -m
benchmarks.history` lints both sides of each commit, whole repositories, with opt-in rules on, and writes this page.

Rules were extended after the first runs: DL204, DL207, DL306, DL404, DL406, DL601 and DL616 with nine commits of the
first search in view, DL204, DL313, DL401 and DL618 with five of the second, where two labels also got the other lines
of their call or loop. What is named now is no measure of what would be named elsewhere; the first runs are."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A commit with which maintainers fixed a pitfall."""

    repo: str
    before: str
    after: str
    path: str
    line: int
    code: str
    subject: str = ""
    also: tuple[int, ...] = ()
    claim: str = "unclear"
    batch: int = 1

    @property
    def link(self) -> str:
        """Where the commit can be read."""
        return f"https://github.com/{self.repo}/commit/{self.after}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the linter says of both versions."""

    fix: Fix
    is_named: bool  # reported before, at the line
    is_gone: bool  # fewer findings of the code in the file after


def read(path: Path) -> list[Fix]:
    """The commits of a list. Raises ValueError with the number of the line that is none."""
    fixes = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                row: dict[str, Any] = json.loads(line)
                fixes.append(Fix(**(row | {"also": tuple(row.get("also", ()))})))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return fixes


def judge(fix: Fix, mirror: Path) -> Outcome:
    """Lint both versions of a repository, unless no rule is about the fix.

    Raises FileNotFoundError where the repository is not in the mirror.
    """
    if not fix.code:
        return Outcome(fix, is_named=False, is_gone=False)
    before, after = (_rows(fix, mirror, commit) for commit in (fix.before, fix.after))
    is_named = any(abs(row - line) <= NEAR for row in before for line in (fix.line, *fix.also))
    return Outcome(fix, is_named, len(after) < len(before))


def _rows(fix: Fix, mirror: Path, commit: str) -> list[int]:
    """The lines of the fix's file with findings of its code, other places of their causes among them."""
    with tempfile.TemporaryDirectory() as folder:
        _export(_git_folder(mirror, fix.repo), commit, Path(folder))
        Path(folder, ".git").mkdir()
        options = ["--select", fix.code, "--no-cache", "--isolated", "--exit-zero", "--output-format", "json"]
        command = [sys.executable, "-m", "dataloader_lint", *options, "."]
        done = processes.run(command, cwd=folder, env=_environment(), seconds=SECONDS, check=True)
        found: list[dict[str, Any]] = json.loads(done.stdout)
        wanted = Path(folder).resolve() / fix.path
        return [
            place["location"]["row"]
            for one in found
            for place in (one, *one["places"])
            if one["code"] == fix.code and Path(place["filename"]).resolve() == wanted
        ]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _git_folder(mirror: Path, repo: str) -> Path:
    base = mirror / repo.replace("/", "+")
    for folder in (base / "repo" / ".git", base / "repo", base / ".git", base):
        if (folder / "objects").is_dir():
            return folder
    raise FileNotFoundError(f"no git directory of {repo} in {mirror}")


def _export(git_folder: Path, commit: str, target: Path) -> None:
    """The Python files of a commit."""
    git = ["git", "-c", "safe.directory=*", f"--git-dir={git_folder}"]
    listed = processes.run([*git, "ls-tree", "-r", "--name-only", "-z", commit], check=True)
    names = [name for name in listed.stdout.split("\0") if name.endswith(".py")]
    packed = processes.run_bytes([*git, "archive", commit, "--", *names])
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(target, filter="data")


def rows(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The lines of a table in Markdown: by rule, how many fixes there are, are named, and are silent after."""
    with_rule = [one for one in outcomes if one.fix.code]
    total, named, gone = Counter[str](), Counter[str](), Counter[str]()
    for one in with_rule:
        total[one.fix.code] += 1
        named[one.fix.code] += one.is_named
        gone[one.fix.code] += one.is_named and one.is_gone
    yield "| Rule | Fixes | Named before | and not after |"
    yield "|---|--:|--:|--:|"
    for code in sorted(total):
        yield f"| {code} | {total[code]} | {named[code]} | {gone[code]} |"
    yield f"| all | {len(with_rule)} | {sum(named.values())} | {sum(gone.values())} |"


def batches(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The lines of a table in Markdown: by search, what was found and what the first run and this one name."""
    yield "| Search | Projects | Fixes | No rule | Named at first | Named now | Of what pages claim | Reported after |"
    yield "|--:|--:|--:|--:|--:|--:|--:|--:|"
    for batch in sorted({one.fix.batch for one in outcomes}):
        found = [one for one in outcomes if one.fix.batch == batch]
        projects = len({one.fix.repo for one in found})
        without = sum(not one.fix.code for one in found)
        claimed = [one for one in found if one.fix.claim == "yes"]
        named, of_claimed = (sum(one.is_named and one.is_gone for one in each) for each in (found, claimed))
        still = sum(one.is_named and not one.is_gone for one in found)
        cells = [batch, projects, len(found), without, _FIRST_RUNS.get(batch, named), named]
        yield f"| {' | '.join(map(str, cells))} | {of_claimed} of {len(claimed)} | {still} |"


def page(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The page for the site: what was asked, the tables, and each commit with a link."""
    projects = len({one.fix.repo for one in outcomes})
    named = sum(one.is_named and one.is_gone for one in outcomes)
    yield "# Fixes that maintainers made themselves"
    yield ""
    yield f"""Of {len(outcomes)} fixes that maintainers of {projects} projects made without this linter, it names
{named} before the commit, at a line of the pitfall that the commit is about, and no longer after it.
"""
    yield from batches(outcomes)
    yield ""
    yield from _HOW.splitlines()
    yield ""
    yield from rows(outcomes)
    yield ""
    yield "| Rule | Commit | What it says | Claimed | Named |"
    yield "|---|---|---|---|---|"
    for one in sorted(outcomes, key=lambda each: (each.fix.code or "none", each.fix.repo, each.fix.line)):
        said = "yes" if one.is_named and one.is_gone else "before and after" if one.is_named else "no"
        subject = one.fix.subject.replace("|", "/")
        claim = one.fix.claim if one.fix.code else ""
        yield f"| {one.fix.code or 'none'} | [{one.fix.repo}]({one.fix.link}) | {subject} | {claim} | {said} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge all listed fixes, print a line each and the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__.partition("\n")[0])
    parser.add_argument("mirror", type=Path, help="the folder with the repositories")
    parser.add_argument("--list", type=Path, default=LISTED, help="the commits, one JSON object a line")
    parser.add_argument("--json", type=Path, help="write what was found into this file")
    parser.add_argument("--page", type=Path, help="write the page of the site into this file")
    options = parser.parse_args(arguments)
    try:
        fixes = read(options.list)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    outcomes = []
    for fix in fixes:
        try:
            one = judge(fix, options.mirror)
        except (FileNotFoundError, CalledProcessError) as error:
            print(f"left out: {fix.link}: {error}", file=sys.stderr)
            continue
        outcomes.append(one)
        said = "named" if one.is_named and one.is_gone else "still there after" if one.is_named else "missed"
        print(f"{said}: {fix.code} {fix.path}:{fix.line} {fix.link}", flush=True)
    print("\n".join((*rows(outcomes), *batches(outcomes))))
    if options.page:
        options.page.write_text("\n".join(page(outcomes)) + "\n", encoding="utf-8")
    if options.json:
        found = [{"link": one.fix.link, "named": one.is_named, "gone": one.is_gone} for one in outcomes]
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
