"""The command `dataloader-lint`: arguments → settings → run → print → exit code.

Whatever a plain run over files without DataLoaders does not need is imported inside functions: such a run should cost
little more than starting Python, and `argparse` alone costs almost as much again.
"""

from __future__ import annotations

import gc
import os
import sys

from dataloader_lint.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from typing import Any, TextIO

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.output.full import Lines
    from dataloader_lint.output.paint import Paint
    from dataloader_lint.runner import Fixed
    from dataloader_lint.source.discovery import Found

CLEAN, FINDINGS, ERROR, INTERRUPTED = 0, 1, 2, 130

_STDIN = "<stdin>"


class Options:
    """What the command line says besides the settings. The defaults are those of a call without options."""

    paths: tuple[str, ...] = (".",)
    exit_zero: bool = False
    statistics: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    explain: str | None = None
    stdin_filename: str = _STDIN
    settings: Settings = Settings()


class UsageError(Exception):
    """The command cannot be carried out as it was given."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 clean, 1 findings, 2 wrong usage or an internal error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    collecting = gc.isenabled()
    gc.disable()  # the trees of a run live until its end, so walking them again and again finds nothing to free
    try:
        return _run(_parse(given) if any(one.startswith("-") for one in given) else _with_paths(given))
    except UsageError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    finally:
        if collecting:
            gc.enable()


def _run(options: Options) -> int:
    if options.explain is not None:
        _print(_explanation(options.explain))
        return CLEAN
    settings = options.settings
    if settings.select or settings.ignore or settings.extend_select:
        _check_codes(settings)
    if options.paths == ("-",):
        return _lint_stdin(options)
    if "-" in options.paths:
        raise UsageError("'-' (standard input) cannot be linted together with other paths")

    from dataloader_lint.runner import lint_found
    from dataloader_lint.source.discovery import discover

    found = discover(options.paths, settings)
    for path in found.missing:
        _complain(f"no such file or directory: {path}")
    if not (found.files or found.missing or found.unreadable):
        _complain("warning: no Python files found under the given paths")
    if options.fix or options.diff:
        code = _fix(found, options)
    else:
        code = _report(lint_found(found, settings, _wanted_fixes(options)), options)
    return ERROR if found.missing else code


def _fix(found: Found, options: Options) -> int:
    """Fix files, or print what that would change."""
    from dataloader_lint.runner import fix_found
    from dataloader_lint.source.writing import write_atomically

    is_diff = options.diff

    def write(path: str, old: bytes, new: bytes) -> None:
        if is_diff:
            _print_diff(path, old, new)
        else:
            write_atomically(path, new)

    result = fix_found(found, options.settings, options.unsafe_fixes, write)
    for error in result.errors:
        _complain(error)
    code = _finish(result, options)
    return ERROR if result.errors else code


def _finish(result: Fixed, options: Options, stdin: bytes | None = None, stream: TextIO | None = None) -> int:
    """Report what remains after fixing, or would remain; a diff has standard output for itself."""
    if options.diff:
        verb = "Would fix" if result.fixed else "Nothing to fix;"
        tail = f"{result.fixed} error{'' if result.fixed == 1 else 's'}, " if result.fixed else ""
        print(f"{verb} {tail}{len(result.remaining)} would remain.", file=sys.stderr)
        code = FINDINGS if result.fixed or result.remaining else CLEAN
        return CLEAN if options.exit_zero else code
    return _report(result.remaining, options, stdin, result, stream)


def _print_diff(path: str, old: bytes, new: bytes) -> None:
    from dataloader_lint.output import diff
    from dataloader_lint.output.text import shown_path
    from dataloader_lint.source.decoding import decode

    _print(diff.emit(shown_path(path), decode(old), decode(new), _paint()))


def _wanted_fixes(options: Options) -> str:
    """What the report needs to know about repairs."""
    if options.statistics:
        return ""
    return "tried" if options.settings.output_format == "json" else "shown"


def _lint_stdin(options: Options) -> int:
    from dataloader_lint.runner import Run, fix_stdin

    source = sys.stdin.buffer.read()
    if not (options.fix or options.diff):
        run = Run(options.settings, _wanted_fixes(options))
        return _report(run.lint_bytes(source, options.stdin_filename), options, source)
    result = fix_stdin(source, options.stdin_filename, options.settings, options.unsafe_fixes)
    if options.diff:
        _print_diff(options.stdin_filename, source, result.source)
        return _finish(result, options)
    sys.stdout.buffer.write(result.source)
    sys.stdout.flush()
    return _finish(result, options, result.source, sys.stderr)


def _report(
    diagnostics: list[Diagnostic],
    options: Options,
    stdin: bytes | None = None,
    fixed: Fixed | None = None,
    stream: TextIO | None = None,
) -> int:
    """Print the findings and return the exit code that they stand for."""
    stream = stream or sys.stdout
    is_text = options.settings.output_format != "json" and not options.statistics
    if is_text and not diagnostics and fixed is None:
        print("All checks passed!", flush=True)
        return CLEAN
    if diagnostics or not is_text:
        _print(_rendered(diagnostics, options, stdin), stream)
    if is_text:
        from dataloader_lint.output import summary

        made, dropped = (fixed.fixed, fixed.dropped) if fixed is not None else (0, 0)
        lines = summary.emit(diagnostics, made, dropped, fixing=fixed is not None, unsafe=options.unsafe_fixes)
        _print(lines, stream)
    from dataloader_lint.rules.registry import INTERNAL_ERROR

    if any(one.code == INTERNAL_ERROR for one in diagnostics):
        return ERROR
    return FINDINGS if diagnostics and not options.exit_zero else CLEAN


def _rendered(diagnostics: list[Diagnostic], options: Options, stdin: bytes | None) -> Iterator[str]:
    from dataloader_lint.output import as_json, concise, full, statistics

    shape = options.settings.output_format
    if options.statistics:
        if shape == "json":
            return statistics.emit_json(diagnostics, _name_of)
        return statistics.emit(diagnostics, _name_of, _paint())
    if shape == "json":
        return as_json.emit(diagnostics, _name_of)
    if shape == "concise":
        return concise.emit(diagnostics, _paint())
    return full.emit(diagnostics, _source_lines(stdin), _paint(), _terminal_width(200) - 12)


def _explanation(wanted: str) -> Iterator[str]:
    from dataloader_lint.output import page
    from dataloader_lint.rules.base import FixLevel
    from dataloader_lint.rules.messages import rules_for_message
    from dataloader_lint.rules.selection import UnknownCodeError, find_rule

    try:
        pages = [find_rule(wanted)]
    except UnknownCodeError as error:
        pages = rules_for_message(wanted)
        if not pages:
            raise UsageError(str(error)) from None
    for found in pages:
        rule = found.rule
        state = "On by default" if rule.default else f"Opt-in: --extend-select {rule.code}"
        fix = "no automatic fix" if rule.fix is FixLevel.NONE else f"fix: {rule.fix.value}"
        yield from page.emit(rule.code, rule.name, f"{state}; {fix}.", found.page, _paint())


def _check_codes(settings: Settings) -> None:
    from dataloader_lint.rules.selection import UnknownCodeError, check_codes

    try:
        check_codes((*settings.select, *settings.extend_select, *settings.ignore))
    except UnknownCodeError as error:
        raise UsageError(str(error)) from None


def _name_of(code: str) -> str:
    from dataloader_lint.rules.registry import found_rules

    return found_rules()[code].rule.name


def _source_lines(stdin: bytes | None) -> Lines:
    from functools import lru_cache

    from dataloader_lint.source.decoding import UnreadableError, decode, split_lines

    @lru_cache(maxsize=1)
    def lines_of(filename: str) -> Sequence[str]:
        try:
            if stdin is not None:
                return split_lines(decode(stdin))
            with open(filename, "rb") as stream:
                return split_lines(decode(stream.read()))
        except (OSError, UnreadableError):
            return ()

    return lines_of


def _terminal_width(elsewhere: int) -> int:
    """How many columns the terminal has, or what to assume where the output goes elsewhere."""
    try:
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns or elsewhere)
    except (OSError, ValueError):
        return elsewhere


def _paint() -> Paint:
    from dataloader_lint.output import paint

    return paint.choose(sys.stdout, os.environ)


def _print(lines: Iterator[str], stream: TextIO | None = None) -> None:
    stream = stream or sys.stdout
    if hasattr(stream, "reconfigure"):  # an arrow or a name that the terminal cannot show must not end the run
        stream.reconfigure(errors="backslashreplace")
    for line in lines:
        print(line, file=stream)
    stream.flush()


def _complain(message: str) -> int:
    from dataloader_lint.output.text import neutralise

    print(f"dataloader-lint: {neutralise(message)}", file=sys.stderr)
    return ERROR


def _with_paths(paths: list[str]) -> Options:
    options = Options()
    if paths:
        options.paths = tuple(paths)
    options.settings = Settings(**_configured())
    return options


def _configured() -> dict[str, Any]:
    """What the project's own file says; options go over it."""
    from dataloader_lint.source.pyproject import ConfigurationError, configured

    try:
        return configured(".")
    except ConfigurationError as error:
        raise UsageError(str(error)) from None


