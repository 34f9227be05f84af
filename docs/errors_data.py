"""The error messages and answers as data: docs/errors.json, for tools that would else read their pages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataloader_lint.output.as_json import SITE, page_url
from dataloader_lint.rules.symptoms import GROUPS, SYMPTOMS, Symptom

if TYPE_CHECKING:
    from docs.generate import Page

VERSION = 1
FIGURES = Path(__file__).resolve().parent / "evidence" / "figures.json"


def render(pages: Iterable[Page], listed: dict[str, list[str]], anchors: dict[str, str]) -> str:
    """Renders the symptoms, the messages that rules list, and the rules that either of them names.

    `anchors` are those of the symptoms on the page of answers, by title.
    """
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    groups = {each.title: group for group, several in GROUPS.items() for each in several}
    # In the order in which they are tried.
    symptoms = [_symptom(each, groups[each.title], f"{SITE}answers/#{anchors[each.title]}") for each in SYMPTOMS]
    messages = [{"message": message, "rules": codes} for message, codes in listed.items()]
    named = {code for each in (*symptoms, *messages) for code in each["rules"]}
    rules = {page.rule.code: _rule(page, figures) for page in pages if page.rule.code in named}
    content = {"version": VERSION, "symptoms": symptoms, "messages": messages, "rules": rules}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _symptom(one: Symptom, group: str, url: str) -> dict[str, Any]:
    return {
        "title": one.title,
        "group": group,
        "patterns": [each.pattern for each in one.messages],
        "patterns_with_frame": [{"line": line.pattern, "frame": frame.pattern} for line, frame in one.traced],
        "unless": [each.pattern for each in one.unless],
        "is_warning": one.is_warning,
        "meaning": one.page,
        "rules": [*one.rules],
        "url": url,
    }


def _rule(page: Page, figures: dict[str, Any]) -> dict[str, Any]:
    code = page.rule.code
    return {
        "name": page.rule.name,
        "level": page.rule.level.value,
        "on_by_default": page.rule.is_on,
        "cause": page.summary,
        "cure": page.sections.get("Use instead", page.sections.get("Fix safety", "")),
        "fix": page.rule.fix.value,
        "evidence": _evidence(code, figures.get(code)),
        "url": page_url(code, page.rule.name),
    }


def _evidence(code: str, figure: dict[str, Any] | None) -> dict[str, str] | None:
    """What was seen before and after the fix; None if it was not measured."""
    if figure is None or "before" not in figure:
        return None
    measured = figure["measured"]
    return {
        "before": figure["before"]["seen"],
        "after": figure["after"]["seen"],
        "torch": measured["torch"],
        "date": measured["date"],
        "url": f"{SITE}evidence/#{code.lower()}",
    }
