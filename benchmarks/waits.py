"""What people wait for: a hook or a second run after a change in one file, and an editor after a key.

Each is a function of a plan and the folders of the packages to figures, as in `measures`.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import editor
from benchmarks.costs import Command
from benchmarks.measures import Plan, as_figures, ours

# By package: the file that is edited; and the files of one package that are changed, by what they are.
EDITED = {
    "speechbrain": "speechbrain/core.py",
    "super-gradients": "super_gradients/training/utils/callbacks/callbacks.py",
    "monai": "monai/data/dataset.py",
}
HOOKED = "monai"
CHANGED = {
    "unled": "monai/networks/nets/unet.py",
    "leaf": "monai/losses/dice.py",
    "central": "monai/data/dataset.py",
}
# More edits of the central file, each made and undone in turn: a text, and what takes its place.
EDITS = {
    "comment": ("class Dataset(_TorchDataset):", "# One by one.\nclass Dataset(_TorchDataset):"),
    "body": ("out.seek(0)", "out.seek(0, 0)"),
    "default": ("copy_cache: bool = True", "copy_cache: bool = False"),
}
KEYS = 30


def measure_waits(plan: Plan, packages: Sequence[Path]) -> dict[str, Any]:
    """A run after a change in one file of a package, and an editor on a long file of each that has one here."""
    by_name = {folder.name.rpartition("-")[0]: folder for folder in packages}
    found: dict[str, Any] = {"editor": {}}
    if HOOKED in by_name:
        found |= _hook(plan, by_name[HOOKED])
    for name, path in EDITED.items():
        if name in by_name:
            folder = _copy(plan, by_name[name], "edited")
            lines = (folder / path).read_bytes().count(b"\n")
            times = asyncio.run(editor.measure(folder, folder / path, KEYS))
            milliseconds = {what: [round(each, 1) for each in several] for what, several in times.items()}
            found["editor"][f"{name}: {path}"] = {"lines": lines, "times": milliseconds}
    return found


def _hook(plan: Plan, package: Path) -> dict[str, Any]:
    folder, cache = _copy(plan, package, "hooked"), plan.fresh("cache")
    again = ours(folder, "-j", "1", "--cache-dir", str(cache))

    def change(path: Path) -> Callable[[], None]:
        def add_line() -> None:
            with path.open("a", encoding="utf-8") as stream:
                stream.write("\n\ndef added():\n    return 1\n")

        return add_line

    def toggle(old: str, new: str) -> Callable[[], None]:
        path = folder / CHANGED["central"]

        def replace() -> None:
            text = path.read_text(encoding="utf-8")
            before, after = (new, old) if new in text else (old, new)
            if before not in text:
                raise ValueError(f"{path} has no {before!r}")
            path.write_text(text.replace(before, after, 1), encoding="utf-8")

        return replace

    costs = plan.measure({"first": again}, rounds=1)
    costs |= plan.measure(
        {
            "cold": ours(folder),
            "unchanged": again,
            **{name: Command(again.arguments, (0,), change(folder / path)) for name, path in CHANGED.items()},
            **{name: Command(again.arguments, (0,), toggle(*edit)) for name, edit in EDITS.items()},
        }
    )
    return {"package": package.name, "changed": CHANGED, "costs": as_figures(costs)}


def _copy(plan: Plan, package: Path, name: str) -> Path:
    """A copy to change, which is a project of its own."""
    folder = plan.fresh(name) / package.name
    shutil.copytree(package, folder)
    (folder / ".git").mkdir()
    return folder
