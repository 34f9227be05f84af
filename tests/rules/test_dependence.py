"""What a seed in worker code depends on: `Dependence`."""

from __future__ import annotations

import libcst as cst
import pytest

from asking import file_of
from dataloader_lint.rules.samples._shared.dependence import Dep, Dependence
from dataloader_lint.semantics.syntax.names import bindings_of

FIXED, WORKER, TORCH, FRESH, SAMPLE = Dep.FIXED, Dep.WORKER, Dep.TORCH, Dep.FRESH, Dep.SAMPLE
TABLE = [
    ("4", {FIXED}),
    ("SEED", {FIXED}),
    ("self.seed", {FIXED}),
    ("index", {SAMPLE}),
    ("SEED + index", {FIXED, SAMPLE}),
    ("torch.utils.data.get_worker_info().id", {WORKER}),
    ("SEED + torch.utils.data.get_worker_info().id", {FIXED, WORKER}),
    ("torch.initial_seed() % 2**32", {TORCH, FIXED}),
    ("torch.utils.data.get_worker_info().seed", {TORCH}),
    ("int(time.time())", {FRESH}),
    ("os.getpid()", {FRESH}),
    ("random.randint(0, 9)", {FRESH}),
    ("self.epoch", {Dep.EPOCH}),
    ("self.step", {Dep.COUNTED}),
    ("unknown(index)", {Dep.UNKNOWN}),
]


@pytest.mark.parametrize(("expression", "answer"), TABLE)
def test_dependence(expression: str, answer: set[Dep]) -> None:
    analysis = file_of(
        f"""
        SEED = 7


        class Rows(Dataset):
            def __init__(self, seed):
                self.seed = seed
                self.epoch = self.step = 0

            def set_epoch(self, epoch):
                self.epoch = epoch

            def __getitem__(self, index):
                return {expression}
        """
    )
    scope = next(each for each in analysis.module.root.descend() if _is_called(each.node, "__getitem__"))
    (index,) = bindings_of(scope)["index"]
    (returned,) = scope.own(cst.Return)
    dependence = Dependence(analysis.ev, {id(index.node): SAMPLE}, [scope])
    assert dependence.of(returned.value, analysis.ev.frame_of(scope)) == answer


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
    dependence = Dependence(analysis.ev, {id(index.node): SAMPLE}, [scope])
    frame = analysis.ev.frame_of(scope)
    assert dependence.of(far, frame) == {FIXED}  # too far from the test for the index to be seen
    assert dependence.of(near, frame) == {FIXED, SAMPLE}


def _is_called(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == name
