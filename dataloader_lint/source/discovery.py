"""Which files a run looks at: named files, and the Python files in named directories.

Imports next to nothing, because it runs even where no file is worth parsing; for the same reason it works on strings
with `os.path` and not with `pathlib`, which alone takes longer to import than Python takes to start.
"""

from __future__ import annotations

import os
import stat

from dataloader_lint.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dataloader_lint.source.gitignore import Layers

SUFFIXES = (".py", ".pyw", ".pyi")

EXCLUDED_FOLDERS = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "_build",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

# A virtual environment is known by this file, whatever its folder is called. The bare name `env` is no sign of one:
# reinforcement-learning packages keep their environments under it.
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})


class Found:
    """What discovery came up with. Paths are as the user would type them; `files` is sorted and free of repeats."""

    __slots__ = ("files", "missing", "unreadable")

    def __init__(self) -> None:
        self.files: list[str] = []
        self.missing: list[str] = []
        self.unreadable: list[tuple[str, str]] = []  # a path, and why it cannot be looked at


def discover(paths: Iterable[str], settings: Settings) -> Found:
    """Look at named files whatever they are called, and walk named directories.

    Directories that are named are walked even where an exclusion or a `.gitignore` would leave them out; what lies in
    them is left out as usual. Links to directories are not followed.
    """
    found = Found()
    excluded = _exclusion(settings)
    names: dict[str, str] = {}  # absolute path → as the user would type it
    for given in paths:
        path = os.path.normpath(given) if given else "."
        try:
            mode = os.stat(given or ".").st_mode
        except (FileNotFoundError, NotADirectoryError):
            found.missing.append(given)
            continue
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            found.unreadable.append((path, reason(error)))
            continue
        if stat.S_ISDIR(mode):
            for file in _walk(path, excluded, found):
                names.setdefault(os.path.abspath(file), file)
        elif stat.S_ISREG(mode):
            names.setdefault(os.path.abspath(path), path)
        else:
            found.unreadable.append((path, "it is no regular file"))
    found.files = sorted(names.values())
    return found


def reason(error: Exception) -> str:
    """Why the system refused, in a few words that fit into a sentence."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _walk(root: str, excluded: Callable[[str, str], bool], found: Found) -> Iterable[str]:
    """The Python files under a directory that neither an exclusion nor a `.gitignore` leaves out."""
    top = os.path.abspath(root)
    stack: list[tuple[str, str, Layers]] = [("" if root == "." else root, top, _outer_layers(top))]
    while stack:
        shown, directory, layers = stack.pop()
        try:
            with os.scandir(directory) as entries:
                listed = list(entries)
        except FileNotFoundError:  # gone since its parent was listed
            continue
        except OSError as error:
            found.unreadable.append((shown or ".", reason(error)))
            continue
        names = {entry.name for entry in listed}
        if directory != top:
            if names & _ENVIRONMENT_MARKS:
                continue
            if ".git" in names:  # a repository in a repository answers to its own rules only
                layers = ()
        if ".gitignore" in names:
            layers = _with_layer(layers, directory, os.path.join(directory, ".gitignore"))
        for entry in listed:
            name, path = entry.name, entry.path
            try:
                is_directory = entry.is_dir(follow_symlinks=False)
                is_file = not is_directory and name.endswith(SUFFIXES) and entry.is_file()
            except OSError:  # a link that goes in circles
                continue
            if (
                not (is_directory or is_file)
                or excluded(name, path)
                or (layers and _ignored(layers, path, is_directory))
            ):
                continue
            below = os.path.join(shown, name)
            if is_directory:
                stack.append((below, path, layers))
            else:
                yield below


def _exclusion(settings: Settings) -> Callable[[str, str], bool]:
    """A test of a name and its absolute path against the excluded folders and the user's patterns."""
    chosen = (*(EXCLUDED_FOLDERS if settings.exclude is None else settings.exclude), *settings.extend_exclude)
    patterns = [pattern.rstrip("/") or pattern for pattern in chosen]
    plain = frozenset(pattern for pattern in patterns if not _is_glob(pattern))
    globs = [pattern for pattern in patterns if _is_glob(pattern)]
    if not globs:
        return lambda name, _path: name in plain
    import fnmatch
    import re

    def compiled(texts: Sequence[str]) -> Callable[[str], object]:
        return re.compile("|".join(fnmatch.translate(text) for text in texts) or r"(?!)").match

    by_name = compiled([pattern for pattern in globs if "/" not in pattern])
    by_path = compiled([os.path.abspath(pattern) for pattern in globs if "/" in pattern])
    return lambda name, path: name in plain or bool(by_name(name)) or bool(by_path(path))


def _is_glob(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[/")


def _outer_layers(top: str) -> Layers:
    """The `.gitignore` files above a directory, up to the root of its repository; none where that root is not found.

    Where they leave the directory itself out, they say nothing about what lies in it: the user asked for it.
    """
    above: list[str] = []
    directory = top
    while not os.path.exists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return ()
        above.append(parent)
        directory = parent
    layers = _with_layer((), directory, os.path.join(directory, ".git", "info", "exclude"))
    for parent in reversed(above):
        layers = _with_layer(layers, parent, os.path.join(parent, ".gitignore"))
        inner = top[: (top + os.sep).index(os.sep, len(parent.rstrip(os.sep)) + 1)]
        if layers and _ignored(layers, inner, True):
            return ()
    return layers


def _with_layer(layers: Layers, base: str, file: str) -> Layers:
    try:
        with open(file, "rb") as stream:
            text = stream.read()
    except OSError:
        return layers
    if not any(line.strip() and not line.startswith(b"#") for line in text.splitlines()):
        return layers
    from dataloader_lint.source import gitignore

    return (*layers, (base, gitignore.parse(text)))


def _ignored(layers: Layers, path: str, is_directory: bool) -> bool:
    from dataloader_lint.source import gitignore

    return gitignore.ignored(layers, path, is_directory)
