"""A small editor: pygls's own client in front of `dataloader-lint lsp`, over standard input and output."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.processes import kill_group

ROOT = Path(__file__).parent.parent
PATIENCE = 60  # seconds; the machine may be busy


class Editor:
    """Documents with their texts and what the server has said of them."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: asyncio.Queue[types.ShowMessageParams] = asyncio.Queue()
        self.takes_parts = True  # whether the server takes changes of parts of a text

    def open(self, path: Path, text: str, language: str = "python") -> str:
        uri = path.as_uri()
        self.texts[uri], self.versions[uri] = text, 1
        document = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return uri

    def type(self, uri: str, text: str) -> int:
        """Gives a document a new text, and returns its new version."""
        self.texts[uri] = text
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))
        return self.versions[uri]

    def edit(self, uri: str, *changes: tuple[types.Range, str]) -> int:
        """Replaces parts of a document in one message, each in the text after those before it. As `type` otherwise."""
        self.versions[uri] += 1
        sent: list[types.TextDocumentContentChangeEvent] = []
        for place, text in changes:
            self.texts[uri] = applied(self.texts[uri], [types.TextEdit(place, text)])
            sent.append(types.TextDocumentContentChangePartial(range=place, text=text))
        if not self.takes_parts:
            sent = [types.TextDocumentContentChangeWholeDocument(self.texts[uri])]
        document = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, sent))
        return self.versions[uri]

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def save(self, uri: str) -> None:
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def said(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """Waits for the findings of a document, in a version of it or at all."""
        while True:
            published = await asyncio.wait_for(self.published.get(), PATIENCE)
            if published.uri == uri and version in (None, published.version):
                return list(published.diagnostics)

    async def actions(self, uri: str, place: types.Range, only: Sequence[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=list(only) if only is not None else None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        offered = await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE)
        return [one for one in offered or [] if isinstance(one, types.CodeAction)]

    async def hover(self, uri: str, line: int, character: int) -> str:
        place = types.Position(line, character)
        asked = types.HoverParams(types.TextDocumentIdentifier(uri), place)
        hover = await asyncio.wait_for(self.client.text_document_hover_async(asked), PATIENCE)
        if hover is None:
            return ""
        assert isinstance(hover.contents, types.MarkupContent)
        return hover.contents.value

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        return await asyncio.wait_for(self.client.code_action_resolve_async(action), PATIENCE)

    def after(self, action: types.CodeAction) -> str:
        """The text of a document after an action, by the units of UTF-16 that the protocol counts in."""
        [text] = self.all_after(action).values()
        return text

    def all_after(self, action: types.CodeAction) -> dict[str, str]:
        """The same for all documents that an action changes."""
        assert action.edit is not None
        assert action.edit.document_changes
        found = {}
        for change in action.edit.document_changes:
            assert isinstance(change, types.TextDocumentEdit)
            uri = change.text_document.uri
            assert change.text_document.version == self.versions[uri]
            found[uri] = applied(self.texts[uri], [each for each in change.edits if isinstance(each, types.TextEdit)])
        return found


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """A text after edits whose columns count in UTF-16."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    starts = [0, *itertools.accumulate(len(line) for line in lines)]

    def place(position: types.Position) -> int:
        before = lines[position.line].encode("utf-16-le", "surrogatepass")[: position.character * 2]
        return starts[position.line] + len(before.decode("utf-16-le", "surrogatepass"))

    for edit in sorted(edits, key=lambda one: place(one.range.start), reverse=True):
        text = text[: place(edit.range.start)] + edit.new_text + text[place(edit.range.end) :]
    return text


@asynccontextmanager
async def editor(
    folder: Path,
    units: Sequence[str] = (),
    site: Sequence[str] = (),
    resolves: Sequence[str] = (),
    can: types.ClientCapabilities | None = None,
) -> AsyncIterator[Editor]:
    """Starts the server in a folder and leaves it as editors do. `units` are the position encodings it is offered.

    `site` are folders that it imports from first, `resolves` the parts of actions that the editor asks for later; `can`
    is what it can do, in place of all that.
    """
    client = LanguageClient("editor", "1")
    me = Editor(client)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        me.published.put_nowait(params)

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def shown(params: types.ShowMessageParams) -> None:
        me.messages.put_nowait(params)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(_params: types.RegistrationParams) -> None:
        pass

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*site, str(ROOT)])}
    command = (sys.executable, "-m", "dataloader_lint", "lsp")
    await client.start_io(*command, cwd=folder, env=environment, start_new_session=True)
    process = client._server
    assert process is not None
    try:
        yield await _begun(me, folder, can or _abilities(units, resolves))
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        await asyncio.wait_for(client.stop(), PATIENCE)
    finally:
        kill_group(process.pid)


def _abilities(units: Sequence[str], resolves: Sequence[str]) -> types.ClientCapabilities:
    """What a modern editor can do."""
    general = types.GeneralClientCapabilities(position_encodings=list(units)) if units else None
    workspace = types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    )
    action = types.CodeActionClientCapabilities(
        data_support=True,
        code_action_literal_support=types.ClientCodeActionLiteralOptions(types.ClientCodeActionKindOptions([])),
        resolve_support=types.ClientCodeActionResolveOptions(list(resolves)) if resolves else None,
    )
    document = types.TextDocumentClientCapabilities(code_action=action)
    notebook = types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities())
    return types.ClientCapabilities(
        workspace=workspace, text_document=document, general=general, notebook_document=notebook
    )


async def _begun(me: Editor, folder: Path, can: types.ClientCapabilities) -> Editor:
    """Shakes hands with the server."""
    client = me.client
    folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
    begin = types.InitializeParams(can, process_id=os.getpid(), root_uri=folder.as_uri(), workspace_folders=folders)
    begun = await asyncio.wait_for(client.initialize_async(begin), PATIENCE)
    sync = begun.capabilities.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    me.takes_parts = sync.change is types.TextDocumentSyncKind.Incremental
    client.initialized(types.InitializedParams())
    return me
