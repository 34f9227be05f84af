"""Fixes that gain nothing before their script has a main guard, as its spawned workers fail all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dataloader_lint.diagnostics import Safety
from dataloader_lint.edits import Editor, Repair
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.project.imports import is_imported
from dataloader_lint.semantics.syntax.guards import is_guarded


def with_guard(loaders: Sequence[Loader], fix: Callable[[Editor], Repair | None], editor: Editor) -> Repair | None:
    """What a fix makes; unsafe, as DL206's is, where one of the loaders is made again when workers import the file."""
    made = fix(editor)
    return made if made is None or not any(map(_is_made_on_import, loaders)) else replace(made, safety=Safety.UNSAFE)


def _is_made_on_import(loader: Loader) -> bool:
    tree = loader.frame.scope.module.tree
    if loader.has_workers is False or loader.call not in tree or tree.scope_of(loader.call).function is not None:
        return False
    module = loader.frame.scope.module  # whoever imports it may have a guard around all that iterates
    return not is_guarded(loader.call, tree) and not is_imported(loader.ev.project, module)
