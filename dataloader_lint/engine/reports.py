"""What the engine itself reports of a file, and which findings the file's own comments let through.

What is imported inside functions here is what a file that cannot matter must not pay for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.edits import Repair
    from dataloader_lint.settings import Settings

# Why a finding has no fix, where no rule or helper says more.
LITTLE_GAIN = "it would save little time"
NOT_KNOWN_LARGE = "size small or unknown; tell it: --samples 3M"
NOT_SURE = "no edit is known to keep what the program does"
OTHER_FORM = "no fix for this form of it"


def unreadable(
    filename: str, problem: str, advice: str, settings: Settings, place: tuple[int, int] = (1, 0)
) -> list[Diagnostic]:
    """The one DL000 of a file that cannot be linted, unless that code is ignored."""
    from dataloader_lint.rules.registry import UNREADABLE_FILE

    return _engine_report(UNREADABLE_FILE, filename, problem, advice, settings, place)


def syntax_error(source: bytes, filename: str, settings: Settings) -> list[Diagnostic]:
    """The one DL000 of a file that no rule has to look at, if Python cannot parse it.

    Of a notebook only the JSON is read. An empty one gets a DL000, too: Jupyter does not open it.
    """
    if filename.endswith(".ipynb"):
        return _broken_notebook(source, filename, settings)
    if not filename.endswith(_PARSED) or (source.isascii() and _is_python(source)):
        return []
    from dataloader_lint.source.decoding import UnreadableError, decode

    try:
        text = decode(source)
        if not _is_python(text):
            from dataloader_lint.source.noqa import skips_file
            from dataloader_lint.source.parsing import parse

            if not skips_file(text) or settings.ignore_noqa:
                parse(text)  # it may be the syntax of a newer Python
    except UnreadableError as error:
        return unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
    return []


def _broken_notebook(source: bytes, filename: str, settings: Settings) -> list[Diagnostic]:
    from dataloader_lint.source.decoding import UnreadableError
    from dataloader_lint.source.notebooks import read

    try:
        read(source)
    except UnreadableError as error:
        return unreadable(filename, error.problem, error.advice, settings, (error.line, error.column))
    return []


def _is_python(source: bytes | str) -> bool:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<file>", "exec", _ONLY_PARSE, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):  # it may be fine for a Python with another limit
        pass
    return True


_PARSED = (".py", ".pyi", ".pyw", "<stdin>")
_ONLY_PARSE = 0x400  # `ast.PyCF_ONLY_AST`, without the time that it takes to import ast


def crashed(filename: str, what: str, error: Exception, settings: Settings) -> list[Diagnostic]:
    """The one DL999 that says what failed in the linter itself, and where to report it."""
    from dataloader_lint.rules.registry import INTERNAL_ERROR

    reason = " ".join(str(error).split())[:200]
    problem = f"internal error in {what}: {type(error).__name__}{': ' if reason else ''}{reason}{_origin(error)}"
    return _engine_report(INTERNAL_ERROR, filename, problem, "please report it, with this file if you can", settings)


def unsuppressed(found: list[Diagnostic], text: str, settings: Settings) -> list[Diagnostic]:
    """The diagnostics that no `# noqa` in the text suppresses; all of them if the settings say so."""
    if not found or settings.ignore_noqa:
        return found
    from dataloader_lint.rules.registry import INTERNAL_ERROR
    from dataloader_lint.source.noqa import silenced

    is_silenced = silenced(text)
    return [
        one
        for one in found
        if one.code == INTERNAL_ERROR or not is_silenced(one.code, (one.start.line, *one.statement_lines))
    ]


def unused_noqa(
    found: list[Diagnostic], text: str, filename: str, settings: Settings
) -> list[tuple[Diagnostic, Repair | None]]:
    """A DL001 for each comment that suppresses none of the findings of a text, with the repair that removes it.

    Also one without a repair for each comment that is read otherwise than it is meant. `found` are all findings,
    suppressed ones among them.
    """
    if settings.ignore_noqa or "noqa" not in text.lower():
        return []
    from dataloader_lint.diagnostics import Diagnostic, Position, Safety
    from dataloader_lint.rules.levels import level_of
    from dataloader_lint.rules.registry import INTERNAL_ERROR, UNUSED_NOQA, found_rules
    from dataloader_lint.rules.selection import is_fixable, is_selected, selected_rules
    from dataloader_lint.source.decoding import line_starts
    from dataloader_lint.source.unused_noqa import misread_comments, unused_comments

    rules = found_rules()
    rule = rules[UNUSED_NOQA].rule
    if not is_selected(rule, settings):
        return []
    ran = {one.rule.code for one in selected_rules(settings)}
    level = level_of(rule, settings)
    starts = [*line_starts(text), len(text)]
    places = [(one.code, (one.start.line, *one.statement_lines)) for one in found if one.code != INTERNAL_ERROR]

    def can_tell(prefix: str) -> bool:
        return prefix == INTERNAL_ERROR or all(code in ran for code in rules if code.startswith(prefix))

    def code_of(name: str) -> str:
        return next((code for code, one in rules.items() if one.rule.name == name), "")

    misread = [
        Diagnostic(
            *(filename, Position(one.line, one.start), Position(one.line, one.end), UNUSED_NOQA),
            *(one.problem, one.advice, (one.line, one.line)),
            level=level,
        )
        for one in misread_comments(text, code_of)
    ]
    unused = list(unused_comments(text, places, can_tell))
    if not unused:
        return [(one, None) for one in misread]
    from dataloader_lint.edits import Edit, Repair  # which loads LibCST

    made: list[tuple[Diagnostic, Repair | None]] = [(one, None) for one in misread]
    for comment in unused:
        unknown = [code for code in comment.codes if not any(one.startswith(code) for one in rules)]
        codes = ", ".join(comment.codes)
        why = f"there is no rule {unknown[0]}" if unknown else "it suppresses nothing"
        if comment.codes == (INTERNAL_ERROR,):
            why = "errors of the linter itself cannot be suppressed"
        problem = f"unused `# noqa: {codes}`: {why}"
        start, end = Position(comment.line, comment.start), Position(comment.line, comment.end)
        lines = (comment.line, comment.line)
        one = Diagnostic(filename, start, end, UNUSED_NOQA, problem, "remove the comment", lines, level=level)
        begin = starts[comment.line - 1]
        edit = Edit(begin + comment.cut_from, begin + comment.cut_to, comment.content)
        edit = Edit(begin, starts[comment.line], "") if comment.drops_line else edit
        repair = Repair(Safety.SAFE, f"Remove the unused `# noqa: {codes}`", (edit,))
        made.append((one, repair if is_fixable(rule, settings) else None))
    return made


def with_fixes(unused: list[tuple[Diagnostic, Repair | None]], text: str) -> list[Diagnostic]:
    """Unused comments of a text, each with its repair as a fix."""
    if not unused:
        return []
    from dataclasses import replace

    from dataloader_lint.edits.repair import fix_of
    from dataloader_lint.source.decoding import line_starts

    starts = line_starts(text)
    return [replace(one, fix=fix_of(repair, starts)) if repair else one for one, repair in unused]


def _engine_report(
    code: str, filename: str, problem: str, advice: str, settings: Settings, place: tuple[int, int] = (1, 0)
) -> list[Diagnostic]:
    from dataloader_lint.diagnostics import Diagnostic, Position
    from dataloader_lint.rules.registry import found_rules
    from dataloader_lint.rules.selection import is_selected

    if not is_selected(found_rules()[code].rule, settings):
        return []
    start = Position(*place)
    return [Diagnostic(filename, start, start, code, problem, advice, (start.line, start.line))]


def _origin(error: Exception) -> str:
    """Where in this package an error came from, for the report."""
    step, place = error.__traceback__, ""
    while step is not None:
        name = step.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/dataloader_lint/" in name:
            place = f" ({name.rpartition('/dataloader_lint/')[2]}:{step.tb_lineno})"
        step = step.tb_next
    return place
