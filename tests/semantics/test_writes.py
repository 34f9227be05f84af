"""What is put into a container, under which name: `writes_at` and `places_from`."""

from __future__ import annotations

from dataloader_lint.semantics.heap.writes import Place, places_from, writes_at
from dataloader_lint.semantics.syntax.layout import code
from question_tables import Row, each_row


@each_row(__file__, "writes.md")
def test_writes(row: Row) -> None:
    asked, tree = row.asked, row.file.tree
    places = places_from(asked.ev, [Place(asked.frame.scope, "self", "rows")])
    writes = [write for place in places for write in writes_at(place)]
    found = sorted("*" * write.are_several + code(tree, write.value) for write in writes)
    assert (", ".join(found) or "nothing") == row.answer
