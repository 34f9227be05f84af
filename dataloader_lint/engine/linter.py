"""One file: gate → parse → facts → rules → suppressions → diagnostics.

What is imported inside functions here is what a file that cannot matter must not pay for.
"""

from __future__ import annotations

import gc
import os
import time

from dataloader_lint.engine.causes import by_cause
from dataloader_lint.engine.reports import crashed, unreadable, unsuppressed, unused_noqa, with_fixes
from dataloader_lint.gate import DERIVED, LOADING, ON_ITS_OWN, subjects
from dataloader_lint.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.engine.reported import Build
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.session import Session
    from dataloader_lint.rules.base import Finding
    from dataloader_lint.rules.registry import FoundRule
    from dataloader_lint.semantics.interrupts import Limit
    from dataloader_lint.semantics.syntax.tree import Tree

    Crash = Callable[[str, Exception], None]


class Examined:
    """What linting a text came to: its findings, suppressed ones among them, and the fixes of those that have one.

    `tree` is None where the text could not be parsed, or was spared it as no rule has anything to do with it.
    """

    __slots__ = ("builders", "diagnostics", "is_spared", "tree")

    def __init__(
        self,
        diagnostics: list[Diagnostic],
        builders: dict[Diagnostic, Build] | None = None,
        tree: Tree | None = None,
        is_spared: bool = False,
    ) -> None:
        self.diagnostics = diagnostics
        self.builders = builders or {}
        self.tree = tree
        self.is_spared = is_spared


def lint_source(
    source: bytes | str,
    filename: str | os.PathLike[str],
    settings: Settings | None = None,
    session: Session | None = None,
    *,
    fixes: bool = False,
    about: frozenset[str] = frozenset(),
) -> list[Diagnostic]:
    """Lint one file given as its bytes (or as text that was decoded already), sorted by place.

    `filename` is what diagnostics say, and where imports of the file are looked for; nothing is read from it. Where
    it ends in `.ipynb` the source is that of a notebook, whose cells are linted as one module. A file that cannot be
    read or parsed is one DL000, a rule that crashes one DL999. Pass the same `session` for all files of a run, so that
    each module is opened only once. With `fixes`, diagnostics that can be repaired say how; whether the repaired file
    holds has then not been tried (`fixer.fix_source` does that). `about` is what the gate says of the source, where
    it was asked already.

    Raises TypeError and ValueError where an argument is of another type, or settings mean nothing.
    """
    from dataloader_lint.source.checks import checked, checked_name

    settings, filename = checked(settings), checked_name(filename)
    if not isinstance(source, (bytes, str)):
        raise TypeError(f"source must be bytes or str, not {type(source).__name__}")
    content = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    about = about or subjects(content, settings.extra_words)
    if not about:
        return []
    from dataloader_lint.source.decoding import UnreadableError, decode
    from dataloader_lint.source.noqa import skips_file

    if filename.endswith(".ipynb"):
        return _lint_notebook(source, filename, settings, session, fixes=fixes)
    try:
        text = decode(source) if isinstance(source, bytes) else source.removeprefix("\ufeff")
    except UnreadableError as error:
        return unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
    if skips_file(text) and not settings.ignore_noqa:
        return []
    examined = examine(text, filename, settings, session, about)
    return _reported(examined, text, filename, settings, fixes=fixes)


def _lint_notebook(
    source: bytes | str, filename: str, settings: Settings, session: Session | None, *, fixes: bool
) -> list[Diagnostic]:
    from dataloader_lint.engine.notebooks import in_cells, open_notebook
    from dataloader_lint.source.decoding import UnreadableError
    from dataloader_lint.source.parsing import MAX_LENGTH

    try:
        opened = open_notebook(source, filename, settings, MAX_LENGTH)
    except UnreadableError as error:
        return unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
    if opened is None:
        return []
    text = opened.module.text
    examined = examine(text, filename, settings, session)
    found = _reported(examined, text, filename, settings, fixes=fixes)
    return in_cells(opened.module, [*opened.problems, *found])


def lint_text(
    text: str, filename: str, settings: Settings, session: Session, about: frozenset[str]
) -> list[Diagnostic]:
    """Lint decoded text of which the gate says what it is about, without a look at its suppressions."""
    return examine(text, filename, settings, session, about).diagnostics


def _reported(examined: Examined, text: str, filename: str, settings: Settings, *, fixes: bool) -> list[Diagnostic]:
    """What is reported of a text: what no comment suppresses, and the comments that suppress nothing."""
    found = unsuppressed(examined.diagnostics, text, settings)
    found = by_cause(_with_fixes(examined, found, text, filename, settings) if fixes else found, text, settings)
    unused = unused_noqa(examined.diagnostics, text, filename, settings)
    comments = with_fixes(unused, text) if fixes else [one for one, _ in unused]
    return sorted([*found, *comments], key=lambda one: one.sort_key) if comments else found


