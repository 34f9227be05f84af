"""The command `dataloader-lint`: arguments → settings → run → print → exit code.

Whatever a plain run over files without DataLoaders does not need is imported inside functions: such a run should cost
little more than starting Python, and `argparse` alone costs almost as much again.
"""

from __future__ import annotations

import gc
import os
import sys

from dataloader_lint.cli.linting import lint
from dataloader_lint.cli.options import Options, UsageError, read_options
from dataloader_lint.cli.report import CLEAN, ERROR, FINDINGS, INTERRUPTED, check_output_file, report, wanted_fixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataloader_lint.source.discovery import Found


# No file of so many bytes is checked: 1,500,000 characters is the most, and notebooks with their output get this long.
MAX_STDIN_BYTES = 50_000_000


_COMMANDS = ("doctor", "lsp", "mcp")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 clean, 1 findings, 2 wrong usage or an internal error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    collecting = gc.isenabled()
    gc.disable()  # the trees of a run live until its end, so walking them again and again finds nothing to free
    try:
        if given[:1] == ["lsp"]:  # a directory of this name is `./lsp`
            return _serve(given[1:])
        if given[:1] == ["doctor"]:  # as above
            return _examine(given[1:])
        if given[:1] == ["mcp"]:
            return _assist(given[1:])
        return _run(read_options(given), given)
    except UsageError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _drop_output()
        return FINDINGS
    except OSError as error:  # a full disk, mostly
        _drop_output()
        return _complain(f"cannot write the output: {error.strerror or error}")
    finally:
        if collecting:
            gc.enable()


