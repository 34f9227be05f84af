"""Progress bars, and other wrappers of iterables."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "alive_progress.alive_it": Call(yields_argument=True),
    "cachetools.cached": Call(memoises=True),
    "fastprogress.fastprogress.progress_bar": Call(yields_argument=True),
    "fastprogress.progress_bar": Call(yields_argument=True),
    "more_itertools.peekable": Call(iterates="lazily"),
    "prefetch_generator.BackgroundGenerator": Call(yields_argument=True),
    "progressbar.progressbar": Call(yields_argument=True),
    "rich.progress.track": Call(yields_argument=True),
    "tqdm.contrib.concurrent.process_map": Call(starts="process"),
    "tqdm.tqdm": Call(yields_argument=True, streams="argument"),
}
