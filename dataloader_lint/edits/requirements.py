"""The libraries that a project requires, read from the text of its requirements files."""

from __future__ import annotations

import re

from dataloader_lint.facts.limits import REQUIREMENTS_LENGTH

_OLD_NUMPY = re.compile(
    # All parts are bounded, as otherwise many `numpy` on a line would have the whole line read for each of them.
    r"""\bnumpy(?![\w-])[ \t]{0,50}(?:\[[^\]\n]{0,200}\])?
    (?:
        # numpy>=1.21,<2
        [^\n"';\#]{0,200}?
        (?:<=?\s{0,50}1\b|<\s{0,50}2(?:\.0){0,9}(?![\d.])|(?<![<>!=~])(?:={1,3}|~=)\s{0,50}1\b)
        # numpy = "^1.26"
        |["']?[ \t]{0,50}=(?!=)[^\n\#]{0,80}?
        ["'](?:[~^=]{0,3}\s{0,50}1\b|[^\n"']{0,80}<\s{0,50}2(?:\.0){0,9}(?![\d.]))
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def demands_old_numpy(text: str) -> bool:
    """True if a text of requirements, such as that of a pyproject.toml, demands a numpy before 2."""
    return _OLD_NUMPY.search(text, 0, REQUIREMENTS_LENGTH) is not None
