"""What flake8 loads as `DL`. Suppression, selection and output stay flake8's; nothing here raises.

LibCST is imported only once a file passes the gate.
"""

from __future__ import annotations

import argparse
import ast
import gc
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import dataloader_lint
from dataloader_lint.gate import may_matter
from dataloader_lint.settings import Settings

if TYPE_CHECKING:
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.facts.analysis import Session

Report = tuple[int, int, str, type["Plugin"]]


class OptionManager(Protocol):
    """The part of flake8's option manager that is used here."""

    def extend_default_ignore(self, error_codes: Sequence[str]) -> None:
        """Leave these codes out unless they are selected."""


class Plugin:
    """flake8's contract: made once a file, then `run` yields line (from 1), column (from 0), text and this class."""

    name = "dataloader-lint"
    version = dataloader_lint.__version__

    settings: ClassVar[Settings | None] = Settings()
    """None where flake8 shows nothing of ours."""

    session: ClassVar[Session | None] = None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        """`tree` is asked for because flake8 runs only such plugins once a file; `lines` are decoded already."""
        self._filename = filename
        self._text = "".join(lines)

    @staticmethod
    def add_options(manager: OptionManager) -> None:
        """Tell flake8 which rules are off until they are asked for."""
        from dataloader_lint.rules.registry import found_rules

        manager.extend_default_ignore([code for code, found in found_rules().items() if not found.rule.default])

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take over which rules flake8 will show, so that no other rule runs."""
        cls.settings = _settings_from(options)

    def run(self) -> Iterator[Report]:
        """Yield what flake8 reports for this file."""
        settings = self.settings
        if settings is None or not may_matter(self._text.encode("utf-8", "surrogatepass")):
            return
        from dataloader_lint.output.text import neutralise

        for one in self._findings(settings):
            yield one.start.line, one.start.column, f"{one.code} {neutralise(one.message)}", type(self)

    def _findings(self, settings: Settings) -> list[Diagnostic]:
        from dataloader_lint.linter import crashed, lint_text

        try:
            if Plugin.session is None:
                from dataloader_lint.facts.analysis import Session

                Plugin.session = Session()
            found = lint_text(self._text, self._filename, settings, Plugin.session)
            gc.freeze()  # trees live as long as the process does, so no collection need walk them again
            return found
        except Exception as error:
            return crashed(self._filename, "the engine", error, settings)


def _settings_from(options: argparse.Namespace) -> Settings | None:
    """The rules that flake8 shows, None for none; opt-in ones only where a full code asks for them.

    flake8 itself takes any prefix as asking for an opt-in rule, so `--select DL` would bring all of them in.
    """
    from flake8.style_guide import Decision, DecisionEngine  # type: ignore[import-untyped]

    from dataloader_lint.rules.registry import found_rules

    decide = DecisionEngine(options).decision_for
    named = {*(options.select or ()), *(options.extend_select or ())}
    on: list[str] = []
    off: list[str] = []
    for code, found in found_rules().items():
        shown = decide(code) is Decision.Selected and (found.rule.default or code in named)
        (on if shown else off).append(code)
    return Settings(**_programs(), select=tuple(on), ignore=tuple(off)) if on else None


def _programs() -> dict[str, Any]:
    """What the project's own file says of its programs; which rules run is for flake8's options to say.

    A mistake in the file is for the command line to report: flake8 has no place for it.
    """
    from dataloader_lint.source.pyproject import ConfigurationError, configured

    try:
        found = configured(".")
    except ConfigurationError:
        return {}
    told = ("start_method", "target_python", "max_workers", "max_prefetched_batches")
    return {name: value for name, value in found.items() if name in told}