def _with_fixes(
    examined: Examined, found: list[Diagnostic], text: str, filename: str, settings: Settings
) -> list[Diagnostic]:
    if examined.tree is None or not any(one in examined.builders for one in found):
        return found
    from dataclasses import replace

    from dataloader_lint.edits import Editor
    from dataloader_lint.edits.repair import fix_of
    from dataloader_lint.engine.reported import build_repairs
    from dataloader_lint.semantics.interrupts import OutOfTimeError, at_most, limited
    from dataloader_lint.semantics.limits import SECONDS_FOR_FIXES

    editor = Editor(examined.tree, text)

    def work() -> list[Diagnostic]:
        repairs = build_repairs(examined.builders, found, editor, filename, settings)
        built, refused = repairs.built, repairs.refused
        shown = [
            replace(one, fix=fix_of(built[one], editor.line_starts))
            if one in built
            else replace(one, no_fix=refused.get(one, one.no_fix))
            for one in found
        ]
        return [*repairs.broken, *shown]

    try:
        return limited(at_most(SECONDS_FOR_FIXES), work)
    except OutOfTimeError:
        return found


# That may be nested for one file. Questions that are too deep inside others are unknown long before (`Solver`).
_CALLS = 3_000


def examine(
    text: str,
    filename: str,
    settings: Settings,
    session: Session | None = None,
    about: frozenset[str] = frozenset(),
) -> Examined:
    """Lint decoded text that passed the gate, without a look at its suppressions, and keep what repairs need.

    `about` is what the gate says of it, as far as that is known.
    """
    from dataloader_lint.rules.selection import rules_about, selected_rules

    about = about or subjects(text.encode("utf-8", "surrogatepass"), settings.extra_words)
    selected = selected_rules(settings)
    rules = rules_about(about, selected)
    if selected and not rules and DERIVED not in about:
        return Examined([], is_spared=True)
    from dataloader_lint.pipeline.session import Session
    from dataloader_lint.rules.registry import INTERNAL_ERROR
    from dataloader_lint.semantics.interrupts import OutOfTimeError, at_most, limited
    from dataloader_lint.semantics.limits import SECONDS_PER_FILE
    from dataloader_lint.source.decoding import UnreadableError
    from dataloader_lint.source.parsing import check_size, room_for_recursion

    session = session or Session(settings)
    limit = at_most(SECONDS_PER_FILE)

    def work() -> Examined:
        nonlocal about, rules
        check_size(text)
        with room_for_recursion(_CALLS):
            if DERIVED in about and session.derives_datasets(filename, text):
                about = frozenset({LOADING})
                rules = rules_about(about, selected)
            if selected and not rules:
                return Examined([], is_spared=True)
            if about.isdisjoint(ON_ITS_OWN) and not session.is_reached_from_loaders(filename, text, about):
                return Examined([], is_spared=True)
            return _examined(session, text, filename, settings, rules, limit)

    # A tree is many objects that live until the end: collecting while they come to be finds nothing and costs a lot.
    collecting = gc.isenabled()
    gc.disable()
    try:
        examined = limited(limit, work)
        if any(one.code == INTERNAL_ERROR for one in examined.diagnostics):
            session.forget()
        return examined
    except OutOfTimeError:
        session.start_over()
        problem, advice = "checking this file takes too long, so it was left out", "split it up, or exclude it"
        return Examined(unreadable(filename, problem, advice, settings))
    except UnreadableError as error:
        return Examined(unreadable(filename, error.problem, error.advice, settings, (error.line, error.column)))
    finally:
        if collecting:
            gc.enable()


def _examined(
    session: Session, text: str, filename: str, settings: Settings, rules: list[FoundRule], limit: Limit
) -> Examined:
    """What linting a tree comes to; once more with LibCST's own where it is unlike the one made from Python's."""
    from dataloader_lint.semantics.limits import SECONDS_TO_REPORT
    from dataloader_lint.source.fast_tree import UnlikeError

    times = _Times(limit, limit.deadline - SECONDS_TO_REPORT)
    while True:
        try:
            return _lint_tree(session, text, filename, settings, rules, times)
        except UnlikeError as error:
            session.use_libcst_for(error.path)


class _Times:
    """The CPU time that is left for the rules of a file: one rule may take a part of it, reporting gets some more."""

    __slots__ = ("_end", "_limit", "_whole")

    def __init__(self, limit: Limit, end: float) -> None:
        self._limit = limit
        self._whole = limit.deadline
        self._end = end

    def for_facts(self) -> None:
        """From now on, what is left for all rules may be taken."""
        self._limit.deadline = self._end

    def for_rule(self) -> None:
        """From now on, what one rule may take of it."""
        from dataloader_lint.semantics.limits import SHARE_OF_RULE

        now = time.thread_time()
        self._limit.deadline = now + (self._end - now) * SHARE_OF_RULE

    def for_report(self) -> None:
        """From now on, all that is left for the file."""
        self._limit.deadline = self._whole

    @property
    def are_over(self) -> bool:
        """True if what is left for the rules would not do for one that has to begin with parsing."""
        return self._end - time.thread_time() < 1


