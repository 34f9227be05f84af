"""One key of `[tool.dataloader-lint]`: what it takes, from TOML or as text, and its values as Settings keep them.

Imported only where a project has such a table or a command line has options.
"""

from __future__ import annotations

import functools
import os
import re

from dataloader_lint.source.confinement import is_outside
from dataloader_lint.source.globs import UnfitGlobError, absolute, alternatives, split_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The kinds of values.
CODES, CODES_BY_GLOB, PATTERNS, NAMES, FOLDERS = "codes", "codes by glob", "patterns", "names", "folders"
LEVELS_BY_CODE = "levels by code"
COUNTS_BY_CLASS, BYTES = "counts by class", "bytes"
NUMBER, VERSIONS, CHOICE, FLAG, FOLDER = "number", "versions", "choice", "flag", "folder"
# What `rules.selection` knows by name, besides the rules themselves.
SELECTIONS = ("all", "correctness", "portability", "py314", "memory", "speed")
# What `extend-dataloaders` knows by name: loaders of other libraries with the arguments of torch's.
LOADER_PRESETS = {
    "mindspore": "mindspore.dataset.dataloader.DataLoader",
    "spdl": "spdl.dataloader.get_pytorch_dataloader",
}
# What other tools call options and keys of ours.
OTHER_NAMES = {
    "disable": "ignore",
    "enable": "extend-select",
    "format": "output-format",
    "output": "output-file",
    "skip": "exclude",
    "workers": "jobs",
}
# Options of the command that are no keys, with their values, as far as people look for them in a pyproject.toml.
ONLY_OPTIONS = {
    "baseline": "--baseline FILE",
    "exit-zero": "--exit-zero",
    "force-exclude": "--force-exclude",
    "jobs": "--jobs N",
    "output-file": "--output-file FILE",
    "quiet": "--quiet",
    "statistics": "--statistics",
    "write-baseline": "--write-baseline FILE",
}
_OPERATORS = ("===", "==", "~=", "!=", "<=", ">=", "<", ">")
_LONGEST_VERSIONS = 200
_LONGEST_SHOWN = 60
_LONGEST_NAME = 100  # of what may be a name with a mistake in it
_WANTED = {
    CODES_BY_GLOB: "a table of a glob and a list of codes each",
    LEVELS_BY_CODE: "a table of a code and a level each",
    COUNTS_BY_CLASS: "a number such as '5M', or a table of a class name and a number each",
    BYTES: "a size with its unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB), such as '64MB'",
    NUMBER: "a number above 0",
    FLAG: "true or false",
    FOLDER: "the path of a folder",
    VERSIONS: "Python versions such as '>=3.11'",
}


class UnfitValueError(ValueError):
    """A value that cannot be used; the message goes on from the name of its key."""


