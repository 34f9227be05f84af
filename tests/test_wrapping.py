"""Fixes keep to the line length of the project: lines that get too long are split as black splits them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import black
import pytest

from dataloader_lint import Settings, fix_source, lint_source
from dataloader_lint.edits import Edit, Editor, wrapping
from dataloader_lint.edits.repair import splice
from dataloader_lint.edits.splitting import split
from dataloader_lint.edits.wrapping import laid_out, wrapped
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.source.line_length import line_length
from dataloader_lint.source.parsing import tree_of

STATEMENTS = """\
loss, loss_items = compute_loss(pred, targets.to(device, non_blocking=True), masks=masks.to(device, True).float())
images = images.to(device=device, dtype=torch.float32, memory_format=torch.channels_last, non_blocking=True)
images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True), names.to(device)
x = targets_of_the_model_that_is_trained.to(device_of_the_model, non_blocking=True).float()
x = batch["images"].to(device_of_the_model, non_blocking=True).float().div(largest_value_of_images)
return DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
return self.model(images.to(self.device, non_blocking=True), labels.to(self.device, non_blocking=True)), extra
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate, get_worker_info, x
batch = {name: value.to(device, non_blocking=True) for name, value in batch_of_the_loader.items() if name in names}
loader = DataLoader(dataset, batch_size=4, num_workers=4, collate_fn=partial(collate_samples, length=length),)
loss = criterion(model(images.to(device, non_blocking=True)), labels.to(device, True)) + penalty + rest_of_it
for images, labels in zip(first_loader_of_the_program, second_loader_of_the_program, third_loader_of_it):
if isinstance(value_of_the_batch, torch.Tensor) and value_of_the_batch.to(device, non_blocking=True).sum() > 0:
model.step(images_of_the_batch.to(device, non_blocking=True), labels_of_the_batch.to(device, True)).item()
loss = first_model(images.to(device, non_blocking=True)) if condition else second_model(images.to(device, True))
outputs[name_of_the_output] = model(images.to(device, non_blocking=True), labels.to(device, non_blocking=True), 1)
x = np.array([str(path) for path in Path(folder).glob("*.png") if path.is_file() and not path.name.startswith(".")])
data = [torch.stack([sample["image"] for sample in samples]), torch.stack([sample["label"] for sample in samples])]
loss = criterion(lambda first, second: first + second, images.to(device, non_blocking=True), labels.to(device))
x = f"{images_of_the_batch.to(device, non_blocking=True)}, {labels_of_the_batch.to(device, non_blocking=True)}, x"
yield collate_images_of_the_batch(images.to(device, non_blocking=True), labels.to(device, non_blocking=True), third)
""".splitlines()


@pytest.mark.parametrize("limit", [60, 79, 88, 100])
@pytest.mark.parametrize("code", STATEMENTS)
def test_lines_are_split_as_black_splits_them(code: str, limit: int) -> None:
    is_header = code.endswith(":")
    text = f"def f():\n    {code}\n" + "        pass\n" * is_header
    wanted = black.format_str(text, mode=black.Mode(line_length=limit)).splitlines()[1:]
    found = split(code, "    ", "    ", limit, is_inside=False) or [f"    {code}"]
    assert found == (wanted[:-1] if is_header else wanted)


@pytest.mark.parametrize("code", ["x = f(a", "x = a) + f(", "x = 1  # one", "x = (", "'''a"])
def test_what_is_not_whole_stays(code: str) -> None:
    assert split(code, "", "    ", 5, is_inside=False) is None


def test_a_table_of_data_stays() -> None:
    assert split(f"x = [f(a), {'f(1), ' * 200_000}]", "", "    ", 88, is_inside=False) is None


LOOP = """\
import torch
from torch.utils.data import DataLoader


def train(dataset, compute):
    loader = DataLoader(dataset, num_workers=4, pin_memory=True)
    for images, labels in loader:
