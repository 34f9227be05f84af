"""The server itself: which document is linted when, and what is reported to the client.

Linting runs in one thread of its own, so that the client is answered at all times. Of several texts of a document only
the newest counts: work on an older one is stopped. Fixes are worked out once for a text, when the user pauses or asks.
"""

from __future__ import annotations

import asyncio
import gc
import os
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from dataloader_lint import __version__
from dataloader_lint.diagnostics import Diagnostic, Safety
from dataloader_lint.facts.infer.fixpoint import StoppedError, stop_unless
from dataloader_lint.lsp import actions, wording
from dataloader_lint.lsp.checking import Checked, Document, check, fixed, fixes, keep_trees
from dataloader_lint.lsp.places import Places
from dataloader_lint.lsp.protocol import Protocol

if TYPE_CHECKING:
    from pygls.workspace import TextDocument

# How long to wait for the next key before linting, in seconds: about as long as between two keys. A lint that the next
# key overtakes is stopped.
PAUSE = 0.1
# How long nothing must be typed, in seconds, before fixes are worked out ahead of the question for them.
IDLE = 1.0
# LibCST's parser recurses natively; the stack of a thread is much smaller than the main one on some platforms.
_STACK = 64 * 1024 * 1024

_MOST_BYTES = 4  # of a character in UTF-8

_SETTINGS_FILES = "**/pyproject.toml"
_T = TypeVar("_T")


