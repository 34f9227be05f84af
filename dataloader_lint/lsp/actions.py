"""What editors offer to do about findings: mend one, mend all in the file, or excuse one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from dataloader_lint.diagnostics import Diagnostic, Safety
from dataloader_lint.lsp import wording
from dataloader_lint.lsp.checking import Checked
from dataloader_lint.lsp.places import Places
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE
from dataloader_lint.source.noqa import suppress

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{wording.SOURCE}"


@dataclass(frozen=True, slots=True)
class Target:
    """The document that actions change. `version` is None for clients that take no versioned edits."""

    uri: str
    version: int | None

    def edit(self, edits: list[types.TextEdit]) -> types.WorkspaceEdit:
        """A change of the document; of this version of it only, where the client can tell."""
        if self.version is None:
            return types.WorkspaceEdit(changes={self.uri: edits})
        document = types.OptionalVersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(edits))])


def is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a client that asks for `only` some kinds wants this one; it wants the kinds below those too."""
    return only is None or any(f"{kind}.".startswith(f"{_name(wanted)}.") for wanted in only)


def for_findings(
    found: Sequence[Diagnostic],
    mended: dict[Diagnostic, Diagnostic],
    checked: Checked,
    places: Places,
    target: Target,
) -> Iterator[types.CodeAction]:
    """For each finding its repair, if it has one, and the comment that excuses it."""
    for one in found:
        shown = wording.diagnostic(one, places)
        fix = mended[one].fix if one in mended else None
        if fix is not None:
            yield types.CodeAction(
                title=f"{one.code}: {wording.title_of(fix)}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[shown],
                is_preferred=fix.safety is Safety.SAFE,
                edit=target.edit([places.edit(edit) for edit in fix.edits]),
            )
        if one.code in (UNREADABLE_FILE, INTERNAL_ERROR):
            continue
        comment = suppress(checked.document.text, one.code, (one.start.line, *one.statement_lines))
        if comment is not None:
            yield types.CodeAction(
                title=f"{one.code}: Excuse it with a `# noqa` comment",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[shown],
                edit=target.edit([places.edit(comment)]),
            )


def for_file(checked: Checked, new: str, places: Places, target: Target) -> Iterator[types.CodeAction]:
    """All safe repairs of the file, which lead to the text `new`, if there are any."""
    if new != checked.document.text:
        yield types.CodeAction(
            title="Make all safe DataLoader repairs in this file",
            kind=FIX_ALL,
            edit=target.edit(places.changes(new)),
        )


def _name(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