"""


def fixed(tmp_path: Path, body: str, settings: str = "[tool.black]\n") -> str:
    """What becomes of the body of a loop over batches."""
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    source = LOOP + indent(dedent(body), " " * 8)
    result = fix_source(source.encode(), tmp_path / "a.py", Settings(select=("DL401",)))
    return dedent(result.source.decode().removeprefix(LOOP))


def test_several_fixes_of_a_line_are_split_together(tmp_path: Path) -> None:
    line = 'loss = compute(images.to("cuda"), labels.to("cuda"), 12345)\n'
    assert fixed(tmp_path, line).splitlines() == [
        "loss = compute(",
        '    images.to("cuda", non_blocking=True),',
        '    labels.to("cuda", non_blocking=True),',
        "    12345,",
        ")",
    ]
    assert fixed(tmp_path, line, "[tool.ruff]\nline-length = 150\n").count("\n") == 1


def test_a_statement_of_several_lines_is_laid_out_again(tmp_path: Path) -> None:
    body = 'loss = compute(images.to("cuda"), labels.to("cuda"),\n               labels.cuda())\n'
    assert fixed(tmp_path, body).splitlines() == [
        "loss = compute(",
        '    images.to("cuda", non_blocking=True),',
        '    labels.to("cuda", non_blocking=True),',
        "    labels.cuda(non_blocking=True),",
        ")",
    ]


def test_one_line_of_a_call_is_split_alone(tmp_path: Path) -> None:
    body = 'loss = compute(\n    images.to("cuda"), labels.to("cuda"), compute,\n    12,  # twelve\n)\n'
    assert fixed(tmp_path, body).splitlines() == [
        "loss = compute(",
        '    images.to("cuda", non_blocking=True),',
        '    labels.to("cuda", non_blocking=True),',
        "    compute,",
        "    12,  # twelve",
        ")",
    ]


def test_comments_stay_behind_the_statement(tmp_path: Path) -> None:
    body = 'loss = compute(images.to("cuda"), labels.to("cuda"))  # both\n'
    assert fixed(tmp_path, body).splitlines()[-1] == ")  # both"


def test_a_comment_that_makes_a_line_too_long_moves_above_it(tmp_path: Path) -> None:
    body = 'loss = compute(images.to("cuda"), labels)  # the images, by name\n'
    assert fixed(tmp_path, body).splitlines() == [
        "# the images, by name",
        'loss = compute(images.to("cuda", non_blocking=True), labels)',
    ]


@pytest.mark.parametrize(
    "body",
    [
        'loss = compute(images.to("cuda"), labels.to("cuda"), 123)  # noqa: F841\n',
        'loss = compute(images.to("cuda"), labels)  # by name # noqa: F841\n',
        'loss = compute(images.to("cuda"), labels)  # type # pyre-ignore[6]\n',
        'loss = compute(images.to("cuda"), labels)  # dataloader-lint: ignore-file\n',
        'loss = compute(images.to("cuda"), labels.to("cuda"), 123, 456, 789, 123, 456, 789, 123, 45)\n',
        'loss = compute(images.to("cuda"), labels.to("cuda"), 123,  # one\n               3, 4)\n',
    ],
    ids=[
        "comment about the line",
        "behind another",
        "of another tool",
        "for the file",
        "too long before",
        "comment inside",
    ],
)
def test_what_stays_as_long_as_it_gets(tmp_path: Path, body: str) -> None:
    assert fixed(tmp_path, body) == body.replace('"cuda")', '"cuda", non_blocking=True)')


def test_a_fix_on_its_own_keeps_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[flake8]\nmax-line-length = 79\n", encoding="utf-8")
    source = LOOP + '        loss = compute(images.to("cuda"), labels, "this is text")\n'
    (one,) = lint_source(source, tmp_path / "a.py", Settings(select=("DL401",)), fixes=True)
    assert one.fix is not None
    (edit,) = one.fix.edits
    assert edit.content.splitlines()[0].strip() == "loss = compute("


@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n", 100),
        ("pyproject.toml", "[tool.ruff]\n", 88),
        ("pyproject.toml", "[tool.black]\nline_length = 99\n", 99),
        ("pyproject.toml", "[tool.ruff]\nline-length = 'long'\n", 88),
        ("pyproject.toml", "[tool.ruff\n", 120),
        ("pyproject.toml", "[tool.other]\n", 120),
        ("ruff.toml", "line-length = 140\n", 140),
        (".ruff.toml", "", 88),
        (".flake8", "[flake8]\nmax-line-length = 127\n", 127),
        ("setup.cfg", "[pycodestyle]\nmax_line_length = 160\n", 160),
        ("tox.ini", "[flake8]\nignore = E1\n", 120),
        ("tox.ini", "flake8\n", 120),
    ],
)
def test_the_nearest_settings_say_how_long_a_line_may_be(tmp_path: Path, name: str, text: str, limit: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    assert line_length(str(tmp_path / "src" / "a.py")) == limit
    (tmp_path / "src" / "ruff.toml").write_text("line-length = 77\n", encoding="utf-8")
    assert line_length(str(tmp_path / "src" / "a.py")) == 77


def test_only_the_statements_that_a_fix_changes_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def spy(edits: list[Edit], text: str, *rest: Any) -> list[Edit]:
        looked_at.append(text)
        return wrapped(edits, text, *rest)

    monkeypatch.setattr(wrapping, "wrapped", spy)
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 79\n", encoding="utf-8")
    line = "        return DataLoader(dataset, num_workers=0, shuffle=True, persistent_workers=True)\n"
    made = "\n".join(f"    def make{each}(self, dataset):\n{line}" for each in range(50))
    text = f"from torch.utils.data import DataLoader\n\n\nclass Makers:\n{made}"
    found = lint_source(text, tmp_path / "a.py", Settings(select=("DL301",)), fixes=True)
    assert len(found) == 50 and all(one.fix is not None for one in found)
    assert sum(map(len, looked_at)) <= len(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_a_fix_adds_below_a_method_is_split(tmp_path: Path, newline: str) -> None:
    """The method that is added is less deep than the statement that it stands below."""
    text = (
        "class Rows:\n    def first(self):\n        return 1\n\n    def other(self):\n        return 2\n"
        "\n\nrows = Rows()\n"
    ).replace("\n", newline)
    place = text.index("return 1") + len("return 1")
    method = "    def second(self, first_of_them, second_of_them, third_of_them, fourth):"
    added = newline.join(["", "", method, "        return 3"])
    editor = Editor(ModuleFacts("a.py", False, tree_of(text), text).tree, text)
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 70\n", encoding="utf-8")
    found = splice(text, laid_out(editor, [Edit(place, place, added)], str(tmp_path / "a.py")))
    assert found.splitlines()[3:8] == [
        "",
        "    def second(",
        "        self, first_of_them, second_of_them, third_of_them, fourth",
        "    ):",
        "        return 3",
    ]
    assert found.count(newline) == found.count("\n") + found.count("\r") - found.count("\r\n")


def test_a_fix_of_two_statements_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    """An import at the top, and a call further down that gets too long by it."""
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 83\n", encoding="utf-8")
    text = (
        '"""Makes loaders."""\n\nfrom torch.utils.data import DataLoader\n\n\ndef make(dataset):\n'
        "    return DataLoader(dataset, num_workers=4, batch_size=2, collate_fn=lambda x: x)\n"
    )
    result = fix_source(text.encode(), tmp_path / "a.py", Settings(select=("DL201",)), unsafe=True)
    assert result.fixed == {"DL201": 1}
    assert result.source.decode() == black.format_str(result.source.decode(), mode=black.Mode(line_length=83))
