"""Selects the rules that run: the longest matching code prefix decides."""

from __future__ import annotations

from collections.abc import Iterable

from dataloader_lint.rules.base import Rule
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE, FoundRule, found_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.key import suggestion

# Findings of the engine say that a file was not checked. Only ignoring the full code disables them, since the more
# specific prefix wins.
_ENGINE_CODES = (UNREADABLE_FILE, INTERNAL_ERROR)


class UnknownCodeError(ValueError):
    """A code or prefix that no rule has; the message names the nearest one that exists."""


def is_selected(code: str, default: bool, settings: Settings) -> bool:
    """True if a rule runs: the longest matching prefix decides, and ignoring wins a tie.

    A rule that is not on by `default` runs only if its full code is selected; no prefix selects it. Rules that
    `per-file-ignores` disable for the file do not run, whatever selects them.
    """
    if code in settings.ignored_here:
        return False
    wanted = (*(settings.select or ("DL",)), *settings.extend_select)
    if code in _ENGINE_CODES:
        wanted = (*wanted, code[:4])
    elif any(code.startswith(prefix) for prefix in settings.ignored_here):
        return False
    elif not default:
        wanted = tuple(prefix for prefix in wanted if prefix == code)
    return _longest_fit(code, wanted) > _longest_fit(code, settings.ignore)


def selected_rules(settings: Settings) -> list[FoundRule]:
    """The rules that run, in the order of their codes. Codes that the engine itself reports are not among them."""
    return [
        found
        for code, found in found_rules().items()
        if found.check is not None
        and is_selected(code, _is_default(found.rule, settings), settings)
        and not (found.rule.spawning and settings.start_method == "fork")
    ]


def _is_default(rule: Rule, settings: Settings) -> bool:
    return rule.default or (rule.default_for is not None and rule.default_for(settings))


def find_rule(text: str) -> FoundRule:
    """The rule with this code or name. Raises UnknownCodeError."""
    rules = found_rules()
    for code, found in rules.items():
        if text.upper() == code or text.lower() == found.rule.name:
            return found
    begun = [code for code in rules if text and code.startswith(text.upper())]
    if len(begun) > 1:
        raise UnknownCodeError(f"{text!r} stands for {len(begun)} rules, {begun[0]} to {begun[-1]}; name one of them")
    names = [found.rule.name for found in rules.values()]
    near = suggestion(text.upper(), rules) if text[:2].upper() == "DL" else suggestion(text.lower(), names)
    raise UnknownCodeError(f"unknown rule {text!r}{near}")


def _longest_fit(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)
