"""What texts say, cached by the hash of each text: after a change only the changed file is read again."""

from __future__ import annotations

from collections.abc import Callable

# By what is said, how: bytes in Latin-1, in a form that only whoever asks for it knows.
Parts = dict[str, str]


class Texts:
    """What the texts of one context say, by their hashes; `known` is what an earlier run has worked out.

    Only texts that were asked for in this run are handed on to the next one, so that nothing grows without bound.
    """

    __slots__ = ("_known", "_sizes", "used")

    def __init__(self, known: dict[str, Parts] | None = None) -> None:
        self._known = known or {}
        self._sizes: dict[str, int] = {}  # of those in use, how many parts came from elsewhere
        self.used: dict[str, Parts] = {}

    def of(self, digest: str) -> Parts:
        """What the text with this hash says, to add to."""
        found = self.used.get(digest)
        if found is None:
            found = self.used[digest] = self._known.get(digest, {})
            self._sizes[digest] = len(found)
        return found

    def new(self) -> dict[str, Parts]:
        """The texts of which more has become known since the last call of this."""
        found = {digest: parts for digest, parts in self.used.items() if len(parts) != self._sizes[digest]}
        self._sizes.update((digest, len(parts)) for digest, parts in found.items())
        return found

    @property
    def has_new(self) -> bool:
        """True if `new` would give something."""
        return any(len(parts) != self._sizes[digest] for digest, parts in self.used.items())

    def take_in(self, more: dict[str, Parts]) -> None:
        """Add what another process has worked out."""
        for digest, parts in more.items():
            self.of(digest).update(parts)


class TextParts:
    """What one text says, worked out when it is first asked for. `read` gives the text, if it is not at hand; it
    gets these parts, and so need not hold them, which would be a circle that only the collector frees.

    `kept` holds what is known of it, and is added to.
    """

    __slots__ = ("_kept", "_read", "_text")

    def __init__(
        self, read: Callable[[TextParts], bytes], kept: Parts | None = None, text: bytes | None = None
    ) -> None:
        self._read = read
        self._kept: Parts = {} if kept is None else kept
        self._text = text

    @property
    def text(self) -> bytes:
        """The text itself."""
        if self._text is None:
            self._text = self._read(self)
        return self._text

    def let_go(self) -> None:
        """Free the text, which is read again if it is asked for."""
        self._text = None

    def keep_no_more(self) -> None:
        """From now on what is worked out is for this object only: the text is no longer the one of before."""
        self._kept = dict(self._kept)

    def get(self, what: str, work_out: Callable[[bytes], bytes]) -> bytes:
        """What the text says, in the form in which `work_out` puts it."""
        found = self._kept.get(what)
        if found is None:
            found = work_out(self.text).decode("latin-1")
            self._kept[what] = found  # into what is kept now: reading may have shown that it is another text
        return found.encode("latin-1", "replace")
