"""The dependencies of each module: the questions that were asked on its behalf, and the answers.

All that is learned from other files passes through `Answers.ask`, which keeps question and answer here; there is no
other memory of such answers, so none is used without being recorded. What is worked out from answers is remembered by
modules, or by what stands in them: whoever gets hold of it has got hold of these modules, and rests on what was asked
on behalf of each of them (`behind`). Memory kept by anything else, such as a root or a word, would break this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dataloader_lint.semantics.project.disk import Disk
from dataloader_lint.semantics.project.texts import Parts
from dataloader_lint.source.states import FolderState, State

# A question begins with its kind; see `Answers`. Answers are small, and equal where facts are the same.
Question = tuple[str | int | tuple[str, ...], ...]
Answer = bool | str | tuple[str, ...] | None
Asked = dict[Question, Answer]

# Kinds whose answers are modules that facts go on from. What is opened is recorded by itself.
_LEADING_ON = frozenset({"located", "called", "below", "packages"})
OPENED = "opened"
CONTENT: Question = ("content",)
UNSURE = "unsure"  # equal to no answer that is given again


class Dependencies:
    """The questions and answers of a run by the path of the module on whose behalf they were asked.

    `roots` are the projects that folders were found to belong to, `contexts` the files around them that count (see
    `source.projects.Roots.context_in`), `disk` is what the answers come from; with
    `is_noting` it notes the states of what it reads.
    """

    __slots__ = ("_sent", "_sent_files", "asked", "contexts", "disk", "roots")

    def __init__(self, *, is_noting: bool = False) -> None:
        self.disk = Disk(is_noting=is_noting)
        self.asked: dict[str, Asked] = {}
        self.roots: dict[str, str] = {}
        self.contexts: dict[str, str] = {}
        self._sent: dict[str, int] = {}
        self._sent_files: set[str] = set()

    def of(self, path: str) -> Asked:
        """The questions that were asked on behalf of a module, to add to."""
        found = self.asked.get(path)
        if found is None:
            found = self.asked[path] = {}
        return found

    def add(self, path: str, more: Asked) -> None:
        """Add what was asked in another process or run. Where the answers differ, a file has changed meanwhile."""
        known = self.of(path)
        for question, answer in more.items():
            if known.setdefault(question, answer) != answer:
                known[question] = UNSURE

    def take_in(self, sent: Sent) -> None:
        """Add what another process has sent."""
        for path, asked in sent.asked.items():
            self.add(path, asked)
        self.roots.update(sent.roots)
        self.contexts.update(sent.contexts)
        self.disk.take_in(sent.files, sent.folders, sent.found)
        for context, new in sent.texts.items():
            self.disk.texts_of(context).take_in(new)

    def unsent(self) -> Sent:
        """What has been asked and noted since the last call of this, and some of what was before."""
        asked = {path: asked for path, asked in self.asked.items() if self._sent.get(path) != len(asked)}
        self._sent.update((path, len(each)) for path, each in asked.items())
        files = {path: state for path, state in self.disk.files.items() if path not in self._sent_files}
        self._sent_files.update(files)
        texts = {context: new for context, each in self.disk.texts.items() if (new := each.new())}
        return Sent(asked, self.roots, self.contexts, files, self.disk.folders, self.disk.found, texts)


class Sent(NamedTuple):
    """What one process tells another of its `Dependencies` and their disk."""

    asked: dict[str, Asked]
    roots: dict[str, str]
    contexts: dict[str, str]
    files: dict[str, State]
    folders: dict[str, FolderState]
    found: dict[str, bool]
    texts: dict[str, dict[str, Parts]]


def behind(paths: Iterable[str], asked: Mapping[str, Asked]) -> set[str]:
    """The modules that facts about some files may rest on, these among them."""
    todo = list(paths)
    found = set(todo)
    for path in todo:  # grows while it is gone through
        new = set(led_to(asked.get(path, {}))) - found
        found |= new
        todo.extend(new)
    return found


def resting_on(paths: Iterable[str], asked: Mapping[str, Asked]) -> set[str]:
    """The modules about which facts may rest on some files, these among them."""
    above: dict[str, set[str]] = {}
    for path, questions in asked.items():
        for other in led_to(questions):
            above.setdefault(other, set()).add(path)
    todo = list(paths)
    found = set(todo)
    for path in todo:  # grows while it is gone through
        new = above.get(path, set()) - found
        found |= new
        todo.extend(new)
    return found


def led_to(asked: Asked) -> Iterable[str]:
    """The modules that answers have led facts to."""
    for question, answer in asked.items():
        if question[0] == OPENED:
            yield str(question[1])
        elif answer and question[0] in _LEADING_ON:
            yield from answer if isinstance(answer, tuple) else (str(answer),)
