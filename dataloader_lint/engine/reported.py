"""Diagnostics of what rules find: where they stand, at which level, with which reasons, and their repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataloader_lint.diagnostics import Diagnostic, Level, Reason
from dataloader_lint.engine.reports import LITTLE_GAIN, NOT_KNOWN_LARGE, NOT_SURE, OTHER_FORM, crashed, unreadable
from dataloader_lint.rules.base import FixLevel
from dataloader_lint.rules.levels import level_of, spawns
from dataloader_lint.rules.selection import is_fixable
from dataloader_lint.rules.wording import without_platforms
from dataloader_lint.semantics.limits import BASE_CLASSES
from dataloader_lint.semantics.project.scripts import is_notebook_file, runs_as_test
from dataloader_lint.semantics.syntax.layout import excerpts
from dataloader_lint.source.decoding import UnreadableError
from dataloader_lint.source.fast_tree import UnlikeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataloader_lint.diagnostics import Position
    from dataloader_lint.edits import Editor, Repair
    from dataloader_lint.pipeline.file import File
    from dataloader_lint.pipeline.steps import Step
    from dataloader_lint.rules.base import Finding
    from dataloader_lint.rules.registry import FoundRule
    from dataloader_lint.semantics.syntax.tree import Node, Tree
    from dataloader_lint.settings import Settings

    Build = Callable[[Editor], Repair | None]


def reported_of(
    found: list[tuple[FoundRule, Finding]], facts: File, filename: str, settings: Settings
) -> dict[Diagnostic, Build | None]:
    """What is reported of findings, each with what builds its fix; what two entities lead to is still one finding."""
    if not found:
        return {}
    places = _places(facts.tree, [finding.node for _, finding in found])
    reasons = _reasons([step for _, finding in found for step in finding.because], facts.tree, filename)
    is_spawned = spawns(settings)
    in_tests = runs_as_test(facts.module)
    is_demo = in_tests or is_notebook_file(facts.module)
    # Time and memory that nobody misses are no reason to change code: in tests and notebooks, or of unknown size.
    of_cost = (Level.MEMORY, Level.SPEED)
    # What is worth it in one loop of a file is done in its others as well.
    large: set[object] = {finding.cause or id(finding) for _, finding in found if finding.level is not Level.NOTE}
    large |= {one.rule for one, each in found if each.level is not Level.NOTE and one.rule.level is Level.SPEED}
    fixable = {one.rule.code for one, _ in found if is_fixable(one.rule, settings)}
    reported: dict[Diagnostic, Build | None] = {}
    for each, finding in found:
        start, end, lines = places[id(finding.node)]
        shown = [reasons[id(step)] for step in finding.because if id(step) in reasons]
        because = tuple(one for one in shown if (one.filename, one.position.line) != (filename, start.line))
        problem = without_platforms(finding.problem) if is_spawned else finding.problem
        code, advice = each.rule.code, finding.advice
        level = level_of(each.rule, settings, Level.NOTE if in_tests else finding.level)
        is_large = (finding.cause or id(finding)) in large or each.rule in large
        is_gain = each.rule.level not in of_cost or (not is_demo and is_large)
        build = finding.repair if code in fixable and is_gain else None
        no_fix = ""
        if finding.repair is None and each.rule.fix is not FixLevel.NONE:
            no_fix = OTHER_FORM
        elif finding.repair is not None and build is None:
            little = NOT_KNOWN_LARGE if each.rule.level is Level.MEMORY else LITTLE_GAIN
            no_fix = "settings exclude it" if is_gain else little
        one = Diagnostic(
            filename,
            start,
            end,
            code,
            problem,
            advice,
            lines,
            because=because,
            level=level,
            cause=finding.cause,
            no_fix=no_fix,
        )
        reported[one] = reported.get(one) or build
    return reported


def too_wide(facts: File, filename: str, settings: Settings) -> list[Diagnostic]:
    """A DL000 for each class of the file of which not all base classes are known."""
    nodes = facts.too_wide_classes
    places = _places(facts.tree, nodes) if nodes else {}
    problem = f"this class has more than {BASE_CLASSES} base classes, and what the others do is unknown"
    found: list[Diagnostic] = []
    for start in (places[id(node)][0] for node in nodes):
        found += unreadable(filename, problem, "split it up", settings, (start.line, start.column))
    return found


def _places(tree: Tree, nodes: list[Node]) -> dict[int, tuple[Position, Position, tuple[int, int]]]:
    """Start, end and the lines of the statement around each node, by `id`; of a compound one the lines of its head."""
    places = {}
    for excerpt, held in excerpts(tree, nodes):
        twins = [excerpt.twin(node) for node in held]
        statements = [excerpt.twin(tree.statement_of(node)) for node in held]
        heads = [_end_of_head(statement) for statement in statements]
        ranges = excerpt.ranges([*twins, *statements, *(head for head in heads if head is not None)])
        for node, twin, statement, head in zip(held, twins, statements, heads, strict=True):
            start, end = ranges[id(twin)]
            first, last = ranges.get(id(statement), (start, end))
            if head is not None and id(head) in ranges:
                last = ranges[id(head)][0]
            places[id(node)] = (start, end, (first.line, last.line))
    return places


def _reasons(steps: list[Step], own: Tree, filename: str) -> dict[int, Reason]:
    """Where the steps of chains stand, by `id`; without those in a file that cannot be laid out."""
    by_tree: dict[int, list[Step]] = {}
    for step in steps:
        by_tree.setdefault(id(step.module.tree), []).append(step)
    reasons: dict[int, Reason] = {}
    for group in by_tree.values():
        tree = group[0].module.tree
        path = filename if tree is own else group[0].module.path
        try:
            starts: dict[int, Position] = {}
            for excerpt, held in excerpts(tree, [step.node for step in group]):
                ranges = excerpt.ranges([excerpt.twin(node) for node in held])
                starts |= {id(node): ranges[id(excerpt.twin(node))][0] for node in held}
        except (UnreadableError, UnlikeError):
            if tree is own:
                raise
            continue
        found = {id(step): Reason(path, starts[id(step.node)], step.text) for step in group}
        if tree is not own and path.endswith(".ipynb"):
            from dataloader_lint.engine.notebooks import in_cells_of

            found = in_cells_of(path, found)
        reasons |= found
    return reasons


def _end_of_head(statement: Node) -> Node | None:
    """What stands right behind the colon of a compound statement: the space up to its first line or statement."""
    body = getattr(statement, "body", None)
    return getattr(body, "header", None) or getattr(body, "leading_whitespace", None)


class Repairs:
    """The repairs of findings, in their order, why others have none, and a DL999 for each that crashed."""

    __slots__ = ("broken", "built", "refused")

    def __init__(self) -> None:
        self.built: dict[Diagnostic, Repair] = {}
        self.refused: dict[Diagnostic, str] = {}
        self.broken: list[Diagnostic] = []


def build_repairs(
    builders: dict[Diagnostic, Build], found: list[Diagnostic], editor: Editor, filename: str, settings: Settings
) -> Repairs:
    """Build the repairs of the given findings.

    Scripts that are divided into cells get none: an edit in one cell can break it, or need another one to run first.
    """
    from dataloader_lint.edits import RefusedError
    from dataloader_lint.source.script_cells import has_cells

    repairs = Repairs()
    if has_cells(editor.text):
        repairs.refused = dict.fromkeys(builders, "the script is divided into cells")
        return repairs
    for one in found:
        builder = builders.get(one)
        if builder is None:
            continue
        try:
            repair = builder(editor)
        except RefusedError as error:
            repairs.refused[one] = str(error)
            continue
        except Exception as error:
            repairs.broken.extend(crashed(filename, f"the repair of {one.code}", error, settings))
            continue
        if repair is not None:
            repairs.built[one] = repair
        else:
            repairs.refused[one] = NOT_SURE
    return repairs
