"""The table `[tool.dataloader-lint]` of the nearest pyproject.toml, as values for Settings.

TOML is only parsed where a file names this tool or is asked for, as its parser costs as much to import as a run over
files that cannot matter.
"""

from __future__ import annotations

import os

from dataloader_lint.settings import Settings
from dataloader_lint.source.confinement import is_outside
from dataloader_lint.source.reading import read_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from dataloader_lint.source.measurements import Measured

    Values = dict[str, object]
    _Found = tuple[Values, str]

_TABLE = "dataloader-lint"
# Where `doctor --prove` records what it has measured.
RECORD = ".dataloader-lint-measured.json"
# As `Settings.record`: no record counts.
NO_RECORD = os.devnull
# Python's TOML parser iterates over all parts of a table's name for each key in it.
_MOST_PARTS = 200
_LONGEST_PROBLEM = 200
_PLACE = r" \((?:at line (\d+), column \d+|at end of document)\)$"
# What the table is called by mistake; looked for so that such a table is not passed over in silence.
_MISSPELT = (b"tool.dataloader_lint", b"tool.dataloaderlint", b"tool.dataloader_linter")


class ConfigurationError(Exception):
    """The file cannot be used as it is; the message says which file, what in it, and what would be right."""


class SettingsByFile:
    """Which settings hold for a file: those of the run, or those of the nearest pyproject.toml with options over them.

    Made again for every run, so that a changed pyproject.toml counts from the next one on. The methods raise
    ConfigurationError where a pyproject.toml cannot be used.
    """

    __slots__ = ("_by_folder", "_by_ignores", "_configured", "_measured", "_of_run", "_records", "problems")

    def __init__(self, settings: Settings) -> None:
        self._of_run = settings
        self._configured: dict[str, _Found] = {}
        self._by_folder: dict[str, Settings] = {}
        self._by_ignores: dict[tuple[Settings, tuple[str, ...]], Settings] = {}
        self._records: dict[str, str] = {}
        self._measured: dict[str, Mapping[str, tuple[Measured, ...]]] = {}
        self.problems: list[str] = []
        """A line for each record that was found and cannot be used."""

    def of_folder(self, folder: str) -> Settings:
        """The settings for what lies in a folder, but for what single files are spared."""
        if self._of_run.options is None:
            return self._of_run
        found = self._by_folder.get(folder)
        if found is None:
            values = _nearest(os.path.abspath(folder), self._configured)
            options = {**dict(self._of_run.options), "roots": self._of_run.roots, "record": self._of_run.record}
            found = Settings(**with_options(values, options))  # type: ignore[arg-type]
            self._by_folder[folder] = found
        return found

    def of_file(self, path: str) -> Settings:
        """The settings for one file: with what `per-file-ignores` leave out of it, and with what was measured in it."""
        settings = self._with_ignores(path)
        measured = self._measured_in(path) if self._of_run.options is not None or self._of_run.record else ()
        return settings.replace(measured=measured) if measured else settings

    def _with_ignores(self, path: str) -> Settings:
        settings = self.of_folder(os.path.dirname(path))
        if not settings.per_file_ignores:
            return settings
        codes = _ignored(path, settings.per_file_ignores)
        found = self._by_ignores.get((settings, codes))
        if found is None:
            found = settings.replace(per_file_ignores=(), ignored_here=(*settings.ignored_here, *codes))
            self._by_ignores[settings, codes] = found
        return found

    def _measured_in(self, path: str) -> tuple[Measured, ...]:
        """What the record of the run, or the nearest one at or above a file, says of findings in it."""
        full = os.path.abspath(path)
        record = self._of_run.record or self._record_in(os.path.dirname(full))
        if record in ("", NO_RECORD):
            return ()
        if record not in self._measured:
            from dataloader_lint.source.measurements import DamagedRecordError, measured_in

            try:
                self._measured[record] = measured_in(record)
            except DamagedRecordError as error:
                self._measured[record] = {}
                self.problems.append(f"{record} is not a record of measurements that can be used: {error}")
        return self._measured[record].get(full, ())

    def _record_in(self, folder: str) -> str:
        found = self._records.get(folder)
        if found is None:
            path, above = os.path.join(folder, RECORD), os.path.dirname(folder)
            is_last = above == folder or is_outside(above)
            found = path if os.path.exists(path) else "" if is_last else self._record_in(above)
            self._records[folder] = found
        return found


