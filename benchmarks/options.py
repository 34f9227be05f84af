"""What the commands of this folder that measure runs share: the packages, options and reports on the way."""

from __future__ import annotations

import sys

LIST = ("lightning", "torch-geometric", "speechbrain", "timm", "monai", "TTS", "ultralytics", "super-gradients")


def names(text: str) -> tuple[str, ...]:
    """Split what stands between commas."""
    return tuple(name for name in text.split(",") if name)


def say(text: str) -> None:
    """Tell whoever waits what has been done."""
    print(text, file=sys.stderr, flush=True)
