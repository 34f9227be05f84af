"""Which devices an expression can name: `possible_devices`."""

from __future__ import annotations

from dataloader_lint.rules.transfers._shared.possible_devices import possible_devices
from question_tables import Row, each_row


@each_row(__file__, "devices.md")
def test_devices(row: Row) -> None:
    assert ", ".join(sorted(each.name.lower() for each in possible_devices(*row.asked))) == row.answer
