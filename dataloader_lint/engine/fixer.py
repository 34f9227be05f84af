"""One file: lint → repairs → edits → new text, round after round until nothing changes; keeps only what holds.

A repair holds if the new text parses, compiles where the old one did, the finding is gone and no new one has come.
Every round that keeps something leaves fewer findings than before, so the rounds come to an end.
"""

from __future__ import annotations

import codecs
import os
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from dataloader_lint.diagnostics import Diagnostic, FixResult, Level, Safety
from dataloader_lint.edits import Edit, Editor, Repair
from dataloader_lint.edits.repair import fix_of
from dataloader_lint.edits.texts import CellText, PlainText
from dataloader_lint.engine.causes import by_cause, in_groups
from dataloader_lint.engine.linter import Examined, examine, lint_source
from dataloader_lint.engine.notebooks import OpenedNotebook, in_cells, open_notebook
from dataloader_lint.engine.reported import build_repairs
from dataloader_lint.engine.reports import LITTLE_GAIN, NOT_SURE, unsuppressed, unused_noqa
from dataloader_lint.gate import may_matter
from dataloader_lint.pipeline.session import Session
from dataloader_lint.settings import Settings
from dataloader_lint.source.checks import checked, checked_name
from dataloader_lint.source.decoding import UnreadableError, decode, encoding_of, line_starts
from dataloader_lint.source.noqa import skips_file
from dataloader_lint.source.notebooks import SUFFIX, written
from dataloader_lint.source.parsing import MAX_LENGTH, parse

# A finding by its code and place, as far as the place is the same in the old and the new text: its offset in the old
# one, or None inside text that an edit replaced or inserted.
_Mark = tuple[str, int | None]

_DID_NOT_HOLD = "tried, and did not hold"


def fix_source(
    source: bytes,
    filename: str | os.PathLike[str],
    settings: Settings | None = None,
    session: Session | None = None,
    *,
    unsafe: bool = False,
) -> FixResult:
    """Fix one file given as its bytes: all safe repairs of its selected and unsuppressed findings, and unsafe ones too.

    Nothing is written. Encoding, byte order mark and newlines stay, and so does every byte outside of the edits. A
    `session` spares opening the project's modules again for the file as it is.

    Raises TypeError and ValueError where an argument is of another type, or settings mean nothing.
    """
    settings, filename = checked(settings), checked_name(filename)
    if not isinstance(source, bytes):
        raise TypeError(f"source must be bytes, not {type(source).__name__}: encode the text as the file is")
    opened = _open(source, filename, settings)
    if opened is None:
        return FixResult(source, {}, lint_source(source, filename, settings, session), [])
    text = _text_of(opened)
    fixed: Counter[str] = Counter()
    dropped: set[_Mark] = set()
    state = _State(text, filename, settings, session)
    is_settled = True  # whether nothing has changed since a repair was first dropped
    while True:
        wanted = {
            one: repair
            for one, repair in state.repairs.items()
            if (unsafe or repair.safety is Safety.SAFE) and (one.code, state.offset(one)) not in dropped
        }
        if not wanted and is_settled:
            break
        if not wanted:  # what did not hold may do so now; a second run would try it
            dropped, is_settled = set(), True
            continue
        kept, after, failed = _best(state, wanted)
        dropped |= {(one.code, state.offset(one)) for one in failed}
        if after is None:
            continue
        fixed.update(one.code for one in kept)
        moves = _Moves(_merged([wanted[one] for one in kept]))
        dropped = {(code, place) for code, place in after.places() if (code, moves.before(place)) in dropped}
        is_settled = not dropped
        state = after
    bad = [one for one in state.found if (one.code, state.offset(one)) in dropped]
    is_bad = set(bad)
    remaining = [
        state.with_fix(one) if one not in is_bad else replace(one, no_fix=_DID_NOT_HOLD) for one in state.found
    ]
    changed = _written(source, opened, state.text) if state.text != text else source
    problems = [] if isinstance(opened, PlainText) else opened.problems
    remaining = _located(state, [*problems, *state.broken, *by_cause(remaining, state.text.text, settings)])
    return FixResult(changed, dict(fixed), remaining, _located(state, bad))