def _lint_tree(
    session: Session, text: str, filename: str, settings: Settings, rules: list[FoundRule], times: _Times
) -> Examined:
    """What the rules find. One that takes too long ends, and those after it begin with facts of their own.

    What had been worked out by then may be incomplete. The file has no fixes then, as these rest on all facts.
    """
    from dataloader_lint.engine.reported import reported_of, too_wide
    from dataloader_lint.semantics.interrupts import OutOfTimeError
    from dataloader_lint.source.decoding import UnreadableError
    from dataloader_lint.source.fast_tree import UnlikeError

    broken: list[Diagnostic] = []

    def crash(what: str, error: Exception) -> None:
        broken.extend(crashed(filename, what, error, settings))

    diagnostics: set[Diagnostic] = set()
    unfinished: list[str] = []
    while True:
        times.for_facts()
        try:
            facts = session.analyse(filename, text, settings)
        except OutOfTimeError:
            if not unfinished:
                raise
            unfinished += [one.rule.code for one in rules]
            break
        except (UnreadableError, UnlikeError):
            raise
        except Exception as error:
            crash("facts", error)
            return Examined([*diagnostics, *broken])
        found, rules, late = _run_rules(facts, rules, crash, times)
        times.for_report()
        reported = reported_of(found, facts, filename, settings)
        diagnostics.update(reported)
        if late is None:
            if not unfinished:
                diagnostics.update(too_wide(facts, filename, settings))
            break
        unfinished.append(late.rule.code)
        session.start_over()
        if not rules or times.are_over:
            unfinished += [one.rule.code for one in rules]
            break
    ordered = sorted([*diagnostics, *broken], key=lambda one: one.sort_key)
    if unfinished:
        return Examined([*_not_checked(unfinished, filename, settings), *ordered])
    builders = {one: build for one, build in reported.items() if build is not None}
    return Examined(ordered, builders, facts.tree)


def _not_checked(codes: list[str], filename: str, settings: Settings) -> list[Diagnostic]:
    """The DL000 of a file that some rules have not finished with."""
    shown = " and ".join(codes[:2]) if len(codes) < 3 else f"{codes[0]} and {len(codes) - 1} other rules"
    problem = f"checking this file takes too long, so {shown} did not finish; the findings of the others stand"
    return unreadable(filename, problem, "split it up", settings)


def _run_rules(
    facts: File, rules: list[FoundRule], crash: Crash, times: _Times
) -> tuple[list[tuple[FoundRule, Finding]], list[FoundRule], FoundRule | None]:
    """Run rules on the entities that they are about: the findings, the rules left, and the one that took too long.

    That one has no findings. A crash ends its rule; what it found before stays.
    """
    from dataloader_lint.semantics.interrupts import OutOfTimeError
    from dataloader_lint.source.decoding import UnreadableError
    from dataloader_lint.source.fast_tree import UnlikeError

    found: list[tuple[FoundRule, Finding]] = []
    for place, one in enumerate(rules):
        own: list[Finding] = []
        times.for_rule()
        try:
            _run_rule(one, facts, own)
        except (UnreadableError, UnlikeError):
            raise
        except OutOfTimeError:
            return found, rules[place + 1 :], one
        except Exception as error:
            crash(f"rule {one.rule.code}", error)
        found += [(one, finding) for finding in own]
    return found, [], None


def _run_rule(one: FoundRule, facts: File, found: list[Finding]) -> None:
    """Add what a rule finds in a file."""
    from dataloader_lint.rules.base import Entity
    from dataloader_lint.semantics.interrupts import check

    assert one.check is not None
    # A base class and its subclasses can report the same node; else one place may have several problems.
    by_place = one.rule.on is Entity.DATASET
    reported: set[object] = set()
    for arguments in _entities(one, facts):
        check()
        new: set[object] = set()
        for finding in one.check(*arguments):
            if finding.node not in facts.tree:
                raise LookupError("the rule reported a node of another file")
            key = id(finding.node) if by_place else (id(finding.node), finding.problem)
            new.add(key)
            if key not in reported:
                found.append(finding)
        reported |= new


def _entities(one: FoundRule, file: File) -> Iterator[tuple[object, ...]]:
    """What the `check` of a rule is called with, each time: an entity and the file, or just the file."""
    from dataloader_lint.rules.base import Entity

    if one.rule.on is Entity.FILE:
        yield (file,)
        return
    for entity in one.find(file) if one.find is not None else file.entities(one.rule.on):
        yield entity, file
