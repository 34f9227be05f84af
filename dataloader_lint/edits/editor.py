"""One file as its nodes stand in its text: where a node begins and ends, and what is taken or promised already."""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from dataloader_lint.edits.repair import Edit, RefusedError
from dataloader_lint.edits.uses import names_in
from dataloader_lint.semantics.limits import EDITED_PARTS
from dataloader_lint.semantics.syntax.layout import Excerpt, excerpt, import_parts
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.syntax.tree import Node, Scope, Tree
from dataloader_lint.source.decoding import UnreadableError, line_starts, split_lines
from dataloader_lint.source.fast_tree import UnlikeError
from dataloader_lint.source.odd_lines import has_backslash_line

if TYPE_CHECKING:
    import libcst as cst

_LINE_END = re.compile(r"\r\n|\r|\n")
_INDENTATION = re.compile(r"[ \t\f]*")
_WORD = re.compile(r"\w+")
# What binds or reads names of a module that are written in strings.
_BY_NAME = ("globals(", "exec(", "eval(", "setattr(", "getattr(", "vars(", "__dict__")
_T = TypeVar("_T")


class Editor:
    """What the helpers work on, made once for each round of repairs on a file.

    `tree` must be the tree of `text`. All offsets are in `text`. Only the parts of the tree that are asked about are
    laid out, and their positions come from one pass of code generation for each. `promised` keeps the functions that
    repairs of this round add, by their code, so that equal ones are added once; `lifted` those that move, by the node's
    `id`, with all edits that this takes; `taken` the names of both, so that no two repairs choose the same one.
    """

    def __init__(self, tree: Tree, text: str) -> None:
        self.tree = tree
        self.text = text
        newline = _LINE_END.search(text)
        self.newline = newline.group() if newline is not None else "\n"
        self.promised: dict[object, tuple[str, tuple[Edit, ...]]] = {}
        self.lifted: dict[int, tuple[str, tuple[Edit, ...]]] = {}
        self.taken: set[str] = set()
        self._words: set[str] | None = None
        self._last_numbers: dict[str, int] = {}
        self._known: dict[object, Any] = {}
        self._parts: dict[int, _Part] = {}
        self.line_starts = line_starts(text)

    def once(self, key: Hashable, work_out: Callable[[], _T]) -> _T:
        """The result of `work_out`, cached under a key: many fixes of one round ask for the same."""
        if key not in self._known:
            self._known[key] = work_out()
        found: _T = self._known[key]
        return found

    # Where things stand.

    def start(self, node: Node) -> int:
        """Where a node begins, inside its own parentheses."""
        return self._span(node)[0]

    def end(self, node: Node) -> int:
        """Where a node ends, inside its own parentheses."""
        return self._span(node)[1]

    def outer(self, node: Node) -> tuple[int, int]:
        """Where a node begins and ends, with its own parentheses."""
        part = self._part(node)
        twin = part.excerpt.twin(node)
        opening, closing = _signs(twin, "lpar"), _signs(twin, "rpar")
        first, last = opening[0] if opening else twin, closing[-1] if closing else twin
        return self._offsets(part, first)[0], self._offsets(part, last)[1]

    def is_in_parentheses(self, node: Node) -> bool:
        """True if a node has parentheses of its own."""
        return bool(_signs(self.excerpt(node).twin(node), "lpar"))

    def excerpt(self, node: Node) -> Excerpt:
        """The part of the tree that holds a node, laid out."""
        return self._part(node).excerpt

    def code(self, node: Node) -> str:
        """A node as written, with its own parentheses."""
        start, end = self.outer(node)
        return self.text[start:end]

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        return self.line_starts[self.line(offset)]

    def line_end(self, offset: int) -> int:
        """Where the line of an offset ends, before its newline."""
        found = _LINE_END.search(self.text, offset)
        return found.start() if found is not None else len(self.text)

    def next_line(self, offset: int) -> int:
        """Where the line after that of an offset begins; the end of the text after the last line."""
        found = _LINE_END.search(self.text, offset)
        return found.end() if found is not None else len(self.text)

    def indentation(self, offset: int) -> str:
        """The blank space at the beginning of the line of an offset, without form feeds, which Python skips."""
        found = _INDENTATION.match(self.text, self.line_start(offset))
        return found.group().rpartition("\f")[2] if found is not None else ""

    def line(self, offset: int) -> int:
        """The number of the line of an offset, from 0."""
        return bisect_right(self.line_starts, offset) - 1

    def _span(self, node: Node) -> tuple[int, int]:
        part = self._part(node)
        return self._offsets(part, part.excerpt.twin(node))

    def _offsets(self, part: _Part, twin: Node) -> tuple[int, int]:
        if id(twin) not in part.spans:
            raise RefusedError("its place is unknown")
        return part.spans[id(twin)]

    def _part(self, node: Node) -> _Part:
        if self.once("backslash lines", lambda: has_backslash_line(self.text)):
            raise RefusedError("a backslash stands on its own line")
        imports = self.once("imports", lambda: {id(part): statement for part, statement in import_parts(self.tree)})
        inside = imports.get(id(node), node)
        if inside not in self.tree:
            raise RefusedError("a node of another file")
        try:
            found = excerpt(self.tree, inside)
        except (UnlikeError, UnreadableError) as error:
            raise RefusedError(f"LibCST sees something else here: {error}") from None
        key = id(found.module)
        part = self._parts.pop(key, None) or _Part(found)
        self._parts[key] = part  # the last one that was asked for comes last
        if len(self._parts) > EDITED_PARTS:
            del self._parts[next(iter(self._parts))]
        return part

    @property
    def indent(self) -> str:
        """What the first indented line of the file is indented by; four spaces where there is none."""
        return self.once("indent", lambda: _first_indent(self.text))

    # Names.

    def new_name(self, wanted: str) -> str:
        """A name like `wanted` that nothing in the file has, promised from now on.

        It begins with an underscore, so that no other module takes it for a name to import.
        """
        wanted = f"_{wanted.lstrip('_')}"
        if self._words is None:
            self._words = set(_WORD.findall(self.text))
        number = self._last_numbers.get(wanted, 1)
        name = wanted if number == 1 else f"{wanted}_{number}"
        while name in self._words or name in self.taken or keyword.iskeyword(name) or hasattr(builtins, name):
            number += 1
            name = f"{wanted}_{number}"
        self._last_numbers[wanted] = number
        self.taken.add(name)
        return name

    def is_free(self, name: str) -> bool:
        """True if the name can be bound at module level: nothing binds it there, or brings names of other files."""
        return name not in self.taken and self.once(("free", name), lambda: self._was_free(name))

    def _was_free(self, name: str) -> bool:
        if not {name, "*"}.isdisjoint(bindings_of(self.tree.root)) or hasattr(builtins, name):
            return False
        if any(word in self.text for word in _BY_NAME) and self._is_in_string(name):
            return False
        # A name that no scope around its reader binds is a star import's, or patched in.
        reads = names_in(self.tree, self.tree.module, name)
        return all(any(name in bindings_of(scope) for scope in self._scopes_around(read)) for read in reads)

    def _is_in_string(self, name: str) -> bool:
        """True if a string holds the name: `globals()["partial"] = ...`, `exec("partial = ...")`."""
        import libcst as cst

        strings = self.tree.find(self.tree.module, cst.SimpleString)
        return any(name in text.value and name in _WORD.findall(text.value) for text in strings)

    def _scopes_around(self, node: Node) -> Iterator[Scope]:
        scope: Scope | None = self.tree.scope_of(node)
        while scope is not None:
            yield scope
            scope = scope.parent


