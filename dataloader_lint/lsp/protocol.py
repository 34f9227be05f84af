"""Answers what pygls leaves unanswered: requests that cannot be understood, and those after the end."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method

from dataloader_lint.lsp.documents import Documents
from dataloader_lint.lsp.reading import MOST, TOO_LONG

_log = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """pygls's protocol, in which each request gets an answer, and texts change as editors mean it."""

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Begin as pygls does, with this server's own documents."""
        result = yield from super().lsp_initialize(params)
        begun = self.workspace
        self._workspace = Documents(
            begun.root_uri,
            types.TextDocumentSyncKind.Incremental,
            list(begun.folders.values()),
            begun.position_encoding,
        )
        return result

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The message in some JSON; None for one that makes no sense, which is answered if it is a request."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            _log.warning("a message that makes no sense: %.200r", data)
            if "method" in data and "id" in data:
                self._refuse(data["id"], error)
            return None

    def handle_message(self, message: Any) -> None:
        """Deal with a message, unless it makes no sense."""
        if message is None:
            return
        if getattr(message, "method", "") == TOO_LONG:
            problem = JsonRpcInvalidRequest(f"a message of more than {MOST:,} bytes was skipped")
            error = {"code": problem.code, "message": problem.message}
            self._send_data({"jsonrpc": self.VERSION, "id": None, "error": error})  # pygls leaves `id` out
            return
        number, method = getattr(message, "id", None), getattr(message, "method", types.EXIT)
        if self._shutdown and number is not None and method != types.EXIT:
            self._refuse(number, JsonRpcInvalidRequest("the server is shutting down"))
            return
        super().handle_message(message)

    def _refuse(self, number: object, error: JsonRpcException) -> None:
        if isinstance(number, (int, str)):
            self._send_response(number, None, error.to_response_error())
