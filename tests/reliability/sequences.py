"""Random edits of a project, as people and tools make them, and of what makes time stamps tell nothing."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from dataloader_lint.settings import Settings

SKIPPED = ("third_party", "build", "venv", "env", "external", "dist", "node_modules")
WORDS = (
    "persistent_workers",
    "collate_fn",
    "setNumThreads",
    "set_epoch",
    "num_workers",
    "DataLoader",
    "Dataset",
    "fit",
)
PIECES = (
    "import cv2\ncv2.setNumThreads(0)\n",
    "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n",
    "class Base:\n    pass\n",
    "from torch.utils.data import DataLoader\n\n\ndef make(data, n=2):\n    return DataLoader(data, num_workers=n)\n",
    "def fit(loader):\n    for batch in loader:\n        batch.backward()\n",
    "WORKERS = 0\nOPTIONS = {}\n",
    "WORKERS = 4\nOPTIONS = {'persistent_workers': True}\n",
)
PAST = time.time() - 7200

Edit = Callable[["Sequence"], str]


class Sequence:
    """A project in `home` that is edited again and again by some of `edits`, and the settings that it is linted with.

    With `by_file`, the nearest pyproject.toml counts for each file, as on the command line.
    """

    def __init__(self, home: Path, seed: int, edits: tuple[Edit, ...] = (), *, by_file: bool = False) -> None:
        self.home = home
        self.chance = random.Random(seed)
        self.edits = edits or EDITS
        self.by_file = by_file
        self.settings = Settings(options=()) if by_file else Settings()
        self.first = {path: path.read_bytes() for path in self.files()}
        for path in self.first:
            os.utime(path, (PAST, PAST))

    def files(self) -> list[Path]:
        """The Python files, in order, wherever they lie."""
        return sorted(path for path in self.home.parent.rglob("*.py") if path.is_file())

    def step(self) -> str:
        """Make an edit, and say which."""
        while True:
            edit = self.chance.choice(self.edits)
            done = edit(self)
            if done:
                return f"{edit.__name__.strip('_')}: {done}"

    def file(self) -> Path | None:
        found = self.files()
        return self.chance.choice(found) if found else None

    def put(self, path: Path, text: str, *, keep_stamp: bool = False) -> None:
        """Write a file, maybe with the time stamp that it had, or with one of long ago."""
        stamp = path.stat().st_mtime_ns if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        if stamp is not None and (keep_stamp or self.chance.random() < 0.3):
            os.utime(path, ns=(stamp, stamp))
        elif self.chance.random() < 0.3:
            os.utime(path, (PAST, PAST))


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _replace(sequence: Sequence, pattern: str, new: Callable[[str], str], *, keep_stamp: bool = False) -> str:
    path = sequence.file()
    if path is None:
        return ""
    text = _text(path)
    found = list(re.finditer(pattern, text))
    if not found:
        return ""
    match = sequence.chance.choice(found)
    after = text[: match.start()] + new(match[0]) + text[match.end() :]
    if after == text:
        return ""
    sequence.put(path, after, keep_stamp=keep_stamp)
    return f"{path.name}: {match[0]!r} -> {new(match[0])!r}"


def _toggle(sequence: Sequence) -> str:
    other = {"True": "False", "False": "True", "0": "4", "2": "0", "4": "0", "8": "0"}
    return _replace(sequence, r"\b(?:True|False|0|2|4|8)\b", other.__getitem__)


def _same_size(sequence: Sequence) -> str:
    other = {"0": "4", "2": "0", "4": "0", "8": "0"}
    return _replace(sequence, r"\b[0248]\b", other.__getitem__, keep_stamp=True)


def _rename_in_one(sequence: Sequence) -> str:
    return _replace(
        sequence, r"\b[a-zA-Z_]\w{2,}\b", lambda name: f"{name}_x" if not name.endswith("_x") else name[:-2]
    )


def _rename_everywhere(sequence: Sequence) -> str:
    path = sequence.file()
    names = re.findall(r"^(?:class|def) (\w+)", _text(path), re.MULTILINE) if path else []
    if not names:
        return ""
    name = sequence.chance.choice(names)
    for each in sequence.files():
        text = _text(each)
        after = re.sub(rf"\b{name}\b", f"{name}s", text)
        if after != text:
            sequence.put(each, after)
    return name


def _part_of_a_word(sequence: Sequence) -> str:
    """A word becomes a part of another one, or stands alone again."""
    return _replace(
        sequence,
        rf"\b(?:use_)?(?:{'|'.join(WORDS)})\b",
        lambda word: word[4:] if word.startswith("use_") else f"use_{word}",
    )


def _mention(sequence: Sequence) -> str:
    path, word = sequence.file(), sequence.chance.choice(WORDS)
    if path is None:
        return ""
    sequence.put(path, f"{_text(path)}\n# {word}\n")
    return f"{path.name}: {word}"


def _drop_lines(sequence: Sequence) -> str:
    path = sequence.file()
    lines = _text(path).splitlines(keepends=True) if path else []
    heads = [number for number, line in enumerate(lines) if line[:1].strip() and not line.startswith(("#", '"'))]
    if not heads or path is None:
        return ""
    start = sequence.chance.choice(heads)
    end = next((number for number in heads if number > start), len(lines))
    sequence.put(path, "".join(lines[:start] + lines[end:]))
    return f"{path.name}: {lines[start].strip()}"


def _move_lines(sequence: Sequence) -> str:
    """A statement moves to another file, which its old one may import it from."""
    path, other = sequence.file(), sequence.file()
    lines = _text(path).splitlines(keepends=True) if path else []
    heads = [number for number, line in enumerate(lines) if line.startswith(("def ", "class "))]
    if not heads or path is None or other is None or path == other:
        return ""
    start = sequence.chance.choice(heads)
    end = next((number for number in range(start + 1, len(lines)) if lines[number][:1].strip()), len(lines))
    name = re.split(r"[ (:]", lines[start])[1]
    back = f"from {other.stem} import {name}\n" if sequence.chance.random() < 0.7 else ""
    sequence.put(path, "".join([back, *lines[:start], *lines[end:]]))
    sequence.put(other, _text(other) + "\n\n" + "".join(lines[start:end]))
    return f"{name}: {path.name} -> {other.name}"


def _reexport(sequence: Sequence) -> str:
    path, other = sequence.file(), sequence.file()
    if path is None or other is None or path == other:
        return ""
    names = re.findall(r"^(?:class|def) (\w+)|^(\w+) =", _text(other), re.MULTILINE)
    name = next(filter(None, sequence.chance.choice(names)), "*") if names and sequence.chance.random() < 0.6 else "*"
    module = sequence.chance.choice([other.stem, f".{other.stem}", f"{other.parent.name}.{other.stem}"])
    sequence.put(path, f"from {module} import {name}\n{_text(path)}")
    return f"{path.name}: from {module} import {name}"


def _import_otherwise(sequence: Sequence) -> str:
    folder = sequence.chance.choice(SKIPPED)
    return _replace(sequence, r"(?m)^from (?!torch)[.\w]+ import", lambda found: _elsewhere(found, folder))


def _elsewhere(found: str, folder: str) -> str:
    module = found.split()[1].lstrip(".")
    return f"from {module.rpartition('.')[2] if '.' in module else f'{folder}.{module}'} import"


def _add_file(sequence: Sequence) -> str:
    folders = [path.parent for path in sequence.files()] or [sequence.home]
    folder = sequence.chance.choice(
        [*folders, *(sequence.home / name for name in SKIPPED), sequence.home.parent / "lib"]
    )
    stems = [path.stem for path in sequence.files()]
    path = folder / f"{sequence.chance.choice([*stems, 'extra', 'cv2', '__init__'])}.py"
    if path.exists():
        return ""
    source = sequence.file()
    copied = source is not None and sequence.chance.random() < 0.6
    sequence.put(path, _text(source) if copied and source is not None else sequence.chance.choice(PIECES))
    return str(path.relative_to(sequence.home.parent))


def _append_piece(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None:
        return ""
    sequence.put(path, f"{_text(path)}\n\n{sequence.chance.choice(PIECES)}")
    return path.name


def _remove_file(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None or len(sequence.files()) < 3:
        return ""
    path.unlink()
    return path.name


def _move_file(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None:
        return ""
    folders = [*(each.parent for each in sequence.files()), sequence.home / sequence.chance.choice(SKIPPED)]
    target = sequence.chance.choice([*folders, sequence.home.parent / "lib"]) / path.name
    if target.exists():
        return ""
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    return f"{path.name} -> {target.parent.name}"


def _rename_file(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None or (target := path.with_name(f"{path.stem}s.py")).exists():
        return ""
    path.rename(target)
    return target.name


def _rename_folder(sequence: Sequence) -> str:
    folders = sorted({path.parent for path in sequence.files()} - {sequence.home, sequence.home.parent})
    if not folders:
        return ""
    folder = sequence.chance.choice(folders)
    target = folder.with_name(sequence.chance.choice([*SKIPPED, f"{folder.name}s"]))
    if target.exists():
        return ""
    folder.rename(target)
    return f"{folder.name} -> {target.name}"


def _package(sequence: Sequence) -> str:
    """A folder becomes a package, or is none any more."""
    path = sequence.file()
    if path is None:
        return ""
    init = path.parent / "__init__.py"
    if init.exists():
        init.unlink()
        return f"no {init.parent.name}"
    sequence.put(init, "")
    return init.parent.name


def _file_or_folder(sequence: Sequence) -> str:
    """The file of a module becomes a package, with the module's code in it."""
    path = sequence.file()
    if path is None or path.stem == "__init__" or path.with_suffix("").exists():
        return ""
    text = _text(path)
    path.unlink()
    sequence.put(path.with_suffix("") / "__init__.py", text)
    return path.stem


