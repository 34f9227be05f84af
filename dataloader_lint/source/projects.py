"""Which folder is the project of a file, and which Python files it holds; decided from names, nothing is opened.

The root of a file's project is, in this order:

1. The nearest folder with a marker (`pyproject.toml`, `setup.py`, `setup.cfg`, `.git`, `.hg`) at or above the file. The
   search does not leave a folder without Python files (`src`, `lib`, `tests` and the like aside), unless that lies in a
   directory that was named; and it never comes to the home folder, to one that everybody may write to (`/tmp`), or to
   the root of the file system. Inside a package only a repository starts a project of its own.
2. The outermost named directory around the file: on a command line, given to `lint_paths`, or opened in the editor.
3. The folder of the file.

In the cases 2 and 3 a package is never cut: the root is the topmost package, be some of the folders on the way to it
without an `__init__.py` (namespace packages).

So the root depends on the file's own path and on the directories that were named; not on their order, and not on what
lies beside it. A command that runs inside a marked project names that project along with its paths.
"""

from __future__ import annotations

import os
import stat

from dataloader_lint.source.confinement import is_outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_REPOSITORIES = (".git", ".hg")
_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg")
# Folders of projects that often hold folders with code, and no code themselves.
_OFTEN_EMPTY = frozenset({"src", "lib", "python", "scripts", "notebooks", "examples", "tests", "test", "tools", "docs"})
_SOURCES = frozenset({"src", "lib", "python"})
# Copies of other projects; as packages they are part of this one.
_COPIES = frozenset({"build", "dist", "venv", "third_party", "external"})
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_SUFFIXES = (".py", ".ipynb")
MAX_FILES = 4000
MAX_NOTEBOOKS = 300  # whose cells are read, as they may call functions of the project; others are not
# The folder that caches findings between runs.
FOLDER = ".dataloader_lint_cache"


class Roots:
    """The folders that hold the projects of files, each found once. `named` are directories that were named."""

    __slots__ = ("_contexts", "_homes", "_is_large", "_known", "_named", "_starts", "too_large")

    def __init__(self, named: Iterable[str] = ()) -> None:
        self._named = frozenset(outermost(named))
        self._homes = _homes()
        self._known: dict[str, str] = {}
        self._starts: dict[str, bool] = {}  # by folder, True if a project starts there
        self._contexts: dict[str, str] = {}
        self._is_large: dict[str, bool] = {}
        self.too_large: set[str] = set()
        """The projects with more files than `MAX_FILES` that `context_of` came across."""

    def of(self, folder: str) -> str:
        """The root of the project to which the files of a folder belong; `folder` is absolute."""
        found = self._known.get(folder)
        if found is None:
            found = self._known[folder] = self._find(folder)
        return found

    def marked(self, folder: str) -> str:
        """The root of the project of a folder if a marker says so, else an empty text."""
        found = self.of(folder)
        return found if _is_marked(found) and not self._is_shared(found) else ""

    def context_of(self, path: str) -> str:
        """The files that are looked at to understand a file, itself among them, in a form that `files_of` takes.

        They are those of its project. Where that has more than `MAX_FILES`, they are those of the largest folder
        around the file that has not; so they are the same whatever else is linted.
        """
        return self.context_in(os.path.dirname(path)) or path

    def context_in(self, folder: str) -> str:
        """The same for all files of a folder; empty where each of them stands alone."""
        found = self._contexts.get(folder)
        if found is None:
            found = self._contexts[folder] = self._context(folder)
        return found

    def _context(self, folder: str) -> str:
        """What holds for all files of a folder; empty where each of them stands alone."""
        root = self.of(folder)
        if root not in self._named and (self._is_shared(root) or _is_skipped(root)):
            return os.path.join(root, "")  # what lies in folders of these has nothing to do with a file in it
        if not self._has_too_many(root):
            return root
        self.too_large.add(root)
        inner = [each for each in _upwards(folder) if each != root and _is_inside(each, root)]
        candidates = (*reversed(inner), os.path.join(folder, ""))
        return next((each for each in candidates if not self._has_too_many(each)), "")

    def _has_too_many(self, context: str) -> bool:
        if context not in self._is_large:
            self._is_large[context] = len(contents_of(context, MAX_FILES + 1)[0]) > MAX_FILES
        return self._is_large[context]

    def _find(self, folder: str) -> str:
        named = next((each for each in _upwards(folder) if each in self._named), "")
        below, is_inside = folder, bool(named)
        for each in _upwards(folder):
            if not is_inside and self._is_shared(each):
                break
            if each != named and _is_skipped(each):
                named = below  # who lists the files of a folder further up does not come here
                break
            if self._starts_project(each):
                return each
            is_inside = is_inside and each != named
            if not (is_inside or each == folder or _may_lie_inside(each)):
                break
            below = each
        return self._topmost_package(named or folder)

    def _starts_project(self, folder: str) -> bool:
        if folder not in self._starts:
            self._starts[folder] = _is_project(folder)
        return self._starts[folder]

    def _topmost_package(self, folder: str) -> str:
        top = each = folder
        while _has_python(each):
            each = os.path.dirname(each)
            if is_outside(each) or self._is_shared(each) or _is_skipped(each):
                break
            if _is_package(each):
                top = each
        return top

    def _is_shared(self, folder: str) -> bool:
        """True for the root of the file system, the home folder and those above it, and those that all may write to."""
        if os.path.dirname(folder) == folder or folder in self._homes:
            return True
        try:
            mode = os.stat(folder).st_mode
        except OSError:
            return False
        return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def named_folders(paths: Iterable[str], working_directory: str = "") -> tuple[str, ...]:
    """The directories among the paths that a user named, absolute, as `Settings.roots` has them.

    Where the `working_directory` lies in a marked project, that project is one of them.
    """
    found = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
    if working_directory:
        found.append(Roots().marked(os.path.abspath(working_directory)))
    return outermost(filter(None, found))


