"""What the engine itself reports of a file, and which findings the file's own comments let through.

What is imported inside functions here is what a file that cannot matter must not pay for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.settings import Settings


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


def unsuppressed(found: list[Diagnostic], text: str) -> list[Diagnostic]:
    """The diagnostics that no `# noqa` in the text silences."""
    if not found:
        return []
    from dataloader_lint.rules.registry import INTERNAL_ERROR
    from dataloader_lint.source.noqa import silenced

    is_silenced = silenced(text)
    return [
        one
        for one in found
        if one.code == INTERNAL_ERROR or not is_silenced(one.code, (one.start.line, *one.statement_lines))
    ]


def _engine_report(
    code: str, filename: str, problem: str, advice: str, settings: Settings, place: tuple[int, int] = (1, 0)
) -> list[Diagnostic]:
    from dataloader_lint.diagnostics import Diagnostic, Position
    from dataloader_lint.rules.selection import is_selected

    if not is_selected(code, True, settings):
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
