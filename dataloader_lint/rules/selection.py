"""Selects the rules that run: the most specific of what matches decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dataloader_lint.diagnostics import Level
from dataloader_lint.gate import LOADING
from dataloader_lint.rules.base import Rule
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE, FoundRule, found_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.key import other_family, suggestion

# Findings of the engine say that a file was not checked. Only ignoring the full code disables them, since the more
# specific prefix wins.
_ENGINE_CODES = (UNREADABLE_FILE, INTERNAL_ERROR)
_PREFIX, _CODE = len("DL30"), len("DL301")


def _is_portability(rule: Rule) -> bool:
    # Handles break in forked workers as well, so that this rule is an error anywhere.
    return rule.level is Level.WARNING or rule.code == "DL205"


# What can be selected by name: opt-in rules are among them.
SELECTIONS: dict[str, tuple[str, Callable[[Rule], bool]]] = {
    "all": ("every rule", lambda _rule: True),
    "correctness": ("what raises, hangs, or gives wrong data", lambda rule: rule.level is Level.ERROR),
    "portability": ("what fails where workers are spawned, as on macOS and Windows", _is_portability),
    "py314": (
        "what changes when Linux stops forking workers: `portability`, and memory that workers no longer share",
        lambda rule: _is_portability(rule) or rule.code == "DL106",
    ),
    "memory": ("what costs memory or open files in every worker", lambda rule: rule.level is Level.MEMORY),
    "speed": ("what costs time", lambda rule: rule.level is Level.SPEED),
}


class UnknownCodeError(ValueError):
    """A code or prefix that no rule has; the message names the nearest one that exists."""


def is_selected(rule: Rule, settings: Settings) -> bool:
    """True if a rule runs: the most specific match decides, and ignoring wins a tie.

    An opt-in rule runs only if its full code or a named selection that holds it is selected; no prefix selects it. The
    same goes for rules in preview without `preview`, which no named selection holds either. Rules that
    `per-file-ignores` disable for the file do not run, whatever selects them.
    """
    code = rule.code
    if code in settings.ignored_here:
        return False
    wanted = (*(settings.select or ("DL",)), *settings.extend_select)
    if code in _ENGINE_CODES:
        wanted = (*wanted, code[:4])
    elif specificity(rule, settings.ignored_here, of_name=_PREFIX):
        return False
    elif rule.preview and not settings.preview:
        wanted = tuple(text for text in wanted if text == code)
    elif not (rule.default or (rule.default_for is not None and rule.default_for(settings))):
        wanted = tuple(text for text in wanted if text == code or text in SELECTIONS)
    return _outweighs(rule, wanted, (*settings.ignore, *settings.extend_ignore))


def selected_rules(settings: Settings) -> list[FoundRule]:
    """The rules that run, in the order of their codes. Codes that the engine itself reports are not among them."""
    return [
        found
        for found in found_rules().values()
        if found.check is not None
        and is_selected(found.rule, settings)
        and not (found.rule.spawning and settings.start_method == "fork")
    ]


def rules_about(about: frozenset[str], selected: list[FoundRule]) -> list[FoundRule]:
    """The selected rules that may have something to say about a file, of which the gate says what it is about."""
    return [one for one in selected if LOADING in about or not about.isdisjoint(one.rule.subjects)]


def is_fixable(rule: Rule, settings: Settings) -> bool:
    """True if findings of a rule may get fixes."""
    return _outweighs(rule, settings.fixable, settings.unfixable)


def members(name: str) -> list[FoundRule]:
    """The rules of a named selection, in the order of their codes."""
    belongs = SELECTIONS[name][1]
    return [found for found in found_rules().values() if found.check is not None and belongs(found.rule)]


def rules_of_prefix(text: str) -> list[FoundRule]:
    """The rules whose code begins with a text, such as `DL2`, in the order of their codes."""
    return [found for code, found in found_rules().items() if text and code.startswith(text.upper())]


def find_rule(text: str) -> FoundRule:
    """The rule with this code or name. Raises UnknownCodeError."""
    rules = found_rules()
    for code, found in rules.items():
        if text.upper() == code or text.lower() == found.rule.name:
            return found
    begun = [found.rule.code for found in rules_of_prefix(text)]
    if len(begun) > 1:
        raise UnknownCodeError(f"{text!r} stands for {len(begun)} rules, {begun[0]} to {begun[-1]}; name one of them")
    names = [found.rule.name for found in rules.values()]
    is_code = text[:2].upper() == "DL"
    near = other_family(text) or (suggestion(text.upper(), rules) if is_code else suggestion(text.lower(), names))
    raise UnknownCodeError(f"unknown rule {text!r}{near}")


def _outweighs(rule: Rule, wanted: Iterable[str], unwanted: Iterable[str]) -> bool:
    """True if a rule is wanted by something more specific than all that keeps it out.

    A named selection gives way to any code where it is wanted, and only to full codes where it is not.
    """
    return specificity(rule, wanted, of_name=1) > specificity(rule, unwanted, of_name=_PREFIX)


def specificity(rule: Rule, texts: Iterable[str], *, of_name: int = 1) -> int:
    """How specific the most specific of some codes, prefixes and names is that hold a rule; 0 if none does."""
    found = 0
    for text in texts:
        if text in SELECTIONS:
            holds = rule.code not in _ENGINE_CODES and SELECTIONS[text][1](rule)
            found = max(found, of_name if holds else 0)
        elif rule.code.startswith(text):
            found = max(found, len(text))
    return found
