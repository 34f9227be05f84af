"""The same program in another layout: comments, line ends, tabs, trailing commas, backslashes, semicolons."""

from __future__ import annotations

import ast
import io
import random
import tokenize

_OPEN, _CLOSE = "([{", ")]}"


def relaid(text: str, chance: random.Random) -> bytes:
    """The program with another layout, or as it was where that would change it."""
    changed = text
    for change, share in ((_in_brackets, 0.6), (_line_comments, 0.4), (_on_one_line, 0.2), (_indent, 0.2)):
        if chance.random() < share:
            tried = change(changed, chance)
            changed = tried if _same(tried, text) else changed
    if chance.random() < 0.15:
        changed = changed.rstrip("\n")
    content = changed.encode()
    if chance.random() < 0.2:
        crlf = content.replace(b"\n", b"\r\n")
        content = crlf
    if chance.random() < 0.1 and not changed.startswith("# -*-"):
        content = b"\xef\xbb\xbf" + content
    return content


def _same(one: str, other: str) -> bool:
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError):
        return False


def _in_brackets(text: str, chance: random.Random) -> str:
    """Line ends, comments and trailing commas inside of brackets; backslashes between other tokens."""
    lines = text.split("\n")
    share = chance.choice((0.03, 0.15, 0.5))
    places: list[tuple[int, int, str]] = []
    depth, previous = 0, None
    in_string = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        in_string += (name in ("FSTRING_START", "TSTRING_START")) - (name in ("FSTRING_END", "TSTRING_END"))
        if token.string in _CLOSE and token.type == tokenize.OP:
            depth -= 1
        usual = token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
        on_line = previous is not None and previous.end[0] == token.start[0]
        if usual and on_line and not in_string and chance.random() < share and previous is not None:
            row, column = token.start
            indentation = " " * chance.choice((0, 4, 8, 13))
            if depth > 0:
                comment = chance.choice(("", "  # a comment", "  # (, num_workers=1", "  #", "  # noqa: E501"))
                own = chance.choice(("", "", f"{indentation}# on a line of its own\n", "\n"))
                places.append((row, column, f"{comment}\n{own}{indentation}"))
            elif previous.type in (tokenize.OP, tokenize.NAME) and token.start[1] > previous.end[1]:
                places.append((row, column, f"\\\n{indentation or ' '}"))
        if token.string in _OPEN and token.type == tokenize.OP:
            depth += 1
        previous = token
    for row, column, piece in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + piece + line[column:]
    return "\n".join(lines)


def _line_comments(text: str, chance: random.Random) -> str:
    """Comments behind and above statements, and blank lines."""
    inside = {
        number
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        for number in range(token.start[0], token.end[0])
        if token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
    }
    made = []
    for number, line in enumerate(text.split("\n"), start=1):
        free = number not in inside and number - 1 not in inside and line.strip() and not line.endswith("\\")
        blank = line[: len(line) - len(line.lstrip())]
        if free and chance.random() < 0.15:
            made += chance.choice(([f"{blank}# above"], ["", f"{blank}# above"], ["# at the margin"], ["   "], [""]))
        made.append(f"{line}  # beside" if free and "#" not in line and chance.random() < 0.15 else line)
    return "\n".join(made)


def _on_one_line(text: str, chance: random.Random) -> str:
    """Simple statements of one line joined by semicolons, one-line blocks."""
    lines = text.split("\n")
    simple = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign | ast.Expr | ast.Import) and node.lineno == node.end_lineno
    ]
    starts = {(node.lineno, node.col_offset) for node in simple}
    made: list[str] = []
    joined_to = -1
    for number, line in enumerate(lines, start=1):
        column = len(line) - len(line.lstrip())
        follows = (number, column) in starts and (number - 1, column) in starts and "#" not in lines[number - 2]
        whole = follows and line.isascii() and number - 1 > joined_to
        if whole and made and chance.random() < 0.4 and made[-1].strip():
            made[-1] += chance.choice(("; ", ";", " ;  ")) + line.lstrip()
            continue
        made.append(line)
    return "\n".join(made)


def _indent(text: str, chance: random.Random) -> str:
    """Tabs or two spaces where four were."""
    unit = chance.choice(("\t", "  ", "   "))
    made = []
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        made.append(unit * (depth // 4) + " " * (depth % 4) + line.lstrip(" ") if depth else line)
    return "\n".join(made)
