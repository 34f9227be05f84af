"""Settings where other tools have theirs, and this one does not look: they would be passed over in silence."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SECTIONS = (b"[dataloader-lint]", b"[tool:dataloader-lint]", b"[dataloader_lint]")
_LONGEST = 100_000  # bytes of a file that are looked at


def unread(folder: str) -> Iterator[str]:
    """What is wrong with the settings of a folder, a line for each file that is not read."""
    for name in ("dataloader-lint.toml", ".dataloader-lint.toml"):
        if os.path.isfile(os.path.join(folder, name)):
            yield f"{name} is not read: pass --config {name}, or use [tool.dataloader-lint] in pyproject.toml"
    for name in ("setup.cfg", "tox.ini"):
        try:
            with open(os.path.join(folder, name), "rb") as stream:
                text = stream.read(_LONGEST)
        except OSError:
            continue
        section = next((each.decode() for each in _SECTIONS if each in text), None)
        if section is not None:
            yield f"{section} of {name} is not read: use [tool.dataloader-lint] in pyproject.toml"
