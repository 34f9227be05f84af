"""Three small rules in place of the real ones, so that tests of the engine do not depend on what the rules say.

DL301 reports every call of `DataLoader`, DL305 (opt-in) every call of `Dataset`, DL304 crashes on a call of `crash`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dataloader_lint.rules import registry, selection
from dataloader_lint.rules.base import Claim, Entity, Finding, Level, Rule
from dataloader_lint.rules.registry import FoundRule

if TYPE_CHECKING:
    from dataloader_lint.pipeline.file import File


def _calls(facts: File) -> Iterator[Finding]:
    for call in facts.module.calls_named("DataLoader"):
        yield Finding(call, "this loader is made up", "do not worry")


def _opt_in(facts: File) -> Iterator[Finding]:
    for call in facts.module.calls_named("Dataset"):
        yield Finding(call, "this data set is made up", "")


def _crash(facts: File) -> Iterator[Finding]:
    for call in facts.module.calls_named("DataLoader"):
        yield Finding(call, "found before the crash", "")
    if facts.module.calls_named("crash"):
        raise ZeroDivisionError("made\nup")


@pytest.fixture
def fake_rules(monkeypatch: pytest.MonkeyPatch) -> dict[str, FoundRule]:
    """Takes the place of the rule files; the engine's own codes stay."""
    real = registry.found_rules()
    made = [
        FoundRule(
            Rule("DL301", "made-up-loader", Entity.FILE, Level.ERROR, Claim.MAY),
            None,
            _calls,
            "A made-up page.",
            "fake",
        ),
        FoundRule(
            Rule("DL304", "made-up-crash", Entity.FILE, Level.ERROR, Claim.MAY), None, _crash, "A made-up page.", "fake"
        ),
        FoundRule(
            Rule("DL305", "made-up-data-set", Entity.FILE, Level.ERROR, Claim.MAY, default=False),
            None,
            _opt_in,
            "Opt-in.",
            "fake",
        ),
    ]
    rules = {
        "DL000": real["DL000"],
        "DL001": real["DL001"],
        **{one.rule.code: one for one in made},
        "DL999": real["DL999"],
    }
    for module in (registry, selection):
        monkeypatch.setattr(module, "found_rules", lambda: rules)
    return rules
