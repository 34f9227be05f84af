"""What the files of one run share: modules of the project that are kept, and freed when there are too many."""

from __future__ import annotations

import gc
import os

from dataloader_lint.gate import Gate
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.project_facts import ProjectFacts
from dataloader_lint.semantics.project.answers import Answers, names_about
from dataloader_lint.semantics.project.dependencies import Dependencies
from dataloader_lint.semantics.project.kept_modules import Kept
from dataloader_lint.semantics.project.project import Inferred, Project
from dataloader_lint.settings import Settings

# Characters of all modules that a session caches at first, and at most; a file goes on with all that it has opened.
# With what is inferred of them, modules take some 50 bytes for each character.
FIRST_KEPT = 9_000_000
MAX_KEPT = 22_000_000
# If fewer files than this fill it, each needs much of what the others do, and opening that again takes longer than all
# else, some ten seconds each time for NeMo: 65 s without a limit, more than 290 s with the first one.
MIN_FILES = 200
# Characters that may stay cached when the next file belongs to another project, which needs none of them. Freeing trees
# takes a sixth of the time that it took to parse and evaluate them.
MAX_LEFT = 3_000_000


class Session(ProjectFacts):
    """State shared by the files of one run: the project's modules and the cached facts about them.

    Only the settings in `Settings.project_key` count; files that differ in these need other sessions. `gate` is the
    gate of the run, if any; `dependencies` records what findings depend on. `answers` are those with which the session
    begins, where the run has asked something already; `kept` has modules of earlier sessions.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        gate: Gate | None = None,
        dependencies: Dependencies | None = None,
        answers: Answers | None = None,
        kept: Kept | None = None,
    ) -> None:
        self._settings = settings or Settings()
        self._gate = gate or Gate(self._settings.extra_words)
        self.dependencies = dependencies or Dependencies()
        self._answers = answers
        self._kept = kept
        self._whole: set[str] = set()
        self._turn = _Turn(None)
        self._inferred: dict[int, Inferred] = {}  # of each module, while another session has its turn
        self._frees_modules = True
        self._limit = FIRST_KEPT
        self._path, self._files = "", 0  # the last file, and how many there were since modules were freed
        self._root = ""  # of the last file's project, or of the project around it
        self.forget()

    def forget(self) -> None:
        """Starts again, after an error that may have left incomplete facts."""
        if self._turn.holder is self:
            self.project.lend()  # the modules may be those of another session
            self._turn.holder = None
        self._turn = _Turn(self)
        answers, self._answers = self._answers, None
        self.start(Project(answers or self._new_answers(), self._whole, self._kept), self._settings)

    def start_over(self) -> None:
        """Starts again, after work that was ended in the middle of anything: nothing of it is kept."""
        if self._kept is not None:
            self._kept.clear()
        self._turn.is_over = True
        self.forget()

    def beside(self) -> Session:
        """A session for another text of a file: with the modules of this one, of which it has inferred nothing yet.

        They take turns: each goes on with what it knew when it is asked again.
        """
        other = Session(self._settings, self._gate, self.dependencies)
        other._whole = set(self._whole)
        other.start(self.project.beside(), self._settings)
        other._turn = self._turn
        other._frees_modules = False
        return other

    def take_turn(self) -> None:
        """Go on with the modules that a session beside this one may have used in the meantime."""
        turn = self._turn
        if turn.is_over:
            self.forget()
        elif turn.holder is not self:
            if turn.holder is not None:
                turn.holder._inferred = turn.holder.project.lend()
            self.project.take_back(self._inferred)
            self._inferred = {}
            turn.holder = self

    def _new_answers(self) -> Answers:
        return Answers(self._settings.src, self._gate, self.dependencies, self._settings.roots)

    def use_libcst_for(self, path: str) -> None:
        """Starts again, with LibCST as the parser of this file: the tree from Python's parser was another one."""
        self._whole.add(path)
        self.forget()

    def _free_modules_if_full(self, path: str) -> None:
        """Frees modules if there are too many of them; the next files reopen what they need."""
        root = self.project.root_of(os.path.dirname(path))
        is_elsewhere = self.project.kept > MAX_LEFT and _are_disjoint(root, self._root)
        if is_elsewhere:
            self._limit = FIRST_KEPT
        elif self.project.kept > self._limit and self._files < MIN_FILES:
            self._limit = min(self._limit * 3 // 2, MAX_KEPT)
            self._files = 0
        if is_elsewhere or self.project.kept > self._limit:
            self._files = 0
            # Those that were used last stay, but nothing that was inferred of them, as it refers to the others.
            self.project.forget_modules(0 if is_elsewhere else self._limit // 2)
            self.start(self.project, self._settings)
            gc.collect()  # frames and values refer to each other
        if not _is_inside(root, self._root):  # nested projects use its modules in turn
            self._root = root
        if path != self._path:  # it is asked about several times
            self._path, self._files = path, self._files + 1
            self.project.begin_file()

    def is_reached_from_loaders(self, path: str, text: str, about: frozenset[str]) -> bool:
        """True if loaders reach what a file with the given text defines about some subjects.

        They do if the file may define a Dataset, if workers run its code, or if a loader's dataset contains its
        objects. The file is not opened for this.
        """
        full, content = self._at_hand(path, text)
        return self.project.may_define_datasets(full, content) or self.reach.is_reached_from_loaders(
            full, names_about(content, about)
        )

    def derives_datasets(self, path: str, text: str) -> bool:
        """True if what a file with the given text derives its classes from may be Datasets of the project.

        The file is not opened for this.
        """
        return self.project.may_define_datasets(*self._at_hand(path, text))

    def _at_hand(self, path: str, text: str) -> tuple[str, bytes]:
        """The full path and the bytes of a file, which the project has at hand from now on."""
        full = os.path.abspath(path)
        self._begin(full)
        self.project.overlay(full, text)
        return full, text.encode("utf-8", "surrogatepass")

    def _begin(self, path: str) -> None:
        self.take_turn()
        if self._frees_modules:
            self._free_modules_if_full(path)
        self.evaluation.steps = self.with_cuda.steps = 0

    def analyse(self, path: str, text: str, settings: Settings | None = None) -> File:
        """Returns the facts about a file with the given text.

        Raises UnreadableError if the text is not Python.
        """
        self._begin(os.path.abspath(path))
        return File(self, self.project.module_for(path, text), settings or Settings())


class _Turn:
    """Which of the sessions that share modules may use them; `is_over` once something may be wrong with these."""

    __slots__ = ("holder", "is_over")

    def __init__(self, holder: Session | None) -> None:
        self.holder = holder
        self.is_over = False


def _are_disjoint(root: str, other: str) -> bool:
    """True if neither of two projects is inside the other."""
    return not _is_inside(root, other) and not _is_inside(other, root)


def _is_inside(root: str, other: str) -> bool:
    return bool(other) and f"{root}{os.sep}".startswith(f"{other}{os.sep}")
