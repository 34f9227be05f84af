"""The server itself: which document is linted when, and what is reported to the client.

Linting runs in one thread of its own, so that the client is answered at all times. Of several texts of a document only
the newest counts: work on an older one is stopped. Fixes are worked out once for a text, when the user pauses or asks.
Documents that have not changed are looked at again in such a pause, if unsaved changes elsewhere may matter to them.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from dataloader_lint import __version__
from dataloader_lint.diagnostics import Diagnostic, Safety
from dataloader_lint.lsp import actions, wording
from dataloader_lint.lsp.checking import Checked, Document, check, check_again, fixed, fixes
from dataloader_lint.lsp.opened import Opened, is_unsaved, opened_at, owner_of, owners
from dataloader_lint.lsp.protocol import Protocol
from dataloader_lint.lsp.worker import Urgency, Worker

# How long to wait for the next key before linting, in seconds: half as long as linting takes, within these bounds; the
# second is about as long as between two keys. A lint that the next key overtakes is stopped.
PAUSES = 0.05, 0.1
# How long nothing must be typed, in seconds, before fixes are worked out ahead of the question for them.
IDLE = 1.0

_SETTINGS_FILES = "**/pyproject.toml"
# Of all notebooks the cells in Python; of the others nothing matters.
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("*", [types.NotebookCellLanguage("python")])], save=True
)
_T = TypeVar("_T")


class Server(LanguageServer):
    """pygls's server, and what is known of each open document by its URI; of cells by that of their notebook."""

    def __init__(self) -> None:
        super().__init__(wording.SOURCE, __version__, notebook_document_sync=_NOTEBOOKS, protocol_cls=Protocol)
        self._worker = Worker()
        self._checked: dict[str, Checked] = {}
        self._fixable: dict[str, tuple[Checked, dict[Diagnostic, Diagnostic]]] = {}
        self._fixed: dict[str, tuple[Checked, dict[int | None, str]]] = {}
        self._settled: dict[str, Document] = {}  # what documents held when nothing was typed for a while
        self._changes = 0  # how often something was saved, or settings changed
        self._seen: dict[str, int] = {}  # how many of these changes what is known of a document takes in
        self._turns: dict[str, int] = {}  # how often what was worked out about a document has become useless
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._catching_up: asyncio.Task[None] | None = None
        self._shown: dict[str, set[str]] = {}  # the parts of a document that findings were published for
        self._took: dict[str, float] = {}  # how long linting a document took, in seconds
        self._troubles: set[str] = set()

    def lint_soon(self, uri: str, urgency: Urgency) -> None:
        """Lint a document; after a key with a pause before it, unless its text changes again."""
        uri = owner_of(self.workspace, uri)
        self._stop_work(uri)
        shortest, longest = PAUSES
        took = self._took.get(uri, longest)
        pause = min(max(took / 2, shortest), longest) if urgency is Urgency.KEY else 0
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._lint(uri, pause, urgency))

    def lint_all(self) -> None:
        """Look at every open document again, because something around them has changed."""
        self._changes += 1
        for uri in list(owners(self.workspace)):
            self.lint_soon(uri, Urgency.OPENED)

    def forget(self, uri: str) -> None:
        """Take back what was said of a document that is closed; for others its file counts again."""
        self._stop_work(uri)
        for known in (self._checked, self._fixable, self._fixed, self._seen, self._settled):
            known.pop(uri, None)
        for part in self._shown.pop(uri, {uri}):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(part, []))
        self._catch_up_soon()

    async def actions_for(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """What can be done about the findings in a range, and about all in the file or notebook.

        Clients ask at every move of the cursor. Those that can ask again for an edit get the one for all findings then.
        """
        uri, only = params.text_document.uri, params.context.only
        opened = self._opened(uri)
        checked = await self._check(opened, Urgency.QUESTION) if opened is not None else None
        if opened is None or checked is None or not checked.found:
            return []
        cell = opened.number(uri)
        if cell not in opened.parts:
            return []
        fixable = await self._fixes(opened.uri, checked, Urgency.QUESTION)
        if fixable is None:
            return []
        target = self._target(opened)
        offered: list[types.CodeAction] = []
        if actions.is_wanted(types.CodeActionKind.QuickFix.value, only):
            places = opened.places(cell)
            start, end = places.here(params.range.start), places.here(params.range.end)
            here = [one for one in checked.found if one.cell == cell and one.start <= end and start <= one.end]
            offered += actions.for_findings(here, fixable, target)
        is_safe = any(one.fix is not None and one.fix.safety is Safety.SAFE for one in fixable.values())
        kind = actions.kind_for_all(opened, only)
        if is_safe and kind is not None:
            if self._can_resolve:
                offered.append(actions.for_all_later(kind, target))
            else:
                new = await self._all_fixed(opened.uri, checked)
                offered += actions.for_all(new, kind, target) if new is not None else []
        if actions.needs_commands(self.client_capabilities):
            return [actions.as_command(one, opened) for one in offered]
        return list(offered)

    async def apply(self, uri: str, version: int | None, edit: types.WorkspaceEdit) -> None:
        """Have the client make an edit, if the document is still the one that it was offered for."""
        opened = self._opened(uri)
        if opened is not None and opened.version == version:
            await self.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The action with its edit, if the document is still the one that it was offered for."""
        uri, version = actions.resolvable(action)
        opened = self._opened(uri)
        if opened is None or self._target(opened).version != version:
            return action
        checked = await self._check(opened, Urgency.QUESTION)
        new = await self._all_fixed(opened.uri, checked) if checked is not None else None
        kind = action.kind.value if isinstance(action.kind, types.CodeActionKind) else action.kind
        found = list(actions.for_all(new or {}, kind or actions.FIX_ALL, self._target(opened)))
        return found[0] if found else action

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The pages of the rules that found something at a place."""
        uri = params.text_document.uri
        opened = self._opened(uri)
        checked = await self._check(opened, Urgency.QUESTION) if opened is not None else None
        cell = opened.number(uri) if opened is not None else None
        if opened is None or checked is None or cell not in opened.parts:
            return None
        here = [one for one in checked.found if one.cell == cell]
        text = wording.pages_at(here, opened.part(cell).text, opened.places(cell).here(params.position))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def watch_settings(self) -> None:
        """Ask the client to say when a file with settings changes, if it can."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            files = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_SETTINGS_FILES)])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            asked = types.RegistrationParams([types.Registration("settings", method, files)])
            await self.client_register_capability_async(asked)

    def shutdown(self) -> None:
        """Let go of the client and of the thread, which ends soon."""
        super().shutdown()  # type: ignore[no-untyped-call]
        self._worker.shutdown()

    async def _lint(self, uri: str, pause: float, urgency: Urgency) -> None:
        await asyncio.sleep(pause)
        opened = self._opened(uri)
        if opened is None:
            return
        if urgency is Urgency.OPENED:
            self._settled[uri] = opened.document
        checked = await self._check(opened, urgency)
        now = self._opened(uri)
        if checked is None or now is None or now.document != opened.document:
            return  # what came meanwhile is linted in its turn
        self._publish(now, checked.found)
        self._worker.submit(urgency, _tidy)
        await asyncio.sleep(IDLE)
        await asyncio.wait([self._catch_up_soon()])
        settled = self._checked.get(uri)
        if settled is not None and settled.document == opened.document:
            await self._fixes(uri, settled, Urgency.AHEAD)

    def _catch_up_soon(self) -> asyncio.Task[None]:
        """Look again at the documents for which unsaved changes count that did not count before."""
        if self._catching_up is not None:
            self._catching_up.cancel()
        self._catching_up = asyncio.get_running_loop().create_task(self._catch_up())
        return self._catching_up

    async def _catch_up(self) -> None:
        for uri in list(owners(self.workspace)):
            opened, before = self._opened(uri), self._checked.get(uri)
            if opened is None or before is None or before.document != opened.document:
                continue
            self._settled[uri] = opened.document
            unsaved = self._unsaved(opened)
            if before.unsaved == unsaved:
                continue
            checked = await self._run(uri, Urgency.REST, partial(check_again, before, unsaved))
            if checked is None or self._checked.get(uri) is not before:
                continue
            self._checked[uri] = checked
            if checked.found is not before.found:
                self._publish(opened, checked.found)

    def _publish(self, opened: Opened, found: tuple[Diagnostic, ...]) -> None:
        """Tell the client the findings of a document, and that parts which are no longer there have none."""
        uri, parts = opened.uri, opened.parts.values()
        shown: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in parts}
        for one in found if parts else ():
            shown[opened.part(one.cell).uri].append(wording.diagnostic(one, opened))
        for gone in self._shown.get(uri, set()) - shown.keys():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(gone, []))
        for part in parts:
            params = types.PublishDiagnosticsParams(part.uri, shown[part.uri], part.version)
            self.text_document_publish_diagnostics(params)
        self._shown[uri] = set(shown)

    async def _check(self, opened: Opened, urgency: Urgency) -> Checked | None:
        """What linting a document comes to; None if its text has changed meanwhile."""
        uri, document = opened.uri, opened.document

        def known() -> Checked | None:
            found = self._checked.get(uri)
            return found if found is not None and found.document == document else None

        unsaved: tuple[Document, ...] = ()

        def work() -> Checked:
            before = known()
            if before is None:
                begun = time.perf_counter()
                found = check(document, unsaved)
                self._took[uri] = time.perf_counter() - begun
                return found
            return before if self._seen.get(uri) == changes else check_again(before, unsaved)

        changes = self._changes
        checked = known() if self._seen.get(uri) == changes else None
        if checked is None:
            unsaved = self._unsaved(opened)
            checked = await self._run(uri, urgency, work)
        if checked is None:
            return None
        self._seen[uri] = changes
        if self._opened(uri) is not None:
            self._checked[uri] = checked
        if checked.trouble and checked.trouble not in self._troubles:
            self._troubles.add(checked.trouble)
            message = f"{wording.SOURCE}: settings ignored: {checked.trouble}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        return checked

    async def _fixes(self, uri: str, checked: Checked, urgency: Urgency) -> dict[Diagnostic, Diagnostic] | None:
        """The findings that can be fixed, with their fixes, tried once for a text; None if it has changed meanwhile."""
        return await self._once(self._fixable, uri, urgency, checked, fixes)

    async def _all_fixed(self, uri: str, checked: Checked) -> dict[int | None, str] | None:
        """The texts after all safe fixes; None if the document has changed meanwhile."""
        return await self._once(self._fixed, uri, Urgency.QUESTION, checked, fixed)

    async def _once(
        self,
        memo: dict[str, tuple[Checked, _T]],
        uri: str,
        urgency: Urgency,
        checked: Checked,
        work_out: Callable[[Checked], _T],
    ) -> _T | None:
        """What follows from a checked text, which takes as long as linting a few times."""
        known = memo.get(uri)
        if known is not None and known[0] is checked:
            return known[1]

        def work() -> _T:
            known = memo.get(uri)  # what waited before this for its turn may have been the same
            if known is not None and known[0] is checked:
                return known[1]
            result = work_out(checked)
            memo[uri] = (checked, result)
            return result

        result = await self._run(uri, urgency, work)
        self._worker.submit(urgency, _tidy)
        return result

    async def _run(self, uri: str, urgency: Urgency, work: Callable[[], _T]) -> _T | None:
        """The result of some work on a document in the thread for it; None where the document was changed or closed."""
        turn = self._turns.get(uri)
        return await self._worker.run(urgency, lambda: self._turns.get(uri) == turn, work)

    @property
    def _can_resolve(self) -> bool:
        """True if the client asks for the edit of an action when somebody chooses it."""
        document = self.client_capabilities.text_document
        action = document.code_action if document is not None else None
        support = action.resolve_support if action is not None else None
        return support is not None and "edit" in support.properties

    def _opened(self, uri: str) -> Opened | None:
        return opened_at(self.workspace, uri)

    def _unsaved(self, opened: Opened) -> tuple[Document, ...]:
        """The open documents that hold something else than their files, for the findings of one of them.

        That one counts as it was when nothing was typed for a while: what a project says would else be read anew after
        each key.
        """
        found = [self._settled.get(opened.uri)]
        for uri in owners(self.workspace):
            other = self._opened(uri)
            if other is not None and other.document.path != opened.document.path:
                found.append(other.document)
        return tuple(one for one in found if one is not None and is_unsaved(one))

    def _target(self, opened: Opened) -> actions.Target:
        """The document for edits, of this version of it where the client can tell versions apart."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        return actions.Target(opened, takes_versions=edits is not None and bool(edits.document_changes))

    def _stop_work(self, uri: str) -> None:
        """Stop what waits or is done for a document, as nobody needs it any more, and what nobody waits for."""
        self._turns[uri] = self._turns.get(uri, 0) + 1
        for task in (self._waiting.pop(uri, None), self._catching_up):
            if task is not None:
                task.cancel()


def _tidy() -> None:
    """Free what a run leaves behind, tens of megabytes in circles that the collector would come to much too late.

    What lives on, trees above all, is in no circles, so that the next time need not look at it again.
    """
    gc.collect()
    gc.freeze()
