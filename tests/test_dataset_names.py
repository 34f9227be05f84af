"""Which classes may be Datasets, as far as texts tell."""

from __future__ import annotations

import pytest

from dataloader_lint.semantics.project.dataset_names import DatasetNames, classes_in


def _names(*texts: bytes) -> DatasetNames:
    names = DatasetNames()
    for text in texts:
        names.add(text)
    return names


@pytest.mark.parametrize(
    "text",
    [
        b"class Faces(Dataset): ...",
        b"class Faces(torch.utils.data.Dataset):\n    pass",
        b"class Faces(\n    Generic[T],\n    VisionDataset,\n): ...",
        b"class Faces[T](Dataset): ...",
        b"if True:\n    class Faces(Base): ...\nclass Base(Subset): ...",
        b"from torchvision.datasets import (\n    CIFAR10,\n    MNIST,\n)\nclass Faces(MNIST): ...",
        b"import torchvision.datasets as sets\nclass Faces(sets.MNIST): ...",
        b"from base import Dataset as Base\nclass Faces(Base): ...",
        b"from library import WrapperDataset as Base\nclass Faces(Base): ...",
        b"Base = Dataset\nclass Faces(Base): ...",
        b"class Base(Dataset): ...\nBASES = {\n    'a': Base,\n}\nclass Faces(BASES[name]): ...",
        b"x = 1\r\nclass Faces(Dataset): ...",
        b"x = 1\rclass Faces(Dataset): ...",
    ],
)
def test_classes_that_derive_from_datasets(text: bytes) -> None:
    names = _names(text)
    assert b"Faces" in names
    assert names.is_subclass(b"Faces")
    assert b"Faces" in classes_in(text)


def test_bases_are_followed_through_other_files() -> None:
    names = _names(b"class Faces(Middle): ...", b"class Middle(Root): ...")
    assert b"Faces" not in names
    assert names.behind(b"Faces") == {b"Faces", b"Middle", b"Root"}
    names.add(b"class Root(IterableDataset): ...")
    assert b"Faces" in names


def test_what_is_read_by_index_may_be_one_but_is_no_heir() -> None:
    names = _names(b'class Box:\n    """The first class of all: a box."""\n    def __getitem__(self, index): ...')
    assert b"Box" in names
    assert not names.is_subclass(b"Box")


@pytest.mark.parametrize("text", [b"class Model(Module): ...", b"# class Model(Dataset)\n", b"Model = Module\n", b""])
def test_others_are_not(text: bytes) -> None:
    assert b"Model" not in _names(text)
