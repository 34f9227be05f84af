"""What editors offer to do about findings: fix one, fix all in the file, or suppress one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lsprotocol import types

from dataloader_lint.diagnostics import Diagnostic, Safety, TextEdit
from dataloader_lint.lsp import wording
from dataloader_lint.lsp.checking import Checked
from dataloader_lint.lsp.places import Places
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE
from dataloader_lint.source.noqa import suppress

_ALL = "Fix all safely fixable DataLoader findings in this file"
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
    """True if a client that asks for `only` some kinds wants this one; it wants the kinds below those too."""
    return only is None or any(f"{kind}.".startswith(f"{_name(wanted)}.") for wanted in only)


def for_findings(
    found: Sequence[Diagnostic],
    fixable: dict[Diagnostic, Diagnostic],
    checked: Checked,
    places: Places,
    target: Target,
) -> Iterator[types.CodeAction]:
    """For each finding its fix, if it has one, and the comment that suppresses it."""
    for one in found:
        shown = wording.diagnostic(one, places)
        fix = fixable[one].fix if one in fixable else None
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
        comment = _comment(checked.document.text, one.code, (one.start.line, *one.statement_lines))
        if comment is not None:
            yield types.CodeAction(
                title=f"{one.code}: Suppress it with a `# noqa` comment",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[shown],
                edit=target.edit([places.edit(comment)]),
            )


def for_file(checked: Checked, new: str, places: Places, target: Target) -> Iterator[types.CodeAction]:
    """All safe fixes of the file, which lead to the text `new`, if there are any."""
    if new != checked.document.text:
        yield types.CodeAction(title=_ALL, kind=FIX_ALL, edit=target.edit(places.changes(new)))


def for_file_later(target: Target) -> types.CodeAction:
    """All safe fixes of the file, for a client that asks for the edit when somebody chooses the action."""
    return types.CodeAction(title=_ALL, kind=FIX_ALL, data={"uri": target.uri, "version": target.version})


def resolvable(action: types.CodeAction) -> tuple[str, int | None]:
    """The document that `for_file_later` was asked for, and its version; an empty URI for any other action."""
    data = action.data
    uri, version = (data.get("uri"), data.get("version")) if isinstance(data, dict) else ("", None)
    return uri if isinstance(uri, str) else "", version if isinstance(version, int) else None


@lru_cache(maxsize=64)
def _comment(text: str, code: str, lines: tuple[int, ...]) -> TextEdit | None:
    """The edit of `suppress`, which parses the text twice; clients ask for it at every move of the cursor."""
    return suppress(text, code, lines)


def _name(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
