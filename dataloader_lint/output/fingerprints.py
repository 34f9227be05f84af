"""What a finding is known by from one run to the next: its code, its file, and its cause or the line that it stands on.

A cause is the name of a class, or of a function and a loader; then another line of the same cause is no new finding.
Line numbers are no part of it, so a finding that moves is still the same one. Several that look alike are told apart by
counting them from the top.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.output.places import Lines, path_from
from dataloader_lint.source.measurements import LONGEST_LINE


def content_of(one: Diagnostic, lines_of: Lines) -> str:
    """The line on which a finding starts, with every run of blanks as one space; empty where it cannot be read."""
    lines = lines_of(one)
    return " ".join(lines[one.start.line - 1].split())[:LONGEST_LINE] if one.start.line <= len(lines) else ""


def attribute_named(one: Diagnostic) -> tuple[str, str] | None:
    """The class and the attribute that a finding is about, if its message begins with them: `Images.paths`."""
    if not one.problem.startswith("`"):
        return None
    owner, dot, name = one.problem[1:].partition("`")[0].rpartition(".")
    return (owner, name) if dot and owner.isidentifier() and name.isidentifier() else None


def fingerprints(diagnostics: Iterable[Diagnostic], lines_of: Lines, root: str) -> list[str]:
    """One for each diagnostic, in their order and all different: a hash and, behind a colon, a count from 1."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for one in diagnostics:
        known_by = one.cause or content_of(one, lines_of)
        key = "\0".join((one.code, path_from(root, one.filename), known_by))
        digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        seen[digest] += 1
        found.append(f"{digest}:{seen[digest]}")
    return found