class Server(LanguageServer):
    """pygls's server, and what is known of each open document by its URI."""

    def __init__(self) -> None:
        # Whole texts: pygls applies partial changes to lines that end at form feeds, unlike those of editors.
        super().__init__(
            wording.SOURCE,
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=Protocol,
        )
        self._thread = _thread()
        self._checked: dict[str, Checked] = {}
        self._fixable: dict[str, tuple[Checked, dict[Diagnostic, Diagnostic]]] = {}
        self._fixed: dict[str, tuple[Checked, str]] = {}
        self._turns: dict[str, int] = {}  # how often what was worked out about a document has become useless
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._troubles: set[str] = set()

    def lint_soon(self, uri: str, pause: float = 0.0) -> None:
        """Lint a document after a pause, unless its text changes again before that."""
        self._stop_work(uri)
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._lint(uri, pause))

    def lint_all(self) -> None:
        """Lint every open document anew, because something around them has changed."""
        self._checked.clear()
        for document in self.workspace.text_documents.values():
            self.lint_soon(document.uri)

    def forget(self, uri: str) -> None:
        """Take back what was said of a document that is closed."""
        self._stop_work(uri)
        for known in (self._checked, self._fixable, self._fixed):
            known.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def actions_for(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings in a range, and about all in the file.

        Clients ask at every move of the cursor. Those that can ask again for an edit get the one for all findings then.
        """
        uri, only = params.text_document.uri, params.context.only
        document = self._document(uri)
        checked = await self._check(uri, document) if document is not None else None
        if document is None or checked is None or not checked.found:
            return []
        fixable = await self._fixes(uri, checked)
        if fixable is None:
            return []
        places, target = self._places(checked), actions.Target(uri, self._version(uri))
        offered: list[types.CodeAction] = []
        if actions.is_wanted(types.CodeActionKind.QuickFix.value, only):
            start, end = places.here(params.range.start), places.here(params.range.end)
            found = [one for one in checked.found if one.start <= end and start <= one.end]
            offered += actions.for_findings(found, fixable, checked, places, target)
        is_safe = any(one.fix is not None and one.fix.safety is Safety.SAFE for one in fixable.values())
        if is_safe and actions.is_wanted(actions.FIX_ALL, only):
            if self._can_resolve:
                offered.append(actions.for_file_later(target))
            else:
                new = await self._all_fixed(uri, checked)
                offered += actions.for_file(checked, new, places, target) if new is not None else []
        return offered

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The action with its edit, if the document is still the one that it was offered for."""
        uri, version = actions.resolvable(action)
        document = self._document(uri)
        if document is None or self._version(uri) != version:
            return action
        checked = await self._check(uri, document)
        new = await self._all_fixed(uri, checked) if checked is not None else None
        if checked is None or new is None:
            return action
        found = list(actions.for_file(checked, new, self._places(checked), actions.Target(uri, version)))
        return found[0] if found else action

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The pages of the rules that found something at a place."""
        document = self._document(params.text_document.uri)
        if document is None:
            return None
        checked = await self._check(params.text_document.uri, document)
        if checked is None:
            return None
        text = wording.pages_at(checked.found, document.text, self._places(checked).here(params.position))
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
        """Let go of the client and of the thread; what that still works on is not waited for."""
        super().shutdown()  # type: ignore[no-untyped-call]
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _lint(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        document = self._document(uri)
        if document is None:
            return
        checked = await self._check(uri, document)
        opened = self._opened(uri)
        if checked is None or opened is None or self._document(uri) != document:
            return  # what came meanwhile is linted in its turn
        places = self._places(checked)
        shown = [wording.diagnostic(one, places) for one in checked.found]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, opened.version))
        self._thread.submit(_tidy)
        await asyncio.sleep(IDLE)
        await self._fixes(uri, checked)

    async def _check(self, uri: str, document: Document) -> Checked | None:
        """What linting a document comes to; None if its text has changed meanwhile."""
        others = self._unsaved(document)

        def work() -> Checked:
            known = self._checked.get(uri)
            return known if known is not None and known.document == document else check(document, others)

        known = self._checked.get(uri)
        checked = known if known is not None and known.document == document else await self._run(uri, work)
        if checked is None:
            return None
        if self._document(uri) is not None:
            self._checked[uri] = checked
        if checked.trouble and checked.trouble not in self._troubles:
            self._troubles.add(checked.trouble)
            message = f"{wording.SOURCE}: settings ignored: {checked.trouble}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        return checked

    async def _fixes(self, uri: str, checked: Checked) -> dict[Diagnostic, Diagnostic] | None:
        """The findings that can be fixed, with their fixes, tried once for a text; None if it has changed meanwhile."""
        return await self._once(self._fixable, uri, checked, fixes)

    async def _all_fixed(self, uri: str, checked: Checked) -> str | None:
        """The text after all safe fixes; None if it has changed meanwhile."""
        return await self._once(self._fixed, uri, checked, fixed)

    async def _once(
        self,
        memo: dict[str, tuple[Checked, _T]],
        uri: str,
        checked: Checked,
        work_out: Callable[[Checked, Sequence[Document]], _T],
    ) -> _T | None:
        """What follows from a checked text, which takes as long as linting a few times."""
        known = memo.get(uri)
        if known is not None and known[0] is checked:
            return known[1]
        others = self._unsaved(checked.document)

        def work() -> _T:
            known = memo.get(uri)  # what waited before this for its turn may have been the same
            if known is not None and known[0] is checked:
                return known[1]
            result = work_out(checked, others)
            memo[uri] = (checked, result)
            return result

        result = await self._run(uri, work)
        self._thread.submit(_tidy)
        return result

    async def _run(self, uri: str, work: Callable[[], _T]) -> _T | None:
        """The result of some work on a document in the thread for it; None where the document was changed or closed."""
        turn = self._turns.get(uri)

        def guarded() -> _T | None:
            try:
                with stop_unless(lambda: self._turns.get(uri) == turn):
                    return work() if self._turns.get(uri) == turn else None
            except StoppedError:
                return None

        return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)

    @property
    def _can_resolve(self) -> bool:
        """True if the client asks for the edit of an action when somebody chooses it."""
        document = self.client_capabilities.text_document
        action = document.code_action if document is not None else None
        support = action.resolve_support if action is not None else None
        return support is not None and "edit" in support.properties

    def _opened(self, uri: str) -> TextDocument | None:
        found: TextDocument | None = self.workspace.text_documents.get(unquote(uri))  # that is how pygls keeps them
        return found

    def _document(self, uri: str) -> Document | None:
        """An open document that is Python, with its text; None for others."""
        opened = self._opened(uri)
        if opened is None or opened.language_id not in (None, "", "python"):
            return None
        return Document(_path(opened), opened.source, self._folder(opened))

    def _unsaved(self, document: Document) -> Sequence[Document]:
        """The other open documents whose text is not the one on the disk."""
        found = (self._document(opened.uri) for opened in self.workspace.text_documents.values())
        return [one for one in found if one is not None and one.path != document.path and _is_unsaved(one)]

    def _folder(self, opened: TextDocument) -> str:
        """The innermost folder in the editor that holds a document."""
        uri = unquote(opened.uri)
        folders = (f"{unquote(folder.uri).rstrip('/')}/" for folder in self.workspace.folders.values())
        around = [folder for folder in folders if uri.startswith(folder)]
        return to_fs_path(max(around, key=len)) or "" if around else ""

    def _places(self, checked: Checked) -> Places:
        return Places(checked.document.text, self.workspace.position_encoding or types.PositionEncodingKind.Utf16)

    def _version(self, uri: str) -> int | None:
        """The version that an edit is for, as far as the client can tell versions apart."""
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        if edits is None or not edits.document_changes:
            return None
        opened = self._opened(uri)
        return opened.version if opened is not None else None

    def _stop_work(self, uri: str) -> None:
        """Stop what waits or is done for a document, as nobody needs it any more."""
        self._turns[uri] = self._turns.get(uri, 0) + 1
        task = self._waiting.pop(uri, None)
        if task is not None:
            task.cancel()


def make_server() -> Server:
    """A server that knows what to do on each message of the client."""
    server = Server()
    kinds = [types.CodeActionKind.QuickFix, actions.FIX_ALL]

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        await server.watch_settings()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.lint_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.lint_soon(params.text_document.uri, PAUSE)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_params: types.DidSaveTextDocumentParams) -> None:
        server.lint_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def settings_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        server.lint_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration_changed(_params: types.DidChangeConfigurationParams) -> None:
        """Clients send it unasked; the settings that count are in the project's own file."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
    )
    async def offered(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.actions_for(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    return server


def serve() -> None:
    """Speak LSP on standard input and output until the client leaves."""
    gc.enable()  # unlike a run of the command, this goes on for days
    stream, sys.stdout = sys.stdout.buffer, sys.stderr  # what anything prints must not come between two messages
    keep_trees()
    make_server().start_io(sys.stdin.buffer, stream)


def _thread() -> ThreadPoolExecutor:
    """One thread with room for deep files, so that lints come one after the other."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="lint")
    before = threading.stack_size(_STACK)
    thread.submit(lambda: None).result()  # it is started with the first work
    threading.stack_size(before)
    return thread


def _tidy() -> None:
    """Free what a run leaves behind, tens of megabytes in circles that the collector would come to much too late.

    What lives on, trees above all, is in no circles, so that the next time need not look at it again.
    """
    gc.collect()
    gc.freeze()


def _path(document: TextDocument) -> str:
    """Where a document lies, or would lie if it was saved into the working directory."""
    path = to_fs_path(document.uri) or os.path.join(os.getcwd(), os.path.basename(document.path) or "untitled.py")
    return path if _is_possible(path) else os.path.join(os.getcwd(), "untitled.py")


def _is_possible(path: str) -> bool:
    """False for what no file can be called."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeError:
        return False


def _is_unsaved(document: Document) -> bool:
    try:
        status = os.stat(document.path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES * (len(document.text) + 1):
            return True
        with open(document.path, encoding="utf-8", newline="") as stream:
            return stream.read() != document.text
    except (OSError, ValueError):
        return True
