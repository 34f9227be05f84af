"""How large a container is: `size_of`."""

from __future__ import annotations

from dataloader_lint.semantics.values.size_classes import size_of
from question_tables import Row, each_row


@each_row(__file__, "sizes.md")
def test_sizes(row: Row) -> None:
    assert " | ".join(sorted({size_of(row.file.ev, value).name.lower() for value in row.asked.values})) == row.answer