class Key:
    """One key: its name as users write it, what its value is, the value without it as they would write it, and texts.

    `help` is a few words for lists of options, `about` its part of docs/settings.md, `example` what stands there in
    TOML. `flake8` says whether it is an option of flake8, too, as `--dl-NAME`.
    """

    __slots__ = ("about", "choices", "default", "example", "flake8", "help", "kind", "name")

    def __init__(
        self,
        name: str,
        kind: str,
        default: str,
        help: str,  # noqa: A002
        about: str,
        example: str,
        choices: tuple[str, ...] = (),
        flake8: bool = False,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.help = help
        self.about = about
        self.example = example
        self.choices = choices
        self.flake8 = flake8

    @property
    def attribute(self) -> str:
        """What Settings call it."""
        return self.name.replace("-", "_")

    @property
    def metavar(self) -> str:
        """What lists of options call its value."""
        last = "level" if self.name == "fail-on" else self.name.rpartition("-")[2]
        pairs = {CODES_BY_GLOB: "GLOB:CODE", LEVELS_BY_CODE: "CODE:LEVEL", COUNTS_BY_CLASS: "[CLASS:]N"}
        return {**pairs, BYTES: "SIZE", NUMBER: "N", FOLDER: "DIR", CHOICE: last.upper()}.get(
            self.kind, self.kind.upper()
        )

    @property
    def option_help(self) -> str:
        """What lists of options say of it."""
        return f"{self.help}: {', '.join(self.choices)}" if self.choices else self.help

    def read(self, value: object, folder: str) -> object:
        """A value from TOML as Settings keep it; paths in it are taken from `folder`. Raises UnfitValueError."""
        if self.kind == CODES_BY_GLOB:
            if not isinstance(value, dict):
                raise self._unfit(value)
            return tuple(
                (pattern, _codes(_strings(f"for {shown(glob)} must be a list of strings", codes)))
                for glob, codes in value.items()
                for pattern in _file_patterns(glob, folder)
            )
        if self.kind == LEVELS_BY_CODE:
            if not isinstance(value, dict):
                raise self._unfit(value)
            return tuple((_code(code), self._level(code, level)) for code, level in value.items())
        if self.kind == COUNTS_BY_CLASS:
            table = value if isinstance(value, dict) else {"*": value}
            return tuple((_checked(name, name), self._amount(count, _COUNT)) for name, count in table.items())
        if self.kind == BYTES:
            return self._amount(value, _SIZE)
        if self.kind in _FITS:
            if not _FITS[self.kind](self, value):
                raise self._unfit(value)
            return os.path.abspath(os.path.join(folder, str(value))) if self.kind == FOLDER else value
        strings = _strings("must be a list of strings", value)
        if self.kind == CODES:
            return _codes(strings)
        if self.kind == PATTERNS:
            return tuple(_checked(absolute(one, folder) if "/" in one.rstrip("/") else one, one) for one in strings)
        if self.kind == NAMES:
            presets = LOADER_PRESETS if self.name == "extend-dataloaders" else {}
            return tuple(presets.get(one) or _qualified(one) for one in strings)
        return tuple(_folder(one, folder) for one in strings)

    def read_text(self, text: str, folder: str = ".") -> object:
        """A value from a command line or flake8's files, which write lists with commas. Raises UnfitValueError."""
        if self.kind in (CHOICE, VERSIONS, FOLDER, BYTES):
            return self.read(text, folder)
        if self.kind == FLAG:
            return self.read(_FLAG_TEXTS.get(text.strip().lower(), text), folder)
        if self.kind == NUMBER:
            try:
                return self.read(int(text), folder)
            except ValueError as error:
                raise error if isinstance(error, UnfitValueError) else self._unfit(text) from None
        items = [one for one in (each.strip() for each in split_list(text.replace("\n", ","))) if one]
        if self.kind == CODES:
            return self.read([code for one in items for code in one.split()], folder)
        if self.kind == COUNTS_BY_CLASS:
            pairs = [one.rpartition(":") for one in items]
            return self.read({name.strip() or "*": count.strip() for name, _, count in pairs}, folder)
        if self.kind not in (CODES_BY_GLOB, LEVELS_BY_CODE):
            return self.read(items, folder)
        table: dict[str, list[str]] = {}
        for one in items:
            glob, colon, code = one.rpartition(":")
            if not (glob and colon and code.strip()):
                pair = "tests/*:DL206" if self.kind == CODES_BY_GLOB else "DL101:error"
                raise UnfitValueError(f"must be pairs such as {pair}, not {shown(one)}")
            table.setdefault(glob.strip(), []).append(code.strip())
        return self.read(table if self.kind == CODES_BY_GLOB else {one: table[one][-1] for one in table}, folder)

    def _level(self, code: str, level: object) -> str:
        if isinstance(level, str) and level in self.choices:
            return level
        near = suggestion(level, self.choices) if isinstance(level, str) else ""
        raise UnfitValueError(f"for {shown(code)} must be one of {', '.join(self.choices)}, not {shown(level)}{near}")

    def _amount(self, value: object, wanted: re.Pattern[str]) -> int:
        """A number with the letter of its unit: `5M` is 5,000,000, `64MB` 64,000,000."""
        found = wanted.fullmatch(str(value).replace(" ", "").replace("_", "").upper())
        if isinstance(value, bool) or found is None:
            raise self._unfit(value)
        unit = _UNITS[found["unit"] or ""]
        if "binary" in wanted.groupindex and found["binary"]:
            unit = _BINARY[found["unit"]]
        amount = round(float(found[1]) * unit)
        if amount < 1:
            raise self._unfit(value)
        return amount

    def _unfit(self, value: object) -> UnfitValueError:
        wanted = _WANTED.get(self.kind) or "one of " + ", ".join(repr(choice) for choice in self.choices)
        near = suggestion(value, self.choices) if isinstance(value, str) else ""
        return UnfitValueError(f"must be {wanted}, not {shown(value)}{near}")


# What values of one part have to be.
_FITS: dict[str, Callable[[Key, object], bool]] = {
    CHOICE: lambda key, value: value in key.choices,
    FLAG: lambda _, value: isinstance(value, bool),
    FOLDER: lambda _, value: isinstance(value, str) and bool(value),
    NUMBER: lambda _, value: isinstance(value, int) and not isinstance(value, bool) and value >= 1,
    VERSIONS: lambda _, value: isinstance(value, str) and _are_versions(value),
}
_COUNT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(?P<unit>[KMB]?)")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(?:(?P<unit>[KMGT])(?:(?P<binary>I)B|B)?|B)")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}
_BINARY = {letter: 1024 ** (place + 1) for place, letter in enumerate("KMGT")}
_FLAG_TEXTS = {"true": True, "false": False}


