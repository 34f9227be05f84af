"""Globs of settings: `*`, `?` and `[...]` as in `fnmatch`, `**/` for no folder as well as several, and `{a,b}`.

Both of the latter expand to several plain globs. `fnmatch` makes regular expressions of these that never backtrack
far.
"""

from __future__ import annotations

import os
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ALTERNATIVES = 64
"""The most plain globs that one may expand to: six `**/`."""


class UnfitGlobError(ValueError):
    """A glob that expands to too many others."""


def escaped(text: str) -> str:
    """A glob that only this text matches."""
    return "".join(f"[{one}]" if one in "*?[{" else one for one in text)


def absolute(pattern: str, folder: str) -> str:
    """A glob from a folder as an absolute one, with slashes."""
    whole = pattern if os.path.isabs(pattern) else os.path.join(escaped(os.path.abspath(folder)), pattern)
    return os.path.normpath(whole).replace(os.sep, "/")


@lru_cache(maxsize=1024)
def matcher(*patterns: str) -> Callable[[str], bool]:
    """A test of a text, the whole of it, against several globs. Raises UnfitGlobError."""
    import fnmatch
    import re

    plain = [fnmatch.translate(one) for pattern in patterns for one in alternatives(pattern)]
    match = re.compile("|".join(plain) or r"(?!)").match
    return lambda text: match(text) is not None


def alternatives(pattern: str) -> list[str]:
    """The plain globs that a glob expands to. Raises UnfitGlobError."""
    found, waiting = [], [pattern]
    while waiting:
        one = waiting.pop()
        start, end, choices = _first_choice(one)
        if not choices:
            found.append(one)
        waiting += [one[:start] + choice + one[end:] for choice in choices]
        if len(found) + len(waiting) > MOST_ALTERNATIVES:
            raise UnfitGlobError(f"expands to more than {MOST_ALTERNATIVES} globs with its `**/` and braces")
    return found


def _first_choice(pattern: str) -> tuple[int, int, list[str]]:
    """The place of a `**/` or `{a,b}` and what it expands to; nothing if there is none."""
    place, open_braces = 0, list[list[int]]()  # of each brace that is not closed yet its place, and those of its commas
    while place < len(pattern):
        sign = pattern[place]
        if sign == "[":
            place = _behind_class(pattern, place)
            continue
        if sign == "{":
            open_braces.append([place])
        elif sign == "," and open_braces:
            open_braces[-1].append(place)
        elif sign == "}" and open_braces:
            parts = open_braces.pop()
            if len(parts) > 1:
                ends = [*parts[1:], place]
                return parts[0], place + 1, [pattern[begin + 1 : end] for begin, end in zip(parts, ends, strict=True)]
        elif pattern.startswith("**/", place) and _begins_part(pattern, place, bool(open_braces)):
            end = place + 3
            while pattern.startswith("**/", end):  # another one adds nothing
                end += 3
            return place, end, ["", "*/"]  # a single star matches slashes as well
        place += 1
    return 0, 0, []


def _begins_part(pattern: str, place: int, in_braces: bool) -> bool:
    return place == 0 or pattern[place - 1] == "/" or (in_braces and pattern[place - 1] in "{,")


def _behind_class(pattern: str, start: int) -> int:
    """Where `[...]` ends; behind the bracket where it is none."""
    end = pattern.find("]", start + 2 + pattern.startswith("!", start + 1))
    return start + 1 if end < 0 else end + 1


def split_list(text: str) -> list[str]:
    """The parts of a list with commas; commas in braces do not part it, unless a brace is not closed."""
    parts, depth = [""], 0
    for sign in text:
        depth = max(depth + (sign == "{") - (sign == "}"), 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return text.split(",") if depth else parts