def chosen(
    options: Mapping[str, object] | None = None, folder: str = ".", *, file: str | None = None, isolated: bool = False
) -> Settings:
    """The settings of a run: what the command line says, over what the nearest pyproject.toml of a folder does.

    With a `file` that one holds for all files that are linted, with paths in it from the working directory; `isolated`,
    no file does. Otherwise `SettingsByFile` finds those of each file. Raises ConfigurationError.
    """
    given = dict(options or {})
    if isolated:
        return Settings(**with_options({}, given))  # type: ignore[arg-type]
    if file is not None:
        found, python = _read_table(file, os.getcwd())
        if found is None:
            raise ConfigurationError(f"{file}: there is no table [tool.{_TABLE}]")
        values = {"target_python": python, **found} if python else found
        return Settings(**with_options(values, given))  # type: ignore[arg-type]
    values = with_options(configured(folder), given)
    return Settings(**values, options=tuple(given.items()))  # type: ignore[arg-type]


def inline(text: str) -> Values:
    """The settings in one line of TOML, such as `max-workers = 8`, with paths from the working directory.

    Raises ConfigurationError.
    """
    return _values("--config", _parse("--config", text.encode("utf-8", "surrogateescape")), os.getcwd())


def origins(folder: str, *, file: str | None = None) -> dict[str, str]:
    """Which file each setting of a folder comes from, by its name in Settings: `file`, or the nearest pyproject.toml.

    A `requires-python` that sets the target counts as one. What has its default is missing. Raises ConfigurationError.
    """
    if file is not None:
        return dict.fromkeys(_read_table(file, os.getcwd())[0] or {}, file)
    known: dict[str, _Found] = {}
    values, place = _nearest(os.path.abspath(folder), known), os.path.abspath(folder)
    table: Values | None = None
    while True:
        path = os.path.join(place, "pyproject.toml")
        table = _read_table(path, place)[0] if os.path.isfile(path) else None
        if table is not None or os.path.dirname(place) == place:
            break
        place = os.path.dirname(place)
    return {name: path if name in (table or {}) else "requires-python of the project" for name in values}


def with_options(found: Values, options: Mapping[str, object]) -> Values:
    """Keywords for Settings, with what the command line says over them.

    Options replace what the file says, `extend-...` ones add to it. `--select` means these rules and no others, so the
    file's other choices of rules go.
    """
    if "select" in options:
        found = {
            name: value for name, value in found.items() if name not in ("ignore", "extend_select", "extend_ignore")
        }
    added = {name: (*_tuple(found.get(name)), *_tuple(value)) for name, value in options.items() if "extend_" in name}
    return {**found, **options, **added}


def configured(folder: str) -> Values:
    """What the nearest pyproject.toml with such a table, at or above a folder, sets, as keywords for Settings.

    Raises ConfigurationError where the file cannot be read, is no TOML, or has a key or value that means nothing.
    """
    return _nearest(os.path.abspath(folder), {})


def _nearest(folder: str, known: dict[str, _Found]) -> Values:
    table, python = _found_in(folder, known)
    return {"target_python": python, **table} if python else table


def _found_in(folder: str, known: dict[str, _Found]) -> _Found:
    """The values of the nearest table, and the nearest `requires-python` up to there, which needs no table."""
    found = known.get(folder)
    if found is None:
        path = os.path.join(folder, "pyproject.toml")
        above = os.path.dirname(folder)
        table, python = _read_table(path, folder) if os.path.isfile(path) else (None, "")
        if table is not None:
            found = (table, python)
        elif above != folder and not is_outside(above):
            table, further = _found_in(above, known)
            found = (table, python or further)
        else:
            found = ({}, python)
        known[folder] = found
    return found


