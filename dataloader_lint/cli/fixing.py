"""`--fix` and `--diff`."""

from __future__ import annotations

import sys

from dataloader_lint.cli.diffs import show_diff
from dataloader_lint.cli.formats import name_of
from dataloader_lint.cli.linting import progress_for
from dataloader_lint.cli.options import Options
from dataloader_lint.cli.report import CLEAN, ERROR, FINDINGS, TEXTS, report
from dataloader_lint.cli.terminal import complain, show
from dataloader_lint.output.levels import plural
from dataloader_lint.output.text import shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from dataloader_lint.engine.runner import Fixed
    from dataloader_lint.source.discovery import Found


def fix(found: Found, options: Options) -> int:
    """Fix files, or print what that would change, and return the exit code."""
    from dataloader_lint.engine.runner import fix_found
    from dataloader_lint.source.writing import write_atomically

    is_diff = options.diff

    progress = progress_for(found, options)

    def write(path: str, old: bytes, new: bytes) -> None:
        if is_diff:
            if progress is not None:
                progress.clear()
            show_diff(path, old, new)
        else:
            write_atomically(path, new, old)

    try:
        result = fix_found(
            found, options.settings, options.unsafe_fixes, write, progress, None if options.quiet else complain
        )
    finally:
        if progress is not None:
            progress.end()
    for error in result.errors:
        complain(error)
    hidden = 0
    if options.baseline:
        from dataloader_lint.cli.adopting import without_baseline

        result.remaining, hidden = without_baseline(result.remaining, found, options)
    code = _after_diff(result, options, hidden) if is_diff else _report(result, options, hidden=hidden)
    return ERROR if result.errors else code


def fix_stdin(source: bytes, options: Options) -> int:
    """Print what came through standard input, fixed, and the report to standard error; or print the diff."""
    from dataloader_lint.engine.runner import fix_stdin

    result = fix_stdin(source, options.stdin_filename, options.settings, options.unsafe_fixes)
    if options.diff:
        show_diff(options.stdin_filename, source, result.source)
        return _after_diff(result, options)
    sys.stdout.buffer.write(result.source)
    sys.stdout.flush()
    return _report(result, options, result.source, stream=sys.stderr)


def _report(
    result: Fixed, options: Options, stdin: bytes | None = None, *, hidden: int = 0, stream: TextIO | None = None
) -> int:
    """Say what was fixed, if that is wanted, and what remains."""
    if options.settings.show_fixes and result.by_file:
        show(_fixes(result), stream)
    if options.fix_only:
        code = CLEAN
        if not (options.quiet or options.settings.show_fixes):
            show([f"Fixed {plural(result.fixed, 'problem')}.", *_changed(result, options)], stream)
    else:
        code = report(result.remaining, options, stdin, fixed=result, hidden=hidden, stream=stream)
        if options.settings.output_format in TEXTS and not (options.quiet or options.output_file):
            show([*_by_cause(result), *_changed(result, options)], stream)
    return FINDINGS if options.exit_non_zero_on_fix and result.fixed and code == CLEAN else code


def _by_cause(result: Fixed, *, would: bool = False) -> Iterator[str]:
    from dataloader_lint.output.fixing import emit

    return emit(result.by_code, result.remaining, name_of, would=would)


def _changed(result: Fixed, options: Options) -> Iterator[str]:
    """The line that names the changed files, unless `--show-fixes` has named them, or there is none."""
    from dataloader_lint.output.fixing import changed

    if result.by_file and not options.settings.show_fixes and options.paths != ("-",):
        yield changed(list(result.by_file))


def _fixes(result: Fixed) -> Iterator[str]:
    """Which rules were fixed how often in each file."""
    yield f"Fixed {plural(result.fixed, 'problem')}:"
    for path, counts in result.by_file.items():
        yield f"- {shown_path(path)}:"
        for code, count in sorted(counts.items()):
            yield f"    {count} x {code} ({name_of(code)})"
    yield ""


def _after_diff(result: Fixed, options: Options, hidden: int = 0) -> int:
    """Say what fixing would do; the diff has standard output for itself. Returns 1 if there is one, else 0."""
    from dataloader_lint.rules.registry import INTERNAL_ERROR

    if not options.quiet:
        from dataloader_lint.output.summary import would_fix

        notes_fail = options.settings.fail_on == "note"
        lines = would_fix(result.remaining, result.fixed, hidden=hidden, notes_fail=notes_fail)
        show([*lines, *_by_cause(result, would=True)], sys.stderr)
    if any(one.code == INTERNAL_ERROR for one in result.remaining):
        return ERROR
    return FINDINGS if result.fixed and not options.exit_zero else CLEAN
