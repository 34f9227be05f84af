"""The versions of libraries that a project requires, read from the text of its requirements files."""

from __future__ import annotations

import re

from dataloader_lint.semantics.limits import REQUIREMENTS_LENGTH


def _before(package: str, major: int) -> re.Pattern[str]:
    """What demands versions of a package before a major one."""
    old, limit = rf"[0-{major - 1}]", major
    # All parts are bounded, as otherwise many names on a line would have the whole line read for each of them.
    return re.compile(
        rf"""\b{package}(?![\w-])[ \t]{{0,50}}(?:\[[^\]\n]{{0,200}}\])?
        (?:
            # numpy>=1.21,<2
            [^\n"';\#]{{0,200}}?
            (?:<=?\s{{0,50}}{old}\b|<\s{{0,50}}{limit}(?:\.0){{0,9}}(?![\d.])|(?<![<>!=~])(?:={{1,3}}|~=)\s{{0,50}}{old}\b)
            # numpy = "^1.26"
            |["']?[ \t]{{0,50}}=(?!=)[^\n\#]{{0,80}}?
            ["'](?:[~^=]{{0,3}}\s{{0,50}}{old}\b|[^\n"']{{0,80}}<\s{{0,50}}{limit}(?:\.0){{0,9}}(?![\d.]))
        )""",
        re.VERBOSE | re.IGNORECASE,
    )


# numpy>=2.0, numpy==2.1.*, numpy = "^2"
NEW_NUMPY, NEW_TORCH = (
    re.compile(rf"""\b{package}(?![\w-])[ \t"'=]{{0,50}}(?:>=?|={{1,3}}|~=|\^)[ \t"']{{0,50}}[2-9]\b""", re.IGNORECASE)
    for package in ("numpy", "(?:py)?torch")
)
OLD_PANDAS = _before("pandas", 3)
TORCH_BEFORE_0_4 = re.compile(r"""\b(?:py)?torch[ \t]{0,50}(?:={1,3}|~=|<=?)[ \t]{0,50}0\.[0-3]\b""", re.IGNORECASE)
OLD_TORCH = _before("(?:py)?torch", 2)


# A `#` in the middle of a word is part of an address.
_COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t]))\#[^\n]*")


def demands(text: str, versions: re.Pattern[str]) -> bool:
    """True if a text of requirements, such as that of a pyproject.toml, demands one of the versions above."""
    return versions.search(_COMMENT.sub("", text[:REQUIREMENTS_LENGTH])) is not None
