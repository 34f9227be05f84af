"""The messages as data: docs/assistants.md says how it is read, and that gives the answers of `--explain`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from test_known_messages import KNOWN, OTHERS

DOCS = Path(__file__).parent.parent / "docs"
DATA: dict[str, Any] = json.loads((DOCS / "errors.json").read_text(encoding="utf-8"))
PAGE = (DOCS / "errors.md").read_text(encoding="utf-8")
ANSWERS = (DOCS / "answers.md").read_text(encoding="utf-8")


def found(text: str) -> str | None:
    """The title of the first symptom with a pattern that is found in a line."""
    lines = [" ".join(re.sub("[`'\"*\u2018\u2019\u201c\u201d]", "", line).split()) for line in text.splitlines()]

    def has(pattern: str, *several: str) -> bool:
        return any(re.search(pattern, line, re.IGNORECASE) for line in several)

    whole = " ".join(lines)
    is_raised = has(r"^[\w.]+(?:Error|Exception)\b", *lines)
    for each in [each for each in DATA["symptoms"] if not (is_raised and each["is_warning"])]:
        framed = [one["line"] for one in each["patterns_with_frame"] if has(one["frame"], whole)]
        if any(has(pattern, *lines) for pattern in (*each["patterns"], *framed)):
            if not any(has(pattern, whole) for pattern in each["unless"]):
                return str(each["title"])
    return None


def test_messages_lead_to_the_symptoms_of_explain() -> None:
    assert len(KNOWN) > 100
    results = [(title, found(text)) for title, text in KNOWN]
    assert [(title, result) for title, result in results if result not in (title, None)] == []
    # The others are descriptions in words.
    assert sum(result is not None for _, result in results) > 0.7 * len(results)


def test_other_messages_lead_nowhere() -> None:
    assert OTHERS
    assert [text for text in OTHERS if found(text)] == []


def test_it_has_what_the_pages_have() -> None:
    titles = re.findall(r"^### (.*)$", ANSWERS, re.MULTILINE)
    assert sorted(titles) == sorted(each["title"] for each in DATA["symptoms"])
    listed = re.findall(r"^- `(.+?)`: ", PAGE.partition("## Messages by rule")[2], re.MULTILINE)
    assert listed == [each["message"] for each in DATA["messages"]]


def test_the_page_has_one_row_for_each_answer() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\(answers\.md#(\S+?)\) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    by_title = {each["title"]: each for each in DATA["symptoms"]}
    assert sorted(title for title, *_ in rows) == sorted(by_title)
    for title, anchor, meaning, rules in rows:
        assert by_title[title]["url"].endswith(f"/answers/#{anchor}")
        assert by_title[title]["meaning"].startswith(meaning)
        assert re.findall(r"\[(DL\d{3})\]", rules) == by_title[title]["rules"]
    headings_and_blank_lines = 70
    assert len(PAGE.splitlines()) < len(rows) + len(DATA["messages"]) + headings_and_blank_lines


def test_each_rule_has_a_cause_and_a_cure_and_some_have_evidence() -> None:
    rules = DATA["rules"]
    named = {code for each in (*DATA["symptoms"], *DATA["messages"]) for code in each["rules"]}
    assert set(rules) == named
    assert [code for code, each in rules.items() if not (each["cause"] and each["cure"] and each["url"])] == []
    assert rules["DL101"]["evidence"]["before"] != rules["DL101"]["evidence"]["after"]
    assert rules["DL207"]["evidence"] is None  # it takes a GPU
