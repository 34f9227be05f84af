"""What helps to adopt the linter in an old code base: `--baseline`, `--write-baseline` and `--add-noqa`."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from dataloader_lint.cli.diffs import show_diff
from dataloader_lint.cli.formats import source_lines
from dataloader_lint.cli.linting import lint
from dataloader_lint.cli.options import Options, UsageError
from dataloader_lint.cli.report import CLEAN, ERROR, FINDINGS, check_output_file, write_file
from dataloader_lint.cli.terminal import complain, show
from dataloader_lint.diagnostics import Diagnostic, Level
from dataloader_lint.engine import baseline
from dataloader_lint.engine.causes import at_each_place
from dataloader_lint.output.levels import plural
from dataloader_lint.output.text import neutralise, shown_place
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE, UNUSED_NOQA
from dataloader_lint.rules.selection import selected_rules
from dataloader_lint.source.discovery import Found, reason
from dataloader_lint.source.notebooks import SUFFIX
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile
from dataloader_lint.source.reading import read_stream
from dataloader_lint.source.suppressions import excused
from dataloader_lint.source.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataloader_lint.engine.run import Run

    Left = tuple[Diagnostic, str]


# Some 300,000 findings.
MAX_BASELINE_BYTES = 50_000_000


def write_baseline(found: Found, options: Options) -> int:
    """Write all findings into a file, and return the exit code. Raises UsageError."""
    path = options.write_baseline
    check_output_file(path)
    diagnostics = lint(found, options)
    kept = [one for one in diagnostics if one.code != INTERNAL_ERROR]
    write_file(path, baseline.dump(baseline.entries_of(kept, source_lines(), os.path.dirname(path))))
    if not options.quiet:
        notes = sum(one.level is Level.NOTE for one in kept)
        among = f", {notes} of them {'a note' if notes == 1 else 'notes'}" if notes else ""
        show([f"Wrote {plural(len(kept), 'finding')} to {neutralise(path)}{among}."])
    for one in diagnostics:
        if one.code == INTERNAL_ERROR:
            complain(f"{one.filename}: {one.message}")
    return CLEAN if len(kept) == len(diagnostics) else ERROR


def without_baseline(diagnostics: list[Diagnostic], found: Found, options: Options) -> tuple[list[Diagnostic], int]:
    """The findings that the baseline does not hold, and how many it does. Raises UsageError.

    Says on standard error what is in the baseline and was not found any more.
    """
    path = options.baseline
    folder = os.path.dirname(path)
    try:
        with open(path, "rb") as stream:  # which may be a pipe
            text = read_stream(stream, MAX_BASELINE_BYTES).decode("utf-8", "surrogateescape")
        known = baseline.load(text)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {path}: {reason(error)}") from None
    except baseline.DamagedBaselineError as error:
        raise UsageError(f"{path} is not a baseline that can be used: {error}") from None
    new, left = baseline.split(diagnostics, known, source_lines(), folder)
    stale = sum(left[entry] for entry in _stale(left, diagnostics, found, options, folder))
    if stale and not options.quiet:
        verb, them = ("was", "it") if stale == 1 else ("were", "them")
        gone = f"{plural(stale, 'finding')} of {path}"
        complain(f"{gone} {verb} not found any more; --write-baseline {path} drops {them}")
    return new, len(diagnostics) - len(new)


def _stale(
    left: dict[baseline.Entry, int], diagnostics: list[Diagnostic], found: Found, options: Options, folder: str
) -> list[baseline.Entry]:
    """The entries that this run could have found: of files that it linted or that are gone, by rules that ran."""
    broken = {one.filename for one in diagnostics if one.code in (UNREADABLE_FILE, INTERNAL_ERROR)}
    linted = {baseline.path_in(folder, path): path for path in found.files if path not in broken}
    by_file = SettingsByFile(options.settings)

    def could_be_found(path: str, code: str) -> bool:
        if path not in linted:
            return not os.path.exists(os.path.join(folder, path))
        try:
            ran = {one.rule.code for one in selected_rules(by_file.of_file(linted[path]))}
        except ConfigurationError:  # a pyproject.toml that has become unusable since the run began
            return False
        return code in ran or code == UNREADABLE_FILE

    return [(path, code, line) for path, code, line in left if could_be_found(path, code)]


def add_noqa(found: Found, options: Options) -> int:
    """Suppress findings by comments, or show how, and return the exit code: 0 where none is left.

    Notes get comments only with `--notes`, or where they fail the run.
    """
    from dataloader_lint.engine.run import Run

    run = Run(options.settings)
    by_file: dict[str, list[Diagnostic]] = {}
    is_asked = options.settings.notes and "notes" in options.given_settings
    has_notes = is_asked or options.settings.fail_on == Level.NOTE.value

    def is_wanted(one: Diagnostic) -> bool:
        return one.code != UNUSED_NOQA and (has_notes or one.level is not Level.NOTE)

    for one in filter(is_wanted, lint(found, options)):
        by_file.setdefault(one.filename, []).extend(at_each_place(one))
    added, comments, files, code = 0, 0, 0, CLEAN
    for filename, diagnostics in by_file.items():
        try:
            count, lines, left = _excuse(filename, diagnostics, run, is_wanted, options.diff)
        except OSError as error:
            complain(f"{filename}: cannot be written: {reason(error)}")
            code = ERROR
            continue
        added += count
        comments += lines
        files += count > 0
        for one, why in left:
            complain(f"{shown_place(one)}: no comment for {one.code}: {why}")
            code = max(code, ERROR if one.code == INTERNAL_ERROR else FINDINGS)
    if options.diff:
        return max(code, FINDINGS if added else CLEAN)
    if not options.quiet:
        findings = f" for {plural(added, 'finding')}" if added != comments else ""
        show([f"Added {plural(comments, '`# noqa` comment')}{findings} in {plural(files, 'file')}."])
    return code


def _excuse(
    filename: str, diagnostics: list[Diagnostic], run: Run, is_wanted: Callable[[Diagnostic], bool], is_diff: bool
) -> tuple[int, int, list[Left]]:
    """How many findings are suppressed by comments, on how many lines, and which are not. Raises OSError."""
    try:
        with open(filename, "rb") as stream:
            source = stream.read()
    except OSError:
        return 0, 0, [(one, "the file cannot be read") for one in diagnostics]
    done = excused(source, diagnostics, filename.endswith(SUFFIX))
    if not done.added:
        return 0, 0, done.left
    expected = Counter(one.code for one, _ in done.left)
    if Counter(one.code for one in run.lint_bytes(done.source, filename) if is_wanted(one)) != expected:
        return 0, 0, [(one, "the file would not pass with it") for one in diagnostics]
    if is_diff:
        show_diff(filename, source, done.source)
    else:
        write_atomically(filename, done.source, source)
    return done.added, done.lines, done.left