def with_fixes(
    source: bytes, filename: str, settings: Settings | None = None, session: Session | None = None
) -> list[Diagnostic]:
    """Lint one file and say for each finding how it can be fixed, by a repair that was tried and holds on its own."""
    settings = settings or Settings()
    opened = _open(source, filename, settings)
    if opened is None:
        return lint_source(source, filename, settings, session)
    state = _State(_text_of(opened), filename, settings, session)
    held = set(state.repairs)
    together = len(_without_overlaps(state.repairs)) == len(held)
    if held and (not together or _tried(state, state.repairs) is None):
        apart = _without_overlaps(state.repairs)
        held = {one for group, _ in _holding(state, apart) for one in group}
        held |= {one for one, repair in state.repairs.items() if one not in apart and _tried(state, {one: repair})}
    state.session.take_turn()
    problems = [] if isinstance(opened, PlainText) else opened.problems
    found = [state.with_fix(one) if state.head_of(one) in held else one for one in state.found]
    return _located(state, [*problems, *state.broken, *by_cause(found, state.text.text, settings)])


class _State:
    """A text as it stands in one round: its findings, and their fixes."""

    def __init__(
        self, text: PlainText | CellText, filename: str, settings: Settings, session: Session | None = None
    ) -> None:
        self.text = text
        self.filename = filename
        self.settings = settings
        self.session = session or Session(settings)
        self.examined: Examined = examine(text.text, filename, settings, self.session)
        shown = unsuppressed(self.examined.diagnostics, text.text, settings)
        unused = unused_noqa(self.examined.diagnostics, text.text, filename, settings)
        self._comments = {one: repair for one, repair in unused if repair is not None}
        found = [*(one for one in shown if one.code != _INTERNAL_ERROR), *(one for one, _ in unused)]
        self.found = sorted(found, key=lambda one: one.sort_key)
        self.broken = [one for one in self.examined.diagnostics if one.code == _INTERNAL_ERROR]
        self._starts = line_starts(text.text)
        self._repairs: dict[Diagnostic, Repair] | None = None
        self._refused: dict[Diagnostic, str] = {}
        self._editor: Editor | None = None
        self._whole: dict[Diagnostic, Diagnostic] = {}  # what stands for the cause of a finding

    @property
    def is_python(self) -> bool:
        """True if the text can be parsed."""
        if not self.examined.is_spared:
            return self.examined.tree is not None
        try:
            parse(self.text.text)
        except UnreadableError:
            return False
        return True

    @property
    def repairs(self) -> dict[Diagnostic, Repair]:
        """The repairs of its findings, in the order of their places."""
        if self._repairs is None:
            built: dict[Diagnostic, Repair] = {}
            if self.examined.tree is not None and self.examined.builders:
                self.session.take_turn()
                self._editor = Editor(self.examined.tree, self.text.text)
                repairs = build_repairs(self.examined.builders, self.found, self._editor, self.filename, self.settings)
                built, self._refused = repairs.built, repairs.refused
                self.broken += repairs.broken
            whole = self._by_cause(built)
            self._repairs = {**_with_notes(self.found, whole), **self._comments}
            self._refused |= dict.fromkeys((one for one in whole if one not in self._repairs), LITTLE_GAIN)
        return self._repairs

    def _by_cause(self, repairs: dict[Diagnostic, Repair]) -> dict[Diagnostic, Repair]:
        """One repair for each cause, by the finding that stands for it: whole, and as safe as its least safe part."""
        if not any(one.cause for one in repairs):
            return repairs
        whole: dict[Diagnostic, Repair] = {}
        for group in in_groups(self.found):
            parts = [repairs.get(one) for one in group]
            known = [part for part in parts if part is not None]
            if len(known) < len(group):
                why = next((self._refused[one] for one in group if one in self._refused), NOT_SURE)
                self._refused |= dict.fromkeys(group, why)
                continue
            edits = tuple(_merged(known))
            if len(_without_overlaps(dict(zip(group, known, strict=True)))) < len(group):
                self._refused |= dict.fromkeys(group, "its places overlap")
                continue
            safety = Safety.SAFE if all(part.safety is Safety.SAFE for part in known) else Safety.UNSAFE
            whole[group[0]] = replace(known[0], safety=safety, edits=edits) if len(group) > 1 else known[0]
            self._whole |= dict.fromkeys(group, group[0])
        return whole

    def head_of(self, one: Diagnostic) -> Diagnostic:
        """What stands for the cause of a finding."""
        return self._whole.get(one, one)

    def with_fix(self, one: Diagnostic) -> Diagnostic:
        """A finding with its repair, if it or its cause has one; else with the reason why not."""
        repair = self.repairs.get(self.head_of(one))
        if repair is None:
            return replace(one, no_fix=self._refused.get(one, one.no_fix))
        return replace(one, fix=fix_of(repair, self._starts))

    def offset(self, one: Diagnostic) -> int:
        """Where a finding begins."""
        return self._starts[one.start.line - 1] + one.start.column

    def places(self) -> list[tuple[str, int]]:
        """Code and offset of all findings."""
        return [(one.code, self.offset(one)) for one in self.found]


