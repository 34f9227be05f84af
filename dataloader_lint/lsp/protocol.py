"""Answers what pygls leaves unanswered: requests that cannot be understood, and those after the end."""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol

_log = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """pygls's protocol, in which each request gets an answer."""

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
        number, method = getattr(message, "id", None), getattr(message, "method", types.EXIT)
        if self._shutdown and number is not None and method != types.EXIT:
            self._refuse(number, JsonRpcInvalidRequest("the server is shutting down"))
            return
        super().handle_message(message)

    def _refuse(self, number: object, error: JsonRpcException) -> None:
        if isinstance(number, (int, str)):
            self._send_response(number, None, error.to_response_error())