def _parse(arguments: list[str]) -> Options:
    parsed = vars(_parser().parse_args(arguments))
    options = _with_paths(parsed.pop("paths", []))
    for name in [name for name in parsed if hasattr(Options, name)]:
        setattr(options, name, parsed.pop(name))
    options.settings = options.settings.replace(**parsed)
    return options


def _parser() -> argparse.ArgumentParser:
    import argparse

    from dataloader_lint import __version__

    def codes(text: str) -> tuple[str, ...]:
        return tuple(filter(None, text.replace(",", " ").split()))

    def patterns(text: str) -> tuple[str, ...]:
        return tuple(filter(None, (one.strip() for one in text.split(","))))

    class Extend(argparse.Action):
        """Gathers comma-separated lists from an option that is given several times."""

        def __call__(
            self, parser: object, namespace: argparse.Namespace, values: object, option: object = None
        ) -> None:
            setattr(namespace, self.dest, (*getattr(namespace, self.dest, ()), *values))  # type: ignore[misc]

    parser = argparse.ArgumentParser(
        prog="dataloader-lint",
        description="Find PyTorch DataLoader pitfalls before the training run does.",
        epilog="Exit code: 0 nothing found, 1 findings, 2 wrong usage or an internal error.",
        # Left to find out the width itself, argparse imports `shutil` and its archive formats on every start.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=_terminal_width(100)),
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files, directories to walk, or '-' for standard input (default: .)")
    rules = parser.add_argument_group("rules (CODES: comma-separated codes or prefixes, such as DL3 or DL301)")
    rules.add_argument("--select", type=codes, action=Extend, metavar="CODES", help="run these rules only")
    rules.add_argument("--ignore", type=codes, action=Extend, metavar="CODES", help="do not run these rules")
    rules.add_argument(
        "--extend-select", type=codes, action=Extend, metavar="CODES", help="run these too; opt-in rules by full code"
    )
    rules.add_argument("--explain", metavar="RULE", help="show the page of a rule, by code or name")
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--fix", action="store_true", help="repair what can be repaired safely, and write the files")
    fixes.add_argument("--unsafe-fixes", action="store_true", help="take unsafe fixes in, which may change behaviour")
    fixes.add_argument("--diff", action="store_true", help="show what --fix would change, and write nothing")
    files = parser.add_argument_group("files (PATTERNS: comma-separated names or globs; paths are taken from here)")
    files.add_argument(
        "--exclude", type=patterns, action=Extend, metavar="PATTERNS", help="leave these out instead of the usual ones"
    )
    files.add_argument("--extend-exclude", type=patterns, action=Extend, metavar="PATTERNS", help="leave these out too")
    files.add_argument("--stdin-filename", metavar="PATH", help="what to call standard input")
    output = parser.add_argument_group("output")
    output.add_argument("--output-format", choices=("concise", "full", "json"), help="how to show findings (full)")
    output.add_argument("--statistics", action="store_true", help="show how often each rule spoke, not where")
    output.add_argument("--exit-zero", action="store_true", help="exit with 0 even where something was found")
    output.add_argument("--version", action="version", version=f"dataloader-lint {__version__}")
    return parser