def replace(editor: Editor, node: cst.BaseExpression, code: str, moved: str = "") -> Edit:
    """Put `code`, a name, call or something in brackets, in the place of an expression and its parentheses.

    Refused where a comment would be lost that is neither in `code` nor in `moved`, what goes elsewhere.
    """
    start, end = editor.outer(node)
    before, after = editor.text[start - 1 : start], editor.text[end : end + 1]
    if before.isidentifier() or before.isdigit():
        code = f" {code}"  # `else(lambda x: x)`
    if after.isidentifier():
        code = f"{code} "
    return exchange(editor, start, end, code, moved)


def exchange(editor: Editor, start: int, end: int, code: str, moved: str = "") -> Edit:
    """Put `code` in the place of the text between two offsets. Refused where a comment would be lost."""
    if Counter(comments(editor.text[start:end])) - Counter(comments(code)) - Counter(comments(moved)):
        raise RefusedError("a comment would be lost")
    return Edit(start, end, code)


def has_comment(code: str) -> bool:
    """True if a piece of code, which need not be a whole statement, holds a comment."""
    return any(True for _ in comments(code))


def comments(code: str) -> Iterator[str]:
    """The comments in a piece of code; what cannot be read counts as one."""
    if "#" not in code:
        return
    lines = "\n".join(split_lines(code))  # the tokenizer takes no carriage return for the end of a line
    try:
        # In brackets it may begin and end anywhere, and needs no indentation.
        for token in tokenize.generate_tokens(io.StringIO(f"(\n{lines}\n)\n").readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        yield code


def _signs(node: Node, name: str) -> Sequence[Node]:
    """An expression's own parentheses; imports have one node there, or a sentinel."""
    found = getattr(node, name, ())
    return found if isinstance(found, (list, tuple)) else ()


class _Part:
    """A part of a tree that is laid out, and where its nodes and their parentheses stand in the text."""

    def __init__(self, excerpt: Excerpt) -> None:
        self.excerpt = excerpt
        nodes = list(excerpt.twins.values())
        signs = [sign for node in nodes for name in ("lpar", "rpar") for sign in _signs(node, name)]
        self.spans = excerpt.spans([*nodes, *signs])


def _first_indent(text: str) -> str:
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(split_lines(text))).readline):
            if token.type == tokenize.INDENT:
                return token.string
    except (tokenize.TokenError, SyntaxError):
        pass
    return "    "
