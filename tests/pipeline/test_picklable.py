"""What cannot be pickled for workers: `is_unpicklable`."""

from __future__ import annotations

from dataloader_lint.pipeline.loaders.picklable import is_unpicklable
from question_tables import Row, each_row


@each_row(__file__, "picklable.md")
def test_picklable(row: Row) -> None:
    assert ("no" if any(map(is_unpicklable, row.asked.values)) else "yes") == row.answer
