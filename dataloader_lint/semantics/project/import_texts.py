"""What the imports in a text load, read without a parser: notebooks, settings and broken files have imports, too."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# What ends the names of files whose imports can be read one by one.
PYTHON = (".py", ".pyi", ".pyx")
_CONTINUED = re.compile(rb"\\\r?\n|\\\r")
_REST = rb"(?:from|import)(?!\w)(?:[^\n(]*\((?>(?:[^)#]|#[^\n]*+){0,2000})\)?|[^\n]*)"
# An import, to the end of its line or of its brackets.
_ANYWHERE = re.compile(rb"(?<!\w)" + _REST)
# The same where a statement can begin, be it in a text that is given to `exec`.
_STATEMENT = re.compile(rb"(?:^|[\n;:\"'])[ \t\f]*(" + _REST + rb")")
_COMMENT = re.compile(rb"#[^\n]*")
_FROM = re.compile(rb"from(?!\w)([. \t]*+)([\w\x80-\xff.]*)[ \t]*+(?<!\w)import(?!\w)[ \t]*(?:\(|\*)?")
_MEMBER = re.compile(rb"\s*([\w\x80-\xff.]+)(?:[ \t]+as[ \t]+[\w\x80-\xff]+)?\s*")
_STAR = re.compile(rb"import[ \t]*\*")
_WORDS = re.compile(rb"[\w\x80-\xff]+")
# Words of files that load a module by the text of its name, and how such texts end.
_LOADING = re.compile(
    rb"import_module|__import__|runpy|run_path|run_module|spec_from_file_location|load_source|entry_points|"
    rb"console_scripts|gui_scripts|scripts|_target_"
)
_IN_TEXTS = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]++)(?:\.py)?[\"':.]")
# What changes where Python looks for modules.
_CHANGES_PATH = re.compile(rb"sys\.path|addsitedir|chdir|__path__|sys[ \t]+import")

ImportedModule = tuple[int, str]  # the number of dots, and the dotted name behind them


@dataclass(frozen=True, slots=True)
class Imports:
    """What a text may load.

    `modules` are the modules that it names, and the members that may be some; `stars` those of which it takes all
    names. `words` and `star_words` are the last parts of names of which no more is known; empty for any module.
    `named` are all words of imports, `changes_path` tells that modules may be looked for in other folders.
    """

    modules: frozenset[ImportedModule]
    stars: frozenset[ImportedModule]
    words: frozenset[bytes]
    star_words: frozenset[bytes]
    named: frozenset[bytes]
    changes_path: bool


def plain(content: bytes) -> bytes:
    """A text with continued lines in one, newlines of one kind, and no byte order mark."""
    return _CONTINUED.sub(b" ", content.removeprefix(codecs.BOM_UTF8)).replace(b"\r", b"\n")


def imports_of(path: str, text: bytes) -> Imports:
    """The imports in the text of a file, which `plain` has gone over."""
    modules, stars = set[ImportedModule](), set[ImportedModule]()
    words, star_words = set[bytes](), set[bytes]()
    is_python = path.endswith(PYTHON)
    statements = _STATEMENT.findall(text) if is_python else _ANYWHERE.findall(text)
    for statement in statements:
        read = _read(statement) if is_python else None
        if read is None:
            words.update(_WORDS.findall(statement))
            star_words.update(_before_stars(statement))
        else:
            modules.update(read[0])
            stars.update(read[0] if read[1] else ())
    named = {word for statement in statements for word in _WORDS.findall(statement)}
    if _LOADING.search(text):
        words.update(_IN_TEXTS.findall(text))
    return Imports(
        frozenset(modules),
        frozenset(stars),
        frozenset(words),
        frozenset(star_words),
        frozenset(named),
        _CHANGES_PATH.search(text) is not None,
    )


def _read(statement: bytes) -> tuple[set[ImportedModule], bool] | None:
    """The modules that a plain import may load, and True if it takes all names; None for anything else."""
    bare = _COMMENT.sub(b"", statement).rstrip(b" \t\n\f,")
    start = _FROM.match(bare)
    if start is None:
        names = list(_members(bare[len("import") :].split(b",")))
        return None if None in names else ({(0, name) for name in names if name}, False)
    level, source = start[1].count(b"."), start[2].decode(errors="replace")
    level += len(source) - len(source.lstrip("."))
    source = source.lstrip(".")
    rest = bare[start.end() :]
    if start[0].endswith(b"("):
        if not rest.endswith(b")"):
            return None
        rest = rest[:-1].rstrip(b" \t\n\f,")
    if start[0].endswith(b"*"):
        return None if rest.strip() else ({(level, source)}, True)
    members = list(_members(rest.split(b",")))
    if not members or None in members or not (level or source):
        return None
    return {(level, source), *((level, f"{source}.{each}".lstrip(".")) for each in members)}, False


def _members(parts: Iterable[bytes]) -> Iterator[str | None]:
    for part in parts:
        found = _MEMBER.fullmatch(part)
        yield None if found is None else found[1].decode(errors="replace")


def _before_stars(statement: bytes) -> Iterator[bytes]:
    for found in _STAR.finditer(statement):
        before = statement[max(0, found.start() - 300) : found.start()].split()[-1:]
        yield before[0].rpartition(b".")[2] if before else b""
