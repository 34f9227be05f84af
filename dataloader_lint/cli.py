"""The command `dataloader-lint`: arguments → settings → run → print → exit code.

Whatever a plain run over files without DataLoaders does not need is imported inside functions: such a run should cost
little more than starting Python, and `argparse` alone costs almost as much again.
"""

from __future__ import annotations

import os
import sys

from dataloader_lint.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.output.full import Lines
    from dataloader_lint.output.paint import Paint

CLEAN, FINDINGS, ERROR, INTERRUPTED = 0, 1, 2, 130

_STDIN = "<stdin>"


class Options:
    """What the command line says besides the settings. The defaults are those of a call without options."""

    paths: tuple[str, ...] = (".",)
    exit_zero: bool = False
    statistics: bool = False
    explain: str | None = None
    stdin_filename: str = _STDIN
    settings: Settings = Settings()


class UsageError(Exception):
    """The command cannot be carried out as it was given."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 clean, 1 findings, 2 wrong usage or an internal error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(_parse(given) if any(one.startswith("-") for one in given) else _with_paths(given))
    except UsageError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS


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
    code = _report(lint_found(found, settings), options)
    return ERROR if found.missing else code


def _lint_stdin(options: Options) -> int:
    from dataloader_lint.runner import Run

    source = sys.stdin.buffer.read()
    return _report(Run(options.settings).lint_bytes(source, options.stdin_filename), options, source)


def _report(diagnostics: list[Diagnostic], options: Options, stdin: bytes | None = None) -> int:
    """Print the findings and return the exit code that they stand for."""
    shape = options.settings.output_format
    if not diagnostics and shape != "json":
        if not options.statistics:
            print("All checks passed!", flush=True)
        return CLEAN
    _print(_rendered(diagnostics, options, stdin))
    if shape != "json" and not options.statistics:
        print(f"Found {len(diagnostics)} error{'s' if len(diagnostics) > 1 else ''}.", flush=True)
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
    from dataloader_lint.rules.selection import UnknownCodeError, find_rule

    try:
        found = find_rule(wanted)
    except UnknownCodeError as error:
        raise UsageError(str(error)) from None
    rule = found.rule
    state = "On by default" if rule.default else f"Opt-in: --extend-select {rule.code}"
    fix = "no automatic fix" if rule.fix is FixLevel.NONE else f"fix: {rule.fix.value}"
    return page.emit(rule.code, rule.name, f"{state}; {fix}.", found.page, _paint())


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


def _print(lines: Iterator[str]) -> None:
    if hasattr(sys.stdout, "reconfigure"):  # an arrow or a name that the terminal cannot show must not end the run
        sys.stdout.reconfigure(errors="backslashreplace")
    for line in lines:
        print(line)
    sys.stdout.flush()


def _complain(message: str) -> int:
    from dataloader_lint.output.text import neutralise

    print(f"dataloader-lint: {neutralise(message)}", file=sys.stderr)
    return ERROR


def _with_paths(paths: list[str]) -> Options:
    options = Options()
    if paths:
        options.paths = tuple(paths)
    return options


def _parse(arguments: list[str]) -> Options:
    parsed = vars(_parser().parse_args(arguments))
    options = _with_paths(parsed.pop("paths", []))
    for name in [name for name in parsed if hasattr(Options, name)]:
        setattr(options, name, parsed.pop(name))
    options.settings = Settings(**parsed)
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
