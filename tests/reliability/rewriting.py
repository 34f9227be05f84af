"""Changes to a file's text that change nothing about what it does."""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Iterable

from dataloader_lint.diagnostics import Diagnostic

# A finding by its code and its statement, counted from the top of the file without the imports.
Site = tuple[str, int]


def parsed(text: str) -> ast.Module:
    """Python's own tree, whatever Python thinks of the escapes in the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def sites(text: str, found: Iterable[Diagnostic]) -> list[Site]:
    """Where findings stand, in terms that outlast every change of layout, names and imports."""
    statements = sorted(
        (node for node in ast.walk(parsed(text)) if isinstance(node, ast.stmt)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    statements = [node for node in statements if not isinstance(node, ast.Import | ast.ImportFrom)]
    result = []
    for one in found:
        inside = [
            number
            for number, node in enumerate(statements)
            if (_first_line(node), 0) <= (one.start.line, one.start.column) and one.start.line <= (node.end_lineno or 0)
        ]
        result.append((one.code, inside[-1] if inside else -1))
    return sorted(result)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


def with_comments(text: str, chance: random.Random) -> str:
    """The text with blank lines and comments before some of its statements."""
    lines = text.split("\n")
    places = {
        node.lineno
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.stmt)
        and not lines[node.lineno - 1].encode()[: node.col_offset].strip()
        and not (node.lineno > 1 and lines[node.lineno - 2].endswith("\\"))
    }
    changed = []
    for number, line in enumerate(lines, start=1):
        if number in places and number > 2 and chance.random() < 0.3:
            indent = line[: len(line) - len(line.lstrip())]
            changed += chance.choice([[""], ["", ""], [f"{indent}# a comment"], ["", f"{indent}# num_workers=0", ""]])
        changed.append(line)
    return "\n".join(changed)


def mutated(source: bytes, chance: random.Random) -> bytes:
    """The file with some of its lines, words or bytes gone, doubled, swapped or spoiled."""
    lines = source.split(b"\n")
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(lines))
        kind = chance.randrange(8)
        if kind == 0:
            del lines[place : place + chance.randint(1, 5)]
            lines = lines or [b""]
        elif kind == 1:
            lines.insert(place, chance.choice(lines))
        elif kind == 2:
            other = chance.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        elif kind == 3:
            words = lines[place].split(b" ")
            chance.shuffle(words)
            lines[place] = b" ".join(words)
        elif kind == 4:
            cut = chance.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:cut]
        elif kind == 5:
            lines[place] = b"    " + lines[place]
        elif kind == 6:
            lines[place] = lines[place].lstrip()
        else:
            spoil = chance.choice(
                [b"(", b")", b"*", b"**", b"lambda", b"None", b"0", b"=", b":", b"\\", b"\x0c", b"\r"]
            )
            cut = chance.randrange(len(lines[place]) + 1)
            lines[place] = lines[place][:cut] + spoil + lines[place][cut:]
    return b"\n".join(lines)
