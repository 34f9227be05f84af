"""Findings → lines of the chosen format."""

from __future__ import annotations

import os

from dataloader_lint.cli import terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataloader_lint.cli.options import Options
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.output.paint import Paint
    from dataloader_lint.output.places import Lines
    from dataloader_lint.output.sarif import RuleHelp
    from dataloader_lint.settings import Settings


def overview(diagnostics: list[Diagnostic], options: Options, paint: Paint, hidden: int) -> Iterator[str]:
    """The lines of the first look at an old code base; `hidden` is how many findings the baseline holds."""
    import shlex

    from dataloader_lint.output import overview as shown
    from dataloader_lint.rules.registry import found_rules

    def about(code: str) -> shown.RuleLine:
        found = found_rules()[code]
        return shown.RuleLine(found.rule.name, found.page.strip().partition("\n")[0], found.rule.spawning)

    def in_full(some: Sequence[Diagnostic]) -> Iterator[str]:
        return _problems(some, options, None, paint)

    def command(*more: str) -> str:
        return shlex.join(["dataloader-lint", *more, *_given_again(options)])

    has_method = "start_method" in options.given_settings
    commands = shown.Commands(
        command("--full"),
        "dataloader-lint --explain",
        "" if options.baseline else command("--fix"),  # which fixes what the baseline holds, too
        "" if options.baseline else command("--write-baseline", "dataloader-lint.json"),
        "" if has_method else command("--start-method", "fork"),
    )
    columns, rows = terminal.width(100), terminal.height()
    return shown.emit(diagnostics, about, in_full, commands, paint, columns, rows, hidden=hidden)


def _given_again(options: Options) -> Iterator[str]:
    """The options and paths on which the findings of the overview depend."""
    for name in ("start_method", "target_python"):
        if name in options.given_settings:
            yield from (f"--{name.replace('_', '-')}", getattr(options.settings, name))
    if options.isolated:
        yield "--isolated"
    if options.force_exclude:
        yield "--force-exclude"
    if options.baseline:
        yield from ("--baseline", options.baseline)
    yield from (path for path in options.paths if path != ".")


def fits_in_full(diagnostics: Sequence[Diagnostic], options: Options) -> bool:
    """True if findings can be shown in full without scrolling: if they fit the terminal, or its height is unknown."""
    from dataloader_lint.output.paint import plain

    rows = terminal.height()
    return rows is None or sum(1 for _ in _problems(diagnostics, options, None, plain)) <= rows - _BELOW


def rendered(
    diagnostics: list[Diagnostic], options: Options, stdin: bytes | None, paint: Paint, hints: list[str]
) -> Iterator[str]:
    """The lines of the report. `stdin` is what came through standard input, if that is what was linted.

    When all lines are read, `hints` holds what to say below the summary.
    """
    shape = options.settings.output_format
    if options.statistics:
        from dataloader_lint.output import statistics

        emit = statistics.emit_json if shape == "json" else statistics.emit_lines if shape == "json-lines" else None
        if emit:
            return emit(diagnostics, name_of, unsafe=options.unsafe_fixes)
        return statistics.emit(diagnostics, name_of, paint, unsafe=options.unsafe_fixes)
    if shape == "concise":
        from dataloader_lint.output import concise

        return concise.emit(diagnostics, paint, unsafe=options.unsafe_fixes)
    if shape == "full":
        return _in_full(diagnostics, options, stdin, paint, hints)
    if shape == "grouped":
        from dataloader_lint.output import grouped

        return grouped.emit(diagnostics, paint, unsafe=options.unsafe_fixes)
    from dataloader_lint.output.text import neutralise_json, neutralise_xml

    if shape in ("json", "json-lines"):
        from dataloader_lint.output import as_json

        return map(neutralise_json, (as_json.emit if shape == "json" else as_json.emit_lines)(diagnostics, name_of))
    lines = _for_a_service(diagnostics, shape, options.settings, source_lines(stdin))
    return (
        lines
        if shape in ("github", "azure", "pylint")
        else map(neutralise_xml if shape == "junit" else neutralise_json, lines)
    )


# Lines of a terminal that are left for the summary, what to type next, and the next prompt.
_BELOW = 6


def _in_full(
    diagnostics: list[Diagnostic], options: Options, stdin: bytes | None, paint: Paint, hints: list[str]
) -> Iterator[str]:
    """The problems in full, and below them the notes: in a terminal as many as fit on its screen."""
    from dataloader_lint.diagnostics import Level
    from dataloader_lint.output import notes

    problems = [one for one in diagnostics if one.level is not Level.NOTE]
    lines = list(_problems(problems, options, stdin, paint))
    yield from lines
    small = [one for one in diagnostics if one.level is Level.NOTE]
    rows = terminal.height()
    if rows is None or options.output_file:
        yield from notes.emit(small, paint, unsafe=options.unsafe_fixes)
        return
    is_asked_for = options.full or "notes" in options.given_settings
    room = None if is_asked_for else rows - len(lines) - _BELOW
    shown, is_whole = notes.fitting(small, paint, terminal.width(100), room, unsafe=options.unsafe_fixes)
    yield from shown
    if small and not is_asked_for:
        hints += _next_to_notes(small[0].code, options, is_whole=is_whole)