def _with_notes(found: list[Diagnostic], repairs: dict[Diagnostic, Repair]) -> dict[Diagnostic, Repair]:
    """Fixes that gain little time go with those of their code that gain more, and are as safe: none is made alone."""
    gaining = {one.code for one in found if one.level is Level.SPEED}
    large: dict[str, list[Repair]] = {}
    for one, repair in repairs.items():
        if one.level is Level.SPEED:
            large.setdefault(one.code, []).append(repair)
    made: dict[Diagnostic, Repair] = {}
    for one, repair in repairs.items():
        if one.level is not Level.NOTE or one.code not in gaining:
            made[one] = repair
        elif one.code in large:
            is_safe = all(each.safety is Safety.SAFE for each in (repair, *large[one.code]))
            made[one] = repair if is_safe else replace(repair, safety=Safety.UNSAFE)
    return made


_INTERNAL_ERROR = "DL999"


def _open(source: bytes, filename: str, settings: Settings) -> PlainText | OpenedNotebook | None:
    """A file's text; None where there is nothing to fix or it could not be written back as it was."""
    if not may_matter(source, settings.extra_words):
        return None
    try:
        if filename.endswith(SUFFIX):
            return open_notebook(source, filename, settings, MAX_LENGTH)
        text = decode(source)
        encoding = encoding_of(source).removesuffix("-sig")
        bare = source.removeprefix(codecs.BOM_UTF8)
        return PlainText(text, encoding) if not _is_skipped(text, settings) and text.encode(encoding) == bare else None
    except (UnreadableError, UnicodeError):
        return None


def _is_skipped(text: str, settings: Settings) -> bool:
    return skips_file(text) and not settings.ignore_noqa


def _text_of(opened: PlainText | OpenedNotebook) -> PlainText | CellText:
    return opened if isinstance(opened, PlainText) else CellText(opened.module)


def _written(source: bytes, opened: PlainText | OpenedNotebook, text: PlainText | CellText) -> bytes:
    """What the file holds with a new text."""
    if isinstance(opened, PlainText):
        assert isinstance(text, PlainText)
        return (codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b"") + text.text.encode(text.encoding)
    assert isinstance(text, CellText)
    return written(opened.notebook, {cell.number: cell.text for cell in text.cells.cells})


def _located(state: _State, found: list[Diagnostic]) -> list[Diagnostic]:
    """Findings in a text where users look for them."""
    return in_cells(state.text.cells, found) if isinstance(state.text, CellText) else found


def _best(state: _State, wanted: dict[Diagnostic, Repair]) -> tuple[list[Diagnostic], _State | None, list[Diagnostic]]:
    """As many of the wanted repairs as hold together, the state after them, and those that do not hold."""
    chosen = _without_overlaps(wanted)
    after = _tried(state, chosen)
    if after is not None:
        return list(chosen), after, []
    if len(chosen) == 1:
        return [], None, list(chosen)
    groups = [group for half in _halves(chosen) for group in _holding(state, half)]
    good = {one: chosen[one] for group, _ in groups for one in group}
    failed = [one for one in chosen if one not in good]
    if len(groups) > 1:
        after = _tried(state, good)
        if after is not None:
            return list(good), after, failed
    group, after = max(groups, key=lambda each: len(each[0]), default=([], None))
    return group, after, failed


