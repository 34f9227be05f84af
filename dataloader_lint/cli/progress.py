"""What a run says on standard error while it goes on: a bar on a terminal, or with `--verbose` a line for each file."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from dataloader_lint.cli.options import Options
    from dataloader_lint.settings import Settings

_PATIENCE = 1.0  # seconds that a run may take without a bar
_PAUSE = 0.1  # seconds between two pictures of it


class Bar:
    """Called with a path and its seconds when a file is done; shows how many of `total` are, from a second on."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._stream = stream
        self._done = 0
        self._due = time.monotonic() + _PATIENCE
        self._is_shown = False

    def __call__(self, path: str, _seconds: float) -> None:
        self._done += 1
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _PAUSE
            self._is_shown = True
            self._stream.write(f"\r{self._picture(path)}\x1b[K")
            self._stream.flush()

    def clear(self) -> None:
        """Take the bar away, so that something else can be printed."""
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_shown = False

    end = clear

    def _picture(self, path: str) -> str:
        from dataloader_lint.output.text import shown_path

        try:
            width = os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        cells = max(5, min(30, width // 4))
        full = cells * self._done // self._total
        text = f"[{'#' * full}{'.' * (cells - full)}] {self._done}/{self._total} "
        name = shown_path(path)
        room = width - len(text) - 1
        name = name if len(name) <= room else f"...{name[len(name) - room + 3 :]}" if room > 12 else ""
        encoding = self._stream.encoding or "ascii"
        return (text + name).encode(encoding, "replace").decode(encoding)


class Log:
    """Called with a path and its seconds when a file is done; prints both."""

    def __init__(self, settings: Settings, total: int, stream: TextIO) -> None:
        from dataloader_lint.cli.shown_settings import as_toml
        from dataloader_lint.rules.selection import selected_rules
        from dataloader_lint.settings import Settings as Defaults
        from dataloader_lint.source.keys import KEYS

        self._stream = stream
        self._total = total
        self._start = time.monotonic()
        usual = vars(Defaults())
        values = [(key, getattr(settings, key.attribute)) for key in KEYS.values()]
        chosen = [f"{key.name} = {as_toml(value)}" for key, value in values if value != usual[key.attribute]]
        self._say(f"settings: {', '.join(chosen) or 'defaults'} (those of each file: --show-settings)")
        codes = [found.rule.code for found in selected_rules(settings)]
        self._say(f"rules: {' '.join(codes)} ({len(codes)})")

    def __call__(self, path: str, seconds: float) -> None:
        from dataloader_lint.output.text import shown_path

        self._say(f"{seconds * 1000:8.1f} ms  {shown_path(path)}")

    def clear(self) -> None:
        """Nothing has to go before something else is printed."""

    def end(self) -> None:
        """Say how long all of it took."""
        self._say(f"{self._total} file{'' if self._total == 1 else 's'} in {time.monotonic() - self._start:.2f} s")

    def _say(self, line: str) -> None:
        from dataloader_lint.cli.terminal import show
        from dataloader_lint.output.text import neutralise

        show([neutralise(line)], self._stream)


def watching(total: int, options: Options) -> Bar | Log | None:
    """What to call for each file of a run over so many; None where the terminal could not show it."""
    if options.verbose:
        return Log(options.settings, total, sys.stderr)
    return None if os.environ.get("TERM") == "dumb" else Bar(total, sys.stderr)