def _link(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None:
        return ""
    link = (
        sequence.home / sequence.chance.choice([*SKIPPED, "."]) / f"{sequence.chance.choice(['extra', path.stem])}.py"
    )
    if os.path.lexists(link):
        return ""
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(path if sequence.chance.random() < 0.7 else path.with_name("missing.py"))
    return f"{link.name} -> {path.name}"


def _marker(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None:
        return ""
    marker = path.parent / sequence.chance.choice(["setup.cfg", "pyproject.toml", "setup.py"])
    if marker.parent == sequence.home or marker == sequence.home.parent:
        return ""
    if marker.exists():
        marker.unlink()
    else:
        marker.touch()
    return str(marker.relative_to(sequence.home.parent))


def _requirements(sequence: Sequence) -> str:
    path = sequence.home / sequence.chance.choice(["requirements.txt", "requirements-dev.txt", "environment.yml"])
    if path.exists() and sequence.chance.random() < 0.4:
        path.unlink()
    else:
        path.write_text(sequence.chance.choice(["numpy<2\n", "torchdata<0.10\n", "numpy==1.26\n", "torch\n"]))
    return path.name


def _choose_settings(sequence: Sequence) -> str:
    changes: dict[str, tuple[str, ...]] = sequence.chance.choice(
        [
            {"src": (str(sequence.home.parent / "lib"),)},
            {"src": ()},
            {"extend_datasets": ("somewhere.Base",)},
            {"extend_datasets": ()},
            {"extend_dataloaders": ("loaders.make",)},
            {"extend_dataloaders": ()},
        ]
    )
    if sequence.by_file:
        settings = sequence.settings.replace(options=tuple(changes.items()))
    else:
        settings = sequence.settings.replace(**changes)
    if settings == sequence.settings:
        return ""
    sequence.settings = settings
    return str(changes)


def _undo(sequence: Sequence) -> str:
    """A file becomes what it was at first, with its time stamp: as a checkout does it."""
    path, text = sequence.chance.choice(sorted(sequence.first.items()))
    if path.exists() and path.read_bytes() == text:
        return ""
    if path.parent.is_file():
        return ""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    path.write_bytes(text)
    os.utime(path, (PAST, PAST))
    return path.name


def _touch(sequence: Sequence) -> str:
    path = sequence.file()
    if path is None:
        return ""
    path.touch()
    return path.name


def _remove_folder(sequence: Sequence) -> str:
    folder = sequence.home / sequence.chance.choice(SKIPPED)
    if not folder.is_dir():
        return ""
    shutil.rmtree(folder)
    return folder.name


EDITS: tuple[Edit, ...] = (
    *(4 * (_toggle, _undo)),
    *(2 * (_same_size, _rename_in_one, _part_of_a_word, _drop_lines, _move_lines, _reexport, _add_file, _append_piece)),
    *(2 * (_import_otherwise, _move_file, _rename_file, _package)),
    *(_rename_everywhere, _mention, _remove_file, _rename_folder, _file_or_folder, _link, _marker, _requirements),
    *(_choose_settings, _touch, _remove_folder),
)
