"""What the user chose, as one frozen value. Loaded on every start, so it imports nothing."""

from __future__ import annotations

# What only decides which files are looked at and how findings are shown.
_NOT_ABOUT_FINDINGS = frozenset(
    {
        "exclude",
        "extend_exclude",
        "respect_gitignore",
        "output_format",
        "fail_on",
        "fix",
        "unsafe_fixes",
        "show_fixes",
        "cache_dir",
        "options",
        "record",
    }
)


class Settings:
    """Which files are looked at, which rules run, what the code means, and how the findings are shown.

    `select`, `ignore`, `extend_select` and `extend_ignore` hold code prefixes (`DL`, `DL3`, `DL301`) and names of
    selections (`speed`, `all`; see `rules.selection`). An empty `select` means the rules that are on by default; a
    longer prefix beats a shorter one, and `ignore` wins a tie. Opt-in rules run only when their full code or a
    selection that holds them is selected. With `preview`, new rules run as well. `fixable` and `unfixable` choose in
    the same way whose findings get fixes. With `ignore_noqa`, comments suppress nothing.

    `per_file_ignores` holds pairs of a glob and code prefixes: the rules that do not run on files that fit, whatever
    selects them. A glob with a slash is met by absolute paths, another one by file names.
    `exclude` replaces the folders that are left out by default (None keeps them), `extend_exclude` adds to them, and so
    do `.gitignore` files unless `respect_gitignore` is False.

    `fix`, `unsafe_fixes` and `show_fixes` are for the command alone: what it does without the options of that name.
    `cache_dir` is where it keeps its cache ("": in the project).

    `severity` holds pairs of a code prefix and the level of findings with it, instead of the rule's own. `fail_on` is
    the mildest level that makes the command exit with 1, by default any but notes. Without `notes`, they are not
    reported.

    `start_method` is how the linted programs start their workers (`auto`, `fork`, `spawn` or `forkserver`; `auto`
    means all platforms), `target_python` the Python versions that they run on, written as in `requires-python`
    (empty: not said). `max_workers` is what DL305 takes for too many, `max_prefetched_batches` what DL307 does.

    `samples` holds pairs of a glob for names of classes and how many samples such Datasets have; `memory_threshold` is
    how many bytes a worker may copy before DL101, DL102 and DL103 are more than notes.

    `extend_dataloaders` are qualified names of callables that make a DataLoader of torch from its arguments,
    `extend_datasets` and `extend_iterable_datasets` those of classes that are Datasets of torch. `src` are folders,
    absolute, in which modules of the project are looked for.

    `roots` are directories, absolute, that were named to be linted or are open in an editor. Where no project file says
    so, they tell which files are one project (see `source.projects`).

    `options` is None where these settings hold for every file. Otherwise each file has settings of its own (see
    `source.pyproject.SettingsByFile`): what the nearest pyproject.toml says, with these pairs of a name and a value
    over it. `ignored_here` are the codes of the `per_file_ignores` that match the file, and `measured` is what a record
    of `doctor --prove` says of it (see `source.measurements`). `record` is its path ("": the nearest one).

    A frozen dataclass in all but name: importing `dataclasses` would cost as much as starting Python does.

    Raises TypeError where a value is of another type; `source.checks` finds those that mean nothing.
    """

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...]
    severity: tuple[tuple[str, str], ...]
    extend_ignore: tuple[str, ...]
    preview: bool
    fixable: tuple[str, ...]
    unfixable: tuple[str, ...]
    ignore_noqa: bool
    notes: bool
    fix: bool
    unsafe_fixes: bool
    show_fixes: bool
    respect_gitignore: bool
    cache_dir: str
    fail_on: str
    exclude: tuple[str, ...] | None
    extend_exclude: tuple[str, ...]
    output_format: str
    start_method: str
    target_python: str
    max_workers: int
    max_prefetched_batches: int
    samples: tuple[tuple[str, int], ...]
    memory_threshold: int
    extend_dataloaders: tuple[str, ...]
    extend_datasets: tuple[str, ...]
    extend_iterable_datasets: tuple[str, ...]
    src: tuple[str, ...]
    roots: tuple[str, ...]
    options: tuple[tuple[str, object], ...] | None
    ignored_here: tuple[str, ...]
    record: str
    measured: tuple[tuple[str, str, str, int], ...]

    def __init__(
        self,
        *,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        extend_select: tuple[str, ...] = (),
        per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = (),
        severity: tuple[tuple[str, str], ...] = (),
        extend_ignore: tuple[str, ...] = (),
        preview: bool = False,
        fixable: tuple[str, ...] = ("all",),
        unfixable: tuple[str, ...] = (),
        ignore_noqa: bool = False,
        notes: bool = True,
        fix: bool = False,
        unsafe_fixes: bool = False,
        show_fixes: bool = False,
        respect_gitignore: bool = True,
        cache_dir: str = "",
        fail_on: str = "opinion",
        exclude: tuple[str, ...] | None = None,
        extend_exclude: tuple[str, ...] = (),
        output_format: str = "full",
        start_method: str = "auto",
        target_python: str = "",
        max_workers: int = 16,
        max_prefetched_batches: int = 64,
        samples: tuple[tuple[str, int], ...] = (),
        memory_threshold: int = 64_000_000,
        extend_dataloaders: tuple[str, ...] = (),
        extend_datasets: tuple[str, ...] = (),
        extend_iterable_datasets: tuple[str, ...] = (),
        src: tuple[str, ...] = (),
        roots: tuple[str, ...] = (),
        options: tuple[tuple[str, object], ...] | None = None,
        ignored_here: tuple[str, ...] = (),
        record: str = "",
        measured: tuple[tuple[str, str, str, int], ...] = (),
    ) -> None:
        given = dict(locals())
        del given["self"]
        self.__dict__.update(given)
        for name, value in self.__dict__.items():
            if not _fits(name, value):
                raise TypeError(f"{name} must be {_kind(name)}, not {value!r}")

    def replace(self, **changes: object) -> Settings:
        """A copy with some values changed."""
        return Settings(**{**self.__dict__, **changes})

    @property
    def key(self) -> str:
        """Everything that can change what is found in a file, as a text that is the same in every process.

        Of settings that hold for one file (see `source.pyproject.SettingsByFile`); two with the same key find the same.
        """
        return repr([(name, value) for name, value in self.__dict__.items() if name not in _NOT_ABOUT_FINDINGS])

    @property
    def project_key(self) -> tuple[tuple[str, ...], ...]:
        """What modules mean to each other depends on: files whose settings differ in it cannot share a session."""
        return (self.extend_dataloaders, self.extend_datasets, self.extend_iterable_datasets, self.src, self.roots)

    @property
    def extra_words(self) -> tuple[bytes, ...]:
        """What else a file may hold to be worth parsing: the last parts of the names that the user added."""
        names = (*self.extend_dataloaders, *self.extend_datasets, *self.extend_iterable_datasets)
        return tuple(name.rpartition(".")[2].encode() for name in names)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Settings are frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Settings are frozen: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


