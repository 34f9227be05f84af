"""Shows which findings come and go between two versions of the tool in real code.

    python -m benchmarks.findings_diff main .                      this checkout against main, in the pinned packages
    python -m benchmarks.findings_diff 1a2b3c4 . --over ~/code     and in each folder in ~/code
    python -m benchmarks.findings_diff main . --only timm --codes DL1,DL401 --json diff.json

A version is a commit of this repository or a folder with a checkout. What a version finds in a code base is kept in
`benchmarks/.cache/versions`, so that only what is new runs. A folder called like an unpacked package (timm-1.0.31)
stands in for it. Exit code: 0 nothing differs, 1 something does, 2 wrong usage, or a version fails in a code base.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.findings import Change, Finding, Sources, compare, of_codes
from benchmarks.findings_page import render, render_table
from benchmarks.real_code import CACHE, PACKAGES, unpack
from benchmarks.versions import CodeBase, UnknownVersionError, Version, export, stamp

CODE = re.compile(r"DL\d{0,3}")


class UsageError(ValueError):
    """What the user asked for cannot be done; one line says why."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs in one code base."""

    code_base: str
    sources: Sources
    changes: list[Change]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and say by the exit code whether anything differs."""
    parser = _parser()
    options = parser.parse_args(arguments)
    codes = [code for code in (options.codes or "").split(",") if code]
    try:
        if wrong := [code for code in codes if not CODE.fullmatch(code)]:
            raise UsageError(f"no code of a rule, nor how one begins: {', '.join(wrong)}")
        if options.jobs < 1:
            raise UsageError("--jobs must be at least 1")
        if options.json and not options.json.parent.is_dir():
            raise UsageError(f"no folder {options.json.parent}")
        versions = [export(name, CACHE / "versions") for name in (options.old, options.new)]
        code_bases = choose(options.over, options.only)
    except (UsageError, UnknownVersionError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    found, failures = lint_all(versions, code_bases, options.jobs)
    old, new = versions
    differences, counts = [], [0, 0]
    for code_base in code_bases:
        try:
            both = [found[version, code_base] for version in versions]
        except KeyError:
            continue
        root = code_base.folder
        before, after = (of_codes([Finding.from_json(one, root) for one in each], codes) for each in both)
        counts = [counts[0] + len(before), counts[1] + len(after)]
        sources = Sources(root)
        differences.append(Differences(code_base.name, sources, compare(before, after, sources)))
    changes = [(each.code_base, each.sources, change) for each in differences for change in each.changes]
    for line in (*render(changes), *render_table([(name, change) for name, _, change in changes])):
        print(line)
    print(f"findings: {counts[0]} of {old.name}, {counts[1]} of {new.name}; code bases: {len(differences)}")
    if options.json:
        options.json.write_text(json.dumps([_as_object(each) for each in differences], indent=1), encoding="utf-8")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 2 if failures else 1 if changes else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="findings_diff", description="Show which findings come and go between two versions of the tool."
    )
    parser.add_argument("old", metavar="OLD", help="a commit, or a folder with a checkout")
    parser.add_argument("new", metavar="NEW", help="the same; . is this working tree")
    parser.add_argument("--over", action="append", default=[], type=Path, metavar="FOLDER", help="code bases, too")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this code base (repeatable)")
    parser.add_argument("--codes", metavar="CODES", help="only these rules, such as DL1,DL401")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many processes lint at once (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save all differences")
    return parser


def choose(over: Sequence[Path], only: Sequence[str]) -> list[CodeBase]:
    """The code bases to lint: the pinned packages, unpacked, and the folders in `over`, or those that `only` names.

    A name may leave out the version: timm or timm-1.0.31.

    Raises:
        UsageError: a folder or a name is not there, two folders have the same name, or a download fails.
    """
    folders: dict[str, Path] = {}
    for parent in over:
        if not parent.is_dir():
            raise UsageError(f"no folder {parent}")
        inside = sorted(each.resolve() for each in parent.iterdir() if each.is_dir() and each.name[0] != ".")
        if not inside:
            raise UsageError(f"no folders in {parent}")
        for folder in inside:
            if folder.name in folders:
                raise UsageError(f"two code bases have the same name: {folders[folder.name]} and {folder}")
            folders[folder.name] = folder
    packages = {package.folder.name: package for package in PACKAGES if package.folder.name not in folders}
    names = sorted({*folders, *packages})
    if unknown := [name for name in only if not any(_is_called(each, name) for each in names)]:
        raise UsageError(f"no such code base: {', '.join(unknown)}")
    chosen = []
    for name in names:
        if only and not any(_is_called(name, each) for each in only):
            continue
        if name in folders:
            chosen.append(CodeBase(name, folders[name]))
        else:
            try:
                unpack(packages[name])
            except (subprocess.CalledProcessError, OSError) as error:
                raise UsageError(f"{name} cannot be downloaded: {error}") from None
            # No settings: the nearest pyproject.toml above a package is ours.
            chosen.append(CodeBase(name, packages[name].folder.resolve(), ("--isolated",)))
    return chosen


def _is_called(code_base: str, name: str) -> bool:
    return name in (code_base, code_base.rpartition("-")[0])


Found = dict[tuple[Version, CodeBase], list[dict[str, Any]]]


def lint_all(versions: Sequence[Version], code_bases: Sequence[CodeBase], jobs: int) -> tuple[Found, list[str]]:
    """Get the findings of all versions in all code bases, from the cache or by linting; and a line for each failure.

    Several code bases are linted at once, each by one process: that takes less CPU time than several processes each.
    """
    found: Found = {}
    failures: list[str] = []
    missing: dict[tuple[Version, CodeBase], Path] = {}
    for code_base in code_bases:
        content = stamp(code_base.folder)
        for version in dict.fromkeys(versions):
            kept = version.findings_file(code_base, content)
            if kept.exists():
                found[version, code_base] = json.loads(kept.read_text(encoding="utf-8"))
            else:
                missing[version, code_base] = kept
    each = max(1, jobs // max(1, len(missing)))
    start = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(key[0].lint, key[1], kept, each): key for key, kept in missing.items()}
        for number, run in enumerate(as_completed(runs), 1):
            version, code_base = runs[run]
            try:
                found[version, code_base] = run.result()
            except RuntimeError as error:
                failures.append(f"{version.name}: {error}")
            done = f"[{number}/{len(runs)}, {time.monotonic() - start:.0f} s]"
            print(f"{done} {version.name} {code_base.name}", file=sys.stderr, flush=True)
    return found, failures


def _as_object(differences: Differences) -> dict[str, Any]:
    return {
        "code_base": differences.code_base,
        "changes": [
            {
                "kinds": [kind.value for kind in change.kinds],
                "line": differences.sources.line(change.finding),
                "old": asdict(change.old) if change.old else None,
                "new": asdict(change.new) if change.new else None,
            }
            for change in differences.changes
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
