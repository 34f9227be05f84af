"""What flake8 loads as `DL`. Suppression, selection and output stay flake8's; nothing here raises.

LibCST is imported only once a file passes the gate.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

import dataloader_lint
from dataloader_lint.gate import Gate
from dataloader_lint.settings import Settings
from dataloader_lint.source.projects import named_folders
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile

if TYPE_CHECKING:
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.pipeline.session import Session

Report = tuple[int, int, str, type["Plugin"]]


class OptionManager(Protocol):
    """The part of flake8's option manager that is used here."""

    def extend_default_ignore(self, error_codes: Sequence[str]) -> None:
        """Leave these codes out unless they are selected."""

    def add_option(self, long_option_name: str, *, metavar: str, parse_from_config: bool, help: str) -> None:  # noqa: A002
        """Take an option on the command line, and in flake8's files."""


class Plugin:
    """flake8's contract: made once a file, then `run` yields line (from 1), column (from 0), text and this class."""

    name = "dataloader-lint"
    version = dataloader_lint.__version__

    settings: ClassVar[SettingsByFile | None] = SettingsByFile(Settings())
    """None where flake8 shows nothing of ours."""

    sessions: ClassVar[dict[object, Session]] = {}
    """By `Settings.project_key`."""

    gates: ClassVar[dict[tuple[bytes, ...], Gate]] = {}
    """What files are about, by the words that the settings add."""

    def __init__(self, tree: ast.Module, filename: str, lines: Sequence[str]) -> None:
        """`tree` is what Python has parsed the `lines` into, which are decoded already."""
        self._tree = tree
        self._filename = filename
        self._text = "".join(lines)

    @staticmethod
    def add_options(manager: OptionManager) -> None:
        """Tell flake8 which rules are off until they are asked for, and what can be said about the programs."""
        from dataloader_lint.rules.registry import found_rules
        from dataloader_lint.source.keys import KEYS

        for key in KEYS.values():
            if key.flake8:
                name, text = f"--dl-{key.name}", key.option_help
                manager.add_option(name, metavar=key.metavar, parse_from_config=True, help=text)
        manager.extend_default_ignore([code for code, found in found_rules().items() if not found.rule.is_on])

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take over which rules flake8 will show, so that no other rule runs, and our own options.

        Raises flake8's ExecutionError, which it shows in place of a report, where an option or the pyproject.toml of
        the working directory is wrong.
        """
        from flake8.exceptions import ExecutionError  # type: ignore[import-untyped]

        try:
            cls.settings = _settings_from(options)
        except ConfigurationError as error:
            from dataloader_lint.output.text import neutralise

            raise ExecutionError(f"dataloader-lint: {neutralise(str(error))}") from None

    def run(self) -> Iterator[Report]:
        """Yield what flake8 reports for this file."""
        if self.settings is None:
            return
        for one in self._findings(self.settings):
            from dataloader_lint.output.text import neutralise

            yield one.start.line, one.start.column, f"{one.code} {neutralise(one.whole_message)}", type(self)

    def _findings(self, by_file: SettingsByFile) -> list[Diagnostic]:
        try:
            settings = by_file.of_file(self._filename)
        except ConfigurationError as error:
            from dataloader_lint.engine.reports import unreadable

            return unreadable(self._filename, f"its settings cannot be used: {error}", "", Settings())
        gate = Plugin.gates.setdefault(settings.extra_words, Gate(settings.extra_words))
        about = gate.subjects(os.path.abspath(self._filename), self._text.encode("utf-8", "surrogatepass"))
        if not about:
            return []
        from dataloader_lint.source.noqa import ignores_file

        if ignores_file(self._text) and not settings.ignore_noqa:
            return []
        from dataloader_lint.engine.causes import by_cause
        from dataloader_lint.engine.linter import lint_text
        from dataloader_lint.engine.reports import crashed, unsuppressed
        from dataloader_lint.source.parsing import parsed_already

        try:
            session = Plugin.sessions.get(settings.project_key)
            if session is None:
                from dataloader_lint.pipeline.session import Session

                session = Plugin.sessions[settings.project_key] = Session(settings, gate)
            with parsed_already(self._text, self._tree):
                found = lint_text(self._text, self._filename, settings, session, about)
            # Comments are heard here: flake8 knows only the first place of a finding, and would silence all of them.
            found = by_cause(unsuppressed(found, self._text, settings), self._text, settings)
            gc.freeze()  # trees live as long as the process does, so no collection need walk them again
            return found
        except Exception as error:
            return crashed(self._filename, "the engine", error, settings)


def _settings_from(options: argparse.Namespace) -> SettingsByFile | None:
    """The rules that flake8 shows, None for none; opt-in ones only where a full code asks for them.

    flake8 itself takes any prefix as asking for an opt-in rule, so `--select DL` would bring all of them in. Which
    rules run where is for flake8's options alone to say; what is true of the programs, for our options and, below them,
    for the pyproject.toml of each file.
    """
    from flake8.style_guide import Decision, DecisionEngine  # type: ignore[import-untyped]

    from dataloader_lint.rules.registry import found_rules
    from dataloader_lint.source.pyproject import chosen

    decide = DecisionEngine(options).decision_for
    named = {*(options.select or ()), *(options.extend_select or ())}
    on: list[str] = []
    off: list[str] = []
    for code, found in found_rules().items():
        shown = decide(code) is Decision.Selected and (found.rule.is_on or code in named)
        (on if shown else off).append(code)
    if not on:
        return None
    # flake8 has no levels: whatever it shows fails the run, which a note only does if it is asked for (`dl-notes`).
    programs = {"notes": False, **_programs(options)}
    rules = {"select": tuple(on), "ignore": tuple(off), "per_file_ignores": (), "ignore_noqa": options.disable_noqa}
    roots = named_folders(options.filenames or ["."], os.getcwd())
    return SettingsByFile(chosen({**programs, **rules}).replace(roots=roots))


def _programs(options: argparse.Namespace) -> dict[str, object]:
    """What our own options say. Raises ConfigurationError for a value that means nothing."""
    from dataloader_lint.source.key import UnfitValueError
    from dataloader_lint.source.keys import KEYS

    found: dict[str, object] = {}
    for key in KEYS.values():
        text = getattr(options, f"dl_{key.attribute}", None)
        if text is not None:
            try:
                found[key.attribute] = key.read_text(text)
            except UnfitValueError as error:
                raise ConfigurationError(f"dl-{key.name} (command line or settings of flake8) {error}") from None
    return found
