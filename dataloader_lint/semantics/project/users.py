"""Which files can access the names of a file, directly or through re-exports; a walk over texts that opens no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dataloader_lint.semantics.project.source import Source

Names = frozenset[bytes]


class Users:
    """The files that can get at some names of the file `home`, level by level; `limit` bounds how many are looked at.

    `importing` gives the files that import a file and hold one of some names.
    """

    def __init__(self, importing: Callable[[str, Names], list[Source]], home: str, names: Names, limit: int) -> None:
        self._importing = importing
        self._limit = limit
        self._seen = {home: names}  # the files, with the names that each was asked about
        self._last: list[tuple[str, Source | None, Names]] = [(home, None, names)]
        self._makers: list[tuple[str, ...]] = []
        self._is_full = False

    def at(self, level: int) -> tuple[str, ...]:
        """The files on a level, from 0 on, that may make loaders; nearest first."""
        while len(self._makers) <= level:
            self._makers.append(tuple(self._next()))
        return self._makers[level]

    def _next(self) -> Iterable[str]:
        above: list[tuple[str, Source | None, Names]] = []
        for path, source, names in self._last if not self._is_full else ():
            wanted = names if source is None else source.that_use(names)
            for user in self._importing(path, wanted):
                known = self._seen.get(user.path)
                if known is not None and wanted <= known:
                    continue
                if known is None:
                    if len(self._seen) > self._limit:
                        self._is_full = True
                        return
                    if user.makes_loaders:
                        yield user.path
                self._seen[user.path] = wanted if known is None else known | wanted
                above.append((user.path, user, wanted))
        self._last = above
