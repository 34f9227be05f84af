"""What editors offer to do about findings: fix one, fix all in the file or notebook, or suppress one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lsprotocol import types

from dataloader_lint.diagnostics import Diagnostic, Safety, TextEdit
from dataloader_lint.lsp import wording
from dataloader_lint.lsp.opened import Opened
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE
from dataloader_lint.source.decoding import split_lines
from dataloader_lint.source.magics import to_python
from dataloader_lint.source.noqa import suppress

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{wording.SOURCE}"
# VS Code asks for such actions when it saves a notebook, once for all cells.
FIX_NOTEBOOK = f"notebook.{FIX_ALL}"
# What clients ask the server to do that know commands, but no actions with edits.
APPLY = f"{wording.SOURCE}.apply"


@dataclass(frozen=True, slots=True)
class Target:
    """The document that actions change, and if the client takes edits for one version of a document only."""

    opened: Opened
    takes_versions: bool

    @property
    def version(self) -> int | None:
        """The version of the document; None for clients that cannot tell versions apart."""
        return self.opened.version if self.takes_versions else None

    def edit(self, edits: Mapping[int | None, Sequence[types.TextEdit]]) -> types.WorkspaceEdit:
        """Edits of parts of the document; of this version of them only, where the client can tell."""
        parts = [(self.opened.part(cell), list(each)) for cell, each in edits.items()]
        if not self.takes_versions:
            return types.WorkspaceEdit(changes={part.uri: each for part, each in parts})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(part.uri, part.version), each)
                for part, each in parts
            ]
        )

    def edit_of(self, edits: Sequence[TextEdit]) -> types.WorkspaceEdit:
        """The same of the linter's own edits."""
        by_cell: dict[int | None, list[types.TextEdit]] = {}
        for one in edits:
            by_cell.setdefault(one.cell, []).append(self.opened.places(one.cell).edit(one))
        return self.edit(by_cell)


def is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """True if a client that asks for `only` some kinds wants this one; it wants the kinds below those too."""
    return only is None or any(f"{kind}.".startswith(f"{_name(wanted)}.") for wanted in only)


def kind_for_all(opened: Opened, only: Sequence[types.CodeActionKind | str] | None) -> str | None:
    """The kind under which a client asks for all safe fixes; None if it does not."""
    kinds = (FIX_ALL, FIX_NOTEBOOK) if opened.document.is_notebook else (FIX_ALL,)
    return next((kind for kind in kinds if is_wanted(kind, only)), None)


def for_findings(
    found: Sequence[Diagnostic], fixable: Mapping[Diagnostic, Diagnostic], target: Target
) -> Iterator[types.CodeAction]:
    """For each finding its fix, if it has one, and the comment that suppresses it."""
    opened = target.opened
    for one in found:
        shown = wording.diagnostic(one, opened)
        fix = fixable[one].fix if one in fixable else None
        if fix is not None:
            yield types.CodeAction(
                title=f"{one.code}: {wording.title_of(fix)}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[shown],
                is_preferred=fix.safety is Safety.SAFE,
                edit=target.edit_of(fix.edits),
            )
        if one.code in (UNREADABLE_FILE, INTERNAL_ERROR):
            continue
        comment = _comment(opened.part(one.cell).text, one.cell, one.code, (one.start.line, *one.statement_lines))
        if comment is not None:
            yield types.CodeAction(
                title=f"{one.code}: Suppress it with a `# noqa` comment",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[shown],
                edit=target.edit({one.cell: [opened.places(one.cell).edit(comment)]}),
            )


def for_all(new: Mapping[int | None, str], kind: str, target: Target) -> Iterator[types.CodeAction]:
    """All safe fixes, which lead to the texts `new`, if there are any."""
    edits = {cell: target.opened.places(cell).changes(text) for cell, text in new.items()}
    if any(edits.values()):
        yield types.CodeAction(title=_title(target.opened), kind=kind, edit=target.edit(edits))


def for_all_later(kind: str, target: Target) -> types.CodeAction:
    """All safe fixes, for a client that asks for the edit when somebody chooses the action."""
    data = {"uri": target.opened.uri, "version": target.version}
    return types.CodeAction(title=_title(target.opened), kind=kind, data=data)


def needs_commands(can: types.ClientCapabilities) -> bool:
    """True for clients that know no actions with edits, and apply edits when the server asks for it."""
    action = can.text_document.code_action if can.text_document is not None else None
    is_modern = action is not None and action.code_action_literal_support is not None
    return not is_modern and can.workspace is not None and bool(can.workspace.apply_edit)


def as_command(action: types.CodeAction, opened: Opened) -> types.Command:
    """An action as such clients know it."""
    return types.Command(action.title, APPLY, arguments=[opened.uri, opened.version, action.edit])


def resolvable(action: types.CodeAction) -> tuple[str, int | None]:
    """The document that `for_all_later` was asked for, and its version; an empty URI for any other action."""
    data = action.data
    uri, version = (data.get("uri"), data.get("version")) if isinstance(data, dict) else ("", None)
    return uri if isinstance(uri, str) else "", version if isinstance(version, int) else None


def _title(opened: Opened) -> str:
    what = "notebook" if opened.document.is_notebook else "file"
    return f"Fix all safely fixable DataLoader findings in this {what}"


@lru_cache(maxsize=64)
def _comment(text: str, cell: int | None, code: str, lines: tuple[int, ...]) -> TextEdit | None:
    """The edit of `suppress`, which parses the text twice; clients ask for it at every move of the cursor.

    A line that IPython alone understands gets no comment.
    """
    if cell is None:
        return suppress(text, code, lines)
    python, _ = to_python(text)
    edit = suppress(python, code, lines)
    if edit is None:
        return None
    line = edit.start.line - 1
    return edit if split_lines(python)[line] == split_lines(text)[line] else None


def _name(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
