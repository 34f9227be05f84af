"""Text to LibCST tree, with one clear reason where that fails."""

from __future__ import annotations

import ast
import re
import warnings

import libcst as cst

from dataloader_lint.source.decoding import UnreadableError

# LibCST's native parser overflows the stack, and so kills the process, at some 1,400 nested brackets or 5,000 chained
# operators, calls or branches. Python itself refuses such files much earlier. Files with fewer signs than these hold no
# such nest, which spares most files the second parse.
_BRACKETS_TO_FEAR = 1_000
_OPERATORS_TO_FEAR = 3_000
_OPERATORS = (*"+-*/%&|^~<>=@.", "not ", "if ", "and ", "or ", "lambda", "await ", "elif")

_TOO_DEEP = UnreadableError(
    "this file is nested too deeply to be parsed; Python itself refuses to compile it", "split it up"
)


def parse(text: str) -> cst.Module:
    """Parse a module. Raises UnreadableError with the place and the reason where the text is not Python."""
    if _may_overflow(text) and _overflows(text):
        raise _TOO_DEEP
    try:
        return cst.parse_module(text)
    except RecursionError:
        raise _TOO_DEEP from None
    except Exception as error:  # besides ParserSyntaxError, LibCST lets errors of its native side through
        raise _explained(text, error) from None


def _may_overflow(text: str) -> bool:
    return sum(map(text.count, "([{")) >= _BRACKETS_TO_FEAR or sum(map(text.count, _OPERATORS)) >= _OPERATORS_TO_FEAR


def _overflows(text: str) -> bool:
    try:
        _parse_as_python(text)
    except (RecursionError, MemoryError):
        return True
    except SyntaxError as error:
        return "too many" in (error.msg or "") and "nested" in (error.msg or "")
    except ValueError:
        return False
    return False


def _parse_as_python(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python thinks of the escapes in this file is not our business
        ast.parse(text)


def _explained(text: str, error: Exception) -> UnreadableError:
    """Python's own words and place for a syntax error, as they are clearer; LibCST's where Python sees no error."""
    try:
        _parse_as_python(text)
    except SyntaxError as reason:
        line, column = max(reason.lineno or 1, 1), max((reason.offset or 1) - 1, 0)
        return UnreadableError(f"syntax error: {reason.msg}", "", line, column)
    except (ValueError, RecursionError, MemoryError):
        return _TOO_DEEP
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    place = re.search(r"error at (\d+):(\d+)", message)
    line, column = (int(place[1]), int(place[2])) if place else (getattr(error, "raw_line", 1), 0)
    return UnreadableError(f"LibCST cannot parse this file: {message.splitlines()[0]}", "", line, column)
