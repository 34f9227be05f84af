"""Which files a run looks at: named files, and the Python files in named directories.

Imports next to nothing, because it runs even where no file is worth parsing; for the same reason it works on strings
with `os.path` and not with `pathlib`, which alone takes longer to import than Python takes to start.
"""

from __future__ import annotations

import errno
import os
import stat

from dataloader_lint.settings import Settings
from dataloader_lint.source.confinement import is_outside
from dataloader_lint.source.pyproject import ConfigurationError, SettingsByFile
from dataloader_lint.source.reading import read_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataloader_lint.source.gitignore import Layers

    _Test = Callable[[str, str], bool]

SUFFIXES = (".py", ".pyw", ".pyi", ".ipynb")

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

_IRREGULAR = "it is no regular file"

# Of a `.gitignore`: each of its patterns may be asked about each file. Those of real projects have some thousands.
MAX_IGNORE_BYTES = 250_000

# A virtual environment is known by this file, whatever its folder is called. The bare name `env` is no sign of one:
# reinforcement-learning packages keep their environments under it.
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})


class Found:
    """What discovery came up with. Paths are as the user would type them; `files` is sorted and free of repeats."""

    __slots__ = ("files", "missing", "named", "skipped", "unreadable")

    def __init__(self) -> None:
        self.files: list[str] = []
        self.missing: list[str] = []
        self.named: list[str] = []  # those of `files` that were named themselves, not in a directory
        self.skipped: list[tuple[str, str]] = []  # what is called like a Python file and is none, and why
        self.unreadable: list[tuple[str, str]] = []  # a path, and why it cannot be looked at


def discover(paths: Iterable[str], settings: Settings, force_exclude: bool = False) -> Found:
    """Look at named files unless their names say that they are not Python, and walk named directories.

    What is left out where is for the settings of each directory to say (see `SettingsByFile`). Raises
    ConfigurationError where a pyproject.toml that concerns one of the files cannot be used.

    Directories that are named are walked even where an exclusion or a `.gitignore` would leave them out; what lies in
    them is left out as usual. With `force_exclude`, exclusions hold for named files and directories in the working
    directory, too. Links to directories are not followed.
    """
    found = Found()
    by_file = SettingsByFile(settings)
    names: dict[str, str] = {}  # absolute path → as the user would type it
    for given in paths:
        path = os.path.normpath(given)
        if force_exclude and _is_left_out(os.path.abspath(path), os.getcwd(), by_file):
            continue
        try:
            mode = os.stat(given).st_mode  # an empty path is missing: `--fix "$UNSET"` must not mean the whole folder
        except (FileNotFoundError, NotADirectoryError):
            found.missing.append(given)
            continue
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            found.unreadable.append((path, reason(error)))
            continue
        if stat.S_ISDIR(mode):
            for file in _walk(path, by_file, found):
                names.setdefault(os.path.abspath(file), file)
        elif stat.S_ISREG(mode):
            if not _may_be_python(path):
                found.skipped.append((path, "it is not a Python file or notebook"))
                continue
            by_file.of_folder(os.path.dirname(path))  # complaints about settings come before those about code
            if names.setdefault(os.path.abspath(path), path) == path:
                found.named.append(path)
        else:
            found.unreadable.append((path, _IRREGULAR))
    found.files = sorted(names.values())
    found.named = sorted(set(found.named))
    return found


def _may_be_python(path: str) -> bool:
    """False for a name that ends like that of another kind of file; scripts often have names without an ending."""
    ending = os.path.splitext(path)[1]
    return not ending or path.endswith(SUFFIXES)


def is_left_out(path: str, root: str, settings: Settings) -> bool:
    """True if an exclusion matches a file below `root`, or a folder between the two; both are absolute."""
    return _is_left_out(path, root, SettingsByFile(settings))


