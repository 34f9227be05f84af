"""The only access to the disk: what a folder contains, and the content of a file.

Each folder and file is looked at once, so that all answers of a run rest on the same state of it. With `is_noting` that
state is noted for the cache, which compares it on the next run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from dataloader_lint.semantics.project.texts import TextParts, Texts
from dataloader_lint.source.confinement import is_outside, refuse_outside
from dataloader_lint.source.projects import contents_of
from dataloader_lint.source.states import (
    MISSING,
    NO_TEXT,
    FolderState,
    State,
    current,
    current_folder,
    file_state,
    folder_state,
    is_readable,
    is_requirements,
    modules_in,
    text_state,
)


class Disk:
    """The folders and files that were looked at so far, and what their texts say.

    `files` and `folders` are their states when they were looked at, `found` tells of other paths whether a folder was
    there, `projects` are the Python files and the notebooks of projects by their roots.
    `texts` is by context what its files say; `load_texts` gives what an earlier run knows of it.
    `unsaved` are the files that hold something else in an editor, which counts.
    """

    __slots__ = ("_listed", "files", "folders", "found", "is_noting", "load_texts", "projects", "texts", "unsaved")

    def __init__(self, *, is_noting: bool = False) -> None:
        self.is_noting = is_noting
        self.files: dict[str, State] = {}
        self.folders: dict[str, FolderState] = {}
        self.found: dict[str, bool] = {}
        self.projects: dict[str, tuple[list[str], list[str]]] = {}
        self.texts: dict[str, Texts] = {}
        self.load_texts: Callable[[str], Texts] = lambda _: Texts()
        self.unsaved: Mapping[str, bytes] = {}
        self._listed: dict[str, Mapping[str, bool]] = {}

    def listed(self, folder: str) -> Mapping[str, bool]:
        """The modules and folders in a folder, and what says what code needs, by
        name, with True for a file."""
        if folder not in self._listed:
            if is_outside(folder):
                self._listed[folder] = {}
            elif self.is_noting:
                self.folders[folder], self._listed[folder] = folder_state(folder)
            else:
                self._listed[folder] = modules_in(folder)[0]
        return self._listed[folder]

    def has_file(self, folder: str, name: str) -> bool:
        """True if a file with this name, one of a module, lies in the folder."""
        return self.listed(folder).get(name, False)

    def requirements_in(self, folder: str) -> list[str]:
        """The files in a folder that say what the code needs, in order."""
        return [os.path.join(folder, name) for name in sorted(self.listed(folder)) if is_requirements(name)]

    def files_of(self, root: str) -> list[str]:
        """The Python files of a project."""
        return self._contents_of(root)[0]

    def notebooks_of(self, root: str) -> list[str]:
        """The notebooks of a project."""
        return self._contents_of(root)[1]

    def _contents_of(self, root: str) -> tuple[list[str], list[str]]:
        if root not in self.projects:
            self.projects[root] = contents_of(root)
        return self.projects[root]

    def has_folder(self, path: str) -> bool:
        """True if there is a folder at a path."""
        if path not in self.found:
            self.found[path] = os.path.isdir(path) and not is_outside(path)
        return self.found[path]

    def read(self, path: str) -> bytes | None:
        """What a file holds; None where it cannot be read, is too long, or is no regular file."""
        unsaved = self.unsaved.get(path)
        if unsaved is not None:
            if self.is_noting:
                self.note(path, text_state(unsaved))
            return unsaved
        state, content = MISSING, None
        try:
            refuse_outside(path)
            status = os.stat(path)  # ahead of reading: what is written later then has a later time stamp
            if is_readable(path, status):
                with open(path, "rb") as file:
                    content = file.read()
            state = file_state(status, content) if self.is_noting else state
        except OSError:
            content = None
        if self.is_noting:
            self.note(path, state)
        return content

    def digest(self, path: str) -> str:
        """The hash of what a file holds, or held when it was first read; empty where nothing is noted."""
        if not self.is_noting:
            return ""
        if path not in self.files:
            self.read(path)
        return self.files[path].digest

    def note(self, path: str, state: State) -> None:
        """Keep the state of a file that was read; of one that has changed since it was read before, that it has."""
        self.files[path] = state.agreed(self.files.get(path))

    def parts_of(self, context: str, path: str) -> TextParts | None:
        """What a file of a context says; None where it cannot be read.

        What an earlier run has read from the same text is not read again, and the text only where it is asked for.
        """
        if not self.is_noting:
            content = self.read(path)
            return TextParts(lambda _: self.read(path) or b"", text=content) if content is not None else None
        digest = self.digest(path)
        if digest in NO_TEXT:
            return None

        def read(parts: TextParts) -> bytes:
            content = self.read(path) or b""
            if self.digest(path) != digest:
                parts.keep_no_more()
            return content

        return TextParts(read, self.texts_of(context).of(digest))

    def texts_of(self, context: str) -> Texts:
        """What the texts of a context say, as far as that is known."""
        if context not in self.texts:
            self.texts[context] = self.load_texts(context)
        return self.texts[context]

    def have_unsaved(self, unsaved: Mapping[str, bytes]) -> bool:
        """From now on files hold this in an editor; True if that is another text for one that was read before."""
        was, self.unsaved = self.unsaved, unsaved
        is_other = False
        for path in was.keys() | unsaved.keys():
            before = self.files.get(path)
            if before is None or was.get(path) == unsaved.get(path):
                continue
            content = unsaved.get(path)
            self.files[path] = text_state(content) if content is not None else current(path, None)
            is_other = is_other or self.files[path].digest != before.digest
        return is_other

    def is_current(self) -> bool:
        """True if all that was looked at, and noted, is the same now."""
        return (
            all(
                path in self.unsaved or current(path, state).digest == state.digest
                for path, state in self.files.items()
            )
            and all(current_folder(path, state).digest == state.digest for path, state in self.folders.items())
            and all(os.path.isdir(path) == is_there for path, is_there in self.found.items())
            and all(contents_of(root) == known for root, known in self.projects.items())
        )

    def take_in(
        self, files: Mapping[str, State], folders: Mapping[str, FolderState], found: Mapping[str, bool]
    ) -> None:
        """Add what another process has noted."""
        for path, state in files.items():
            self.note(path, state)
        for path, folder in folders.items():
            self.folders[path] = folder.agreed(self.folders.get(path))
        self.found.update(found)
