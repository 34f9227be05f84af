"""The options of the command, for argparse. Imported only where there are any."""

from __future__ import annotations

import argparse
from typing import NoReturn

from dataloader_lint.cli.terminal import width
from dataloader_lint.source.key import CHOICE, FLAG
from dataloader_lint.source.keys import KEYS

SHELLS = ("bash", "zsh", "fish")

# Which settings are options of which group, in the order in which `--help` shows them.
_RULES = ("select", "ignore", "extend-select", "extend-ignore", "preview", "per-file-ignores", "severity")
_FIXES = ("fix", "unsafe-fixes", "show-fixes", "fixable", "unfixable")
_FILES = ("exclude", "extend-exclude", "respect-gitignore")
_PROGRAM = (
    "start-method",
    "target-python",
    "max-workers",
    "max-prefetched-batches",
    "samples",
    "memory-threshold",
    "extend-dataloaders",
    "extend-datasets",
    "extend-iterable-datasets",
    "src",
)


_EXAMPLES = {
    "dataloader-lint src/": "check the files of a folder",
    'dataloader-lint --explain "memory grows"': "what an error or a question means",
    "dataloader-lint doctor train.py": "run it and measure its DataLoaders",
}
_END = (
    "Exit code: 0 without problems (notes do not count), 1 with problems, 2 after wrong usage or an internal error. "
    "`dataloader-lint lsp` is the language server that editors start."
)


class _Parser(argparse.ArgumentParser):
    """Complains in one line, whatever is in an argument: names of files come from anywhere."""

    def error(self, message: str) -> NoReturn:
        from dataloader_lint.output.text import neutralise

        _, is_unknown, name = message.partition("unrecognized arguments: --")
        if is_unknown:
            message += self._instead(name.split()[0].partition("=")[0])
        super().error(neutralise(message))

    def _instead(self, name: str) -> str:
        """What to put behind a complaint about the option `--name`, which does not exist."""
        from dataloader_lint.source.key import OTHER_NAMES, suggestion

        if name in KEYS["output-format"].choices:
            return f"; did you mean '--output-format {name}'?"
        meant = f"--{OTHER_NAMES.get(name, name)}"
        known = self._option_string_actions
        return f"; did you mean {meant!r}?" if meant in known else suggestion(f"--{name}", known)

    def format_help(self) -> str:
        from dataloader_lint.output.text import wrapped  # not at every start

        self.epilog = "\n".join(wrapped(_END, width(100), ""))
        return super().format_help()


def parser() -> argparse.ArgumentParser:
    """The parser. Only what is given comes out; settings come out as lists of the texts that were given for each."""
    from dataloader_lint import __version__

    columns = width(100)
    made = _Parser(
        prog="dataloader-lint",
        usage="%(prog)s [OPTIONS] [PATH ...]",
        description=f"Find PyTorch DataLoader pitfalls before the training run does.\n\n{_examples(columns)}",
        epilog=_END,
        # Left to find out the width itself, argparse imports `shutil` and its archive formats on every start.
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=32, width=columns),
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    paths = "files, directories to walk, or '-' for standard input (default: .)"
    made.add_argument("paths", nargs="*", metavar="PATH", help=paths)
    rules = made.add_argument_group("rules (CODES are codes, prefixes, names or selections: DL301,DL3,py314)")
    _add_settings(rules, _RULES)
    explain = "show the page of a rule, or answer an error message or a question (-: read from standard input)"
    rules.add_argument("--explain", metavar="RULE|TEXT", nargs="?", const="", help=explain)
    listing = "list all rules, and which of them are on here"
    rules.add_argument("--list-rules", dest="explain", action="store_const", const="", help=listing)
    fixes = made.add_argument_group("fixes")
    _add_settings(fixes, _FIXES)
    _flag(fixes, "--diff", "show what --fix would change (for `git apply -p0`), and write nothing")
    _flag(fixes, "--fix-only", "fix, and report nothing that remains")
    _flag(fixes, "--exit-non-zero-on-fix", "exit with 1 if anything was fixed")
    _add_adopting(made)
    files = made.add_argument_group("files (PATTERNS: comma-separated names or globs; paths are taken from here)")
    _add_settings(files, _FILES)
    _flag(files, "--force-exclude", "apply exclusions even to files passed explicitly (for pre-commit)")
    files.add_argument("--stdin-filename", metavar="PATH", help="lint standard input under this name")
    _flag(files, "--show-files", "list the files that would be linted")
    _flag(files, "--show-settings", "show the settings of each file, with the file that they come from")
    files.add_argument("-j", "--jobs", type=int, metavar="N", help="how many processes to use (0: one for each CPU)")
    _flag(files, "--no-cache", "disable the cache", "-n")
    _add_settings(files, ("cache-dir",))
    _flag(files, "--watch", "lint again whenever a file changes (needs the extra 'watch')")
    _add_settings(made.add_argument_group("about your programs"), _PROGRAM)
    _add_output(made)
    about = made.add_argument_group("configuration and help")
    config = "take settings from this TOML file and no other, or set one: --config 'max-workers = 8'"
    about.add_argument("--config", action="append", metavar="FILE|KEY=VALUE", help=config)
    _flag(about, "--isolated", "ignore all configuration files")
    _flag(about, "--agents-md", "print a paragraph for a repository's AGENTS.md")
    about.add_argument("--completion", choices=SHELLS, help="print a completion script (needs the extra 'completion')")
    about.add_argument("--version", action="version", version=f"dataloader-lint {__version__}")
    return made


def _examples(columns: int) -> str:
    """What to type first, with what it does beside it or, in a narrow terminal, below."""
    wide = max(map(len, _EXAMPLES))
    lines = ["examples:"]
    for command, text in _EXAMPLES.items():
        line = f"  {command:<{wide}}  {text}"
        lines += [line] if len(line) <= columns else [f"  {command}", f"      {text}"]
    return "\n".join(lines)


def _add_adopting(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("adopting it in an existing code base")
    _flag(group, "--add-noqa", "add `# noqa: CODE` to every line with a finding (with a note only if --notes)")
    _add_settings(group, ("ignore-noqa",))
    group.add_argument("--baseline", metavar="FILE", help="report only findings that are not in this file")
    group.add_argument(
        "--write-baseline", metavar="FILE", help="write all findings into this file instead of reporting them"
    )


def _add_output(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("output")
    _add_settings(group, ("output-format", "fail-on", "notes"))
    group.add_argument("--output-file", "-o", metavar="FILE", help="write the report into this file")
    _flag(group, "--statistics", "show counts per rule")
    _flag(group, "--exit-zero", "exit with 0 even if there are findings", "-e")
    _flag(group, "--full", "show every finding even if there are many, instead of an overview")
    group.add_argument("--color", choices=("auto", "always", "never"), help="colors (auto: on a terminal)")
    _flag(group, "--quiet", "show findings and errors, and nothing else", "-q")
    _flag(group, "--verbose", "print settings, rules and the time per file to standard error", "-v")


def _add_settings(group: argparse._ArgumentGroup, names: tuple[str, ...]) -> None:
    for name in names:
        key = KEYS[name]
        if key.kind == FLAG:
            group.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=key.help)
            continue
        group.add_argument(
            f"--{name}",
            action="append",
            metavar=key.metavar,
            choices=key.choices if key.kind == CHOICE else None,
            help=key.option_help,
        )


def _flag(group: argparse._ArgumentGroup, name: str, help: str, *short: str) -> None:  # noqa: A002
    group.add_argument(name, *short, action="store_true", help=help)
