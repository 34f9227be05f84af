"""One file: gate → parse → facts → rules → suppressions → diagnostics.

What is imported inside functions here is what a file that cannot matter must not pay for.
"""

from __future__ import annotations

import gc

from dataloader_lint.gate import may_matter
from dataloader_lint.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import libcst as cst

    from dataloader_lint.diagnostics import Diagnostic, Position
    from dataloader_lint.facts.analysis import Analysis, Session
    from dataloader_lint.facts.tree import Node, Tree
    from dataloader_lint.rules.base import Entity, Finding
    from dataloader_lint.rules.registry import FoundRule

    Crash = Callable[[str, Exception], None]


def lint_source(
    source: bytes | str, filename: str, settings: Settings | None = None, session: Session | None = None
) -> list[Diagnostic]:
    """Lint one file given as its bytes (or as text that was decoded already), sorted by place.

    `filename` is what diagnostics say, and where imports of the file are looked for; nothing is read from it. A file
    that cannot be read or parsed is one DL000, a rule that crashes one DL999. Pass the same `session` for all files of
    a run, so that each module is opened only once.
    """
    settings = settings or Settings()
    if not may_matter(source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")):
        return []
    from dataloader_lint.source.decoding import UnreadableError, decode
    from dataloader_lint.source.noqa import silenced, skips_file

    try:
        text = decode(source) if isinstance(source, bytes) else source.removeprefix("\ufeff")
    except UnreadableError as error:
        return unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
    if skips_file(text):
        return []
    found = lint_text(text, filename, settings, session)
    if found:
        from dataloader_lint.rules.registry import INTERNAL_ERROR

        is_silenced = silenced(text)
        found = [
            one
            for one in found
            if one.code == INTERNAL_ERROR or not is_silenced(one.code, (one.start.line, *one.statement_lines))
        ]
    return found


def lint_text(text: str, filename: str, settings: Settings, session: Session | None = None) -> list[Diagnostic]:
    """Lint decoded text that passed the gate, without a look at its suppressions."""
    from dataloader_lint.facts.analysis import Session
    from dataloader_lint.source.decoding import UnreadableError
    from dataloader_lint.source.parsing import parse

    # A tree is many objects that live until the end: collecting while they come to be finds nothing and costs a lot.
    collecting = gc.isenabled()
    gc.disable()
    try:
        tree = parse(text)
        return _lint_tree((session or Session()).analyse, tree, filename, settings)
    except UnreadableError as error:
        return unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
    finally:
        if collecting:
            gc.enable()


def unreadable(
    filename: str, problem: str, advice: str, settings: Settings, place: tuple[int, int] = (1, 0)
) -> list[Diagnostic]:
    """The one DL000 of a file that cannot be linted, unless that code is ignored."""
    from dataloader_lint.rules.registry import UNREADABLE_FILE

    return _engine_report(UNREADABLE_FILE, filename, problem, advice, settings, place)


def crashed(filename: str, what: str, error: Exception, settings: Settings) -> list[Diagnostic]:
    """The one DL999 that says what failed in the linter itself, and where to report it."""
    from dataloader_lint.rules.registry import INTERNAL_ERROR

    reason = " ".join(str(error).split())[:200]
    problem = f"internal error in {what}: {type(error).__name__}{': ' if reason else ''}{reason}{_origin(error)}"
    return _engine_report(INTERNAL_ERROR, filename, problem, "please report it, with this file if you can", settings)


def _engine_report(
    code: str, filename: str, problem: str, advice: str, settings: Settings, place: tuple[int, int] = (1, 0)
) -> list[Diagnostic]:
    from dataloader_lint.diagnostics import Diagnostic, Position
    from dataloader_lint.rules.selection import is_selected

    if not is_selected(code, True, settings):
        return []
    start = Position(*place)
    return [Diagnostic(filename, start, start, code, problem, advice, (start.line, start.line))]


def _lint_tree(
    analyse: Callable[[str, cst.Module], Analysis], tree: cst.Module, filename: str, settings: Settings
) -> list[Diagnostic]:
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.rules.selection import selected_rules

    broken: list[Diagnostic] = []

    def crash(what: str, error: Exception) -> None:
        broken.extend(crashed(filename, what, error, settings))

    try:
        facts = analyse(filename, tree)
    except Exception as error:
        crash("facts", error)
        return broken
    found = _run_rules(facts, selected_rules(settings), crash)
    if not found:
        return broken
    places = _places(facts.tree, [finding.node for _, finding in found])
    diagnostics = set()  # what two entities lead to is still one finding
    for code, finding in found:
        start, end, lines = places[id(finding.node)]
        diagnostics.add(Diagnostic(filename, start, end, code, finding.problem, finding.advice, lines))
    return sorted([*diagnostics, *broken], key=lambda one: one.sort_key)


def _run_rules(facts: Analysis, rules: Iterable[FoundRule], crash: Crash) -> list[tuple[str, Finding]]:
    """Run every rule on the entities that it asks for. A crash ends that rule, or the rules on those entities."""
    entities: dict[Entity, list[object]] = {}
    found: list[tuple[str, Finding]] = []
    for one in rules:
        kind = one.rule.on
        if kind not in entities:
            try:
                entities[kind] = list(facts.entities(kind))
            except Exception as error:
                entities[kind] = []
                crash(f"facts about every {kind.value}", error)
        assert one.check is not None
        try:
            for entity in entities[kind]:
                for finding in one.check(entity):
                    if finding.node not in facts.tree:
                        raise LookupError("the rule reported a node of another file")
                    found.append((one.rule.code, finding))
        except Exception as error:
            crash(f"rule {one.rule.code}", error)
    return found


def _places(tree: Tree, nodes: list[Node]) -> dict[int, tuple[Position, Position, tuple[int, int]]]:
    """Start, end and the lines of the statement around each node, by `id`; of a compound one the lines of its head."""
    statements = [tree.statement_of(node) for node in nodes]
    heads = [_end_of_head(statement) for statement in statements]
    ranges = tree.ranges([*nodes, *statements, *(head for head in heads if head is not None)])
    places = {}
    for node, statement, head in zip(nodes, statements, heads, strict=True):
        start, end = ranges[id(node)]
        first, last = ranges.get(id(statement), (start, end))
        if head is not None and id(head) in ranges:
            last = ranges[id(head)][0]
        places[id(node)] = (start, end, (first.line, last.line))
    return places


def _end_of_head(statement: Node) -> Node | None:
    """What stands right behind the colon of a compound statement: the space up to its first line or statement."""
    body = getattr(statement, "body", None)
    return getattr(body, "header", None) or getattr(body, "leading_whitespace", None)


def _origin(error: Exception) -> str:
    """Where in this package an error came from, for the report."""
    step, place = error.__traceback__, ""
    while step is not None:
        name = step.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/dataloader_lint/" in name:
            place = f" ({name.rpartition('/dataloader_lint/')[2]}:{step.tb_lineno})"
        step = step.tb_next
    return place