def outermost(folders: Iterable[str]) -> tuple[str, ...]:
    """The folders that lie in none of the others, in the order of their paths."""
    found: list[str] = []
    for folder in sorted(set(folders), key=lambda each: each.split(os.sep)):
        if not found or not _is_inside(folder, found[-1]):
            found.append(folder)
    return tuple(found)


def files_of(context: str) -> list[str]:
    """The Python files that belong to a context; see `contents_of`."""
    return contents_of(context)[0]


def contents_of(context: str, most_files: int = MAX_FILES) -> tuple[list[str], list[str]]:
    """The Python files and the notebooks that belong to a context (see `Roots.context_of`), sorted within each folder.

    A folder means everything below it, with a separator at its end for what lies directly in it; a file means
    for itself. Of more files than `most_files`, or more notebooks than `MAX_NOTEBOOKS`, only the first ones are given;
    no context has so many files.
    """
    files: list[str] = []
    notebooks: list[str] = []
    for folder, names in _names(context):
        files += (os.path.join(folder, name) for name in names if name.endswith(".py"))
        notebooks += (os.path.join(folder, name) for name in names if name.endswith(".ipynb"))
        if len(files) > most_files:
            break
    return files[:most_files], notebooks[:MAX_NOTEBOOKS]


def _names(context: str) -> Iterable[tuple[str, list[str]]]:
    """The folders of a context, each with the names of its files, sorted."""
    if not context.endswith(os.sep):
        return _walk(context) if os.path.isdir(context) else [(os.path.dirname(context), [os.path.basename(context)])]
    try:
        with os.scandir(context) as entries:
            return [(context, sorted(entry.name for entry in entries))]
    except OSError:
        return []


def _walk(root: str) -> Iterator[tuple[str, list[str]]]:
    """The folders of a project with the names of their files. Without a marker it ends where another one begins."""
    is_marked = _is_marked(root)
    for folder, folders, names in os.walk(root):
        if folder != root:
            is_other = not is_marked and not _MARKS.isdisjoint((*names, *folders)) and _is_project(folder)
            if is_other or not _ENVIRONMENT_MARKS.isdisjoint((*names, *folders)):
                folders.clear()
                continue
        folders[:] = sorted(name for name in folders if not _is_skipped(os.path.join(folder, name)))
        yield folder, sorted(names)


_MARKS = frozenset({*_MARKERS, *_REPOSITORIES})


def _is_project(folder: str) -> bool:
    """True if a project starts here. A package is a part of the project around it, but for a repository."""
    if _has(folder, _REPOSITORIES):
        return True
    if not _has(folder, _MARKERS):
        return False
    above = os.path.dirname(folder)
    return not _is_package(folder) or not (_is_package(above) or _is_marked(above))


def _is_marked(folder: str) -> bool:
    return _has(folder, _MARKERS) or _has(folder, _REPOSITORIES)


def _has(folder: str, names: Collection[str]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


def _may_lie_inside(folder: str) -> bool:
    """True if a folder may be a part of the project above it."""
    above, name = os.path.split(folder)
    return name in _OFTEN_EMPTY or os.path.basename(above) in _SOURCES or _has_python(folder)


def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def _is_skipped(folder: str) -> bool:
    name = os.path.basename(folder)
    return name in _SKIPPED or name.startswith(".") or (name in _COPIES and not _is_package(folder))


def _has_python(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(_SUFFIXES) for entry in entries)
    except OSError:
        return False


def _is_inside(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(os.path.join(other, ""))


def _upwards(folder: str) -> Iterator[str]:
    """A folder and those above it."""
    above = ""
    while folder != above and not is_outside(folder):
        yield folder
        folder, above = os.path.dirname(folder), folder


def _homes() -> frozenset[str]:
    """The home folder and those above it, by both names where a link leads there."""
    home = os.path.expanduser("~")
    names = (os.path.normpath(home), os.path.realpath(home)) if os.path.isabs(home) else ()
    return frozenset(each for name in names for each in _upwards(name))
