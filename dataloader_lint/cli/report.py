"""What is said at the end of a run, where it goes, and the exit code that it means."""

from __future__ import annotations

import os
import sys

from dataloader_lint.cli.options import Options, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.engine.runner import Fixed
    from dataloader_lint.output.paint import Paint

CLEAN, FINDINGS, ERROR, INTERRUPTED = 0, 1, 2, 130

TEXTS = ("concise", "full", "grouped")  # the formats for people; the others hold nothing but findings, for programs
_WITH_FIXES = ("json", "json-lines", "sarif", "rdjson")


def wanted_fixes(options: Options) -> str:
    """What the report needs to know about fixes; see `run.Run`."""
    shape = options.settings.output_format
    if options.statistics:
        return "shown"
    return "tried" if shape in _WITH_FIXES else "shown" if shape in TEXTS else ""


def report(
    diagnostics: list[Diagnostic],
    options: Options,
    stdin: bytes | None = None,
    *,
    fixed: Fixed | None = None,
    hidden: int = 0,
    stream: TextIO | None = None,
    files: Sequence[str] = (),
) -> int:
    """Print the findings and return the exit code.

    `stdin` is what came through standard input, where that was linted, `fixed` what came of fixing, `hidden` how many
    more findings the baseline holds, `files` what was linted. Raises UsageError where `--output-file` cannot be
    written.
    """
    is_text = options.settings.output_format in TEXTS
    if is_text and not (diagnostics or fixed or hidden or options.output_file):
        if not (options.quiet or options.is_incomplete):
            _show_passed(files, options)
        return CLEAN
    if fixed is None and stdin is None and _is_first_look(diagnostics, options):
        from dataloader_lint.cli.formats import overview
        from dataloader_lint.cli.terminal import paint_for, show

        show(overview(diagnostics, options, paint_for(sys.stdout), hidden))
        return exit_code(diagnostics, options)
    hints: list[str] = []  # what to type next, known when all lines are made
    lines = _lines(diagnostics, options, stdin, hints)
    has_passed = not (diagnostics or (fixed is not None and fixed.fixed))
    if is_text and not (options.quiet or (has_passed and options.is_incomplete)):
        from itertools import chain

        from dataloader_lint.output import summary

        made, dropped = (fixed.fixed, fixed.dropped) if fixed is not None else (0, 0)
        end = summary.emit(
            diagnostics,
            made,
            dropped,
            fixing=fixed is not None,
            unsafe=options.unsafe_fixes,
            hidden=hidden,
            notes_fail=options.settings.fail_on == "note",
        )
        if not options.output_file:
            from dataloader_lint.output.text import fitted

            out = stream or sys.stdout
            below = hints if fixed is None else []
            end = (part for line in chain(end, below) for part in fitted(line, out))
        lines = chain(lines, end)
    if options.output_file:
        write_file(options.output_file, "".join(f"{line}\n" for line in lines))
    else:
        from dataloader_lint.cli.terminal import show

        show(lines, stream)
    return exit_code(diagnostics, options)


def _show_passed(files: Sequence[str], options: Options) -> None:
    """Say that nothing was found, and where no file has a DataLoader, that there was nothing to find."""
    from dataloader_lint.cli.nothing_known import remarks

    where, more = remarks(files, options.settings)
    passed = f"All checks passed! {where}".rstrip()
    if not more:
        print(passed, flush=True)
        return
    from dataloader_lint.cli.terminal import show

    show([passed, *more])


# More problems than this are not shown in full at first, however large the screen.
_MOST_IN_FULL = 20
# What decides which findings there are, and not how they are shown.
_ANALYSIS = frozenset({"start_method", "target_python"})


def _is_first_look(diagnostics: list[Diagnostic], options: Options) -> bool:
    """True if more goes to a terminal than fits it, and nobody has chosen settings, a format or a way to see it all."""
    asked = (options.full, options.statistics, options.output_file, options.quiet, options.watch)
    chosen = options.given_settings - _ANALYSIS or options.config_file
    if any(asked) or chosen or not sys.stdout.isatty():
        return False
    from dataloader_lint.cli.formats import fits_in_full
    from dataloader_lint.diagnostics import Level

    problems = [one for one in diagnostics if one.level is not Level.NOTE]
    if not problems or (len(problems) <= _MOST_IN_FULL and fits_in_full(problems, options)):
        return False
    from dataloader_lint.source.pyproject import origins

    return not [name for name in origins(os.curdir) if name != "target_python"]


def exit_code(diagnostics: list[Diagnostic], options: Options) -> int:
    """0 unless there are findings of the level that `--fail-on` names, or worse ones; 2 after an internal error."""
    if not diagnostics:
        return CLEAN
    from dataloader_lint.diagnostics import Level
    from dataloader_lint.rules.registry import INTERNAL_ERROR

    if any(one.code == INTERNAL_ERROR for one in diagnostics):
        return ERROR
    mildest = Level(options.settings.fail_on).rank
    is_failing = any(one.level.rank <= mildest for one in diagnostics)
    return FINDINGS if is_failing and not options.exit_zero else CLEAN


def check_output_file(path: str) -> None:
    """Raise UsageError where a report cannot be written, before the work that it is about is done."""
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise UsageError(f"cannot write {path}: it is a directory")
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write {path}: there is no directory {folder}")
    if os.path.isfile(path):
        from dataloader_lint.cli.overwriting import is_report

        if not is_report(path):
            raise UsageError(f"{path} exists and is no report or baseline: it is not overwritten")


def write_file(path: str, content: str) -> None:
    """Write a report in one step. Raises UsageError."""
    from dataloader_lint.source.discovery import reason
    from dataloader_lint.source.writing import write_report

    try:
        write_report(path, content.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}") from None


def _lines(diagnostics: list[Diagnostic], options: Options, stdin: bytes | None, hints: list[str]) -> Iterator[str]:
    from dataloader_lint.cli.formats import rendered
    from dataloader_lint.cli.terminal import paint_for
    from dataloader_lint.output.paint import plain

    paint: Paint = plain if options.output_file else paint_for(sys.stdout)
    return rendered(diagnostics, options, stdin, paint, hints)