def _drop_output() -> None:
    """Let Python's own last flush of what could not be written pass in silence."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(options: Options, given: list[str]) -> int:
    if options.color != "auto":
        from dataloader_lint.cli.terminal import use_color

        use_color(options.color)
    if options.agents_md:
        from dataloader_lint.cli.agents import paragraph
        from dataloader_lint.cli.terminal import show

        show(paragraph())
        return CLEAN
    if options.completion or options.explain is not None:
        from dataloader_lint.cli import about

        return about.complete(options.completion) if options.completion else about.explain(options)
    if given:
        options.check()
    if options.output_file:
        check_output_file(options.output_file)
    if options.paths == ("-",):
        return _lint_stdin(options)
    if options.watch:
        from dataloader_lint.cli.watch import watch

        return watch(options, given, lint_paths)
    return lint_paths(options)


def lint_paths(options: Options) -> int:
    """Do what the options say to the files under the given paths, and return the exit code. Raises UsageError."""
    from dataloader_lint.source.discovery import discover
    from dataloader_lint.source.pyproject import ConfigurationError

    try:
        found = discover(options.paths, options.settings, options.force_exclude)
    except ConfigurationError as error:
        raise UsageError(str(error)) from None
    if options.paths[:1] in (("check",), ("lint",)) and options.paths[0] in found.missing:
        verb, *rest = options.paths
        wanted = " ".join(["dataloader-lint", *rest])
        raise UsageError(f"no such file or directory: {verb}; no `{verb}` is needed: {wanted}")
    if options.paths[0] in found.missing:
        _check_for_option(*options.paths)
    for path in found.missing:
        _complain(f"no such file or directory: {path}{_near_command(path)}")
    options.is_incomplete = bool(found.missing)
    if not options.quiet:
        if not options.isolated and options.config_file is None:
            from dataloader_lint.source.unread_configuration import unread

            for problem in unread(os.curdir):
                _complain(f"warning: {problem}")
        if options.given_settings or options.settings.samples or options.settings.extra_words:
            from dataloader_lint.cli import without_effect

            for problem in without_effect.for_rules_off(options.given_settings, options.settings):
                _complain(f"warning: {problem}")
            for problem in without_effect.unmatched(options.settings):
                _complain(f"warning: {problem}")
        for path, why in found.skipped:
            _complain(f"warning: {path} is skipped: {why}")
    if not (found.files or found.missing or found.unreadable or found.skipped or options.quiet):
        _complain("warning: no Python files found under the given paths")
    if not (found.files or found.unreadable):  # then nothing has passed any check
        from copy import copy

        options = copy(options)
        options.quiet = True
    code = _work_on(found, options)
    return ERROR if found.missing else code


def _check_for_option(word: str, *rest: str) -> None:
    """Raise UsageError where the first path, which does not exist, is called like an option, or like one of ruff."""
    from dataloader_lint.cli.arguments import parser

    option = "--explain" if word == "rule" else f"--{word}"
    if option in parser()._option_string_actions:
        meant = " ".join(["dataloader-lint", option, *rest])
        raise UsageError(f"no such file or directory: {word}; did you mean `{meant}`?")


def _near_command(path: str) -> str:
    """What to put behind a complaint about a missing path that may be a command with a mistake in it."""
    from difflib import get_close_matches

    near = get_close_matches(path, _COMMANDS, 1, 0.75) if len(path) <= 2 * max(map(len, _COMMANDS)) else []
    return f"; did you mean `dataloader-lint {near[0]}`?" if near else ""


def _work_on(found: Found, options: Options) -> int:
    if options.show_files:
        from dataloader_lint.cli.terminal import show
        from dataloader_lint.output.text import shown_path

        show(shown_path(path) for path in found.files)
        return CLEAN
    if options.show_settings:
        from dataloader_lint.cli.shown_settings import show_settings

        return show_settings(found, options)
    if options.add_noqa or options.write_baseline:
        from dataloader_lint.cli import adopting

        return adopting.add_noqa(found, options) if options.add_noqa else adopting.write_baseline(found, options)
    if options.fix or options.diff:
        from dataloader_lint.cli.fixing import fix

        return fix(found, options)
    diagnostics, hidden = lint(found, options, wanted_fixes(options)), 0
    if options.baseline:
        from dataloader_lint.cli.adopting import without_baseline

        diagnostics, hidden = without_baseline(diagnostics, found, options)
    return report(diagnostics, options, hidden=hidden, files=found.files)


def _lint_stdin(options: Options) -> int:
    from dataloader_lint.engine.run import Run
    from dataloader_lint.source.reading import read_stream

    try:
        source = read_stream(sys.stdin.buffer, MAX_STDIN_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read standard input: {error.strerror}") from None
    if options.fix or options.diff:
        from dataloader_lint.cli.fixing import fix_stdin

        return fix_stdin(source, options)
    run = Run(options.settings, wanted_fixes(options))
    return report(run.lint_stdin(source, options.stdin_filename), options, source)


def _serve(arguments: list[str]) -> int:
    """Be a language server until the editor leaves."""
    if arguments in (["--help"], ["-h"]):
        print("usage: dataloader-lint lsp\n\nSpeak the Language Server Protocol on standard input and output.")
        return CLEAN
    if arguments not in ([], ["--stdio"]):  # some editors add it by themselves
        raise UsageError("`dataloader-lint lsp` takes no arguments; a directory called lsp is linted as ./lsp")
    try:
        from dataloader_lint.lsp.serving import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("the language server needs pygls 2 or newer: pip install 'dataloader-lint[lsp]'") from None
    if sys.stdin.isatty():
        _complain("waiting for an editor on standard input; a directory called lsp is linted as ./lsp")
    serve()
    return CLEAN


def _examine(arguments: list[str]) -> int:
    """Run a script and watch its DataLoaders. Raises UsageError where what that needs is not installed."""
    from importlib.util import find_spec

    if find_spec("torch") is None:  # imported by the script alone, in its process
        raise UsageError("`dataloader-lint doctor` needs torch: pip install torch")
    try:
        import psutil  # noqa: F401
    except ImportError:
        raise UsageError("`dataloader-lint doctor` needs psutil: pip install 'dataloader-lint[doctor]'") from None
    from dataloader_lint.doctor.command import main as examine

    return examine(arguments)


def _assist(arguments: list[str]) -> int:
    """Serve coding assistants. Raises UsageError where what that needs is not installed."""
    try:
        from dataloader_lint.mcp.server import main as serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "pydantic"):
            raise
        raise UsageError("the MCP server needs mcp 2 or newer: pip install 'dataloader-lint[mcp]'") from None
    gc.enable()
    return serve(arguments)


def _complain(message: str) -> int:
    from dataloader_lint.cli.terminal import complain

    complain(message)
    return ERROR
