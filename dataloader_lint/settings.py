"""What the user chose, as one frozen value. Loaded on every start, so it imports nothing."""

from __future__ import annotations


class Settings:
    """Which files are looked at, which rules run, and how the findings are shown.

    `select`, `ignore` and `extend_select` hold code prefixes (`DL`, `DL3`, `DL301`). An empty `select` means the rules
    that are on by default; a longer prefix beats a shorter one, and `ignore` wins a tie. Opt-in rules run only when
    their full code is selected. `exclude` replaces the folders that are left out by default (None keeps them),
    `extend_exclude` adds to them.

    `start_method` is how the linted programs start their workers (`auto`, `fork`, `spawn` or `forkserver`; `auto`
    stands for all platforms), `target_python` the Python versions that they run on, written as in `requires-python`
    (empty: not said). `max_workers` is what DL305 takes for too many, `max_prefetched_batches` what DL307 does.

    A frozen dataclass in all but name: importing `dataclasses` would cost as much as starting Python does.
    """

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    exclude: tuple[str, ...] | None
    extend_exclude: tuple[str, ...]
    output_format: str
    start_method: str
    target_python: str
    max_workers: int
    max_prefetched_batches: int

    def __init__(
        self,
        *,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        extend_select: tuple[str, ...] = (),
        exclude: tuple[str, ...] | None = None,
        extend_exclude: tuple[str, ...] = (),
        output_format: str = "full",
        start_method: str = "auto",
        target_python: str = "",
        max_workers: int = 16,
        max_prefetched_batches: int = 64,
    ) -> None:
        self.__dict__.update(
            select=select,
            ignore=ignore,
            extend_select=extend_select,
            exclude=exclude,
            extend_exclude=extend_exclude,
            output_format=output_format,
            start_method=start_method,
            target_python=target_python,
            max_workers=max_workers,
            max_prefetched_batches=max_prefetched_batches,
        )

    def replace(self, **changes: object) -> Settings:
        """A copy with some values changed."""
        return Settings(**{**self.__dict__, **changes})

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
