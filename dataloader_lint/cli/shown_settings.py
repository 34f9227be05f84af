"""`--show-settings`: the merged settings, each with the place that it comes from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from dataloader_lint.cli.options import Options
from dataloader_lint.cli.report import CLEAN
from dataloader_lint.cli.terminal import paint_for, show
from dataloader_lint.output.paint import Paint, plain
from dataloader_lint.output.text import fitted, neutralise, shown_path
from dataloader_lint.rules.registry import found_rules
from dataloader_lint.rules.selection import selected_rules
from dataloader_lint.settings import Settings
from dataloader_lint.source.discovery import Found
from dataloader_lint.source.key import BYTES
from dataloader_lint.source.keys import KEYS
from dataloader_lint.source.pyproject import SettingsByFile, origins

_MOST_FILES = 3
_UNITS = ((12, "TB"), (9, "GB"), (6, "MB"), (3, "KB"), (0, "B"))


def show_settings(found: Found, options: Options) -> int:
    """Print the settings of the files, once for all that have the same, and return the exit code."""
    by_file = SettingsByFile(options.settings)
    groups: dict[tuple[Settings, tuple[tuple[str, str], ...]], list[str]] = {}
    sources: dict[str, tuple[tuple[str, str], ...]] = {}
    for path in found.files or [os.path.join(os.curdir, "")]:
        folder = os.path.abspath(os.path.dirname(path))
        settings = by_file.of_folder(folder)
        if folder not in sources:
            sources[folder] = tuple(_sources(folder, options).items())
        groups.setdefault((settings, sources[folder]), []).append(path)
    for (settings, known), paths in groups.items():
        show(_block(settings, dict(known), paths, paint_for(sys.stdout)))
    return CLEAN


def _sources(folder: str, options: Options) -> dict[str, str]:
    """Where each setting that is no default comes from."""
    if options.isolated:
        return dict.fromkeys(options.given_settings, "command line")
    known = origins(folder, file=options.config_file)
    for name in options.given_settings:
        is_added = "extend_" in name and name in known
        known[name] = f"{known[name]} and command line" if is_added else "command line"
    return known


def _block(settings: Settings, sources: dict[str, str], paths: list[str], paint: Paint = plain) -> Iterator[str]:
    names = ", ".join(shown_path(path) or "." for path in paths[:_MOST_FILES])
    more = f" and {len(paths) - _MOST_FILES} more (--show-files lists them)" if len(paths) > _MOST_FILES else ""
    yield paint("strong", f"# {names}{more}")
    for key in KEYS.values():
        value = getattr(settings, key.attribute)
        source = sources.get(key.attribute, "default")
        shown = as_toml(_in_force(key.attribute, value))
        line = f"{key.name} = {as_size(value) if key.kind == BYTES else neutralise(shown)}"
        *lines, last = fitted(line, sys.stdout)
        yield from lines
        meaning = ": the rules that are on by default" if key.name == "select" and not value else ""
        yield f"{last}  {paint('quiet', f'# {neutralise(source)}{meaning}')}"
    codes = [found.rule.code for found in selected_rules(settings)]
    every = sum(1 for found in found_rules().values() if found.check is not None)
    yield from fitted(f"# {len(codes)} of {every} rules: {' '.join(codes)}", sys.stdout, "# ")
    yield ""


def _in_force(attribute: str, value: object) -> object:
    """What a setting without a value stands for, where that is a list."""
    if attribute == "exclude" and value is None:
        from dataloader_lint.source.discovery import EXCLUDED_FOLDERS

        return tuple(sorted(EXCLUDED_FOLDERS))
    return value


def as_size(size: int) -> str:
    """A number of bytes as `memory-threshold` takes it, in the largest unit of which it is a whole number."""
    factor, unit = next((10**power, name) for power, name in _UNITS if size % 10**power == 0)
    return f'"{size // factor}{unit}"'


def as_toml(value: object) -> str:
    """A value as TOML writes it, but for those that have none."""
    if value is None:
        return "(default)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        if value and all(isinstance(one, tuple) for one in value):
            return "{ " + ", ".join(f'"{name}" = {as_toml(one)}' for name, one in value) + " }"
        return f"[{', '.join(as_toml(one) for one in value)}]"
    return str(value)
