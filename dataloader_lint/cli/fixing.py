"""`--fix` and `--diff`."""

from __future__ import annotations

import sys

from dataloader_lint.cli.diffs import show_diff
from dataloader_lint.cli.linting import progress_for
from dataloader_lint.cli.options import Options
from dataloader_lint.cli.report import CLEAN, ERROR, FINDINGS, exit_code, report
from dataloader_lint.cli.terminal import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataloader_lint.runner import Fixed
    from dataloader_lint.source.discovery import Found


def fix(found: Found, options: Options) -> int:
    """Fix files, or print what that would change, and return the exit code."""
    from dataloader_lint.runner import fix_found
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
    code = _after_diff(result, options) if is_diff else report(result.remaining, options, fixed=result, hidden=hidden)
    return ERROR if result.errors else code


def fix_stdin(source: bytes, options: Options) -> int:
    """Print what came through standard input, fixed, and the report to standard error; or print the diff."""
    from dataloader_lint.runner import fix_stdin

    result = fix_stdin(source, options.stdin_filename, options.settings, options.unsafe_fixes)
    if options.diff:
        show_diff(options.stdin_filename, source, result.source)
        return _after_diff(result, options)
    sys.stdout.buffer.write(result.source)
    sys.stdout.flush()
    return report(result.remaining, options, result.source, fixed=result, stream=sys.stderr)


def _after_diff(result: Fixed, options: Options) -> int:
    """Say what fixing would do; the diff has standard output for itself."""
    if not options.quiet:
        fixed = f"Would fix {result.fixed} problem{'' if result.fixed == 1 else 's'}"
        print(
            f"{fixed if result.fixed else 'No fixes available'}; {len(result.remaining)} would remain.", file=sys.stderr
        )
    code = exit_code(result.remaining, options)
    return FINDINGS if code == CLEAN and result.fixed and not options.exit_zero else code