def _is_left_out(path: str, root: str, by_file: SettingsByFile) -> bool:
    while path.startswith(root) and len(path) > len(root):
        folder, name = os.path.split(path)
        if not name or _exclusion(by_file.of_folder(folder))(name, path):
            return bool(name)
        path = folder
    return False


def reason(error: Exception) -> str:
    """Why the system refused, in a few words that fit into a sentence."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _walk(root: str, by_file: SettingsByFile, found: Found) -> Iterable[str]:
    """The Python files under a directory that neither an exclusion nor a `.gitignore` leaves out."""
    top = os.path.abspath(root)
    excluded = _exclusion(by_file.of_folder(top))
    respects = by_file.of_folder(top).respect_gitignore
    outer = _outer_layers(top) if respects else ()
    stack: list[tuple[str, str, Layers, _Test]] = [("" if root == "." else root, top, outer, excluded)]
    while stack:
        shown, directory, layers, excluded = stack.pop()
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
            if "pyproject.toml" in names:
                excluded = _exclusion(by_file.of_folder(directory))
        if respects and ".gitignore" in names:
            layers = _with_layer(layers, directory, os.path.join(directory, ".gitignore"))
        for entry in listed:
            name, path = entry.name, entry.path
            try:
                is_directory = entry.is_dir(follow_symlinks=False)
            except OSError as error:
                found.unreadable.append((os.path.join(shown, name), reason(error)))
                continue
            if (
                not (is_directory or name.endswith(SUFFIXES))
                or excluded(name, path)
                or (layers and _ignored(layers, path, is_directory))
            ):
                continue
            below = os.path.join(shown, name)
            why = "" if is_directory else _no_file(entry, top)
            if why:
                found.skipped.append((below, why))
            elif is_directory:
                stack.append((below, path, layers, excluded))
            else:
                yield below


def _no_file(entry: os.DirEntry[str], top: str) -> str:
    """Why something in a walked directory is not read; empty for the files of that directory."""
    try:
        if not entry.is_file():
            if entry.is_dir():
                return ""
            return "the link leads nowhere" if entry.is_symlink() and not os.path.exists(entry.path) else _IRREGULAR
    except OSError as error:  # a link that goes in circles
        return reason(error)
    if entry.is_symlink():
        # Fixes write through links, and a run over one folder must not change files of another.
        inside = os.path.join(os.path.realpath(top), "")
        if not os.path.realpath(entry.path).startswith(inside):
            return "the link leads out of the folder that is linted"
    return ""


def _exclusion(settings: Settings) -> _Test:
    """A test of a name and its absolute path against the excluded folders and the user's patterns."""
    chosen = (*(EXCLUDED_FOLDERS if settings.exclude is None else settings.exclude), *settings.extend_exclude)
    patterns = [pattern.rstrip("/") or pattern for pattern in chosen]
    plain = frozenset(pattern for pattern in patterns if not _is_glob(pattern))
    globs = [pattern for pattern in patterns if _is_glob(pattern)]
    if not globs:
        return lambda name, _path: name in plain
    from dataloader_lint.source.globs import absolute, matcher

    by_name = matcher(*(pattern for pattern in globs if "/" not in pattern))
    by_path = matcher(*(absolute(pattern, os.curdir) for pattern in globs if "/" in pattern))
    return lambda name, path: name in plain or by_name(name) or by_path(path.replace(os.sep, "/"))


def _is_glob(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[{/")


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
        if is_outside(parent):
            break
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
        text = read_bounded(file, MAX_IGNORE_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:  # git would read it, and without it the run would take files for the user's own
            raise ConfigurationError(f"{file}: cannot be read: {reason(error)}") from None
        return layers
    if not any(line.strip() and not line.startswith(b"#") for line in text.splitlines()):
        return layers
    from dataloader_lint.source import gitignore

    return (*layers, (base, gitignore.parse(text)))


def _ignored(layers: Layers, path: str, is_directory: bool) -> bool:
    from dataloader_lint.source import gitignore

    return gitignore.ignored(layers, path, is_directory)
