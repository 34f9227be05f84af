"""Which classes of a program are Datasets, which functions run in workers, and which loops are over epochs."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.pipeline.epoch_loops import epoch_loops
from question_tables import Row, each_row


@each_row(__file__, "dataset_classes.md")
def test_dataset_classes(row: Row) -> None:
    node = row.node(cst.ClassDef)
    assert ("Dataset" if any(each.klass.node is node for each in row.file.datasets) else "no") == row.answer


@each_row(__file__, "worker_code.md")
def test_worker_code(row: Row) -> None:
    node, file = row.node(cst.FunctionDef), row.file
    found = any(each.scope.node is node for each in file.workers.functions(file.module))
    assert ("worker" if found else "no") == row.answer


@each_row(__file__, "epoch_loops.md")
def test_epoch_loops(row: Row) -> None:
    loops = [each for each in epoch_loops(row.file) if row.has(each.loop)]
    found = any(not one.changes_with(each.loop) for each in loops for one in each.passes)
    assert ("epochs" if found else "no") == row.answer
