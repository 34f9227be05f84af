"""Which lines are reached, and which run again and again."""

from __future__ import annotations

from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.heap.repetition import runs_often
from question_tables import Row, each_row


@each_row(__file__, "reached.md")
def test_reached(row: Row) -> None:
    asked = row.asked
    assert ("reached" if is_reached(asked.ev, asked.node, asked.frame) else "never") == row.answer


@each_row(__file__, "repetition.md")
def test_repetition(row: Row) -> None:
    asked = row.asked
    assert ("often" if runs_often(asked.ev, asked.frame.scope, asked.node) else "seldom") == row.answer
