"""The files of a run shared out among processes."""

from __future__ import annotations

import os
from time import perf_counter

from dataloader_lint.source.projects import Roots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dataloader_lint.diagnostics import Diagnostic
    from dataloader_lint.engine.run import ProjectKey, Run
    from dataloader_lint.gate import Gate
    from dataloader_lint.semantics.project.dependencies import Sent
    from dataloader_lint.settings import Settings

    Done = tuple[str, list[Diagnostic], float]

# Starting processes takes as long as linting this many bytes does.
WORTH_IT = 600_000
# Files of one folder often rest on the same modules, so they go to one process together, but no process gets so much at
# once that the others wait for it at the end.
CHUNKS_FOR_EACH = 4

_here: list[Run] = []  # the one of a worker process


def lint_in_processes(
    run: Run, paths: list[str], jobs: int, progress: Callable[[str, float], None] | None = None
) -> list[Diagnostic]:
    """The findings of all files, in no certain order. `progress` is called in this process."""
    diagnostics: list[Diagnostic] = []
    todo: list[tuple[str, int]] = []
    for path in paths:
        known = run.known(path)
        if isinstance(known, bytes):
            todo.append((path, len(known)))
            continue
        diagnostics.extend(known)
        if progress is not None:
            progress(path, 0.0)
    if not todo or sum(size for _, size in todo) < WORTH_IT:
        results: Iterable[Done] = _lint(run, [path for path, _ in todo])
    else:
        run.too_large(path for path, _ in todo)  # the worker processes do not report it
        results = _shared_out(run, todo, jobs)
    for path, found, seconds in results:
        diagnostics.extend(found)
        run.keep(path, found)
        if progress is not None:
            progress(path, seconds)
    return diagnostics


def _shared_out(run: Run, todo: list[tuple[str, int]], jobs: int) -> Iterator[Done]:
    """Lint in several processes. What a process that was killed had to do is done in this one."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    from dataloader_lint.pipeline.session import Session
    from dataloader_lint.rules.registry import found_rules

    Session(run.settings), found_rules()  # what they import is the part of the work that forked processes share
    chunks = chunks_of(todo, jobs, Roots(run.settings.roots))
    executor = ProcessPoolExecutor(min(jobs, len(chunks)), None, _start, run.for_worker)
    left: list[list[str]] = []
    try:
        futures = {executor.submit(_lint_here, chunk): chunk for chunk in chunks}
        for future in as_completed(futures):
            try:
                done, sent = future.result()
                run.take_in(sent)
                yield from done
            except BrokenProcessPool:
                left.append(futures[future])
    except BaseException:  # Ctrl-C above all: the work of the processes is not waited for
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        # Without waiting, Python's own thread for the processes ends while the interpreter does, and now and then one
        # of the two finds that the other has closed their pipe, and prints a traceback.
        executor.shutdown(wait=True, cancel_futures=True)
    for chunk in left:
        yield from _lint(run, chunk)


def chunks_of(todo: list[tuple[str, int]], jobs: int, roots: Roots | None = None) -> list[list[str]]:
    """Neighbouring files together, in parts of about the same size, the largest first.

    `todo` has paths and sizes, `roots` tells their projects. A project is taken apart only where it is more than one
    process should get, as each process opens the modules that its files rest on.
    """
    roots = roots or Roots()
    of_project = [(roots.of(os.path.dirname(os.path.abspath(path))), path, size) for path, size in sorted(todo)]
    sizes: dict[str, int] = {}
    for root, _, size in of_project:
        sizes[root] = sizes.get(root, 0) + size
    share = sum(sizes.values()) / jobs
    limit = share / CHUNKS_FOR_EACH
    chunks: list[tuple[int, list[str]]] = []
    last = ""
    for root, path, size in of_project:
        is_full = not chunks or chunks[-1][0] + size / 2 > limit
        if is_full and (root != last or sizes[root] > share):
            chunks.append((0, []))
        total, members = chunks[-1]
        chunks[-1] = (total + size, [*members, path])
        last = root
    return [members for _, members in sorted(chunks, key=lambda chunk: -chunk[0])]


def _start(settings: Settings, fixes: str, gates: dict[tuple[bytes, ...], Gate], is_noting: bool) -> None:
    """Make a process ready to lint. Ctrl-C is for the process that started it to deal with."""
    import gc
    import signal
    import threading

    from dataloader_lint.engine.run import Run

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.disable()
    _here.append(Run(settings, fixes, "", gates, is_noting=is_noting))


def _end_with_parent() -> None:
    """End this process with the one that started it, which cannot tell its workers when it is killed."""
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _lint_here(paths: list[str]) -> tuple[list[Done], dict[ProjectKey, Sent]]:
    return list(_lint(_here[0], paths)), _here[0].unsent()


def _lint(run: Run, paths: list[str]) -> Iterator[Done]:
    for path in paths:
        start = perf_counter()
        found = run.lint_file(path)
        yield path, found, perf_counter() - start
