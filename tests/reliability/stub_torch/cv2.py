"""OpenCV, as far as programs of tests ask."""

from __future__ import annotations

import numpy as np

IMREAD_COLOR = 1
_threads = 8


def setNumThreads(number: int) -> None:
    global _threads
    _threads = number


def getNumThreads() -> int:
    return _threads


def imread(path: str, flags: int = IMREAD_COLOR) -> np.ndarray:
    return np.full((2, 2), len(path), dtype=np.uint8)


def resize(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    return np.resize(image, size)


def cvtColor(image: np.ndarray, code: int) -> np.ndarray:
    return image
