"""The code of a notebook as text, for facts about the modules that it imports."""

from __future__ import annotations

from functools import lru_cache

from dataloader_lint.semantics.limits import NOTEBOOK_LENGTH
from dataloader_lint.source.decoding import UnreadableError


@lru_cache(maxsize=100)
def notebook_code(content: bytes) -> str | None:
    """Its cells as one module, as they are linted; None for what is not a notebook of Python, or too long."""
    from dataloader_lint.source.cells import join
    from dataloader_lint.source.notebooks import read

    if len(content) > NOTEBOOK_LENGTH:
        return None
    try:
        notebook = read(content)
    except UnreadableError:
        return None
    return join(notebook.cells).text if notebook is not None else None
