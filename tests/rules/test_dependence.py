"""What a seed in worker code depends on: `Dependence`."""

from __future__ import annotations

import libcst as cst

from asking import file_of
from dataloader_lint.rules.samples._shared.dependence import Dep, Dependence
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from question_tables import Row, each_row


@each_row(__file__, "dependence.md")
def test_dependence(row: Row) -> None:
    asked = row.asked
    scope = asked.frame.scope
    (index,) = (each for each in bindings_of(scope)["index"] if each.kind is Kind.PARAMETER)
    dependence = Dependence(asked.ev, {id(index.node): Dep.SAMPLE}, [scope])
    assert ", ".join(sorted(each.name.lower() for each in dependence.of(asked.node, asked.frame))) == row.answer


def test_answers_that_were_cut_off_are_not_kept() -> None:
    analysis = file_of(
        """
        class Rows(Dataset):
            def __getitem__(self, index):
                row = index
                place = row
                spot = place
                if spot > 3:
                    seed = 1
                else:
                    seed = 2
                first = seed
                second = first
                third = second
                fourth = third
                fifth = fourth
                return fifth, seed
        """
    )
    scope = next(each for each in analysis.module.root.descend() if _is_called(each.node, "__getitem__"))
    (index,) = bindings_of(scope)["index"]
    (returned,) = scope.own(cst.Return)
    assert isinstance(returned.value, cst.Tuple)
    far, near = (each.value for each in returned.value.elements)
    dependence = Dependence(analysis.ev, {id(index.node): Dep.SAMPLE}, [scope])
    frame = analysis.ev.frame_of(scope)
    assert dependence.of(far, frame) == {Dep.FIXED}  # too far from the test for the index to be seen
    assert dependence.of(near, frame) == {Dep.FIXED, Dep.SAMPLE}


def _is_called(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == name
