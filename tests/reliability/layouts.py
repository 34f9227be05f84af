"""Changes to a file's layout that Python does not notice: the tree that it makes of the text stays the same."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable

from reliability.rewriting import parsed

_END = re.compile(r"\r\n|\r|\n")
_BETWEEN = re.compile(r"(?<=[\w,)\]}:=+]) +(?=[\w(\[{'\"=+])")


def _line_before(made: Callable[[str, random.Random], str]) -> Callable[[str, random.Random], str]:
    """Put something before a line, with the indentation of that line at hand."""

    def change(text: str, chance: random.Random) -> str:
        starts = [0, *(found.end() for found in _END.finditer(text))]
        place = chance.choice(starts)
        indent = re.match(r"[ \t]*", text[place:])
        return text[:place] + made(indent.group() if indent else "", chance) + text[place:]

    return change


def _at_line_end(made: str) -> Callable[[str, random.Random], str]:
    def change(text: str, chance: random.Random) -> str:
        places = [found.start() for found in _END.finditer(text)] or [len(text)]
        place = chance.choice(places)
        return text[:place] + made + text[place:]

    return change


def _between_words(made: str) -> Callable[[str, random.Random], str]:
    def change(text: str, chance: random.Random) -> str:
        places = list(_BETWEEN.finditer(text))
        if not places:
            return text
        place = chance.choice(places)
        return text[: place.start()] + made + text[place.end() :]

    return change


def _other_newlines(text: str, chance: random.Random) -> str:
    kind = chance.choice(["\r\n", "\r", "mixed", "one"])
    if kind == "mixed":
        return _END.sub(lambda _: chance.choice(["\n", "\r\n", "\r"]), text)
    if kind == "one":
        places = list(_END.finditer(text))
        found = chance.choice(places) if places else None
        return text if found is None else text[: found.start()] + chance.choice(["\r", "\r\n"]) + text[found.end() :]
    return _END.sub(kind, text)


def _other_end(text: str, chance: random.Random) -> str:
    return text.rstrip("\r\n") + chance.choice(
        ["", "\r", "\n\r", "\n\n", "\n    ", "\n\x0c", "  # end", "\n# end", "\n\n\t\n"]
    )


def _tabs(text: str, chance: random.Random) -> str:
    """Tabs alone: LibCST refuses some files that indent by both, which Python takes."""
    changed = re.sub(r"(?m)^(?: {4})+", lambda found: "\t" * (len(found.group()) // 4), text)
    return text if re.search(r"(?m)^\t* ", changed) else changed


# By name, so that failures say what was done. A change that Python does notice is taken back.
CHANGES: dict[str, Callable[[str, random.Random], str]] = {
    "comment line": _line_before(
        lambda indent, chance: chance.choice([indent, "", indent + "  "]) + "# num_workers=0\n"
    ),
    "backslash line": _line_before(lambda indent, chance: chance.choice([indent, "", " "]) + "\\\n"),
    "two backslash lines": _line_before(lambda indent, _: f"\\\n{indent}\\\n"),
    "indentation split": _line_before(lambda indent, _: f"{indent}\\\n"),
    "blank line": _line_before(lambda indent, chance: chance.choice(["\n", indent + "\n", "\t\n", "\x0c\n", "\r\n"])),
    "form feed": _line_before(lambda *_: "\x0c"),
    "trailing blank": _at_line_end(" \t"),
    "trailing form feed": _at_line_end("\x0c"),
    "trailing comment": _at_line_end("  # persistent_workers"),
    "trailing backslash": _at_line_end(" \\"),
    "continuation": _between_words(" \\\n  "),
    "continuation at the margin": _between_words("\\\n"),
    "two continuations": _between_words(" \\\n\\\n "),
    "wide blank": _between_words("   \t \x0c "),
    "newline in brackets": _between_words("\n        "),
    "comment in brackets": _between_words("  # drop_last\n "),
    "semicolon": _at_line_end(";"),
    "newlines": _other_newlines,
    "end": _other_end,
    "tabs": _tabs,
}


def changed(text: str, chance: random.Random, wanted: int) -> tuple[str, list[str]]:
    """The text with up to so many changes that leave Python's tree as it is, and their names."""
    meaning = _meaning(text)
    made: list[str] = []
    for _ in range(wanted * 4):
        name = chance.choice(list(CHANGES))
        other = CHANGES[name](text, chance)
        if other != text and _meaning(other) == meaning:
            text = other
            made.append(name)
            if len(made) == wanted:
                break
    return text, made


def _meaning(text: str) -> str:
    try:
        return ast.dump(parsed(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
