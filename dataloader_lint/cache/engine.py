"""What findings come from besides the files: this program, the parser and the Python that runs them."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from importlib.util import find_spec


@functools.cache
def engine() -> str:
    """Stands for Python, LibCST and this program, by the stamps of their files, so that it holds for developers too."""
    parser = find_spec("libcst")
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    stamps = hashlib.sha256(sys.version.encode())
    for home in (own, *(parser.submodule_search_locations or [] if parser else [])):
        for folder, folders, names in os.walk(home):
            folders[:] = sorted(name for name in folders if name != "__pycache__") if home == own else []
            for name in sorted(names):
                status = os.stat(os.path.join(folder, name))
                stamps.update(f"{name} {status.st_mtime_ns} {status.st_size}\n".encode())
    return stamps.hexdigest()


def seal(key: str, content: bytes) -> bytes:
    """What a file begins with that holds this content for a key, so that a damaged or foreign one is noticed."""
    return hashlib.sha256(key.encode("utf-8", "replace") + b"\n" + content).hexdigest().encode()
