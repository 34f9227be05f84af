"""What a server keeps of the texts that it parsed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dataloader_lint.source import parsing
from dataloader_lint.source.trees import Trees


@pytest.fixture
def trees() -> Iterator[Trees]:
    trees = Trees(20)
    parsing.keep_trees(trees)
    yield trees
    parsing.keep_trees(None)


def test_a_text_is_parsed_once_in_two_runs(trees: Trees) -> None:
    first = parsing.tree_of("x = 1\n")
    trees.begin()
    assert parsing.tree_of("x = 1\n") is first


def test_equal_files_of_one_run_do_not_share_their_tree(trees: Trees) -> None:
    first = parsing.tree_of("x = 1\n")
    assert parsing.tree_of("x = 1\n") is not first
    trees.begin()
    assert parsing.tree_of("x = 1\n") is first
    assert parsing.tree_of("x = 1\n") is not first


def test_the_oldest_is_forgotten_first(trees: Trees) -> None:
    kept = [parsing.tree_of(f"x = 123{number}\n") for number in range(2)]
    trees.begin()
    assert parsing.tree_of("x = 1230\n") is kept[0]  # now the other one is the oldest
    parsing.tree_of("x = 1232\n")
    trees.begin()
    assert parsing.tree_of("x = 1230\n") is kept[0]
    assert parsing.tree_of("x = 1231\n") is not kept[1]


def test_what_is_too_long_or_does_not_parse_is_not_kept(trees: Trees) -> None:
    long = parsing.tree_of("x = 1  # a long comment\n")
    trees.begin()
    assert parsing.tree_of("x = 1  # a long comment\n") is not long
    for _ in range(2):
        with pytest.raises(parsing.UnreadableError, match="syntax error"):
            parsing.tree_of("x = (\n")
        trees.begin()


def test_without_a_store_nothing_is_kept() -> None:
    assert parsing.tree_of("x = 1\n") is not parsing.tree_of("x = 1\n")
