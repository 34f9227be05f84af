"""Text to LibCST tree, bare or whole, with one clear reason where that fails."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import unicodedata
from collections.abc import Iterator

import libcst as cst

from dataloader_lint.source.decoding import TooMuchError, UnreadableError
from dataloader_lint.source.fast_tree import UnlikeError, bare_tree, parse_as_python
from dataloader_lint.source.odd_lines import without_odd_lines
from dataloader_lint.source.trees import Trees

# LibCST's native parser overflows the stack, and so kills the process, at some 1,400 nested brackets or 5,000 chained
# operators, calls or branches. Python itself refuses most such files much earlier. Files with fewer signs than these
# hold no such nest, which spares most files the second parse.
_BRACKETS_TO_FEAR = 1_000
_OPERATORS_TO_FEAR = 3_000
_DEEPEST = 3_000
# LibCST writes code recursively, with two calls for each level.
_CALLS = 3 * _DEEPEST
_OPERATORS = (*"+-*/%&|^~<>=@.", "not ", "if ", "and ", "or ", "lambda", "await ", "elif")

# The tree of a file takes some 50 to 500 times its length in memory, and some 1,000 bytes for each sign. The largest
# files of Python packages have 130,000 signs in 1,400,000 characters (a part of torch's tests); of lines such as
# `x = 1`, 1.4 MB take 1.3 GB.
MAX_LENGTH = 1_500_000
MAX_SIGNS = 160_000
_SIGNS = "=,([.:;+-*/\n"

_PLACE = re.compile(r"error at (\d+):(\d+)")

_trees: Trees | None = None
_parsed: tuple[str, ast.Module] | None = None

_TOO_DEEP = UnreadableError("this file is nested too deeply to be parsed", "split it up")


def check_size(text: str) -> None:
    """Raises TooMuchError if the tree of a text would take more memory than checking it is worth."""
    if len(text) > MAX_LENGTH:
        raise TooMuchError(f"this file is longer than {MAX_LENGTH:,} characters", "split it up, or exclude it")
    if len(text) > MAX_SIGNS and sum(map(text.count, _SIGNS)) > MAX_SIGNS:
        raise TooMuchError(f"this file has more than {MAX_SIGNS:,} lines and operators", "split it up, or exclude it")


def tree_of(text: str) -> cst.Module:
    """The tree of a module, a bare one if that can be had. Raises UnreadableError as `parse` does."""
    kept = _trees.take(text) if _trees is not None else None
    if kept is not None:
        return kept
    try:
        tree = bare_tree(text, _parsed_already(text))
    except UnlikeError:
        tree = own_tree(text)
    if _trees is not None:
        _trees.put(text, tree)
    return tree


def own_tree(text: str) -> cst.Module:
    """LibCST's own tree of a module, with names as Python reads them. Raises UnreadableError as `parse` does."""
    module = parse(text)
    if not has_plain_names(text):
        with room_for_recursion():
            _normalize_names(module)
    return module


def has_plain_names(text: str) -> bool:
    """True if Python takes all names in a text as they are written (see `unicodedata.normalize`)."""
    return text.isascii() or unicodedata.is_normalized("NFKC", text)


def _normalize_names(node: cst.CSTNode) -> None:
    if isinstance(node, cst.Name):
        object.__setattr__(node, "value", unicodedata.normalize("NFKC", node.value))
    for child in node.children:
        _normalize_names(child)


def parsed_by_python(text: str) -> ast.Module:
    """What Python's own parser makes of a text. Raises what `ast.parse` does."""
    return _parsed_already(text) or parse_as_python(text)


def _parsed_already(text: str) -> ast.Module | None:
    return _parsed[1] if _parsed is not None and _parsed[0] == text else None


def parse(text: str) -> cst.Module:
    """Parse a module. Raises UnreadableError with the place and the reason where the text is not Python.

    The code of the module is not always the text: see `alignment`. Odd beginnings of lines, which LibCST may take for
    other blocks than Python does, are taken away first.
    """
    if _may_overflow(text) and _overflows(text):
        raise _TOO_DEEP
    try:
        return cst.parse_module(without_odd_lines(text) or text)
    except RecursionError:
        raise _TOO_DEEP from None
    except Exception as error:  # besides ParserSyntaxError, LibCST lets errors of its native side through
        raise _explained(text, error) from None


def keep_trees(trees: Trees | None) -> None:
    """From now on, `tree_of` looks there first; None for nowhere, as it is at the start."""
    global _trees  # noqa: PLW0603
    _trees = trees


@contextlib.contextmanager
def parsed_already(text: str, module: ast.Module) -> Iterator[None]:
    """Inside, `tree_of` need not have Python parse this text once more: flake8 has done so for all of its plugins."""
    global _parsed  # noqa: PLW0603
    _parsed = (text, module)
    try:
        yield
    finally:
        _parsed = None


def code_of(module: cst.Module, node: cst.CSTNode | None = None) -> str:
    """The code of a module, or of one of its nodes, however deep it is nested."""
    with room_for_recursion():
        return module.code if node is None else module.code_for_node(node)


@contextlib.contextmanager
def room_for_recursion(calls: int = _CALLS) -> Iterator[None]:
    """Inside, so many more calls can be nested, or as many as LibCST needs to write whatever `parse` lets through."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _depth() + calls))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _depth() -> int:
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def _may_overflow(text: str) -> bool:
    return sum(map(text.count, "([{")) >= _BRACKETS_TO_FEAR or sum(map(text.count, _OPERATORS)) >= _OPERATORS_TO_FEAR


def _overflows(text: str) -> bool:
    try:
        return _is_deep(parse_as_python(text))
    except (RecursionError, MemoryError):
        return True
    except SyntaxError as error:
        return "too many" in (error.msg or "") and "nested" in (error.msg or "")
    except ValueError:
        return False


def _is_deep(module: ast.Module) -> bool:
    """True if LibCST's tree would be too deep: it nests `a and b and c`, which is flat in Python's own."""
    stack: list[tuple[ast.AST, int]] = [(module, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > _DEEPEST:
            return True
        depth += len(node.values) if isinstance(node, ast.BoolOp) else 1
        stack.extend((child, depth) for child in ast.iter_child_nodes(node))
    return False


def _explained(text: str, error: Exception) -> UnreadableError:
    """Python's own words and place for a syntax error, as they are clearer; LibCST's where Python sees no error."""
    try:
        parse_as_python(text)
    except SyntaxError as reason:
        line, column = max(reason.lineno or 1, 1), max((reason.offset or 1) - 1, 0)
        return UnreadableError(f"syntax error: {reason.msg}", "", line, column)
    except (ValueError, RecursionError, MemoryError):
        return _TOO_DEEP
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    place = _PLACE.search(message)
    line, column = (int(place[1]), int(place[2])) if place else (getattr(error, "raw_line", 1), 0)
    return UnreadableError(f"LibCST cannot parse this file: {message.splitlines()[0]}", "", line, column)
