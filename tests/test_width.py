"""A statement that a fix would make the longest of its file is broken, where nothing changes by it."""

from __future__ import annotations

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings

SOURCE = """from torch.utils.data import DataLoader


def train(dataset, model):
    for images, labels in DataLoader(dataset, num_workers=2, pin_memory=True):
        {}
        model(images)
"""
FLAG = "non_blocking=True"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x, y = images.cuda(), labels", [f"x, y = images.cuda({FLAG}), labels"]),
        (
            "images_on_device, labels = images.cuda(), labels.cuda()",
            [f"images_on_device = images.cuda({FLAG})", f"labels = labels.cuda({FLAG})"],
        ),
        (
            "loss = model.loss(images.cuda(), labels.cuda(), 2)",
            ["loss = model.loss(", f"    images.cuda({FLAG}), labels.cuda({FLAG}), 2", ")"],
        ),
        (
            "images_here, *others = images.cuda(), labels.cuda()",
            [f"images_here, *others = images.cuda({FLAG}), labels.cuda({FLAG})"],
        ),
        (
            "labels, images_here = images.cuda(), labels.cuda()",
            [f"labels, images_here = images.cuda({FLAG}), labels.cuda({FLAG})"],
        ),
        (
            "images_on, all = images.cuda(), labels.cuda() + one()",
            [f"images_on, all = images.cuda({FLAG}), labels.cuda({FLAG}) + one()"],
        ),
        (
            'text_of_both = f"{model(images.cuda(), labels.cuda())}"',
            [f'text_of_both = f"{{model(images.cuda({FLAG}), labels.cuda({FLAG}))}}"'],
        ),
        (
            'x, y = images.to("cuda"), labels.to(\n            "cuda"\n        )',
            [f'x = images.to("cuda", {FLAG})', f'y = labels.to("cuda", {FLAG})'],
        ),
        (
            'x, y = images.to("cuda"), labels[\n            0\n        ].to("cuda")',
            [f'x = images.to("cuda", {FLAG})', f'y = labels[0].to("cuda", {FLAG})'],
        ),
        (
            'x, y = images.to("cuda"), labels.to(\n            "cuda",\n        )',
            [f'x, y = images.to("cuda", {FLAG}), labels.to(', '    "cuda",', f"    {FLAG},", ")"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_long_lines_are_broken(line: str, expected: list[str]) -> None:
    made = fix_source(SOURCE.format(line).encode(), "some.py", Settings(select=("DL401",)), unsafe=True).source.decode()
    assert made == SOURCE.format("\n        ".join(expected))


def test_a_longer_line_than_120_is_no_model() -> None:
    line = "a_batch_of_images, the_labels_of_it = images.cuda(), labels.cuda()"
    source = SOURCE.format(line) + f'        title = "{"." * 140}"\n'
    made = fix_source(source.encode(), "some.py", Settings(select=("DL401",)), unsafe=True).source.decode()
    assert max(map(len, made.splitlines()[:-1])) <= 120
    line = f"images_here, the_labels_of_it = images.cuda({FLAG}), labels.cuda({FLAG})"
    assert line in made.replace("a_batch_of_images", "images_here")