_TEXTS = frozenset({"output_format", "fail_on", "cache_dir", "start_method", "target_python", "record"})
_NUMBERS = frozenset({"max_workers", "max_prefetched_batches", "memory_threshold"})
_FLAGS = frozenset({"preview", "ignore_noqa", "notes", "fix", "unsafe_fixes", "show_fixes", "respect_gitignore"})
_OPTIONAL = frozenset({"exclude", "options"})


def _fits(name: str, value: object) -> bool:
    """True if a value is of the type that its name means."""
    if name in _TEXTS:
        return isinstance(value, str)
    if name in _FLAGS:
        return isinstance(value, bool)
    if name in _NUMBERS:
        return isinstance(value, int) and not isinstance(value, bool)
    if value is None:
        return name in _OPTIONAL
    if not isinstance(value, tuple):
        return False
    if name == "per_file_ignores":
        return all(_is_pair(one) and _are_texts(one[1]) for one in value)
    if name == "severity":
        return all(_are_texts(one) and len(one) == 2 for one in value)
    if name == "samples":
        return all(_is_pair(one) and isinstance(one[1], int) and not isinstance(one[1], bool) for one in value)
    if name == "measured":
        return all(
            isinstance(one, tuple) and len(one) == 4 and _are_texts(one[:3]) and type(one[3]) is int for one in value
        )
    if name == "options":
        return all(map(_is_pair, value))
    return _are_texts(value)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _kind(name: str) -> str:
    """What a value must be, in words."""
    if name in _TEXTS:
        return "a str"
    if name in _FLAGS:
        return "a bool"
    if name in _NUMBERS:
        return "an int"
    kinds = {
        "per_file_ignores": "a tuple of pairs of a str and a tuple of str",
        "severity": "a tuple of pairs of str",
        "samples": "a tuple of pairs of a str and an int",
        "options": "a tuple of pairs of a str and a value",
        "measured": "a tuple of tuples of three str and an int",
    }
    return kinds.get(name, "a tuple of str") + (" or None" if name in _OPTIONAL else "")
