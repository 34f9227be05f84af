"""Linting with word of how far it has come."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataloader_lint.cli.options import Options
    from dataloader_lint.cli.progress import Bar, Log
    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.source.discovery import Found


def lint(found: Found, options: Options, fixes: str = "") -> list[Diagnostic]:
    """The findings in the files that were found. `fixes` is as for `run.Run`."""
    from dataloader_lint.engine.runner import lint_found

    warn = None if options.quiet else _warn
    progress = progress_for(found, options)
    jobs = options.jobs
    if not jobs and len(found.files) > 1:
        from dataloader_lint.engine.cpus import usable_cpus

        jobs = usable_cpus()
    try:
        cache = _cache_folder(options)
        return lint_found(found, options.settings, fixes, progress, jobs=jobs, cache=cache, warn=warn)
    finally:
        if progress is not None:
            progress.end()


def _warn(message: str) -> None:
    from dataloader_lint.cli.terminal import complain

    complain(message)


def _cache_folder(options: Options) -> str:
    """Where findings are kept from one run to the next: in the project of the working directory."""
    if options.no_cache:
        return ""
    if options.settings.cache_dir:
        return options.settings.cache_dir
    from dataloader_lint.source.projects import FOLDER, Roots

    return os.path.join(Roots().of(os.getcwd()), FOLDER)


def progress_for(found: Found, options: Options) -> Bar | Log | None:
    """What to call for each file that is done; None where nobody looks."""
    if not options.verbose and (options.quiet or len(found.files) < 2 or not sys.stderr.isatty()):
        return None
    from dataloader_lint.cli import progress

    return progress.watching(len(found.files), options)
