"""Standard input for pygls, with bounds: a client that announces too much must not take the server's memory.

pygls reads as much as a header announces, in one piece. What is too long is skipped here instead, and a message of the
server's own, `TOO_LONG`, takes its place, so that the client is told at once.
"""

from __future__ import annotations

import io
import json
import re
from typing import BinaryIO

# The largest files that editors send have 50 MB.
MOST = 64 * 1024 * 1024
TOO_LONG = "$/dataloader-lint/tooLong"

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d+)\s*", re.IGNORECASE)
_LINE = 8192  # no header is longer
_PIECE = 65536
_DIGITS = 18  # of a length that is read as a number


class BoundedReader(io.BytesIO):
    """What a stream holds, without messages of more than `MOST` bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._left = 0  # of a message that is skipped

    def readline(self, _size: int | None = -1, /) -> bytes:
        """A header, in the form that pygls knows; a part of it where it is longer than any header."""
        while self._left:
            skipped = len(self._stream.read(min(self._left, _PIECE)))
            if not skipped:
                return b""
            self._left -= skipped
        line = self._stream.readline(_LINE)
        length = _LENGTH.fullmatch(line)
        if length is None:
            return b"\r\n" if line == b"\n" else line
        digits = length[1].lstrip(b"0") or b"0"
        return b"Content-Length: %s\r\n" % (digits if len(digits) <= _DIGITS else b"9" * _DIGITS)

    def read(self, size: int | None = -1, /) -> bytes:
        """A message of the announced size, or what is sent in its place."""
        size = -1 if size is None else size
        if size <= MOST:
            return self._stream.read(size)
        self._left = size
        return json.dumps({"jsonrpc": "2.0", "method": TOO_LONG, "params": {}}).encode()
