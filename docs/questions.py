"""The index by which the page of error messages answers questions as `--explain` does: assets/questions.json."""

from __future__ import annotations

import json
import re

from dataloader_lint.rules.questions import concepts, ranking
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.symptoms import SYMPTOMS
from docs.generate import listed_messages, read_pages

_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?-i:((?:\\.|\[(?:\\.|[^\]\\])*\]|[^()])*)\)|\(\?[:=!<]+|.", re.DOTALL)


def render() -> str:
    """The index, for docs/assets/questions.js."""
    rules = found_rules()
    index = {
        "concepts": concepts.sources(),
        "vocabulary": sorted(concepts.vocabulary()),
        "contain": concepts.CONTAIN,
        "canBeRuledOut": concepts.CAN_BE_RULED_OUT,
        "field": sorted(ranking.FIELD),
        "elsewhere": sorted(ranking.ELSEWHERE),
        "frame": sorted(ranking.FRAME),
        "weights": ranking.weights(),
        "numbers": {
            "near": ranking.NEAR,
            "far": ranking.FAR,
            "each": ranking.EACH,
            "sure": ranking.SURE,
            "beside": ranking.BESIDE,
            "close": ranking.CLOSE,
            "most": ranking.MOST,
            "longest": ranking.LONGEST,
        },
        "symptoms": [
            {
                "title": each.title.replace("`", ""),
                "rules": each.rules,
                "isWarning": each.is_warning,
                "messages": [portable(pattern.pattern) for pattern in each.messages],
                "traced": [[portable(line.pattern), portable(frame.pattern)] for line, frame in each.traced],
                "unless": [portable(pattern.pattern) for pattern in each.unless],
                "phrases": [
                    {"wanted": phrase.wanted, "unwanted": sorted(phrase.unwanted), "isAlone": phrase.is_alone}
                    for phrase in ranking.all_phrases()[at]
                ],
                "words": dict(sorted(ranking.documents()[at].items())),
            }
            for at, each in enumerate(SYMPTOMS)
        ],
        "names": [
            {"code": code, "name": rules[code].rule.name, "words": sorted(words)}
            for code, words in ranking.names().items()
        ],
        "listed": [{"text": text, "rules": codes} for text, codes in listed_messages(read_pages()).items()],
    }
    return json.dumps(index, ensure_ascii=False, separators=(",", ":"))


def portable(pattern: str) -> str:
    """A pattern that ignores case by itself, for engines without inline flags: `ab` becomes `[aA][bB]`."""

    def both(token: re.Match[str]) -> str:
        if token[1] is not None:  # where case counts
            return f"(?:{token[1]})"
        text = token[0]
        if text.startswith("[") and len(text) > 1:
            letters = re.sub(r"\\.|[^a-zA-Z]|[a-zA-Z]-[a-zA-Z]", "", text)
            ranges = "".join(re.findall(r"(?<!\\)[a-zA-Z]-[a-zA-Z]", text))
            return f"{text[:-1]}{letters.swapcase()}{ranges.swapcase()}]"
        return f"[{text.lower()}{text.upper()}]" if len(text) == 1 and text.isascii() and text.isalpha() else text

    return _TOKEN.sub(both, pattern)