def shown(value: object) -> str:
    """A value from the user's file, in one line that can be read."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def suggestion(text: str, known: Iterable[str]) -> str:
    """What to put behind a complaint about a name that is not known: the nearest one that is, if one is near."""
    if len(text) > _LONGEST_NAME:  # nearness is quadratic
        return ""
    from difflib import SequenceMatcher

    def nearness(each: str) -> tuple[float, int]:
        return SequenceMatcher(None, each, text).ratio(), sum(map(str.__eq__, each, text))

    best = max(known, key=nearness, default="")
    return f"; did you mean {best!r}?" if best and nearness(best)[0] >= 0.5 else ""


def other_family(text: str) -> str:
    """The families of codes, to put behind a complaint about a code of none of them; empty for any other text."""
    known, code = rule_names(), text.upper()
    if code[:2] != "DL" or not code[2:3].isdigit() or any(one.startswith(code[:3]) for one in known):
        return ""
    families: dict[str, list[str]] = {}
    for one in known:
        families.setdefault(one[:3], []).append(one)
    ranges = [f"{each[0]} to {each[-1]}" for each in families.values() if len(each) > 2]  # without the linter's own
    return f"; there are {', '.join(ranges)}"


def known_codes() -> list[str]:
    """The codes of all rules."""
    return list(rule_names())


@functools.cache
def rule_names() -> dict[str, str]:
    """The names of all rules by their codes, read from file names: importing the rules takes longer than many a run."""
    import pkgutil

    rules = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rules")
    families = [os.path.join(rules, one.name) for one in pkgutil.iter_modules([rules]) if one.ispkg]
    names = [one.name for one in pkgutil.iter_modules([rules, *families])]
    rules_only = (name for name in names if name[:2] == "dl" and name[2:5].isdigit() and name[5:6] == "_")
    return {name[:5].upper(): name[6:].replace("_", "-") for name in sorted(rules_only)}


def _strings(wanted: str, value: object) -> list[str]:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    raise UnfitValueError(f"{wanted}, not {shown(value)}")


def _codes(texts: list[str]) -> tuple[str, ...]:
    return tuple(_code(text) for text in texts)


def _code(text: str) -> str:
    """A code, the beginning of one, the name of a rule or of a selection, as Settings keep it: names become codes."""
    known = rule_names()
    code, name = text.upper(), text.lower()
    if name in SELECTIONS:
        return name
    if text and any(one.startswith(code) for one in known):
        return code
    found = next((one for one, rule in known.items() if rule == name), "")
    if found:
        return found
    near = other_family(text) or (suggestion(code, known) if code[:1] == "D" and code[1:2] in ("L", "") else "")
    near = near or suggestion(name, (*known.values(), *SELECTIONS)) or suggestion(code, known)
    near = near or f"; besides codes there are {', '.join(SELECTIONS)}"
    raise UnfitValueError(f"has the unknown rule code {shown(text)}{near}")


def _file_patterns(glob: str, folder: str) -> list[str]:
    """A glob of `per-file-ignores` as Settings holds them; the name of a folder matches everything in it."""
    if not glob or glob.startswith("!"):
        wanted = "it must name files, and none can be taken out again with '!'"
        raise UnfitValueError(f"has the glob {shown(glob)}: {wanted}")
    bare = _checked(glob.rstrip("/"), glob)
    if "/" in bare:
        return [absolute(bare, folder), absolute(f"{bare}/*", folder)]
    below = [absolute(f"{bare}/*", folder), absolute(f"*/{bare}/*", folder)]
    return below if glob.endswith("/") else [bare, *below]


def _checked(glob: str, written: str) -> str:
    """A glob that can be used; `written` is what the user wrote. Raises UnfitValueError."""
    try:
        alternatives(glob)
    except UnfitGlobError as error:
        raise UnfitValueError(f"has the glob {written!r}: it {error}") from None
    return glob


def _are_versions(text: str) -> bool:
    return len(text) <= _LONGEST_VERSIONS and all(_is_version(each.strip()) for each in text.split(","))


def _is_version(text: str) -> bool:
    operator = next((each for each in _OPERATORS if text.startswith(each)), "")
    first, *others = text.removeprefix(operator).strip().split(".")
    return first.isdecimal() and all(part == "*" or part.isdecimal() for part in others)


def _qualified(name: str) -> str:
    parts = name.split(".")
    if len(parts) > 1 and all(part.isidentifier() for part in parts):
        return name
    raise UnfitValueError(f"must hold names with their modules, such as 'mylib.data.FastLoader', not {shown(name)}")


def _folder(text: str, above: str) -> str:
    path = os.path.abspath(os.path.join(above, text))
    if os.path.isdir(path):
        return path
    above_it = os.path.dirname(path)
    try:
        siblings = [] if is_outside(above_it) else [each.name for each in os.scandir(above_it) if each.is_dir()]
    except OSError:
        siblings = []
    near = suggestion(os.path.basename(path), siblings)
    raise UnfitValueError(f"has no folder {shown(text)} in {os.path.abspath(above)}{near}")
