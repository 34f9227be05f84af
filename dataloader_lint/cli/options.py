"""What the command line says. Without options it is read without argparse, which would cost as much as all the rest."""

from __future__ import annotations

import os

from dataloader_lint.settings import Settings
from dataloader_lint.source.projects import named_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STDIN = "<stdin>"


class Options:
    """What the command line says besides the settings. The defaults are those of a call without options."""

    paths: tuple[str, ...] = (".",)
    stdin_filename: str = STDIN
    settings: Settings = Settings()
    # What to do instead of linting and reporting.
    explain: str | None = None
    completion: str = ""
    show_files: bool = False
    force_exclude: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    add_noqa: bool = False
    write_baseline: str = ""
    watch: bool = False
    # How to go about it; no jobs means as many as there are CPUs.
    jobs: int = 0
    no_cache: bool = False
    cache_dir: str = ""
    # How to report.
    baseline: str = ""
    output_file: str = ""
    statistics: bool = False
    exit_zero: bool = False
    quiet: bool = False
    verbose: bool = False

    def check(self) -> None:
        """Raise UsageError where two of the options make no sense together."""
        if self.jobs < 0:
            raise UsageError("--jobs must not be negative; 0 means as many as there are CPUs")
        is_stdin = "-" in self.paths
        if self.stdin_filename != STDIN and not is_stdin:
            raise UsageError("--stdin-filename says what to call standard input, which '-' in place of paths asks for")
        if is_stdin and len(self.paths) > 1:
            raise UsageError("'-' (standard input) cannot be linted together with other paths")
        modes = [name for name in _MODES if getattr(self, name)]
        if len(modes) > 1:
            raise UsageError(f"{_option(modes[0])} and {_option(modes[1])} exclude each other")
        if is_stdin:
            for name in ("watch", "add_noqa", "write_baseline", "baseline", "show_files"):
                if getattr(self, name):
                    raise UsageError(f"{_option(name)} needs files, and cannot be used with standard input")
        if self.quiet and self.verbose:
            raise UsageError("--quiet and --verbose exclude each other")
        if self.watch and (self.fix or self.diff):
            raise UsageError("--watch reports only, and cannot be used with --fix or --diff")
        if self.fix and (self.add_noqa or self.write_baseline):
            raise UsageError(f"{'--add-noqa' if self.add_noqa else '--write-baseline'} and --fix exclude each other")
        for one, other in (("diff", "write_baseline"), ("diff", "output_file"), ("add_noqa", "baseline")):
            if getattr(self, one) and getattr(self, other):
                raise UsageError(f"{_option(one)} and {_option(other)} exclude each other")
        shape = self.settings.output_format
        if self.statistics and shape not in _COUNTABLE:
            raise UsageError(f"--statistics can be shown as text or json, not as {shape}")


_MODES = ("show_files", "add_noqa", "write_baseline", "watch")
_COUNTABLE = ("full", "concise", "json", "json-lines")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class UsageError(Exception):
    """The command cannot be carried out as it was given."""


def read_options(given: list[str]) -> Options:
    """The options of a command line, with settings that stand over those of the project's files. Raises UsageError."""
    options = Options()
    texts: dict[str, list[str]] = {}
    config, isolated = None, False
    if not any(one.startswith("-") for one in given):
        options.paths = tuple(given) or options.paths
    else:
        from dataloader_lint.cli.arguments import parser

        parsed: dict[str, Any] = vars(parser().parse_args(given))
        options.paths = tuple(parsed.pop("paths", ())) or options.paths
        config, isolated = parsed.pop("config", None), parsed.pop("isolated", False)
        for name in [name for name in parsed if hasattr(Options, name)]:
            setattr(options, name, parsed.pop(name))
        texts = parsed
    is_named_stdin = options.paths == ("-",) and options.stdin_filename != STDIN
    folder = os.path.dirname(options.stdin_filename) if is_named_stdin else ""
    roots = named_folders(options.paths, os.getcwd())
    options.settings = _settings(texts, folder or ".", config, isolated).replace(roots=roots)
    return options


def _settings(texts: dict[str, list[str]], folder: str, config: str | None, isolated: bool) -> Settings:
    from dataloader_lint.source.pyproject import ConfigurationError, chosen

    if config is not None and isolated:
        raise UsageError("--config and --isolated exclude each other")
    try:
        return chosen(_values(texts), folder, file=config, isolated=isolated)
    except ConfigurationError as error:
        raise UsageError(str(error)) from None


def _values(texts: dict[str, list[str]]) -> dict[str, object]:
    """The settings among the options. Lists that are given several times are joined; of all else the last counts."""
    if not texts:
        return {}
    from dataloader_lint.source.key import UnfitValueError
    from dataloader_lint.source.keys import KEYS

    values: dict[str, object] = {}
    for name, given in texts.items():
        key = KEYS[name.replace("_", "-")]
        try:
            read = [key.read_text(text) for text in given]
        except UnfitValueError as error:
            raise UsageError(f"--{key.name} {error}") from None
        lists = [each for each in read if isinstance(each, tuple)]
        values[name] = tuple(one for each in lists for one in each) if lists else read[-1]
    return values