def _holding(state: _State, chosen: dict[Diagnostic, Repair]) -> list[tuple[list[Diagnostic], _State]]:
    """Those of some repairs that hold, in groups that hold together; few tries where most of them do."""
    after = _tried(state, chosen)
    if after is not None:
        return [(list(chosen), after)]
    if len(chosen) == 1:
        return []
    return [group for half in _halves(chosen) for group in _holding(state, half)]


def _halves(chosen: dict[Diagnostic, Repair]) -> tuple[dict[Diagnostic, Repair], dict[Diagnostic, Repair]]:
    items, middle = list(chosen.items()), len(chosen) // 2
    return dict(items[:middle]), dict(items[middle:])


def _tried(state: _State, repairs: dict[Diagnostic, Repair]) -> _State | None:
    """The state after some repairs that do not overlap; None where they do not hold."""
    edits = _merged(repairs.values())
    text = state.text.spliced(edits)
    if text is None:
        return None
    # What was inferred does not hold any more, as it may rest on the old text. What follows from other texts does.
    after = _State(text, state.filename, state.settings, state.session.beside())
    if not after.is_python or len(after.broken) > len(state.broken):
        return None
    moves = _Moves(edits)
    expected: Counter[_Mark] = Counter((one.code, moves.outside(state.offset(one))) for one in state.found)
    expected.subtract((one.code, moves.outside(state.offset(one))) for one in repairs)
    marks: Counter[_Mark] = Counter((code, moves.before(place)) for code, place in after.places())
    return None if marks - expected else after


def _without_overlaps(wanted: dict[Diagnostic, Repair]) -> dict[Diagnostic, Repair]:
    """The repairs whose edits leave each other alone, first come, first served; the others wait for the next round."""
    chosen: dict[Diagnostic, Repair] = {}
    taken = _Taken()
    for one, repair in wanted.items():
        new = set(repair.edits) - taken.edits
        if not any(taken.overlaps(edit) for edit in new):
            chosen[one] = repair
            taken.add(new)
    return chosen


class _Taken:
    """Edits that leave each other alone, so that those around a place are found without a look at all of them."""

    def __init__(self) -> None:
        self.edits: set[Edit] = set()
        self._spans: list[tuple[int, int]] = []
        self._points: list[int] = []

    def add(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            self.edits.add(edit)
            if edit.start < edit.end:
                insort(self._spans, (edit.start, edit.end))
            else:
                insort(self._points, edit.start)

    def overlaps(self, edit: Edit) -> bool:
        """True if an edit changes text that another one changes. Insertions never do, not even at the same place."""
        last = bisect_left(self._spans, (edit.end, 0)) - 1
        if last >= 0 and self._spans[last][1] > edit.start:
            return True
        point = bisect_right(self._points, edit.start)
        return point < len(self._points) and self._points[point] < edit.end


def _merged(repairs: Iterable[Repair]) -> list[Edit]:
    """The edits of several repairs in the order of their places, equal ones once."""
    edits = dict.fromkeys(edit for repair in repairs for edit in repair.edits)
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


class _Moves:
    """What becomes of places when edits, in their order, are made."""

    def __init__(self, edits: list[Edit]) -> None:
        self._spans = [(edit.start, edit.end) for edit in edits if edit.start < edit.end]
        self._starts: list[int] = []  # of what each edit inserted, in the new text
        self._ends: list[int] = []
        self._grown: list[int] = []
        grown = 0
        for edit in edits:
            self._starts.append(edit.start + grown)
            self._ends.append(edit.start + grown + len(edit.content))
            grown += len(edit.content) - (edit.end - edit.start)
            self._grown.append(grown)

    def outside(self, place: int) -> int | None:
        """An offset of the old text, or None where an edit replaces what stands there."""
        last = bisect_left(self._spans, (place + 1, 0)) - 1
        return None if last >= 0 and place < self._spans[last][1] else place

    def before(self, place: int) -> int | None:
        """The offset in the old text of an offset in the new one; None inside text that an edit inserted."""
        last = bisect_right(self._starts, place) - 1
        if last < 0:
            return place
        return None if place < self._ends[last] else place - self._grown[last]
