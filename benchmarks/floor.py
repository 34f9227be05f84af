"""The least that a linter on LibCST's trees costs: read all files, look whether they matter, parse those that do.

    python -m benchmarks.floor FOLDER           prints what was read and parsed, as JSON
    python -m benchmarks.floor FOLDER gated     parses whatever passes our gate instead

Parsed are the files that define a Dataset or build a DataLoader: those whose text has a class with a base named
`...Dataset` or `...DataModule`, or a call of a name that ends in `Loader`. Garbage is not collected meanwhile.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Callable

from dataloader_lint.gate import may_matter

DEFINES = re.compile(rb"^[ \t]*class\s+\w+\s*\([^)]*(?:Dataset|DataModule)\b", re.MULTILINE)
BUILDS = re.compile(rb"(?<!class )(?<!def )\b\w*Loader\(")


def matters(source: bytes) -> bool:
    """True if a file defines a Dataset or builds a DataLoader, as far as its text tells."""
    return may_matter(source) and bool(DEFINES.search(source) or BUILDS.search(source))


def main(folder: str, parsed: Callable[[bytes], bool] = matters) -> dict[str, int]:
    """Read, look and parse; how many files and lines there are, and how many of them were parsed."""
    import libcst

    gc.disable()
    found = {"files": 0, "lines": 0, "parsed_files": 0, "parsed_lines": 0}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118 - pathlib would cost more than the files that do not matter
            if not name.endswith(".py") or not os.path.isfile(path):  # noqa: PTH113
                continue
            with open(path, "rb") as stream:  # noqa: PTH123
                source = stream.read()
            found["files"] += 1
            found["lines"] += source.count(b"\n")
            if parsed(source):
                try:
                    libcst.parse_module(source)
                except (libcst.ParserSyntaxError, UnicodeDecodeError):
                    continue  # some files of real packages are Python 2, or templates
                found["parsed_files"] += 1
                found["parsed_lines"] += source.count(b"\n")
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], may_matter if sys.argv[2:] == ["gated"] else matters)))
