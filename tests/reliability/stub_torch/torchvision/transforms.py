"""Transforms that call what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Lambda:
    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, image: Any) -> Any:
        return self.lambd(image)


class Compose:
    def __init__(self, transforms: list[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for each in self.transforms:
            image = each(image)
        return image
