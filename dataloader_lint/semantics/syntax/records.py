"""Small frozen classes of which a run makes hundreds of thousands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen: bool, eq: bool = True, **options: bool) -> Any:
        """A dataclass that is frozen for type checkers only.

        Python's own way to freeze one makes its objects in twice to three times the time.
        """
        return dataclass(eq=eq, unsafe_hash=frozen and eq, **options)