def _read_table(path: str, base: str) -> tuple[Values | None, str]:
    """The values of the table in one file, None where there is none, and the file's `requires-python`.

    Paths in the values are taken from the folder `base`.
    """
    try:
        source = read_bounded(path)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror or error}") from None
    if _TABLE.encode() not in source and not any(name in source for name in _MISSPELT):
        return None, _requires_python(source)
    content = _parse(path, source)
    tool, project = content.get("tool"), content.get("project")
    tables = tool if isinstance(tool, dict) else {}
    python = project.get("requires-python") if isinstance(project, dict) else ""
    wrong = next((f"tool.{name}" for name in tables if f"tool.{name}".encode() in _MISSPELT), "")
    wrong = _TABLE if isinstance(content.get(_TABLE), dict) else wrong
    if wrong:
        raise ConfigurationError(f"{path}: the table [{wrong}] must be called [tool.{_TABLE}]")
    table = tables.get(_TABLE)
    if table is None:
        return None, python if isinstance(python, str) else ""
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: [tool.{_TABLE}] must be a table")
    return _values(f"{path}: [tool.{_TABLE}]", table, base), python if isinstance(python, str) else ""


def _parse(path: str, source: bytes) -> dict[str, Any]:
    import re
    import tomllib

    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{path}:{line}: not valid TOML: the file is not UTF-8") from None
    for number, written in enumerate(text.split("\n"), 1):
        if written.lstrip().startswith("[") and written.count(".") > _MOST_PARTS:
            raise ConfigurationError(f"{path}:{number}: the table is nested too deeply")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = " ".join(str(error).split())
        place = re.search(_PLACE, problem)
        line = int(place[1]) if place and place[1] else len(text.splitlines())
        problem = problem if len(problem) < _LONGEST_PROBLEM else f"{problem[:_LONGEST_PROBLEM]}..."
        raise ConfigurationError(f"{path}:{line}: not valid TOML: {problem}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: not valid TOML: it is nested too deeply") from None


def _values(where: str, table: Values, base: str) -> Values:
    from dataloader_lint.source.key import UnfitValueError, shown
    from dataloader_lint.source.keys import KEYS

    values: Values = {}
    for name, value in table.items():
        if name not in KEYS:
            raise ConfigurationError(f"{where} has no key {shown(name)}{_instead(name)}")
        try:
            values[KEYS[name].attribute] = KEYS[name].read(value, base)
        except UnfitValueError as error:
            raise ConfigurationError(f"{where} {name} {error}") from None
    return values


def _instead(name: str) -> str:
    """What to put behind a complaint about a key that does not exist."""
    from dataloader_lint.source.key import ONLY_OPTIONS, OTHER_NAMES, suggestion
    from dataloader_lint.source.keys import KEYS

    meant = OTHER_NAMES.get(name, name)
    if meant in ONLY_OPTIONS:
        return f"; it is an option of the command: {ONLY_OPTIONS[meant]}"
    return f"; did you mean {meant!r}?" if meant in KEYS else suggestion(name, KEYS)


def _requires_python(source: bytes) -> str:
    """`requires-python`, read without a TOML parser: the quoted text behind its name; empty where there is none."""
    line = source.partition(b"requires-python")[2].partition(b"\n")[0]
    quoted = line.replace(b"'", b'"').split(b'"')
    return quoted[1].decode("ascii", "replace") if len(quoted) > 2 and quoted[0].strip() == b"=" else ""


def _ignored(path: str, patterns: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[str, ...]:
    """The code prefixes that the patterns which a file fits leave out of it."""
    from dataloader_lint.source.globs import absolute, matcher

    full = os.path.abspath(path)
    name, full = os.path.basename(full), full.replace(os.sep, "/")
    found: dict[str, None] = {}
    for pattern, codes in patterns:
        where = name
        if "/" in pattern:
            where, pattern = full, absolute(pattern, os.curdir)
        if matcher(pattern)(where):
            found.update(dict.fromkeys(codes))
    return tuple(found)


def _tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else ()