def _next_to_notes(code: str, options: Options, *, is_whole: bool) -> Iterator[str]:
    """What to type for those who see notes for the first time."""
    from dataloader_lint.output.levels import plural
    from dataloader_lint.rules.registry import found_rules
    from dataloader_lint.rules.selection import selected_rules

    why = f"`dataloader-lint --explain {code}` says why"
    yield f"{why}." if is_whole else f"`--full` shows the notes in full; {why}."
    if not options.settings.select:
        rules = sum(1 for found in found_rules().values() if found.check is not None)
        off = rules - len(selected_rules(options.settings))
        if off:
            yield f"{plural(off, 'rule')} of {rules} {'is' if off == 1 else 'are'} off; `--explain` lists them."


def _problems(diagnostics: Sequence[Diagnostic], options: Options, stdin: bytes | None, paint: Paint) -> Iterator[str]:
    """Findings in full, for a terminal or for what reads the output."""
    from dataloader_lint.output import full

    is_shown = not options.output_file and terminal.height() is not None
    width = 200 if options.output_file else terminal.width(200)
    return full.emit(
        diagnostics,
        source_lines(stdin),
        url_of,
        paint,
        width - 12,
        unsafe=options.unsafe_fixes,
        columns=width if is_shown else None,
        has_links=is_shown and terminal.has_links(),
    )


def _for_a_service(diagnostics: list[Diagnostic], shape: str, settings: Settings, lines: Lines) -> Iterator[str]:
    from dataloader_lint.output.places import root_folder
    from dataloader_lint.rules.registry import INTERNAL_ERROR

    root = root_folder(os.environ)
    if shape == "github":
        from dataloader_lint.output import github

        return github.emit(diagnostics, name_of, root)
    if shape == "gitlab":
        from dataloader_lint.output import gitlab

        return gitlab.emit(diagnostics, lines, root)
    if shape in ("azure", "pylint"):
        from dataloader_lint.output import azure, pylint

        return azure.emit(diagnostics, root) if shape == "azure" else pylint.emit(diagnostics, root)
    if shape == "rdjson":
        from dataloader_lint.output import rdjson

        return rdjson.emit(diagnostics, lines, url_of, root)
    if shape == "junit":
        from dataloader_lint.output import junit

        return junit.emit(diagnostics, url_of, root, INTERNAL_ERROR, notes_fail=settings.fail_on == "note")
    from dataloader_lint import __version__
    from dataloader_lint.output import sarif

    return sarif.emit(diagnostics, _rules_of(diagnostics, settings), lines, root, __version__, INTERNAL_ERROR)


def _rules_of(diagnostics: list[Diagnostic], settings: Settings) -> list[RuleHelp]:
    """The rules that have findings: the pages of all others would make the report ten times as long."""
    from dataloader_lint.output.sarif import RuleHelp
    from dataloader_lint.rules.levels import level_of
    from dataloader_lint.rules.registry import found_rules

    codes = {one.code for one in diagnostics}
    return [
        RuleHelp(
            code,
            found.rule.name,
            found.page,
            url_of(code),
            found.module.split(".")[-2],
            found.rule.is_on,
            level_of(found.rule, settings),
        )
        for code, found in found_rules().items()
        if code in codes
    ]


def name_of(code: str) -> str:
    """A rule's name by its code."""
    from dataloader_lint.rules.registry import found_rules

    return found_rules()[code].rule.name


def url_of(code: str) -> str:
    """Where the page of a rule is."""
    from dataloader_lint.output.as_json import page_url

    return page_url(code, name_of(code))


def source_lines(stdin: bytes | None = None) -> Lines:
    """A way to the source lines around findings, which reads each file once as long as they come file by file."""
    from functools import lru_cache

    @lru_cache(maxsize=1)
    def lines_by_cell(filename: str) -> Mapping[int | None, Sequence[str]]:
        from dataloader_lint.source.decoding import UnreadableError, decode, split_lines
        from dataloader_lint.source.notebooks import SUFFIX, read

        try:
            source = stdin if stdin is not None else _content(filename)
            if not filename.endswith(SUFFIX):
                return {None: split_lines(decode(source))}
            notebook = read(source)
            return {cell.number: split_lines(cell.text) for cell in notebook.cells} if notebook is not None else {}
        except (OSError, UnreadableError):
            return {}

    return lambda one: lines_by_cell(one.filename).get(one.cell, ())


def _content(filename: str) -> bytes:
    with open(filename, "rb") as stream:
        return stream.read()
