"""Text that is safe to print: escape sequences, control characters and direction marks of the input do nothing.

Nor do commands to CI services, which read logs: `::error::` at the beginning of a line (GitHub Actions, after blanks),
and `##[error]`, `##vso[...]` and `##teamcity[...]` anywhere in it (GitHub Actions, Azure Pipelines, TeamCity).
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TextIO

from dataloader_lint.diagnostics import Diagnostic, Reason, Safety

TAB = 4

_COMMAND = re.compile(r"(?<=#)#(?=\w*\[)")
_FIRST_IN_LINE = re.compile(r"^[^\S\n]*::", re.MULTILINE)
_BEFORE_COMMAND = re.compile(r"#(?=#\w*\[)")


def neutralise(text: str) -> str:
    """Spell out every character that could act on a terminal, end a line or hide text; for names and messages."""
    if "##" in text:
        text = _COMMAND.sub(r"\\x23", text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def holds_command(text: str) -> bool:
    """True if a CI service would take part of a text in its log for a command."""
    return _FIRST_IN_LINE.search(text) is not None or _COMMAND.search(text) is not None


def neutralise_json(line: str) -> str:
    """A line of JSON, or of a report in JSON, that means the same and holds no command."""
    return _BEFORE_COMMAND.sub(r"\\u0023", line) if "##" in line else line


def neutralise_xml(line: str) -> str:
    """A line of XML that means the same and holds no command."""
    return _BEFORE_COMMAND.sub("&#35;", line) if "##" in line else line


def shown_path(filename: str) -> str:
    """A file's path as messages show it: relative where it lies below the working directory."""
    if os.path.isabs(filename):
        below = os.getcwd().rstrip(os.sep) + os.sep
        filename = filename.removeprefix(below)
    if filename.lstrip().startswith("::"):
        filename = f".{os.sep}{filename}"
    return neutralise(filename)


def marker(one: Diagnostic, *, unsafe: bool) -> str:
    """What stands behind the code of a finding that `--fix` fixes, unsafe fixes included or not."""
    is_fixable = one.fix is not None and (unsafe or one.fix.safety is Safety.SAFE)
    return " [*]" if is_fixable else ""


def shown_place(one: Diagnostic | Reason, filename: str | None = None) -> str:
    """Where a finding or a reason is: file, line and column from 1; of a notebook also the cell with the line.

    `filename` is the file's name in other words, such as with colours.
    """
    cell = f"cell {one.cell}:" if one.cell is not None else ""
    start = one.start if isinstance(one, Diagnostic) else one.position
    return f"{filename or shown_path(one.filename)}:{cell}{start.line}:{start.column + 1}"


def line_of(one: Diagnostic) -> str:
    """Where a finding is, without the column: `train.py:12`, `train.ipynb:cell 3:4`."""
    cell = f"cell {one.cell}:" if one.cell is not None else ""
    return f"{shown_path(one.filename)}:{cell}{one.start.line}"


def draw_line(line: str) -> tuple[str, list[int]]:
    """A source line as a terminal can show it, and for each character (and the end) the column where it comes to stand.

    Tabs become spaces, wide characters take two columns, combining ones none; what is not printable becomes a symbol.
    """
    if line.isascii() and line.isprintable() and "##" not in line:
        return line, list(range(len(line) + 1))
    drawn: list[str] = []
    columns = [0]
    commands = {found.start() for found in _COMMAND.finditer(line)} if "##" in line else ()
    for place, char in enumerate(line):
        column = columns[-1]
        shown, width = ("\\x23", 4) if place in commands else _drawn(char, column)
        drawn.append(shown)
        columns.append(column + width)
    return "".join(drawn), columns


def _drawn(char: str, column: int) -> tuple[str, int]:
    if char == "\t":
        width = TAB - column % TAB
        return " " * width, width
    if unicodedata.combining(char):
        return char, 0
    if char.isprintable() or unicodedata.category(char) == "Zs":
        return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1
    if char < " ":
        return chr(0x2400 + ord(char)), 1
    return "\N{SYMBOL FOR DELETE}" if char == "\x7f" else "\N{REPLACEMENT CHARACTER}", 1


def _escaped(char: str) -> str:
    point = ord(char)
    if 0xDC80 <= point <= 0xDCFF:  # a byte of a file name that is no UTF-8
        return f"\\x{point - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def fitted(line: str, stream: TextIO, indent: str = "  ") -> list[str]:
    """A line without colors, broken between words where it goes to a terminal that is less wide."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return [line]
    return wrapped(line, max(40, columns), indent) if columns else [line]


_GLUE = "\0"  # for a space that no line ends at; what is shown to people holds none
_SEAM = "\x01 "  # where a word may be broken
_PART_END = re.compile(r"(?<=[/\\])(?=\w)")
_NAME_PART_END = re.compile(r"(?<=[_.-])(?=\w)")
_CODE_SPAN = re.compile(r"`[^`]+`")
_AMOUNT = re.compile(r"(?<=\d) (?=(?:[kKMGT]i?)?B\b)|(?<=:cell) (?=\d)")  # and the cell of a place


def wrapped(line: str, columns: int, indent: str = "  ", *, together: int = 0) -> list[str]:
    """A line without colors as lines of at most so many columns, broken between words.

    Short code in backquotes and amounts such as `19 MB` stay whole, and so do the first `together` characters. A word
    that is longer than a line is broken only behind a slash, `_`, `.` or `-`.
    """
    if len(line) <= columns:
        return [line]
    from textwrap import wrap

    glued = line[:together].replace(" ", _GLUE) + _CODE_SPAN.sub(
        lambda found: found[0].replace(" ", _GLUE) if len(found[0]) <= columns // 2 else found[0], line[together:]
    )
    glued = _AMOUNT.sub(_GLUE, glued)
    first, *others = glued.split(" ")
    room = columns - len(indent)
    glued = " ".join([_in_parts(first, columns), *(_in_parts(word, room) for word in others)])
    lines = wrap(glued, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [each.replace(_SEAM, "").rstrip(_SEAM[0]).replace(_GLUE, " ") for each in lines]


def _in_parts(word: str, room: int) -> str:
    """A word with seams where it may be broken: behind slashes, and where that is too long, behind `_`, `.` and `-`."""
    if len(word) <= room:
        return word
    parts = _PART_END.split(word)
    return _SEAM.join(part if len(part) <= room else _NAME_PART_END.sub(_SEAM, part) for part in parts)


def cut(text: str, room: int) -> str:
    """A text of at most `room` characters, cut behind a word if it has more: in no number, amount or piece of code."""
    if len(text) <= room:
        return text
    head = text[: max(room - 1, 0)]
    if not text[len(head)].isspace():
        head = head.rpartition(" ")[0]
    if head.count("`") % 2:
        head = head.rpartition("`")[0]
    head = head.rstrip()
    if head[-1:].isdigit():
        head = head.rpartition(" ")[0]
    return f"{head.rstrip(' ,;:(')}…" if room > 0 else ""
