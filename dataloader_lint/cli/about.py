"""What the command says about itself: the pages of its rules, and completion scripts for shells."""

from __future__ import annotations

import sys

from dataloader_lint.cli.options import Options, UsageError
from dataloader_lint.cli.terminal import paint_for, show, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataloader_lint.rules.registry import FoundRule


def explain(options: Options) -> int:
    """Show the page of a rule, found by code, name or an error message; or list all rules. Raises UsageError."""
    wanted = options.explain
    show(_pages(wanted) if wanted else _list(options))
    return 0


def complete(shell: str) -> int:
    """Print a completion script. Raises UsageError where shtab is not installed."""
    try:
        import shtab
    except ImportError:
        raise UsageError("completion scripts need shtab: pip install 'dataloader-lint[completion]'") from None
    from dataloader_lint.cli.arguments import parser
    from dataloader_lint.rules.registry import found_rules

    made = parser()
    for action in made._actions:  # shtab reads it, too
        if action.metavar in ("FILE", "PATH"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == "FOLDERS":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar in ("CODES", "RULE"):
            action.choices = list(found_rules())
    print(shtab.complete(made, shell))
    return 0


def _pages(wanted: str) -> Iterator[str]:
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
        state = f"Level: {rule.level.value}. " + (
            "On by default" if rule.default else f"Opt-in: --extend-select {rule.code}"
        )
        fix = "no automatic fix" if rule.fix is FixLevel.NONE else f"fix: {rule.fix.value}"
        yield from page.emit(
            rule.code, rule.name, f"{state}; {fix}.", found.page, paint_for(sys.stdout), min(width(100), 100)
        )


def _list(options: Options) -> Iterator[str]:
    from dataloader_lint.rules.base import FixLevel
    from dataloader_lint.rules.registry import found_rules
    from dataloader_lint.rules.selection import is_selected, selected_rules

    paint = paint_for(sys.stdout)
    running = {found.rule.code for found in selected_rules(options.settings)}

    def state(found: FoundRule) -> str:
        code = found.rule.code
        if code in running or (found.check is None and is_selected(found.rule, options.settings)):
            return "on"
        return "off" if found.rule.default else "opt-in"

    counts = {"on": 0, "off": 0, "opt-in": 0}
    for code, found in found_rules().items():
        is_on = state(found)
        counts[is_on] += 1
        fix = "" if found.rule.fix is FixLevel.NONE else f" [fix: {found.rule.fix.value}]"
        label = f"{is_on:<6}"
        summary = found.page.strip().partition("\n")[0]
        room = width(1000) - len(f"{code} {label} {found.rule.name}: {fix}")
        summary = summary if len(summary) <= room else summary[: max(room - 1, 0)] + "…"
        yield (
            f"{paint('code', code)} {label if is_on == 'on' else paint('quiet', label)} "
            f"{paint('strong', found.rule.name)}: {summary}{paint('quiet', fix)}"
        )
    yield ""
    yield ", ".join(f"{count} {name}" for name, count in counts.items()) + ". `--explain CODE` shows the page of one."
