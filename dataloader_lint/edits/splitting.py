"""One long line of code → several lines that fit, split as black splits them.

Works on tokens of the line alone, so it knows nothing of the file. `wrapping.py` decides which lines are split, and
checks that the code still means the same.
"""

from __future__ import annotations

import io
import itertools
import keyword
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dataloader_lint.semantics.limits import SPLIT_DEPTH, SPLIT_LENGTH

_OPENING, _CLOSING = "([{", ")]}"
# From Python 3.12 on, f-strings are several tokens; nothing inside of them is split.
_STRING_STEPS = {
    getattr(tokenize, f"{kind}STRING_{end}", -1): step for kind in "FT" for end, step in (("START", 1), ("END", -1))
}
_SKIPPED = {tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT}
# Where a line in brackets is split first: before these words and signs, but behind commas.
_LOOSE, _COMMA, _TERNARY, _LOGIC, _COMPARISON, _DOT = 20, 18, 16, 14, 10, 1
_WORDS = {"and": _LOGIC, "or": _LOGIC, "in": _COMPARISON, "is": _COMPARISON}
_SIGNS = {
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), _COMPARISON),
    "|": 9,
    "^": 8,
    "&": 7,
    "<<": 6,
    ">>": 6,
    "+": 5,
    "-": 5,
    "*": 4,
    "/": 4,
    "//": 4,
    "%": 4,
    "@": 4,
    "**": 1,
}
_ASSIGNMENTS = {f"{sign}=" for sign in ("", "+", "-", "*", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", "**")}
_HEADERS = {"for": "in", "if": "", "elif": "", "while": "", "return": ""}


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    depth: int  # of brackets around it; a bracket has the depth of what is outside it
    is_sign: bool
    is_word: bool


@dataclass(frozen=True, slots=True)
class _Line:
    code: str
    indent: str
    is_inside: bool  # brackets are open around it
    is_exploded: bool = False  # one line for each element, even if they fit on one
    depth: int = 0


def width(line: str) -> int:
    """How many columns a line takes; a tab takes four, as for black and ruff."""
    return len(line.expandtabs(4))


def split(code: str, indent: str, unit: str, limit: int, *, is_inside: bool, comment: str = "") -> list[str] | None:
    """The lines, with their indentation, that a line of code becomes; None where it cannot be split.

    `code` is without indentation and comment: a statement, the header of one, or, if brackets are open around it,
    what stands between two commas. `unit` is one step of indentation. The `comment` behind it counts, and ends up
    behind the last line.
    """
    if len(code) > SPLIT_LENGTH:
        return None
    line = _Line(code.rstrip(), indent, is_inside)
    behind = f"  {comment}" if comment else ""
    lines = list(_fitted(line, unit, limit, is_long=width(indent + line.code + behind) > limit))
    lines[-1] += behind
    return lines if len(lines) > 1 else None


def _fitted(line: _Line, unit: str, limit: int, *, is_long: bool = False) -> Iterator[str]:
    fits = width(line.indent + line.code) <= limit and not is_long
    tokens = _tokens(line.code) if line.depth < SPLIT_DEPTH else []
    if not tokens or (fits and not line.is_exploded and not _has_magic_comma(tokens)):
        yield line.indent + line.code
        return
    parts = (_by_delimiter(line, tokens) if line.is_inside else None) or _by_bracket(line, tokens, unit, limit)
    if parts is None or all(part.code == line.code for part in parts):
        yield line.indent + line.code
        return
    for part in parts:
        yield from _fitted(replace(part, depth=line.depth + 1), unit, limit)


def _tokens(code: str) -> list[_Token]:
    """The tokens of a line; none where it is not whole: brackets without their other half, comments, line breaks."""
    found: list[_Token] = []
    depth = inside = 0
    try:
        for kind, text, (row, start), (_, end), _ in tokenize.generate_tokens(io.StringIO(code).readline):
            if kind in _SKIPPED:
                continue
            if row > 1 or kind in (tokenize.COMMENT, tokenize.NL, tokenize.ERRORTOKEN):
                return []
            inside += min(_STRING_STEPS.get(kind, 0), 0)
            is_sign = kind == tokenize.OP and not inside
            depth -= is_sign and text in _CLOSING
            if depth < 0:
                return []
            found.append(_Token(text, start, end, depth + inside, is_sign, kind == tokenize.NAME and not inside))
            depth += is_sign and text in _OPENING
            inside += max(_STRING_STEPS.get(kind, 0), 0)
    except (tokenize.TokenError, SyntaxError):
        return []
    return found if depth == 0 and not inside and "\n" not in code else []


def _has_magic_comma(tokens: list[_Token]) -> bool:
    """True if a comma before a closing bracket asks for one line for each element; tuples of one need theirs."""
    for index, token in enumerate(tokens[1:], 1):
        if token.is_sign and token.text in _CLOSING and tokens[index - 1].is_sign and tokens[index - 1].text == ",":
            commas = [one for one in _content(tokens, index) if one.is_sign and one.text == ","]
            if len([one for one in commas if one.depth == token.depth + 1]) > 1 or _is_call(tokens, index):
                return True
    return False


def _content(tokens: list[_Token], closing: int) -> list[_Token]:
    """The tokens in the brackets that close at an index."""
    return tokens[_opening(tokens, closing) + 1 : closing]


def _opening(tokens: list[_Token], closing: int) -> int:
    depth = tokens[closing].depth
    return max(at for at in range(closing) if tokens[at].depth == depth and tokens[at].text in _OPENING)


def _is_call(tokens: list[_Token], closing: int) -> bool:
    at = _opening(tokens, closing)
    return tokens[closing].text == ")" and at > 0 and _ends_operand(tokens[at - 1])


def _ends_operand(token: _Token) -> bool:
    if token.is_word:
        return not keyword.iskeyword(token.text) or token.text in ("None", "True", "False")
    return not token.is_sign or token.text in _CLOSING


def _by_delimiter(line: _Line, tokens: list[_Token]) -> list[_Line] | None:
    """The parts between the loosest delimiters outside of brackets, each on a line; None where there are none."""
    ends_in_comma = tokens[-1].is_sign and tokens[-1].text == ","
    found = list(_delimiters(tokens[:-1] if ends_in_comma else tokens))
    loosest = max((priority for priority, _ in found), default=0)
    if not loosest or [priority for priority, _ in found] == [_DOT]:
        return None
    cuts = [0, *(at for priority, at in found if priority == loosest), len(line.code)]
    codes = [line.code[start:end].strip() for start, end in itertools.pairwise(cuts)]
    if loosest == _COMMA and not ends_in_comma:
        codes[-1] += ","
    return [replace(line, code=code, is_exploded=False) for code in codes]


def _delimiters(tokens: list[_Token]) -> Iterator[tuple[int, int]]:
    """Where a line can be split outside of brackets: how loosely the parts hang together there, and the offset."""
    targets = lambdas = 0  # inside `for ... in`, and inside the parameters of lambdas
    for index, token in enumerate(tokens):
        if token.depth:
            continue
        before = tokens[index - 1] if index else None
        text = token.text
        if token.is_word and text == "in" and targets:
            targets -= 1
        elif token.is_sign and text == ":" and lambdas:
            lambdas -= 1
        elif targets or lambdas:
            continue
        elif token.is_sign and text == ",":
            if index + 1 < len(tokens):
                yield _COMMA, token.end
        elif before is not None and (priority := _priority(tokens, index)):
            yield priority, token.start
        targets += token.is_word and text == "for"
        lambdas += token.is_word and text == "lambda"


def _priority(tokens: list[_Token], index: int) -> int:
    token, before = tokens[index], tokens[index - 1]
    if token.is_word:
        if token.text == "for":
            return 0 if before.text == "async" else _LOOSE
        if token.text == "async":
            return _LOOSE
        if token.text == "if":
            return _TERNARY if any(one.text == "else" and not one.depth for one in tokens[index:]) else _LOOSE
        if token.text == "else":
            return _TERNARY
        if token.text == "not":
            return _COMPARISON if index + 1 < len(tokens) and tokens[index + 1].text == "in" else 0
        if token.text == "in" and before.text == "not":
            return 0
        return _WORDS.get(token.text, 0)
    if token.text == ".":
        return _DOT if before.text in _CLOSING else 0
    return _SIGNS.get(token.text, 0) if token.is_sign and _ends_operand(before) else 0


def _by_bracket(line: _Line, tokens: list[_Token], unit: str, limit: int) -> list[_Line] | None:
    """What leads to an opening bracket, what is in it, one step further in, and the rest."""
    if not line.is_inside and tokens[0].text in ("from", "import"):
        return _import(line, tokens, unit)
    body_start = 0 if line.is_inside else _expression(tokens)
    end = len(tokens) - (tokens[-1].is_sign and tokens[-1].text in (":", ","))
    pairs = [
        (_opening(tokens, at), at)
        for at in range(body_start, end)
        if tokens[at].is_sign and tokens[at].text in _CLOSING and not tokens[at].depth
    ]
    full = [(start, stop) for start, stop in pairs if stop - start > 1]
    room = limit - width(line.indent)
    last = full[-1] if full and full[-1][1] == end - 1 else None
    needs_parentheses = bool(body_start) and _needs_parentheses(tokens[body_start:end], last is not None)
    if last is not None and tokens[last[0]].end <= room and not needs_parentheses:
        return _around(line, tokens, last, unit)
    if body_start and pairs[-1:] != [(body_start, end - 1)]:
        start, stop = tokens[body_start].start, tokens[end - 1].end
        head, body, tail = line.code[:start], line.code[start:stop], line.code[stop:]
        if needs_parentheses or not full or width(line.indent + unit + body) <= limit:
            has_commas = any(priority == _COMMA for priority, _ in _delimiters(tokens[body_start:end]))
            inner = _Line(body, line.indent + unit, True, has_commas)
            head = head if head.endswith(" ") else f"{head} "
            parts = [replace(line, code=f"{head}("), inner, replace(line, code=f"){tail}")]
            return parts if _can_gain(body, head, room) else None
    fitting = [pair for pair in full if tokens[pair[0]].end <= room]
    return _around(line, tokens, fitting[-1], unit) if fitting else None


def _can_gain(body: str, head: str, room: int) -> bool:
    """False for one name or string that is as long as the line: black leaves it, as no line would fit."""
    return len(head) + 1 <= room and (len(_tokens(body)) > 1 or len(body) < room)


def _needs_parentheses(expression: list[_Token], ends_in_bracket: bool) -> bool:
    """True for an expression of several operands, such as `a + b + f(x)`: split at these rather than in a call."""
    found = [priority for priority, _ in _delimiters(expression)]
    loosest = max(found, default=0)
    return found.count(loosest) > 1 or (loosest > _DOT and not ends_in_bracket)


def _expression(tokens: list[_Token]) -> int:
    """Where in a statement the expression begins that parentheses may go around; 0 where there is none."""
    word = _HEADERS.get(tokens[0].text) if tokens[0].is_word else None
    if word is not None:
        at = next((at for at, one in enumerate(tokens) if one.text == word and not one.depth), -1) if word else 0
        return at + 1 if at + 1 < len(tokens) else 0
    signs = [at for at, one in enumerate(tokens) if one.is_sign and not one.depth and one.text in _ASSIGNMENTS]
    return signs[-1] + 1 if signs and signs[-1] + 1 < len(tokens) else 0


def _around(line: _Line, tokens: list[_Token], pair: tuple[int, int], unit: str) -> list[_Line]:
    start, stop = tokens[pair[0]].end, tokens[pair[1]].start
    inner = tokens[pair[0] + 1 : pair[1]]
    content = [replace(one, depth=one.depth - inner[0].depth) for one in inner]
    has_commas = any(priority == _COMMA for priority, _ in _delimiters(content))
    is_display = pair[0] == 0 or not _ends_operand(tokens[pair[0] - 1])
    is_exploded = has_commas and (is_display or content[-1].text == ",")
    body = _Line(line.code[start:stop].strip(), line.indent + unit, True, is_exploded)
    parts = (replace(line, code=line.code[:start]), body, replace(line, code=line.code[stop:]))
    return [replace(part, is_exploded=part is body and is_exploded) for part in parts]


def _import(line: _Line, tokens: list[_Token], unit: str) -> list[_Line] | None:
    """`from a import b, c` with one name a line, in parentheses."""
    at = next((at for at, one in enumerate(tokens) if one.is_word and one.text == "import"), -1)
    if tokens[0].text != "from" or at < 0 or tokens[at + 1].text == "*":
        return None
    has_brackets = tokens[at + 1].text == "("
    start, stop = (tokens[at + 2].start, tokens[-1].start) if has_brackets else (tokens[at + 1].start, len(line.code))
    names = [name.strip() for name in line.code[start:stop].split(",") if name.strip()]
    inner = [_Line(f"{name},", line.indent + unit, True) for name in names]
    head = line.code[: tokens[at].end]
    return [replace(line, code=f"{head} ("), *inner, replace(line, code=")")]
