"""How the bytes of a Python file become text: byte order marks, PEP 263 cookies, UTF-8."""

from __future__ import annotations

import codecs
import io
import re
import tokenize

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_FOREIGN_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_BYTE_NEWLINE = re.compile(rb"\r\n|\r|\n")
_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=]")
# Codecs that packages register to translate newer syntax (https://github.com/asottile/future-fstrings): UTF-8 as bytes.
_TRANSLATING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*future[-_](?:annotations|fstrings|typing)\b")


class UnreadableError(ValueError):
    """A file that cannot be read as Python source: what is wrong with it, what to do, and where (column from 0)."""

    def __init__(self, problem: str, advice: str = "", line: int = 1, column: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice
        self.line = line
        self.column = column


class TooMuchError(UnreadableError):
    """A file that would take more time or memory than checking it is worth."""


def decode(source: bytes) -> str:
    """Decode a Python file without its byte order mark; newlines stay as they are. Raises UnreadableError."""
    for mark, name in _FOREIGN_MARKS:
        if source.startswith(mark):
            raise UnreadableError(f"this file is {name}, which Python cannot read", "save it as UTF-8")
    if b"\0" in source:
        before = source[: source.index(b"\0")]
        raise UnreadableError(
            "this file holds a NUL byte, which Python source must not",
            "remove it, or exclude the file",
            _line_after(before),
        )
    try:
        text = source.decode(encoding_of(source))
    except UnicodeDecodeError as error:
        raise _not_in(error.encoding, error.object, error.start) from None
    except (SyntaxError, LookupError, ValueError):
        try:  # detect_encoding says the same of an unknown encoding and of lines that are no UTF-8
            source.decode("utf-8")
        except UnicodeDecodeError as error:
            if not _declares_encoding(source):
                raise _not_in("utf-8", source, error.start) from None
        raise UnreadableError(
            "this file declares an encoding that Python does not know or that its byte order mark contradicts",
            "fix the coding line, or save the file as UTF-8 without one",
        ) from None
    return text.removeprefix("\ufeff")


def encoding_of(source: bytes) -> str:
    """The encoding that a Python file declares. Raises SyntaxError where `tokenize.detect_encoding` does."""
    if any(_TRANSLATING.match(line) for line in _BYTE_NEWLINE.split(source, maxsplit=2)[:2]):
        return "utf-8-sig" if source.startswith(codecs.BOM_UTF8) else "utf-8"
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]


def split_lines(text: str) -> list[str]:
    """The lines of a file without their ends, as Python counts them: form feeds and the like are no line ends."""
    return _NEWLINE.split(text)


def line_starts(text: str) -> list[int]:
    """The offset at which each line of a file begins, as `split_lines` counts them."""
    return [0, *(found.end() for found in _NEWLINE.finditer(text))]


def _not_in(encoding: str, source: bytes, offset: int) -> UnreadableError:
    name = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "utf8": "UTF-8"}.get(encoding, encoding)
    advice = "save it as UTF-8, or declare its encoding in the first line (`# -*- coding: latin-1 -*-`)"
    return UnreadableError(
        f"this file is not valid {name} (byte 0x{source[offset]:02x})", advice, _line_after(source[:offset])
    )


def _line_after(before: bytes) -> int:
    return 1 + len(_NEWLINE.findall(before.decode("latin-1")))


def _declares_encoding(source: bytes) -> bool:
    return any(_CODING.match(line) for line in _BYTE_NEWLINE.split(source, maxsplit=2)[:2])
