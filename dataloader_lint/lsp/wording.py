"""What editors show of findings: diagnostics, hovers and the wording of actions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from lsprotocol import types
from pygls import uris

from dataloader_lint.diagnostics import Diagnostic, Fix, Position, Reason, Safety
from dataloader_lint.lsp.opened import Opened
from dataloader_lint.output.as_json import SITE, page_url
from dataloader_lint.output.levels import NAMES
from dataloader_lint.output.text import neutralise
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.source.decoding import split_lines

SOURCE = "dataloader-lint"
_RULE_LINK = re.compile(r"\(#(dl\d{3}-[a-z0-9-]+)\)")
_CODE = re.compile(r"\bDL\d{3}\b")


def diagnostic(one: Diagnostic, opened: Opened) -> types.Diagnostic:
    """A finding as editors list it, with a link to the page of its rule."""
    return types.Diagnostic(
        range=opened.places(one.cell).range(one.start, one.end),
        message=neutralise(one.message),
        severity=types.DiagnosticSeverity(NAMES[one.level].lsp),
        code=one.code,
        code_description=types.CodeDescription(_link(one.code)),
        source=SOURCE,
        related_information=[_related(each, one, opened) for each in (*_other_places(one), *one.because)],
    )


def _other_places(one: Diagnostic) -> Iterator[Reason]:
    return (Reason(each.filename, each.start, "and here", each.cell) for each in one.places)


def _related(reason: Reason, one: Diagnostic, opened: Opened) -> types.DiagnosticRelatedInformation:
    """A step of the chain; in another file its column is exact only where the line is ASCII before it."""
    position = reason.position
    if reason.filename == one.filename:
        found = opened.places(reason.cell).range(position, position)
        uri = opened.part(reason.cell).uri
    else:
        there = types.Position(position.line - 1, position.column)
        found = types.Range(there, there)
        uri = uris.from_fs_path(os.path.abspath(reason.filename)) or ""
    return types.DiagnosticRelatedInformation(types.Location(uri, found), reason.text)


def title_of(fix: Fix) -> str:
    """What a repair is called in a menu."""
    return fix.title if fix.safety is Safety.SAFE else f"{fix.title} (unsafe: read the change)"


def pages_at(found: Iterable[Diagnostic], text: str, place: Position) -> str:
    """Markdown about the findings at a place, or about a rule that a comment names there; empty where neither is."""
    here = [one for one in found if one.start <= place < max(one.end, Position(one.start.line, one.start.column + 1))]
    parts = []
    for code in dict.fromkeys(one.code for one in here):
        messages = [neutralise(one.message) for one in here if one.code == code]
        parts.append("\n\n".join([*messages, _page(code)]))
    if not parts:
        parts = [_page(code) for code in [_code_at(text, place)] if code in found_rules()]
    return "\n\n---\n\n".join(parts)


def _page(code: str) -> str:
    found = found_rules()[code]
    heading = f"# [{code} {found.rule.name}]({_link(code)})"
    page = _RULE_LINK.sub(rf"({SITE}rules/\1/)", found.page.strip())
    return f"{heading}\n\n{page}"


def _link(code: str) -> str:
    return page_url(code, found_rules()[code].rule.name)


def _code_at(text: str, place: Position) -> str:
    """The rule that a comment of a line names at a place."""
    line = split_lines(text)[place.line - 1]
    return next(
        (
            code.group()
            for code in _CODE.finditer(line)
            if "#" in line[: code.start()] and code.start() <= place.column < code.end()
        ),
        "",
    )
