"""What the server does on each message of the client, and how it is started."""

from __future__ import annotations

import gc
import sys

from lsprotocol import types

from dataloader_lint.lsp import actions
from dataloader_lint.lsp.checking import keep_trees
from dataloader_lint.lsp.reading import BoundedReader
from dataloader_lint.lsp.server import Server
from dataloader_lint.lsp.worker import Urgency


def make_server() -> Server:
    """A server that knows what to do on each message of the client."""
    server = Server()
    kinds = [types.CodeActionKind.QuickFix, actions.FIX_ALL, actions.FIX_NOTEBOOK]

    @server.feature(types.INITIALIZE)
    def begun(params: types.InitializeParams) -> None:
        """Offer a command only where it is needed: in VS Code two servers must not have the same."""
        if actions.needs_commands(params.capabilities):
            server.command(actions.APPLY)(applied)

    async def applied(uri: str, version: int, edit: types.WorkspaceEdit) -> None:
        await server.apply(uri, version, edit)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        await server.watch_settings()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.lint_soon(params.text_document.uri, Urgency.OPENED)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.lint_soon(params.text_document.uri, Urgency.KEY)

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
    async def offered(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        return await server.actions_for(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    _follow_notebooks(server)
    return server


def _follow_notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened_notebook(params: types.DidOpenNotebookDocumentParams) -> None:
        server.lint_soon(params.notebook_document.uri, Urgency.OPENED)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed_notebook(params: types.DidChangeNotebookDocumentParams) -> None:
        server.lint_soon(params.notebook_document.uri, Urgency.KEY)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved_notebook(_params: types.DidSaveNotebookDocumentParams) -> None:
        server.lint_all()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed_notebook(params: types.DidCloseNotebookDocumentParams) -> None:
        server.forget(params.notebook_document.uri)


def serve() -> None:
    """Speak LSP on standard input and output until the client leaves."""
    gc.enable()  # unlike a run of the command, this goes on for days
    stream, sys.stdout = sys.stdout.buffer, sys.stderr  # what anything prints must not come between two messages
    keep_trees()
    make_server().start_io(BoundedReader(sys.stdin.buffer), stream)
