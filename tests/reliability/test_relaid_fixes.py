"""The fixable fixtures in other layouts: what a fix leaves is whole, final, and has each comment."""

from __future__ import annotations

import io
import random
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings
from dataloader_lint.source.decoding import decode
from fixture_harness import FIXTURES
from reliability.relayout import relaid
from reliability.sweep import harm_of

FIXABLE = sorted(FIXTURES.glob("DL*/fixable*.py"))


def comments(source: bytes) -> Counter[str]:
    """How often each comment stands in a file."""
    text = "\n".join(decode(source).splitlines())
    tokens = tokenize.generate_tokens(io.StringIO(f"{text}\n").readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("file", FIXABLE, ids=lambda file: file.relative_to(FIXTURES).as_posix())
def test_fixes_hold_in_other_layouts(file: Path, seed: int) -> None:
    code = file.parent.name
    settings = Settings(select=(code,), samples=(("*", 10_000_000),))
    source = relaid(file.read_text(encoding="utf-8"), random.Random(f"{file.name} {code} {seed}"))
    result = fix_source(source, str(file), settings, unsafe=True)
    assert harm_of(source, result.source) == "", result.source.decode()
    assert not comments(source) - comments(result.source), result.source.decode()
    assert result.dropped == []

    again = fix_source(result.source, str(file), settings, unsafe=True)
    assert again.source == result.source
    assert again.fixed == {}
    assert all(one.no_fix for one in again.remaining), "what could be fixed is fixed"


@pytest.mark.thorough
def test_most_of_them_are_fixed_in_other_layouts() -> None:
    fixed, left = 0, 0
    for file in FIXABLE:
        settings = Settings(select=(file.parent.name,), samples=(("*", 10_000_000),))
        source = relaid(file.read_text(encoding="utf-8"), random.Random(file.as_posix()[-20:]))
        result = fix_source(source, str(file), settings, unsafe=True)
        fixed += sum(result.fixed.values())
        left += len(result.remaining)
    assert fixed > 2 * left
