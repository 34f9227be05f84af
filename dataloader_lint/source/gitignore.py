"""What `.gitignore` files say about a path. Imported only where such a file is found.

Patterns become regular expressions that cannot backtrack over more than one `*`: what stands between two stars is
matched at the first place where it fits, which is as good as any later one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterator

_SPECIAL = re.compile(rb"[*?\[\\]")
_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t\n\v\f\r",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
# Stars that match folders: any number of them, at least one, and whatever is left of the path.
_FOLDERS = {b"**/": rb"(?:[^/]*+/)*?", b"**\\/": rb"(?:[^/]*+/)+?", b"**": rb".*"}


class Pattern:
    """One line of a `.gitignore`: what it fits, and whether that is ignored or, behind a `!`, taken in again."""

    __slots__ = ("_fits", "_is_name", "_text", "ignores", "is_for_directories")

    def __init__(self, text: bytes) -> None:
        self.ignores = not text.startswith(b"!")
        text = text.removeprefix(b"!")
        self.is_for_directories = text.endswith(b"/")
        self._text = text.removesuffix(b"/")
        self._is_name = b"/" not in self._text
        self._fits: Callable[[bytes], object] | None = None

    def fits(self, path: bytes, name: bytes) -> bool:
        """True for a path below the directory of the file, with slashes, whose last part is `name`."""
        if self._fits is None:
            self._fits = _compiled(self._text, self._is_name)
        return bool(self._fits(name if self._is_name else path))


# The directory of each `.gitignore` file with its patterns, outermost first.
Layers = tuple[tuple[str, list[Pattern]], ...]


def parse(text: bytes) -> list[Pattern]:
    """Read the patterns of one file; comments and empty lines are none."""
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    shown = (_without_end(line) for line in lines if not line.startswith(b"#"))
    return [Pattern(line) for line in shown if line.strip(b"!/")]


def ignored(layers: Layers, path: str, is_directory: bool) -> bool:
    """True if a path is left out, given that none of the directories above it is. The last pattern that fits decides.

    `path` is absolute and lies in the directories of all layers.
    """
    name = os.fsencode(os.path.basename(path))
    for base, patterns in reversed(layers):
        relative = os.fsencode(path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/"))
        for pattern in reversed(patterns):
            if (is_directory or not pattern.is_for_directories) and pattern.fits(relative, name):
                return pattern.ignores
    return False


def _without_end(line: bytes) -> bytes:
    """A line without its carriage return, and without the blanks at its end that no backslash keeps."""
    line = line.removesuffix(b"\r").partition(b"\0")[0]
    bare = line.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if backslashes % 2 and len(bare) < len(line) else bare


def _compiled(text: bytes, is_name: bool) -> Callable[[bytes], object]:
    """A test of the name, or of the path where the pattern holds a slash."""
    if not is_name:
        text = text.removeprefix(b"/")
    special = _SPECIAL.search(text)
    if special is None:
        return text.__eq__
    start = special.start()
    if is_name and text.startswith(b"*") and _SPECIAL.search(text, 1) is None:
        return lambda name: name.endswith(text[1:])
    try:  # git, too, compares what stands ahead of the first special sign by itself
        pattern = re.escape(text[:start]) + _translated(list(_tokens(text[start:], is_name)))
    except ValueError:  # a bracket without an end, or an unknown class
        return lambda _: False
    return re.compile(pattern, re.DOTALL).fullmatch


def _translated(tokens: list[bytes]) -> bytes:
    """The regular expression for a pattern. Only stars between which there is no slash can compete for a text."""
    done: list[bytes] = []
    start, ahead = 0, b""
    for place, token in enumerate(tokens):
        if token in _FOLDERS:
            done.append(_first_place(ahead, _parts(tokens[start:place])))
            start, ahead = place + 1, _FOLDERS[token]
    return b"".join([*done, ahead, _parts(tokens[start:])])


def _parts(tokens: list[bytes]) -> bytes:
    """What stands between two `**`: names, each with its stars, and the slashes between them."""
    done: list[bytes] = []
    start, ahead = 0, b""
    for place, token in enumerate(tokens):
        if token in (b"*", b"/"):
            here = b"".join(tokens[start:place])
            done.append(_first_place(ahead, here) if token == b"*" else ahead + here + token)
            start, ahead = place + 1, rb"[^/]*?" if token == b"*" else b""
    return b"".join([*done, ahead, *tokens[start:]])


def _first_place(ahead: bytes, text: bytes) -> bytes:
    return b"(?>%b%b)" % (ahead, text) if ahead else text


def _tokens(text: bytes, is_name: bool) -> Iterator[bytes]:
    """A star, a slash, one of `_FOLDERS`, or the regular expression for one byte. Raises ValueError."""
    place = 0
    while place < len(text):
        sign = text[place : place + 1]
        end = place + 1
        if sign == b"*":
            bare = text[place:].lstrip(b"*")
            end = len(text) - len(bare)
            stars = _folders(text, place, bare) if end - place > 1 and not is_name else b"*"
            end += len(stars.strip(b"*"))
            yield stars
        elif sign == b"?":
            yield rb"[^/]"
        elif sign == b"[":
            end = yield from _bracket(text, end)
        elif sign == b"\\":
            if end == len(text):
                raise ValueError
            yield _byte(text[end]) if text[end : end + 1] != b"/" else b"/"
            end += 1
        else:
            yield sign if sign == b"/" else _byte(sign[0])
        place = end


def _folders(text: bytes, place: int, behind: bytes) -> bytes:
    """What two stars mean at a place: any folders where they stand alone between slashes, else the same as one."""
    if place and text[place - 1 : place] != b"/":
        return b"*"
    return next((each for each in (b"**/", b"**\\/") if behind.startswith(each[2:])), b"*" if behind else b"**")


def _byte(value: int) -> bytes:
    return rb"\x%02x" % value


def _bracket(text: bytes, place: int) -> Generator[bytes, None, int]:
    """Yield the expression for the set of signs that begins behind a bracket, and return where it ends."""
    is_negated = text[place : place + 1] in (b"!", b"^")
    place += is_negated
    items: list[bytes] = []
    before: int | None = None  # the sign that may begin a range
    is_first = True
    while is_first or text[place : place + 1] != b"]":
        is_first = False
        named = text.find(b"]", place + 2) if text.startswith(b"[:", place) else -1
        if named > place + 2 and text[named - 1 : named] == b":":
            items.append(_CLASSES.get(text[place + 2 : named - 1], b""))
            if not items[-1]:
                raise ValueError
            before, place = None, named + 1
            continue
        is_range = text[place : place + 1] == b"-" and before is not None and text[place + 1 : place + 2] != b"]"
        place += is_range
        place += text[place : place + 1] == b"\\"
        if place >= len(text):
            raise ValueError
        sign = text[place]
        if is_range:
            assert before is not None
            items.append(b"%b-%b" % (_byte(before), _byte(sign)) if before <= sign else b"")
        else:
            items.append(_byte(sign))
        before = None if is_range else sign
        place += 1
        if place >= len(text):
            raise ValueError
    found = b"".join(items)
    if is_negated:
        yield b"[^/%b]" % found
    else:
        yield b"(?!/)[%b]" % found if found else rb"(?!)"
    return place + 1
