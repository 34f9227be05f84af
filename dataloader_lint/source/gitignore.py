"""What `.gitignore` files say about a path. Imported only where such a file is found."""

from __future__ import annotations

import os
import re

from pathspec import GitIgnoreSpec, RegexPattern

# The directory of each `.gitignore` file with its patterns, outermost first.
Patterns = list[RegexPattern]
Layers = tuple[tuple[str, Patterns], ...]

_ANYTHING = "."  # how pathspec spells `**`, whose match does not go to the end of the path


def parse(text: bytes) -> Patterns:
    """Read the patterns of one file; lines that are no valid pattern are left out, as git does."""
    lines = [
        _as_git_means(line)
        for line in text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").splitlines()
    ]
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        spec = GitIgnoreSpec.from_lines([line for line in lines if _is_valid(line)])
    return list(spec.patterns)


def ignored(layers: Layers, path: str, is_directory: bool) -> bool:
    """Whether a path is left out, given that none of the directories above it is. The last pattern that fits decides.

    `path` is absolute and lies in the directories of all layers. Only patterns that fit the path itself count:
    `pathspec` would also take those that fit a directory above it, which has been decided upon already.
    """
    for base, patterns in reversed(layers):
        relative = path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/") + ("/" if is_directory else "")
        for pattern in reversed(patterns):
            if pattern.regex is None:  # a comment or an empty line
                continue
            fit = pattern.regex.match(relative)
            if fit is not None and (fit.end() == len(relative) or pattern.regex.pattern == _ANYTHING):
                return bool(pattern.include)
    return False


def _as_git_means(line: str) -> str:
    """Spell two patterns so that pathspec's regular expression for them fits what git means, from end to end.

    `name/**` is what lies in a directory, not the directory itself; `*/` and `**/` are every directory.
    """
    return re.sub(r"^(!?)\*\*?/\s*$", r"\1?*/", re.sub(r"/\*\*\s*$", "/**/*", line))


def _is_valid(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
