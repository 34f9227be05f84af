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
    is_fix_given: bool = False
    config_file: str | None = None
    isolated: bool = False
    given_settings: frozenset[str] = frozenset()
    # What to do instead of linting and reporting.
    explain: str | None = None
    completion: str = ""
    agents_md: bool = False
    show_files: bool = False
    show_settings: bool = False
    force_exclude: bool = False
    diff: bool = False
    fix_only: bool = False
    exit_non_zero_on_fix: bool = False
    add_noqa: bool = False
    write_baseline: str = ""
    watch: bool = False
    # How to go about it; no jobs means as many as there are CPUs.
    jobs: int = 0
    no_cache: bool = False
    # How to report.
    baseline: str = ""
    output_file: str = ""
    statistics: bool = False
    exit_zero: bool = False
    full: bool = False
    color: str = "auto"
    quiet: bool = False
    verbose: bool = False
    # Found out while the command runs: some of the paths do not exist, so not everything has passed.
    is_incomplete: bool = False

    @property
    def fix(self) -> bool:
        """True if files are to be fixed: asked for on the command line, or by settings where nothing else is."""
        return self.fix_only or (self.settings.fix and (self.is_fix_given or not self._other_work))

    @property
    def unsafe_fixes(self) -> bool:
        """True if unsafe fixes count as fixes."""
        return self.settings.unsafe_fixes

    @property
    def _other_work(self) -> bool:
        return self.diff or any(getattr(self, name) for name in _MODES)

    def check(self) -> None:
        """Raise UsageError where two of the options make no sense together."""
        if self.jobs < 0:
            raise UsageError("--jobs must not be negative; 0 means as many as there are CPUs")
        is_stdin = "-" in self.paths
        if self.stdin_filename != STDIN and not is_stdin:
            raise UsageError("--stdin-filename names standard input, and cannot be used with paths")
        if is_stdin and len(self.paths) > 1:
            raise UsageError("'-' (standard input) cannot be linted together with other paths")
        modes = [name for name in _MODES if getattr(self, name)]
        if len(modes) > 1:
            raise UsageError(f"{_option(modes[0])} and {_option(modes[1])} cannot be used together")
        if is_stdin:
            for name in (*_MODES, "baseline"):
                if getattr(self, name):
                    raise UsageError(f"{_option(name)} needs files, and cannot be used with standard input")
        if self.quiet and self.verbose:
            raise UsageError("--quiet cannot be used with --verbose")
        if self.watch and (self.fix or self.diff):
            raise UsageError("--watch reports only, and cannot be used with --fix or --diff")
        if self.fix and (self.add_noqa or self.write_baseline):
            raise UsageError(
                f"{'--add-noqa' if self.add_noqa else '--write-baseline'} and --fix cannot be used together"
            )
        for one, other in (("diff", "write_baseline"), ("diff", "output_file"), ("add_noqa", "baseline")):
            if getattr(self, one) and getattr(self, other):
                raise UsageError(f"{_option(one)} and {_option(other)} cannot be used together")
        shape = self.settings.output_format
        if self.statistics and shape not in _COUNTABLE:
            raise UsageError(f"--statistics can be shown as text or json, not as {shape}")


_MODES = ("show_files", "show_settings", "add_noqa", "write_baseline", "watch")
# What the parser gives that is no setting.
_OWN = frozenset(Options.__annotations__)
_COUNTABLE = ("full", "concise", "grouped", "json", "json-lines")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class UsageError(Exception):
    """The command cannot be carried out as it was given."""


def read_options(given: list[str]) -> Options:
    """The options of a command line, with settings that stand over those of the project's files. Raises UsageError."""
    options = Options()
    texts: dict[str, list[str] | bool] = {}
    config: list[str] = []
    isolated = False
    if given[:1] == ["check"] and not os.path.exists("check"):  # as in `ruff check`
        given = given[1:]
    if not any(one.startswith("-") for one in given):
        options.paths = tuple(given) or options.paths
    else:
        from dataloader_lint.cli.arguments import parser

        parsed: dict[str, Any] = vars(parser().parse_args(given))
        options.paths = tuple(parsed.pop("paths", ())) or options.paths
        config, isolated = parsed.pop("config", []), parsed.pop("isolated", False)
        options.is_fix_given = parsed.get("fix", False) or parsed.get("fix_only", False)
        if options.paths == (".",) and "." not in given and "stdin_filename" in parsed:
            options.paths = ("-",)
        for name in [name for name in parsed if name in _OWN]:
            setattr(options, name, parsed.pop(name))
        texts = parsed
    is_named_stdin = options.paths == ("-",) and options.stdin_filename != STDIN
    folder = os.path.dirname(options.stdin_filename) if is_named_stdin else ""
    roots = named_folders(options.paths, os.getcwd())
    options.isolated = isolated
    settings = _settings(options, texts, folder or ".", config)
    options.settings = settings.replace(roots=roots, record=_record_beside(options.baseline or options.write_baseline))
    return options


def _record_beside(baseline: str) -> str:
    """The record of measurements beside a baseline; empty if there is none."""
    if not baseline:
        return ""
    from dataloader_lint.source.pyproject import RECORD

    path = os.path.join(os.path.dirname(os.path.abspath(baseline)), RECORD)
    return path if os.path.exists(path) else ""


def _settings(options: Options, texts: dict[str, list[str] | bool], folder: str, config: list[str]) -> Settings:
    from dataloader_lint.source.pyproject import ConfigurationError, chosen

    files = [one for one in config if "=" not in one or os.path.isfile(one)]
    if files and options.isolated:
        raise UsageError("--config FILE and --isolated cannot be used together")
    if len(files) > 1:
        raise UsageError(f"--config takes one file, not {len(files)}")
    try:
        values = _values(texts)
        if len(config) > len(files):
            from dataloader_lint.source.pyproject import inline

            pairs = [inline(one) for one in config if one not in files]
            values = {**{name: value for pair in pairs for name, value in pair.items()}, **values}
        options.given_settings = frozenset(values)
        options.config_file = files[0] if files else None
        return chosen(values, folder, file=options.config_file, isolated=options.isolated)
    except ConfigurationError as error:
        raise UsageError(str(error)) from None


def _values(texts: dict[str, list[str] | bool]) -> dict[str, object]:
    """The settings among the options. Lists that are given several times are joined; of all else the last counts."""
    if not texts:
        return {}
    from dataloader_lint.source.key import UnfitValueError
    from dataloader_lint.source.keys import KEYS

    values: dict[str, object] = {}
    for name, given in texts.items():
        if isinstance(given, bool):
            values[name] = given
            continue
        key = KEYS[name.replace("_", "-")]
        try:
            read = [key.read_text(text) for text in given]
        except UnfitValueError as error:
            raise UsageError(f"--{key.name} {error}") from None
        lists = [each for each in read if isinstance(each, tuple)]
        values[name] = tuple(one for each in lists for one in each) if lists else read[-1]
    return values
