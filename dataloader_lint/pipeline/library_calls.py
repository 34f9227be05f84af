"""The calls of a file that call a function or class of a library, by its qualified name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dataloader_lint.pipeline.file import File
from dataloader_lint.semantics.syntax.tree import function_scope
from dataloader_lint.semantics.values.values import Frame, Library

if TYPE_CHECKING:
    import libcst as cst


def library_calls(file: File, *names: str) -> Iterator[tuple[cst.Call, Frame, str]]:
    """The calls of a file that may call one of some names, each with the frame that it stands in and the name.

    The last part of the name must be how the file spells it. Calls that are known not to be reached are left to the
    caller.
    """
    for name in names:
        for call in file.module.calls_named(name.rpartition(".")[2]):
            frame = file.ev.frame_of(function_scope(file.tree.scope_of(call)))
            if Library(name) in file.ev.values(call.func, frame):
                yield call, frame, name
